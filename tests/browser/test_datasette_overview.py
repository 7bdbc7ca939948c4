"""The overview in a real browser: readable at any width, light and dark, and quiet with a hostile log."""

from __future__ import annotations

import json
from urllib.request import urlopen

import pytest

from support.hostile import write_hostile
from support.logs import import_logs
from support.site import MODERN, ROOT, served

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("overview")
    import_logs(folder / "demo.db", ROOT / "demo" / "logs")
    write_hostile(folder / "hostile")
    import_logs(folder / "hostile.db", folder / "hostile")
    with served(folder / "demo.db", folder / "hostile.db") as base:
        for name in ("demo", "hostile"):  # what draws is loaded with the first picture, which may take a while
            urlopen(f"{base}/{name}/-/overview", timeout=120).close()
        yield base


@pytest.fixture
def opened(chromium, address):
    """A function that opens a page; at the end nothing may have gone wrong on any."""
    wrong, contexts = [], []

    def go(path, **options):
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: request.url.startswith((address, "data:")) or wrong.append(request.url))
        page.on("console", lambda message: message.type in {"error", "warning"} and wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(f"{address}/{path}")
        return page

    yield go
    for context in contexts:
        context.close()
    assert wrong == []


@pytest.mark.parametrize("database", ["demo", "hostile"])
@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (360, "dark"), (1400, "light"), (2000, "dark")])
def test_nothing_scrolls_sideways_nothing_runs_and_text_in_pictures_can_be_read(opened, database, width, scheme):
    page = opened(f"{database}/-/overview", viewport={"width": width, "height": 900}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.__hit") is None
    sizes = page.evaluate(
        """[...document.querySelectorAll('.clm-chart')].filter((svg) => svg.checkVisibility()).map((svg) => ({
          scale: svg.getBoundingClientRect().width / svg.viewBox.baseVal.width,
          inside: svg.getBoundingClientRect().right <= svg.closest('.clm-card').getBoundingClientRect().right }))"""
    )
    assert len(sizes) >= 3
    for size in sizes:
        assert size["scale"] > 0.8
        assert size["inside"]


def test_colours_of_pictures_follow_light_and_dark(opened):
    colours = {}
    for scheme in ("light", "dark"):
        page = opened("demo/-/overview", viewport={"width": 1400, "height": 900}, color_scheme=scheme)
        colours[scheme] = page.evaluate(
            "getComputedStyle(document.querySelector('.clm-wide-only path[fill*=\"clm-chart-s1\"]')).fill"
        )
    assert colours["light"] == "rgb(47, 111, 222)"
    assert colours["dark"] == "rgb(110, 164, 255)"


def test_a_square_of_the_calendar_opens_its_day(opened):
    page = opened("demo/-/overview", viewport={"width": 1400, "height": 900})
    square = page.locator(".clm-wide-only a:has(title)").first
    words = square.locator("title").first.text_content()
    square.click()
    assert "/demo/sessions?role__in=main%2Corphan&day=2026-" in page.url
    number = int(words.split(": ")[1].split()[0])
    assert page.locator("table.rows-and-columns tbody tr").count() == number


def test_a_reader_without_a_mouse_reaches_the_tables_beside_the_pictures(opened):
    page = opened("demo/-/overview", viewport={"width": 1400, "height": 900})
    twin = page.locator(".clm-twin > summary").first
    twin.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/demo/sessions?*day=*")


def test_on_paper_stand_the_pictures_without_what_is_for_clicking(opened):
    page = opened("demo/-/overview")
    page.emulate_media(media="print")
    for gone in (".clm-asked", ".clm-chips", ".clm-twin", "header.hd"):
        assert page.locator(gone).first.is_hidden()
    assert page.locator(".clm-chart:visible").count() > 2
    page.goto(page.url + "?since=2026-02-10")
    assert page.get_by_label("From").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chromium, address, scheme):
    from axe_playwright_python.sync_playwright import Axe

    context = chromium.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.goto(f"{address}/demo/-/overview")
    page.evaluate("document.querySelectorAll('main details').forEach((d) => { d.open = true; })")
    page.evaluate("document.querySelector('navigation-search')?.remove()")  # axe stumbles on it
    found = Axe().run(page, options={"rules": {"html-has-lang": {"enabled": MODERN}}})
    context.close()
    violations = [(one["id"], one["nodes"][0]["html"][:200]) for one in found.response["violations"]]
    assert violations == [], json.dumps(violations, indent=1)
