"""The notebook view as a person meets it: JupyterLab in Chromium."""

import json
import re
import time

import pytest
from playwright.sync_api import expect

from jupyter_clm.facets import FACETS
from support.lab import DARK, LIGHT, Notebook, untrusted
from support.logs import import_logs, session_id, turn, write_log
from support.notebooks import LOGS

pytestmark = pytest.mark.browser

LOAD = f"import jupyter_clm as jc\nsessions = jc.load_all({str(LOGS)!r})"
VIEW = "view = sessions['b3fefa1a'].view()\nview"
COMPARE = "jc.compare(sessions['81d62477'], sessions['ada2de14'])"
NAME = "() => (document.activeElement.labels?.[0] ?? document.activeElement).textContent"
STALE = "Error displaying widget"


@pytest.fixture
def notebook(chromium, lab, request):
    """Open a notebook of these cells; afterwards nothing has left the server and no script has failed."""
    made = []

    def opened(cells, name=None, **options):
        path = lab.write(name or f"{request.node.originalname}-{len(made)}.ipynb", cells)
        book = Notebook(chromium, lab, **options).open(path)
        made.append(book)
        return book

    yield opened
    for book in made:
        book.close()
        assert book.strangers == []
        assert book.errors == []


def numbers(book):
    return book.page.locator(".clm-view .clm-pane > .clm-chunk > .clm-head .clm-permalink")


def status(book):
    return book.page.locator(".clm-view [role=status]")


def test_the_live_view_shows_chunks_and_the_snapshot_steps_aside(notebook):
    book = notebook([LOAD, VIEW])
    book.run()
    expect(book.page.locator(".clm-view .clm-chunk")).to_have_count(10)
    expect(status(book)).to_have_text("147 chunks · page 1 of 15")
    expect(book.page.locator(".clm-snap")).to_be_hidden()
    assert book.page.locator(".clm-chunk").get_by_text("Today: a watering schedule.").filter(visible=True).count() == 1


@pytest.mark.parametrize("source", ["log", "database"])
def test_search_kinds_pages_and_jumps_answer(notebook, tmp_path, source):
    load = LOAD
    if source == "database":
        import_logs(tmp_path / "s.db", LOGS)
        load = f"import jupyter_clm as jc\nsessions = jc.open({str(tmp_path / 's.db')!r}).sessions"
    book = notebook([load, VIEW], name=f"use-{source}.ipynb")
    book.run()
    page = book.page.locator(".clm-view")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(status(book)).to_have_text("147 chunks · page 2 of 15")
    expect(numbers(book)).to_have_text([f"#{number}" for number in range(11, 21)])
    page.get_by_label("Search").fill("kale")
    expect(status(book)).to_have_text("4 of 147 chunks · page 1 of 1")
    expect(page.locator("mark.clm-hit").first).to_have_text(re.compile("kale", re.IGNORECASE))
    page.get_by_label("Replies").uncheck()
    expect(status(book)).to_have_text("2 of 147 chunks · page 1 of 1")
    page.get_by_label("Go to #").fill("67")
    page.get_by_label("Go to #").press("Enter")
    expect(status(book)).to_have_text("147 chunks · page 7 of 15")
    expect(page.locator(".clm-selected")).to_be_in_viewport()
    expect(page.get_by_label("Replies")).to_be_checked()
    page.get_by_label("Page", exact=True).fill("15")
    page.get_by_label("Page", exact=True).press("Enter")
    expect(page.get_by_role("button", name="Next", exact=True)).to_be_disabled()


def test_hits_outline_folds_and_subagents_answer(notebook):
    book = notebook([LOAD, VIEW, "other = sessions['ada2de14'].view()\nother"])
    book.run()
    page = book.page.locator(".clm-view").first
    said = page.get_by_role("status")
    page.get_by_label("Search").fill("kale")
    page.get_by_label("Only hits").uncheck()
    page.get_by_role("button", name="Next hit").click()
    expect(said).to_have_text("4 hits in 147 chunks · page 2 of 15 · hit 1 of 4")
    expect(page.locator(".clm-selected")).to_be_in_viewport()
    page.get_by_label("Outline").select_option(index=20)
    expect(said).to_have_text("4 hits in 147 chunks · page 5 of 15")
    page.get_by_label("Search").fill("")
    page.get_by_label("Only failures").check()
    expect(said).to_have_text("6 of 147 chunks · page 1 of 1")
    page.get_by_role("button", name="Expand all").click()
    expect(page.locator("details.clm-step:not([open])")).to_have_count(0)
    page.get_by_role("button", name="Collapse all").click()
    expect(page.locator("details.clm-step[open]")).to_have_count(0)
    second = book.page.locator(".clm-view").nth(1)
    second.get_by_label("Transcript", exact=True).select_option(index=1)
    expect(second.locator(".clm-title")).to_have_text("Search the garden notes")


def test_a_list_opens_sessions_and_a_view_grows_with_its_log(notebook, tmp_path):
    log = write_log(tmp_path / f"{session_id()}.jsonl", turn(1, "first question", "first answer"))
    follow = f"grows = jc.load({str(log)!r}).follow(every=0.2)\ngrows"
    book = notebook([LOAD, "sessions.view()", follow])
    book.run()
    listed, grows = book.page.locator(".clm-view:not(.clm-view *)").nth(0), book.page.locator(".clm-view").last
    listed.get_by_label("Project").select_option(index=1)
    expect(listed.get_by_role("status").first).to_have_text(re.compile(r"6 of \d+ sessions"))
    listed.get_by_label("Sessions", exact=True).select_option(index=0)
    expect(listed.locator(".clm-title")).to_have_text("The watering schedule and 39 crops")
    expect(grows.get_by_role("status")).to_have_text("2 chunks · page 1 of 1 · following the log")
    write_log(log, [*turn(1, "first question", "first answer"), *turn(2, "second question", "second answer")])
    expect(grows.get_by_role("status")).to_have_text("4 chunks · page 1 of 1 · following the log")
    expect(grows.get_by_text("second answer")).to_be_visible()


def test_everything_can_be_reached_and_unfolded_with_the_keyboard(notebook):
    book = notebook([LOAD, VIEW])
    book.run()
    step = book.page.locator(".clm-view details.clm-step").first
    closed = step.get_attribute("open") is None
    step.locator("summary").first.focus()
    book.page.keyboard.press("Enter")
    assert (step.get_attribute("open") is None) is not closed
    book.page.keyboard.press("Space")
    assert (step.get_attribute("open") is None) is closed
    book.page.locator(".clm-view").get_by_label("Search").focus()
    names = ["Next hit", "Only hits", "Prompts", "Replies", "Command output", "Compactions", "Tool", "Only failures"]
    names += ["Page", "Next", "Go to #", "Expand all", "Collapse all", "Transcript", "Outline"]
    for name in names:
        book.page.keyboard.press("Tab")
        assert book.page.evaluate(NAME) == name
    book.page.keyboard.press("Tab")
    label = "Transcript of The watering schedule and 39 crops, page 1 of 15"
    assert book.page.evaluate("() => document.activeElement.getAttribute('aria-label')") == label


def test_a_session_is_chosen_in_the_list_and_read_with_the_keyboard(notebook):
    book = notebook([LOAD, "sessions.view()"])
    book.run()
    keys = book.page.keyboard
    book.page.locator(".clm-view").first.get_by_label("Search").focus()
    for name in [*FACETS.values(), "Next session"]:
        keys.press("Tab")
        assert book.page.evaluate(NAME) == name
    keys.press("Enter")  # arrows belong to JupyterLab, which goes from cell to cell with them
    opened = book.page.locator(".clm-view .clm-view")
    expect(opened.locator(".clm-title")).to_have_text(re.compile("^The vane says north all night"))
    keys.press("Space")
    expect(opened.locator(".clm-title")).to_have_text("The frozen vane")
    for name in ["Sessions", "Search"]:
        keys.press("Tab")
        assert book.page.evaluate(NAME) == name
    keys.type("frozen")
    expect(opened.get_by_role("status")).to_have_text(re.compile("^[1-9] of [0-9]+ chunks"))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_axe_finds_nothing_wrong(notebook, theme):
    from axe_playwright_python.sync_playwright import Axe

    book = notebook(
        [
            LOAD,
            "sessions",
            "sessions['81d62477']",
            "sessions['b3fefa1a'].view(query='kale')",
            "sessions.view(query='frost', selected=sessions['ada2de14'].id)",
            COMPARE,
        ],
        name=f"axe-{theme[11:]}.ipynb",
    )
    book.theme(theme)
    book.run()
    expect(book.page.locator("mark.clm-hit").first).to_be_visible()
    expect(book.page.locator(".clm-pair").first).to_be_visible()
    results = Axe().run(book.page, context=".clm-root")
    assert len(results.response["passes"]) > 15
    assert [(v["id"], v["nodes"][0]["html"]) for v in results.response["violations"]] == []


@pytest.mark.parametrize(("width", "cell"), [(1400, 1300), (464, 360)])
def test_nothing_scrolls_sideways(notebook, width, cell):
    book = notebook(
        [LOAD, "sessions", "sessions['81d62477']", VIEW, "sessions.view(selected=sessions['ada2de14'].id)", COMPARE],
        name=f"wide-{width}.ipynb",
        width=width,
    )
    book.run()
    expect(book.page.locator(".clm-pair").first).to_be_visible()
    assert book.output(3).evaluate("e => e.clientWidth") <= cell
    too_wide = book.page.evaluate(
        "() => [...document.querySelectorAll('.clm-root, .clm-pane')].filter(e => e.offsetParent && e.scrollWidth > e.clientWidth + 1)"
        ".map(e => e.className)"
    )
    assert too_wide == []
    assert book.page.evaluate(
        "() => [...document.querySelectorAll('.clm-root')].every(e => e.getBoundingClientRect().right <= innerWidth)"
    )


def test_our_headings_stay_out_of_the_table_of_contents(notebook):
    book = notebook([LOAD, "sessions", "sessions['81d62477']", VIEW])
    book.run()
    book.command("toc:show-panel")
    time.sleep(1)
    assert book.page.locator(".jp-tocItem-heading").all_inner_texts() == []


def test_text_between_dollars_is_not_typeset(notebook):
    code = (
        "from dataclasses import replace\n"
        "s = sessions['81d62477'].core\n"
        "money = jc.NotebookSession(replace(s, info=replace(s.info, title='from $HOME to $PATH, $x^2$')))\n"
        "jc.SessionList([money])"
    )
    book = notebook([LOAD, code, "money", "money.view()", "from IPython.display import HTML\nHTML('<p>$x^2$</p>')"])
    book.run()
    book.page.wait_for_selector("mjx-container")
    assert book.page.locator(".clm-root mjx-container").count() == 0
    assert book.page.locator("mjx-container").count() == 1


def test_reopened_with_a_fresh_kernel_the_snapshot_alone_is_seen(notebook, lab, chromium):
    book = notebook([LOAD, VIEW], name="fresh.ipynb")
    book.run()
    book.save()
    book.shut_down()
    path = lab.root / "fresh.ipynb"
    again = Notebook(chromium, lab).open(path)
    expect(again.page.locator(".clm-snap .clm-chunk").first).to_be_visible()
    expect(again.page.get_by_text(STALE)).to_be_hidden()
    assert again.page.locator(".clm-view").count() == 0
    assert again.strangers == []
    again.run()
    expect(again.page.locator(".clm-view .clm-chunk")).to_have_count(10)
    expect(again.page.locator(".clm-snap")).to_be_hidden()
    again.close()
    assert path.stat().st_size < 110_000
    assert "widgets" not in json.loads(path.read_text())["metadata"]


def test_reopened_without_trust_the_snapshot_alone_is_seen(notebook, lab, chromium):
    book = notebook([LOAD, VIEW], name="stranger.ipynb")
    book.run()
    book.save()
    again = Notebook(chromium, lab).open(untrusted(lab, lab.root / "stranger.ipynb", "untrusted.ipynb"))
    expect(again.page.get_by_text("Today: a watering schedule.")).to_be_visible()
    assert again.page.locator(".clm-snap style, .jp-OutputArea style").count() == 0, (
        "the notebook was trusted after all"
    )
    words = again.page.locator(".jp-Cell-outputArea").last.inner_text()
    assert "SessionView" not in words
    assert STALE not in words
    assert words.count("Today: a watering schedule.") == 1
    again.close()
    assert again.strangers == []
