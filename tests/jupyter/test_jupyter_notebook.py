"""The demo notebook and its conversions, with a real kernel."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbconvert.preprocessors.sanitize import SanitizeHTML

import jupyter_clm
from support.notebooks import plain

DEMO = Path(__file__).parents[2] / "demo"
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """The demo notebook as it is after its cells ran; widget state is not stored, as in JupyterLab."""
    patch = pytest.MonkeyPatch()
    patch.setenv("PYTHONPATH", str(Path(jupyter_clm.__file__).parents[1]))
    for name in ("CONFIG", "DATA", "RUNTIME"):
        patch.setenv(f"JUPYTER_{name}_DIR", str(tmp_path_factory.mktemp(name.lower())))
    book = nbformat.read(DEMO / "demo.ipynb", as_version=4)
    client = NotebookClient(book, timeout=120, store_widget_state=False, resources={"metadata": {"path": str(DEMO)}})
    done = client.execute()
    patch.undo()
    return done


def outputs(book, starts_with):
    cell = next(c for c in book.cells if c.cell_type == "code" and starts_with in c.source)
    return cell.outputs


def body_text(html):
    html = re.sub(r"<(style|script|head)\b.*?</\1>", "", html, flags=re.DOTALL)
    return plain(html)


def test_the_demo_is_kept_without_outputs():
    book = nbformat.read(DEMO / "demo.ipynb", as_version=4)
    nbformat.validate(book)
    assert all(not c.outputs and c.execution_count is None for c in book.cells if c.cell_type == "code")


def test_the_demo_runs_clean_and_every_cell_says_something(run):
    assert all(c.outputs for c in run.cells if c.cell_type == "code")
    streams = [o for c in run.cells if c.cell_type == "code" for o in c.outputs if o.output_type == "stream"]
    assert [o for o in streams if o.name == "stderr"] == []


def test_a_view_is_two_outputs_the_snapshot_and_the_widget(run):
    snapshot, widget = outputs(run, ".view(")
    assert set(snapshot.data) == {"text/html", "text/plain"}
    assert "clm-chunk" in snapshot.data["text/html"]
    assert set(widget.data) == {WIDGET, "text/html", "text/plain"}
    assert body_text(widget.data["text/html"]) == widget.data["text/plain"] == ""


def test_a_notebook_grows_by_less_than_a_hundred_kilobytes_for_each_session_shown(run):
    assert "widgets" not in run.metadata
    for source in ("plan = sessions", ".view("):
        assert (
            len(
                nbformat.v4.writes(
                    nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=outputs(run, source))])
                )
            )
            < 110_000
        )


def test_the_selected_chunk_came_back_to_python(run):
    assert "Thyme" in outputs(run, "selected_chunk")[0].data["text/plain"]


def test_data_frames_and_the_database_show_tables(run):
    assert "median_ms" in outputs(run, "median_ms")[0].data["text/html"]
    assert "5 sessions" in body_text(outputs(run, "database.sessions")[0].data["text/html"])


EXPORTERS = {
    "plain": HTMLExporter,
    "sanitized": lambda: HTMLExporter(sanitize_html=True),
    "tags stripped": lambda: HTMLExporter(preprocessors=[SanitizeHTML(strip=True, enabled=True)]),
}


@pytest.mark.parametrize("how", EXPORTERS)
def test_converted_to_html_each_session_is_there_once_and_readable(run, how):
    html, _ = EXPORTERS[how]().from_notebook_node(run)
    words = body_text(html)
    assert words.count("Morning! Please plan the beds for spring.") == 1
    assert words.count("Today: a watering schedule.") == 1
    assert "SessionView" not in words
    assert "model not found" not in words
    assert "--clm-bg" not in words, "the style shows as text"
    assert "application/vnd.jupyter.widget-state+json" not in html
