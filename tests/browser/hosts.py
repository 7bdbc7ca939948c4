"""Notebook 7, Voila and marimo: in each exactly one readable form of every view is seen, and nothing else.

``tests/run`` runs this file in an environment that has these programs; JupyterLab itself is in ``test_jupyter_lab.py``.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest
from playwright.sync_api import expect

from support.lab import Notebook, forms, untrusted
from support.notebooks import LOGS, environment

pytestmark = pytest.mark.browser

LOAD = f"import jupyter_clm as jc\nsessions = jc.load_all({str(LOGS)!r})"
VIEWS = [
    "sessions['b3fefa1a'].view()",
    "sessions.view()",
    "jc.compare(sessions['81d62477'], sessions['ada2de14'])",
]
ONCE = ["Today: a watering schedule.", "24 sessions", "Two sessions side by side"]
"""What is read once in the output of each view."""
NOISE = re.compile(
    r"Error displaying|Error creating|Loading widget|model not found|not supported|View of |clm-(root|none|snap)"
)
"""What hosts say where a widget is missing, and what we would never say."""


def settled(outputs, form):
    """Every output shows one form, this one, with its words once, and no noise."""
    for output, words in zip(outputs, ONCE, strict=True):
        expect(output.locator(".clm-root").filter(visible=True).first).to_be_visible()
        expect(output.get_by_text(re.compile("^" + words)).filter(visible=True)).to_have_count(1)
        assert forms(output) == [form]
        assert not NOISE.search(output.inner_text())


def test_notebook_7_shows_one_form_live_reopened_and_untrusted(chromium, lab):
    path = lab.write("seven.ipynb", [LOAD, *VIEWS])
    books = [Notebook(chromium, lab).open(path, program="notebooks")]
    assert books[0].page.locator(".jp-NotebookPanel").count() == 1
    books[0].run()
    settled([books[0].output(n) for n in (1, 2, 3)], "live")
    books[0].page.locator(".clm-view").first.get_by_role("button", name="Next", exact=True).click()
    expect(books[0].page.locator(".clm-view").first.get_by_role("status")).to_have_text("147 chunks · page 2 of 15")
    books[0].save()
    books[0].shut_down()
    for reopened in (path, untrusted(lab, path, "seven-untrusted.ipynb")):
        books.append(Notebook(chromium, lab).open(reopened, program="notebooks"))
        settled([books[-1].output(n) for n in (1, 2, 3)], "static")
    assert books[1].page.locator(".jp-OutputArea style").count() == 3
    assert books[2].page.locator(".jp-OutputArea style").count() == 0, "the notebook was trusted after all"
    for book in books:
        assert book.strangers == []
        book.close()


def test_voila_shows_live_views_and_asks_for_nothing_that_it_does_not_ask_for_itself(chromium, lab):
    lab.write("plain.ipynb", ["import ipywidgets\nipywidgets.HTML('<p class=plain>plain</p>')"])
    lab.write("voila.ipynb", [LOAD, *VIEWS])
    asked = {}
    for name, wanted in (("plain", ".plain"), ("voila", ".clm-pair")):
        book = Notebook(chromium, lab)
        book.page.goto(f"{lab.url}/voila/render/{name}.ipynb?token=t")
        expect(book.page.locator(wanted).first).to_be_visible(timeout=60_000)
        asked[name] = book.strangers
        if name == "voila":
            settled(book.page.locator(".jp-Cell-outputArea").filter(has=book.page.locator(".clm-root")).all(), "live")
            first = book.page.locator(".clm-view").first
            first.get_by_label("Search").fill("kale")
            expect(first.get_by_role("status")).to_have_text("4 of 147 chunks · page 1 of 1")
        book.close()
    assert set(asked["voila"]) <= set(asked["plain"])


@pytest.fixture
def marimo(tmp_path):
    """The address of a marimo app that shows each view in a cell, in the dark."""
    cells = "".join(f"@app.cell\ndef _(jc, sessions):\n    {view}\n    return\n" for view in VIEWS)
    load = "@app.cell\ndef _():\n    " + LOAD.replace("\n", "\n    ") + "\n    return jc, sessions\n"
    (tmp_path / "app.py").write_text(f"import marimo\napp = marimo.App(width='full')\n{load}{cells}")
    (tmp_path / "pyproject.toml").write_text('[tool.marimo.display]\ntheme = "dark"\n')
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "marimo", "run", "app.py", "--headless", "--no-token", f"--port={port}"]
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "MARIMO_SKIP_UPDATE_CHECK": "1"}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment(**home), stdout=log, stderr=log, start_new_session=True
        )
    for _ in range(240):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            break
        except OSError:
            assert process.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.25)
    yield f"http://127.0.0.1:{port}"
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(20)


def test_marimo_shows_the_static_form(chromium, marimo):
    page = chromium.new_context(viewport={"width": 1400, "height": 1000}).new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(marimo)
    expect(page.locator(".clm-compare")).to_be_visible(timeout=60_000)
    assert forms(page.locator("body")) == ["static"] * 3
    for words in ONCE:
        expect(page.get_by_text(re.compile("^" + words)).filter(visible=True)).to_have_count(1)
    assert not NOISE.search(page.inner_text("body"))
    assert page.locator(".clm-root").first.evaluate("e => getComputedStyle(e).colorScheme") == "dark"
    assert [url for url in asked if not url.startswith((marimo, "data:", "blob:"))] == []
    assert errors == []
    page.context.close()
