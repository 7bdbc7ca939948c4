"""The search page in a real browser: from the keyboard to the words in the transcript, and hostile text on the way."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from browser.test_datasette_pages import opened
from support.attacks import ALL
from support.logs import entry, import_logs, session_id, turn, write_log
from support.site import ROOT, served, tool_turn

pytestmark = pytest.mark.browser
SID = session_id(0x5EA)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    import_logs(folder / "demo.db", ROOT / "demo" / "logs")
    lines = [one for n in range(120) for one in turn(n, f"Question {n}", f"Answer {n}", session=SID)]
    deep = [
        *tool_turn(
            300, "Bash", {"command": "count the geese"}, "one\n" * 20 + "marmalade\n" + "two\n" * 20, session=SID
        ),
        entry(
            "assistant",
            302,
            [{"type": "thinking", "thinking": "The Café is closed; 今日は庭に水やりをした。"}],
            session=SID,
        ),
        *turn(304, *(f"needle {attack} \u202e {'長い文章' * 60}" for attack in (ALL[0], ALL[1])), session=SID),
        *turn(306, "مرحبا needle بالعالم", "שלום needle עולם", session=SID),
    ]
    write_log(folder / "logs" / "-x" / f"{SID}.jsonl", [*lines, *deep])
    import_logs(folder / "own.db", folder / "logs")
    with served(folder / "demo.db", folder / "own.db") as base:
        yield base


def test_the_keyboard_alone_leads_from_a_slash_to_the_words_in_the_transcript(chromium, address):
    with opened(chromium, address) as (page, wrong):
        page.goto(f"{address}/own/-/search")
        page.keyboard.press("/")
        expect(page.get_by_label("Words to find")).to_be_focused()
        page.keyboard.type("marmalade")
        page.keyboard.press("Enter")
        expect(page.locator(".clm-place mark")).to_have_text("marmalade")
        for _step in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.className") == "clm-place":
                break
        page.keyboard.press("Enter")
        mark = page.locator(".clm-transcript mark").first
        expect(mark).to_have_text("marmalade")
        expect(mark).to_be_in_viewport()
        assert wrong == []


@pytest.mark.parametrize(
    ("asked", "marked"), [("水やり", "水やり"), ("cafe", "Café"), ("geese", "geese"), ('"question 1"', "Question 1")]
)
def test_what_was_found_is_marked_where_the_hit_leads(chromium, address, asked, marked):
    with opened(chromium, address) as (page, wrong):
        page.goto(f"{address}/own/-/search?q={asked}")
        page.locator(".clm-place").first.click()
        expect(page.locator(".clm-transcript mark:visible", has_text=marked).first).to_be_in_viewport()
        assert wrong == []


@pytest.mark.parametrize("width", [360, 1400])
def test_hostile_and_foreign_texts_stay_texts_and_nothing_scrolls_sideways(chromium, address, width):
    with opened(chromium, address, viewport={"width": width, "height": 800}) as (page, wrong):
        page.goto(f"{address}/own/-/search?q=needle")
        expect(page.locator(".clm-place")).to_have_count(3)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for link in page.locator(".clm-place").all():
            page.goto(address + link.get_attribute("href"))
            expect(page.locator(".clm-transcript mark").first).to_be_visible()
            page.go_back()
        assert wrong == []


def test_a_facet_narrows_and_is_removed_again(chromium, address):
    with opened(chromium, address) as (page, wrong):
        page.goto(f"{address}/demo/-/search?q=water")
        page.get_by_role("navigation", name="Narrow").get_by_role("link", name="Read").click()
        chosen = page.get_by_role("list", name="Narrowed to").get_by_role("link")
        expect(chosen).to_have_count(1)
        chosen.click()
        expect(page.get_by_role("list", name="Narrowed to")).to_have_count(0)
        assert wrong == []
