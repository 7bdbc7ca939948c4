"""ipywidgets 7.7, as some hosts still have it, on the side of the kernel."""

import os
import subprocess
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from support.notebooks import LOGS, environment, plain

WIDGET = "application/vnd.jupyter.widget-view+json"
CELLS = [
    f"""import ipywidgets
import jupyter_clm as jc
sessions = jc.load_all({str(LOGS)!r})
before = len(ipywidgets.Widget.widgets)
ipywidgets.__version__""",
    "view = sessions['b3fefa1a'].view(query='kale', page_size=2)\nview",
    """controls = view._controls
controls.next.click()
controls.boxes["ai"].value = False
view.selected = 66
view.only_hits, view.tools, view.expanded = False, ("Bash",), True
controls.outline.value = controls.outline.options[3][1]
view.tools, view.query, view.selected = (), "", 66
print(view.n_hits, view.page, *view.kinds, view.selected_chunk.chunk.seq)""",
    "listed = sessions.view()\nlisted.selected = sessions['ada2de14'].id\nlisted",
    "both = jc.compare(sessions['81d62477'], sessions['ada2de14'])\nboth",
    """for one in (view, listed, both):
    one.close()
print(len(ipywidgets.Widget.widgets) - before)""",
]


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """A folder with ipywidgets 7.7."""
    folder = tmp_path_factory.mktemp("old")
    wanted = ["ipywidgets==7.7.1", "ipython_genutils"]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(folder), *wanted]
    got = subprocess.run(pip, check=False, capture_output=True, text=True)
    if got.returncode:
        pytest.skip(f"ipywidgets 7.7.1 could not be installed: {got.stderr.strip()[-200:]}")
    return folder


@pytest.mark.slow
def test_all_views_work_in_a_kernel_with_ipywidgets_7_7(old, monkeypatch, tmp_path):
    for name, value in environment(IPYTHONDIR=str(tmp_path)).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(old), os.environ["PYTHONPATH"]]))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(book, timeout=120, store_widget_state=False).execute()
    outputs = [cell.outputs for cell in book.cells]
    assert outputs[0][0].data["text/plain"] == "'7.7.1'"
    for number, words in ((1, "Today: a watering schedule."), (3, "24 sessions"), (4, "Two sessions side by side")):
        static, live = outputs[number]
        assert words in plain(static.data["text/html"])
        assert WIDGET not in static.data
        assert live.data[WIDGET]["model_id"]
        assert (live.data["text/plain"], plain(live.data["text/html"])) == ("", "")
    assert outputs[2][0].text == "147 34 user ai system compact 66\n"
    assert outputs[5][0].text == "0\n", "models are left of views that were closed"
