"""The notebook of research questions, run with a real kernel."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import jupyter_clm

DEMO = Path(__file__).parents[2] / "demo"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("PYTHONPATH", str(Path(jupyter_clm.__file__).parents[1]))
    for name in ("CONFIG", "DATA", "RUNTIME"):
        patch.setenv(f"JUPYTER_{name}_DIR", str(tmp_path_factory.mktemp(name.lower())))
    book = nbformat.read(DEMO / "research.ipynb", as_version=4)
    done = NotebookClient(
        book, timeout=120, store_widget_state=False, resources={"metadata": {"path": str(DEMO)}}
    ).execute()
    patch.undo()
    return done


def outputs(book):
    return [output for cell in book.cells if cell.cell_type == "code" for output in cell.outputs]


def test_it_is_kept_without_outputs():
    book = nbformat.read(DEMO / "research.ipynb", as_version=4)
    nbformat.validate(book)
    assert outputs(book) == []


def test_five_questions_are_answered_with_a_figure_each_in_a_few_lines(run):
    text = "\n".join(cell.source for cell in run.cells if cell.cell_type == "markdown")
    assert [line[3] for line in text.splitlines() if line.startswith("## ")] == list("12345")
    assert max(cell.source.count("\n") for cell in run.cells if cell.cell_type == "code") < 15
    assert sum("image/png" in output.get("data", {}) for output in outputs(run)) == 7
    assert all(cell.outputs for cell in run.cells if cell.cell_type == "code")
    assert [output for output in outputs(run) if output.output_type == "stream"] == []


def test_figures_load_nothing_and_tables_hold_the_answer(run):
    html = "".join(output.data.get("text/html", "") for output in outputs(run))
    assert "<script" not in html
    assert "cdn" not in html
    words = "\n".join(output.data["text/plain"] for output in outputs(run))
    assert "1 to 10 chunks after     15" in words
    assert "interrupted" in words
    nbformat.validate(run)
