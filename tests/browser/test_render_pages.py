"""The rendering in a real browser: nothing runs or loads, nothing scrolls sideways, everyone can read it."""

from __future__ import annotations

import html
import itertools
from typing import Any

import pytest

from clm_sessions import render
from clm_sessions.tools import clm_describe_tool
from clm_sessions.view import chunk_view
from support import attacks, gallery
from support.safety import ATTRIBUTES, TAGS, planted

pytestmark = pytest.mark.browser

DOM = """() => [...document.body.querySelectorAll('*')].map(e => [e.localName, [...e.attributes].map(a => a.name)])"""
OPEN = "() => { for (const d of document.querySelectorAll('details')) d.open = true }"
WHOLE = "() => { for (const c of document.querySelectorAll('.clm-chunk')) c.style.contentVisibility = 'visible' }"


@pytest.fixture
def browser(chromium: Any) -> Any:
    return chromium


def opened(browser: Any, page_html: str, **context: Any) -> tuple[Any, list[str]]:
    page = browser.new_context(**context).new_page()
    asked: list[str] = []
    page.route("**/*", lambda route: (asked.append(route.request.url), route.abort()))
    page.set_content(page_html, wait_until="load")
    return page, asked


def attacked(keep: frozenset[str]) -> str:
    """Every gallery chunk with the whole corpus going round its fields, as a page without a Content-Security-Policy."""
    cards = []
    for start in range(0, len(attacks.ALL), 17):
        next_text = itertools.cycle(attacks.ALL[start:] + attacks.ALL[:start]).__next__
        for number, content in enumerate(gallery.gallery()):
            view = chunk_view(planted(content, next_text, keep), clm_describe_tool)
            cards.append(render.chunk_html(view, options=render.Options(id_prefix=f"x{start}-{number}-")))
    return f"<!doctype html><meta charset=utf-8><body><main>{render.root_html(''.join(cards))}</main>"


@pytest.mark.parametrize("known_tools", [False, True])
def test_attacks_in_every_field_neither_run_nor_load_nor_become_elements(browser: Any, known_tools: bool):
    keep = {"kind", "origin", "role", "status"} | ({"name", "id", "tool_use_id", "keys"} if known_tools else set())
    page, asked = opened(browser, attacked(frozenset(keep)))
    page.evaluate(OPEN)
    page.wait_for_timeout(300)
    assert page.evaluate("() => window.__hit") is None
    assert asked == []
    elements = page.evaluate(DOM)
    assert {name for name, _ in elements} <= TAGS | {"main"}
    assert {attribute for _, names in elements for attribute in names} <= ATTRIBUTES
    assert attacks.CANARY in page.inner_text("body")
    page.context.close()


def test_the_attacks_do_run_where_nobody_escapes_them(browser: Any):
    frames = (f'<iframe srcdoc="{html.escape(attack.replace(chr(0xD800), ""))}"></iframe>' for attack in attacks.MARKUP)
    page, _ = opened(browser, f"<!doctype html><body>{''.join(frames)}")
    page.wait_for_timeout(500)
    hits = "() => [...document.querySelectorAll('iframe')].filter(f => f.contentWindow.__hit).length"
    assert page.evaluate(hits.replace("f.contentWindow", "f.contentDocument && f.contentWindow")) >= 20
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 700, 1400])
def test_nothing_scrolls_sideways(browser: Any, scheme: str, width: int):
    page, _ = opened(browser, gallery.page(), viewport={"width": width, "height": 900}, color_scheme=scheme)
    for _folding in range(2):
        page.evaluate(WHOLE)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        page.evaluate(OPEN)
    page.context.close()


HOSTS = {
    "light": ("light", ""),
    "dark": ("dark", ""),
    "lab light on a dark system": ("dark", 'data-jp-theme-light="true"'),
    "lab dark on a light system": ("light", 'data-jp-theme-light="false"'),
    "vs code dark": ("light", 'class="vscode-dark"'),
}


@pytest.mark.parametrize("host", HOSTS)
def test_everyone_can_read_it(browser: Any, host: str):
    from axe_playwright_python.sync_playwright import Axe

    scheme, attribute = HOSTS[host]
    host_page = gallery.page().replace("<body>", f"<body {attribute}>")
    page, _ = opened(browser, host_page, color_scheme=scheme, viewport={"width": 1200, "height": 900}, bypass_csp=True)
    page.evaluate(OPEN)
    page.evaluate(WHOLE)
    dark = "dark" in host.partition(" on ")[0]
    brightness = page.evaluate(
        "() => { const c = document.createElement('canvas').getContext('2d', {willReadFrequently: true});"
        "c.fillStyle = getComputedStyle(document.querySelector('.clm-root')).backgroundColor; c.fillRect(0, 0, 1, 1);"
        "return c.getImageData(0, 0, 1, 1).data[0] }"
    )
    assert (brightness < 60) == dark
    found = (
        Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]}).response["violations"]
    )
    assert [(v["id"], [n["html"][:160] for n in v["nodes"][:3]]) for v in found] == []
    page.context.close()


def test_rows_open_by_keyboard_and_the_focus_is_seen(browser: Any):
    page, _ = opened(browser, gallery.page())
    row = page.locator("details.clm-step:not([open]) > summary").first.element_handle()
    row.focus()
    page.keyboard.press("Enter")
    assert row.evaluate("e => e.parentElement.open")
    assert row.evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    page.context.close()


def test_it_can_be_printed_whole(browser: Any):
    page, _ = opened(browser, gallery.page())
    page.emulate_media(media="print")
    assert page.locator(".clm-outline").evaluate("e => getComputedStyle(e).display") == "none"
    assert page.locator(".clm-terminal").first.evaluate("e => getComputedStyle(e).maxHeight") == "none"
    page.context.close()
