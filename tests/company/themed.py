"""Our pages under the themes of datasette-themes, in a browser: they follow its colours and stay readable."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from support.lab import CHROMIUM
from support.logs import import_logs, session_id
from support.site import full_log, opened, served

PAGES = ("overview", f"session/{session_id()}", "cookbook")
THEMES = {"dark": "dark", "solarized": "dark", "sepia": "light", "rct": "light"}
"""What each is; ``rct`` writes dark on a ground of middling brightness, on which no second colour could be read."""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("themed")
    full_log(folder / "logs")
    import_logs(folder / "a.db", folder / "logs")
    with served(folder / "a.db") as base:
        yield base


@pytest.fixture(scope="module")
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**CHROMIUM)
        yield browser
        browser.close()


@pytest.mark.parametrize("theme", THEMES)
def test_a_theme_is_followed_whatever_the_system_says_and_all_can_be_read(chromium, base, theme):
    system = "light" if THEMES[theme] == "dark" else "dark"
    with opened(chromium, base, color_scheme=system, bypass_csp=True) as (page, wrong):
        page.context.add_cookies([{"name": "ds_theme", "value": theme, "url": base}])
        for path in PAGES:
            page.goto(f"{base}/a/-/{path}")
            assert page.evaluate("getComputedStyle(document.querySelector('main')).colorScheme") == THEMES[theme]
            page.evaluate("document.querySelectorAll('main details').forEach((one) => { one.open = true; })")
            found = Axe().run(page, "main", {"runOnly": ["color-contrast"]}).response["violations"]
            assert [node["target"] for one in found for node in one["nodes"]] == [], path
        assert wrong == []


def test_a_dark_theme_is_printed_dark_on_white(chromium, base):
    with opened(chromium, base) as (page, _wrong):
        page.context.add_cookies([{"name": "ds_theme", "value": "dark", "url": base}])
        page.goto(f"{base}/a/-/session/{session_id()}")
        page.emulate_media(media="print")
        for part, colour in ((".clm-who", "rgb(0, 0, 0)"), (".clm-facts", "rgb(90, 101, 112)")):
            assert page.evaluate("(part) => getComputedStyle(document.querySelector(part)).color", part) == colour
