"""A static site in a real browser, opened from its folder and from a web server: it works, and no log runs anything in it."""

from __future__ import annotations

import html
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from clm_sessions.site.frame import POLICY
from support.attacks import CANARY, MARKUP
from support.hostile import write_hostile
from support.logs import import_logs, session_id, turn, write_log
from support.planted import plant
from support.site import ROOT
from support.static_site import Server, made

pytestmark = pytest.mark.browser
LONG = "b3fefa1a-c3a9-4d2c-b6b9-8bfadc90601f"
ODD = session_id(9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """``good``: the demo and a session in many scripts; ``logs``, ``columns``: attacks in fields of logs, in all columns."""
    folder = tmp_path_factory.mktemp("site")
    odd = [
        *turn(1, "Le Café est à côté", "庭の水やりは朝に。 การรดน้ำต้นไม้ is done"),
        *turn(2, "and an ﬁne ÉTÉ", "straße naïve ΟΔΟΣ " + "w" * 60),
    ]
    write_log(folder / "odd" / "p" / f"{ODD}.jsonl", odd)
    import_logs(folder / "good.db", ROOT / "demo" / "logs", folder / "odd")
    write_hostile(folder / "hostile", MARKUP)
    import_logs(folder / "logs.db", folder / "hostile")
    runs = [attack.encode("utf-8", "replace").decode() for attack in MARKUP]
    plant(
        folder / "good.db",
        folder / "columns.db",
        lambda _c, old, row: runs[row % len(runs)] + old,
        words=True,
        keys=True,
    )
    for name in ("good", "logs", "columns"):
        made(folder / f"{name}.db", folder / name)
    return folder


@pytest.fixture(scope="module", params=["file", "http"])
def base(request, folder):
    """The address of the folder, from where a page may be opened."""
    if request.param == "file":
        yield folder.as_uri()
        return
    server = Server(folder)
    yield server.base
    server.close()


@contextmanager
def opened(chromium, base, **options):
    """A page, and what went wrong: requests elsewhere, dialogs, errors, whatever a policy had to stop."""
    context = chromium.new_context(viewport={"width": 1200, "height": 900}, **options)
    page = context.new_page()
    wrong = []
    page.on("request", lambda one: one.url.startswith((base, "data:")) or wrong.append(one.url))
    page.on("dialog", lambda one: (wrong.append(one.message), one.dismiss()))
    page.on("pageerror", lambda one: wrong.append(str(one)))
    page.on("console", lambda one: wrong.append(one.text) if one.type in {"error", "warning"} else None)
    try:
        yield page, wrong
    finally:
        context.close()


def look(page, wrong, address):
    page.goto(address)
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.evaluate("window.__hit") is None, address
    assert wrong == [], address


# -- attacks ----------------------------------------------------------------------------------------------------


def hostile_pages(folder, site):
    names = sorted(path.name for path in (folder / site / "sessions").iterdir())
    whole = [name for name in names if name.startswith(session_id(0xFFF))]
    return whole + [name for name in names if name not in whole][::6]


def test_no_attack_runs_or_loads_anything_on_any_page_nor_in_what_is_found(chromium, folder, base, proved):
    with opened(chromium, base, bypass_csp=True) as (page, wrong):  # by escaping alone, before any policy
        for site in ("logs", "columns"):
            for name in hostile_pages(folder, site)[:: 1 if base.startswith("file") else 4]:
                look(page, wrong, f"{base}/{site}/sessions/{name}?q=readable")
                proved("pages of a static site with attacks, looked at in Chromium")
            page.goto(f"{base}/{site}/index.html#q=still+readable")
            expect(page.locator(".clm-places").first).to_contain_text(CANARY)
            page.locator(".clm-rest button").click()
            page.locator(".clm-facets input").first.check()
            expect(page.locator(".clm-places").first).to_contain_text(CANARY)
            page.wait_for_timeout(300)
            assert page.evaluate("window.__hit") is None
            assert wrong == []


def test_the_attacks_run_where_nothing_holds_them_back_and_the_policy_alone_holds_them(chromium, folder, base, proved):
    frames = "".join(
        f'<iframe srcdoc="{html.escape(attack.replace(chr(0xD800), ""))}"></iframe>'
        for attack in MARKUP
        if "refresh" not in attack
    )
    hit = (
        "() => [...document.querySelectorAll('iframe')].filter(f => f.contentDocument && f.contentWindow.__hit).length"
    )
    read = "() => [...document.querySelectorAll('iframe')].filter(f => f.contentDocument?.body?.textContent.includes('still')).length"
    for name, policy in (("open", ""), ("closed", f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">')):
        (folder / f"{name}.html").write_text(f"<!doctype html><meta charset=utf-8>{policy}<body>{frames}")
    context = chromium.new_context()
    context.route("**/evil.example/**", lambda route: route.abort())
    page = context.new_page()
    page.goto(f"{base}/open.html", wait_until="commit")
    for _try in range(100):
        ran = page.evaluate(hit)
        if ran >= 20:
            break
        page.wait_for_timeout(100)
    proved("attacks that run on a page in the place of a static one, unescaped", ran)
    assert ran >= 20
    page.goto(f"{base}/closed.html")
    page.wait_for_timeout(700)
    assert page.evaluate(read) >= 30
    assert page.evaluate(hit) == 0
    context.close()


# -- the list ---------------------------------------------------------------------------------------------------


def shown(page):
    return page.locator(".clm-card:not([hidden]) .clm-open").all_text_contents()


def test_facets_narrow_the_list_count_what_is_left_and_stay_in_the_address(chromium, base):
    with opened(chromium, base) as (page, wrong):
        page.goto(f"{base}/good/index.html")
        everything = len(shown(page))
        assert page.locator(".clm-card").first.evaluate("e => getComputedStyle(e).display") == "block"  # see site.css
        page.get_by_label("windvane").check()
        expect(page.locator("#clm-list-h")).to_have_text(f"3 of {everything} sessions")
        page.get_by_label("With interruptions").check()
        expect(page.locator("#clm-list-h")).to_have_text(f"1 of {everything} sessions")
        assert page.locator("label", has_text="garden-planner").locator(".clm-n").text_content() != "3"
        page.reload()
        expect(page.locator("#clm-list-h")).to_have_text(f"1 of {everything} sessions")
        page.get_by_label("windvane").uncheck()
        page.get_by_label("With interruptions").uncheck()
        page.locator(".clm-order select").select_option("2")
        expect(page.locator(".clm-card:not([hidden]) .clm-open").first).to_have_text(
            "The watering schedule and 39 crops"
        )
        assert wrong == []


@pytest.mark.parametrize(
    "q",
    ["cafe CÔTÉ", "水やり", "水", "การรด", "fine ete", "strasse", "naive", "οδοσ", "w" * 50, "naiv", "Café est"],
)
def test_what_was_said_is_found_in_any_script(chromium, folder, q):
    base = folder.as_uri()
    with opened(chromium, base) as (page, wrong):
        page.goto(f"{base}/good/index.html")
        page.locator("#clm-q").fill(q)
        where = page.locator(".clm-card:not([hidden])", has_text="Le Café")
        expect(where).to_have_count(0 if q == "strasse" else 1)
        assert wrong == []


def test_a_place_that_was_found_leads_to_its_words_in_the_transcript(chromium, base):
    with opened(chromium, base) as (page, wrong):
        page.goto(f"{base}/good/index.html")
        page.locator("#clm-q").fill("barrel holds")
        place = page.locator(".clm-places a").first
        expect(place.locator("mark").first).to_have_text("barrel")
        place.click()
        expect(page.locator("#c120")).to_be_in_viewport()
        assert f"{LONG}.2.html?q=barrel%20holds#c120" in page.url
        expect(page.locator(".clm-found-count")).to_contain_text("of ")
        page.go_back()
        expect(page.locator("#clm-q")).to_have_value("barrel holds")
        page.locator("#clm-q").fill("nowhere to be found")
        expect(page.locator(".clm-nothing")).to_be_visible()
        assert wrong == []


def test_without_scripts_the_list_and_all_pages_are_there(chromium, base):
    with opened(chromium, base, java_script_enabled=False) as (page, wrong):
        page.goto(f"{base}/good/index.html")
        expect(page.locator("#clm-q")).to_be_hidden()
        expect(page.locator(".clm-facets")).to_be_hidden()
        page.get_by_text("The watering schedule and 39 crops").click()
        page.locator(".clm-pager a", has_text="Next").first.click()
        expect(page.locator("#c120")).to_be_attached()
        page.get_by_text("All sessions").click()
        assert page.url == f"{base}/good/index.html"
        assert wrong == []


# -- a session --------------------------------------------------------------------------------------------------


def test_words_are_found_on_the_page_across_colours_and_in_closed_steps(chromium, base):
    with opened(chromium, base) as (page, wrong):
        page.goto(f"{base}/good/sessions/{LONG}.html")
        page.keyboard.press("/")
        page.keyboard.type("def need(bed")
        page.keyboard.press("Enter")
        expect(page.locator(".clm-found-count")).to_contain_text("1 of ")
        assert page.evaluate("[...CSS.highlights.get('clm-found')][0].toString()") == "def need(bed"
        page.keyboard.press("Escape")
        for _more in range(3):
            page.keyboard.press("n")
        closed = "[...CSS.highlights.get('clm-found')][0].startContainer.parentElement.closest('details:not([open])')"
        assert page.evaluate(closed) is None
        assert wrong == []


def test_a_chunk_in_the_address_is_gone_to_on_whatever_page_it_is(chromium, base):
    with opened(chromium, base) as (page, wrong):
        page.goto(f"{base}/good/sessions/{LONG}.html#c140")
        expect(page.locator("#c140")).to_be_in_viewport()
        assert page.url.endswith(f"{LONG}.2.html#c140")
        assert wrong == []


def test_the_keys_walk_and_are_told_and_the_theme_is_kept(chromium, base):
    with opened(chromium, base) as (page, wrong):
        page.goto(f"{base}/good/sessions/{LONG}.html")
        page.keyboard.press("]")
        expect(page.locator("#c2 .clm-permalink")).to_be_focused()
        page.keyboard.press("j")
        expect(page.locator("#c3 .clm-permalink")).to_be_focused()
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_contain_text("next prompt")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.get_by_text("Light or dark").click()
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
        page.keyboard.press("u")
        page.wait_for_url("**/index.html")
        assert page.evaluate("getComputedStyle(document.querySelector('.clm-root')).colorScheme") == "dark"
        page.keyboard.press("j")
        page.keyboard.press("j")
        assert page.evaluate(
            "document.activeElement.closest('.clm-card') === document.querySelectorAll('.clm-card')[1]"
        )
        assert wrong == []


# -- for everyone -----------------------------------------------------------------------------------------------

ADDRESSES = [
    "index.html#q=water",
    "sessions/69d5afd4-ebdf-4ad5-abc9-c82100df5484.html?q=tide",
    f"sessions/{LONG}.2.html?q=rain",
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_it_and_nothing_scrolls_sideways(chromium, folder, scheme):
    from axe_playwright_python.sync_playwright import Axe

    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"]}
    with opened(chromium, folder.as_uri(), color_scheme=scheme, bypass_csp=True) as (page, _wrong):
        for address in ADDRESSES:
            page.goto("about:blank")
            page.goto(f"{folder.as_uri()}/good/{address}")
            page.wait_for_timeout(300)
            for width in (360, 1400):
                page.set_viewport_size({"width": width, "height": 900})
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (address, width)
            if LONG in address:
                continue  # axe takes a while on a hundred cards
            found = Axe().run(page, options=rules).response["violations"]
            assert [(one["id"], [n["html"][:160] for n in one["nodes"][:3]]) for one in found] == [], address


def test_it_prints_without_what_is_for_the_screen(chromium, folder):
    with opened(chromium, folder.as_uri()) as (page, _wrong):
        page.goto(f"{folder.as_uri()}/good/sessions/{LONG}.html")
        page.emulate_media(media="print")
        for part in (".clm-side", ".clm-tools", ".clm-pager >> nth=0"):
            expect(page.locator(part)).to_be_hidden()
        expect(page.locator("#c2")).to_be_visible()
