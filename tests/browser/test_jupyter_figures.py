"""Charts, slices and tool calls in JupyterLab: seen, and loaded from nowhere else."""

import pytest
from playwright.sync_api import expect

from support.lab import DARK, Notebook
from support.notebooks import LOGS

pytestmark = pytest.mark.browser

CELLS = [
    f"import jupyter_clm as jc\n%load_ext jupyter_clm\ndb = jc.open({str(LOGS)!r})\nsession = db['b3fefa1a']",
    "jc.charts.tool_use(db)",
    "session[3:6]",
    "session.tool_calls[5]",
    f"%clm {LOGS / 'clm'}",
]


def test_charts_slices_calls_and_the_magic_are_seen_and_load_nothing(chromium, lab):
    book = Notebook(chromium, lab).open(lab.write("figures.ipynb", CELLS))
    try:
        book.theme(DARK)
        book.run()
        picture = book.page.locator(".jp-OutputArea-output img")
        expect(picture).to_have_count(1)
        assert picture.evaluate("image => image.naturalWidth") > 400
        expect(book.page.get_by_text("Where does the rain come from?").first).to_be_visible()
        expect(book.page.get_by_role("region", name="Tool call")).to_be_visible()
        expect(book.page.get_by_role("region", name="Sessions")).to_be_visible()
        assert book.strangers == []
        assert book.errors == []
    finally:
        book.close()
