"""The pages say what is true."""

import ast
import re
import runpy
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_the_page_of_tables_is_what_the_schema_gives():
    made = runpy.run_path(str(DOCS / "schema.py"))["page"]()
    assert (DOCS / "schema.md").read_text(encoding="utf-8") == made, "run: python docs/schema.py > docs/schema.md"


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{p.name}" for p in sorted(DOCS.glob("*.md")))])
def test_every_file_that_a_page_links_to_or_names_as_a_test_is_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", text)
    tests = re.findall(r"`(tests/[\w./-]+)`", text)
    missing = [link for link in links if not (ROOT / page).parent.joinpath(link).exists()]
    assert missing + [test for test in tests if not (ROOT / test).exists()] == []


def test_every_module_has_a_docstring_that_says_what_it_is():
    packages = ("clm_sessions", "datasette_clm", "jupyter_clm")
    files = [file for package in packages for file in (ROOT / package).rglob("*.py")]
    assert [str(f) for f in files if not ast.get_docstring(ast.parse(f.read_text(encoding="utf-8")))] == []


def test_no_page_or_script_holds_a_path_of_one_machine():
    strange = re.compile(r"(?<![\w.~-])/(?:tmp|work|root)/(?!clm)[a-z][\w./-]*")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    ours = [f for f in listed.split("\0") if f and not f.startswith(("tests/vectors", "tests/cases", "demo/logs"))]
    texts = {f: (ROOT / f).read_text(encoding="utf-8", errors="replace") for f in ours if (ROOT / f).suffix != ".png"}
    assert [f"{file}: {m[0]}" for file, text in texts.items() for m in strange.finditer(text)] == []


def test_the_code_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    library = next(block for block in blocks if "import clm_sessions" in block)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").symlink_to(ROOT / "demo")
    from clm_sessions import plugins
    from clm_sessions.ingest import ingest

    ingest(tmp_path / "sessions.db", [ROOT / "demo" / "logs"], plugins.build(entry_points=False))
    exec(compile(library, "README.md", "exec"), {})
    shown = capsys.readouterr().out
    assert "0 user" in shown
    assert "watering" in shown.lower()
