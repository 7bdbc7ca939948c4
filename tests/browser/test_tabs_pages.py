"""The other views of a session, the cookbook and the review in a real browser: clean, readable on a phone, usable by keyboard alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from support.logs import import_logs
from support.site import MODERN, ROOT, served

pytestmark = pytest.mark.browser
NEIGHBOURS = "ada2de14-42d0-4d0a-8fb5-2888590c60ab"
WATERING = "b3fefa1a-c3a9-4d2c-b6b9-8bfadc90601f"
PLAN, FORK = "81d62477-2bbe-4869-a861-ed30d6cd686c", "4d979a0e-bcb2-4795-b9e2-0904a0d58973"
PATHS = (
    f"session/{NEIGHBOURS}/timeline",
    f"session/{WATERING}/context",
    f"session/{WATERING}/files",
    f"session/{NEIGHBOURS}/raw",
    f"session/{NEIGHBOURS}/raw?line=3",
    f"compare?a={PLAN}",
    f"compare?a={PLAN}&b={FORK}",
    "cookbook",
    "review",
)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    database = tmp_path_factory.mktemp("tabs") / "demo.db"
    import_logs(database, ROOT / "demo" / "logs")
    with served(database) as base:
        yield f"{base}/demo/-"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_views(chromium, address, scheme):
    from axe_playwright_python.sync_playwright import Axe

    excused = {"rules": {"html-has-lang": {"enabled": MODERN}}}
    context = chromium.new_context(color_scheme=scheme, bypass_csp=True)
    page = context.new_page()
    for path in PATHS:
        page.goto(f"{address}/{path}")
        page.evaluate("document.querySelector('navigation-search')?.remove()")
        found = Axe().run(page, options=excused).response["violations"]
        assert [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found] == [], path
    context.close()


@pytest.mark.parametrize("width", [360, 2000])
def test_no_view_is_wider_than_the_screen_or_leaves_a_word_on_the_console(chromium, address, width):
    context = chromium.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in {"error", "warning"} else None)
    for path in PATHS:
        page.goto(f"{address}/{path}")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        assert said == [], path
    context.close()


def test_no_line_of_text_is_too_long_to_read_on_a_wide_screen(chromium, address):
    """A letter is about half as wide as the font is high."""
    page = chromium.new_page(viewport={"width": 2000, "height": 800})
    for path in (*PATHS, f"session/{NEIGHBOURS}", "overview"):
        page.goto(f"{address}/{path}")
        page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
        letters = page.locator("main p:visible").evaluate_all(
            "(all) => all.map((p) => [p, getComputedStyle(p)]).filter(([p, style]) => style.display === 'block' && p.textContent.length > 100)"
            ".map(([p, style]) => 2 * p.clientWidth / parseFloat(style.fontSize))"
        )
        assert max(letters, default=0) <= 116, path
    page.close()


def test_the_keyboard_alone_goes_from_the_tabs_to_a_bar_and_to_its_chunk(chromium, address):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{address}/session/{NEIGHBOURS}")
    page.get_by_role("navigation", name="Views of this session").get_by_role("link", name="Timeline").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Timeline", exact=True)).to_be_attached()
    page.locator(".clm-bar-row a", has_text="MultiEdit").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{address}/session/{NEIGHBOURS}?chunk=3#c3")
    expect(page.locator("#c3")).to_be_in_viewport()
    context.close()


def test_bars_that_ran_at_the_same_time_stand_above_each_other(chromium, address):
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.goto(f"{address}/session/{NEIGHBOURS}/timeline")
    boxes = [bar.bounding_box() for bar in page.locator(".clm-turn").first.locator(".clm-d1 ~ .clm-track .clm-w").all()]
    assert len(boxes) == 3
    assert max(box["x"] for box in boxes) < min(box["x"] + box["width"] for box in boxes)
    context.close()
