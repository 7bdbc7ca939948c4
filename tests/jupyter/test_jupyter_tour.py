"""The tour of the notebook in the docs says what happens."""

import doctest
from pathlib import Path

import altair as alt

TOP = Path(__file__).parents[2]


def test_every_line_of_the_tour_gives_what_stands_below_it(monkeypatch):
    monkeypatch.chdir(TOP)
    before = alt.renderers.active
    found = doctest.testfile(str(TOP / "docs/notebook.md"), module_relative=False)
    alt.renderers.enable(before)
    assert found.attempted == 23
    assert found.failed == 0


def test_the_readme_names_the_tour_and_the_notebooks():
    readme = (TOP / "README.md").read_text("utf-8")
    for name in ("docs/notebook.md", "demo/demo.ipynb", "demo/research.ipynb"):
        assert name in readme
        assert (TOP / name).is_file()
