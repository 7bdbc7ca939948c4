"""An exported page in Chromium, from file://, with no server: nothing of a log runs, and it can be used by everyone."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from clm_sessions import load, load_all, plugins
from clm_sessions.export import Start, redacted, to_html
from support import attacks
from support.hostile import write_hostile
from support.logs import session_id, turn, write_log

pytestmark = pytest.mark.browser
DEMO = Path(__file__).parents[2] / "demo" / "logs"
REGISTRY = plugins.build(entry_points=False)
COUNTED = "(window.__hits??={{}})[{}]=1"
SHOWN = ".clm-part > .clm-chunk:not(.clm-out)"
IN_VIEW = "e => { const { top, bottom } = e.getBoundingClientRect(); return bottom > 0 && top < innerHeight }"


def write(path, session, **more):
    path.write_text("".join(to_html(session, REGISTRY.describe, **more)), "utf-8", "replace")
    return path.as_uri()


@pytest.fixture(scope="module")
def sessions():
    return {session.id[:8]: session for session in load_all(DEMO, registry=REGISTRY)}


@pytest.fixture(scope="module")
def address(tmp_path_factory, sessions):
    """The longest demo session as a page, redacted."""
    made = redacted(sessions["b3fefa1a"], REGISTRY.redactors())
    return write(tmp_path_factory.mktemp("page") / "a.html", made.session, note=made.note)


@pytest.fixture
def opened(chromium):
    """Opens pages; they may ask for nothing but themselves, and say nothing on the console."""
    contexts, wrong = [], []

    def open_(address, **options):
        context = chromium.new_context(**{"viewport": {"width": 1400, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else wrong.append(r.url))
        page.on("console", lambda m: wrong.append(m.text) if m.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert wrong == []


# -- hostile logs -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A folder of pages with an attack in every field, and one page with all of them; ``frames.html`` shows them all."""
    folder = tmp_path_factory.mktemp("hostile")
    write_hostile(folder / "logs")
    pages = []
    for number, session in enumerate(load_all(folder / "logs", registry=REGISTRY)):
        start = Start(query=attacks.ALL[number % len(attacks.ALL)], tool=attacks.ALL[0])
        write(folder / f"{number}.html", session, start=start)
        pages.append(f'<iframe src="{number}.html"></iframe>')
        if session.id == session_id(0xFFF):
            write(folder / "all.html", session)
    assert len(pages) > len(attacks.ALL)
    (folder / "frames.html").write_text(f"<!doctype html><body>{''.join(pages)}", "utf-8")
    return folder


def hits(page):
    found = "() => [...Object.keys(window.__hits ?? {}), ...(window.__hit ? ['hit'] : [])]"
    return [hit for frame in page.frames for hit in frame.evaluate(found)]


def test_no_attack_in_any_field_runs_or_loads_anything(opened, hostile):
    page = opened((hostile / "frames.html").as_uri(), bypass_csp=True)
    page.wait_for_timeout(1_000)
    assert len(page.frames) > len(attacks.ALL)
    assert hits(page) == []
    page.close()
    page = opened((hostile / "all.html").as_uri(), bypass_csp=True)
    page.get_by_role("button", name="Open all steps").click()
    for query in ("readable", "<script", '"onerror=', "window.__hit=1", "[x]("):
        page.get_by_label("Find in session").fill(query)
        expect(page.locator(".clm-said")).to_contain_text("place")
        page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    assert hits(page) == []
    assert page.evaluate("document.querySelectorAll('script').length") == 1
    assert attacks.CANARY in page.locator(".clm-transcript").inner_text()


def write_small(folder):
    """A page of two chunks."""
    log = write_log(folder / "small" / f"{session_id(1)}.jsonl", turn(1, "hello", "good morning"))
    write(folder / "small.html", load(log, registry=REGISTRY))
    return folder / "small.html"


def test_unescaped_the_attacks_would_run_and_the_policy_of_the_page_stops_even_these(chromium, hostile):
    vectors = [a.replace(attacks.HIT, COUNTED.format(n)) for n, a in enumerate(attacks.MARKUP) if attacks.HIT in a]
    page_html = write_small(hostile).read_text("utf-8")
    for number, vector in enumerate(vectors):
        wounded = page_html.replace('<div class="clm-part">', f'<div class="clm-part">{vector}', 1)
        (hostile / f"raw{number}.html").write_text(wounded, "utf-8")
    frames = "".join(f'<iframe src="raw{number}.html"></iframe>' for number in range(len(vectors)))
    (hostile / "raw.html").write_text(f"<!doctype html><body>{frames}", "utf-8")
    fired = {}
    for bypassed in (True, False):
        page = chromium.new_context(bypass_csp=bypassed).new_page()
        page.route(re.compile("^https?:"), lambda route: route.abort())
        page.goto((hostile / "raw.html").as_uri())
        page.wait_for_timeout(1_000)
        fired[bypassed] = hits(page)
        page.context.close()
    assert len(fired[True]) >= 15, fired
    assert fired[False] == []


# -- using it ---------------------------------------------------------------------------------------------------------


def test_filters_show_what_was_asked_for_and_say_how_much(opened, address, sessions):
    info = sessions["b3fefa1a"].info
    page = opened(address)
    said = page.locator(".clm-found-bar")
    expect(said).to_be_hidden()
    page.get_by_role("button", name="prompts").click()
    expect(page.locator(SHOWN).first).to_have_class(re.compile("clm-user"))
    prompts = page.locator(".clm-part > .clm-user").count()
    expect(said).to_contain_text(f"{prompts} of {info.chunks} chunks shown")
    page.get_by_role("button", name="prompts").click()
    page.get_by_role("button", name="failed or stopped").click()
    page.get_by_label("Tool").select_option(
        re.compile("Bash").pattern and page.locator("#clm-tool option").nth(1).get_attribute("value")
    )
    failed = page.locator(f"{SHOWN} > .clm-body > .clm-rows > .clm-step:visible")
    expect(failed.first).to_be_visible()
    assert failed.count() == page.locator(f"{SHOWN} .clm-t0.clm-bad").count() >= 3
    assert page.locator(f"{SHOWN} .clm-say:visible").count() == 0
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(SHOWN)).to_have_count(info.chunks)
    expect(said).to_be_hidden()


def test_find_counts_opens_and_walks_through_places_in_subagents_too(opened, address):
    page = opened(address)
    words = page.locator(".clm-nest .clm-md p").last.text_content()[:40]
    page.get_by_label("Find in session").fill(f'"{words}"')
    expect(page.locator(".clm-said")).to_have_text(re.compile(r"^\d+ places?$"))
    page.keyboard.press("Enter")
    expect(page.locator(".clm-said")).to_have_text(re.compile(r"^1 of \d+ place"))
    inside = page.locator(".clm-nest .clm-md, .clm-nest .clm-text").filter(has_text=words).first
    expect(inside).to_be_in_viewport()
    page.get_by_label("Find in session").fill("rain bed")
    expect(page.locator(".clm-said")).to_have_text("16 places")
    page.get_by_role("button", name="Previous").click()
    expect(page.locator(".clm-said")).to_have_text("16 of 16 places")
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".clm-said")).to_have_text("1 of 16 places")
    page.get_by_role("button", name="Only chunks with it").click()
    expect(page.locator(SHOWN)).not_to_have_count(147)
    assert page.locator(SHOWN).count() <= 16
    assert page.evaluate("CSS.highlights.get('clm-find').size") >= 16
    page.get_by_label("Find in session").fill("no such words anywhere")
    expect(page.locator(".clm-said")).to_contain_text("Nothing found")


def test_addresses_and_the_outline_lead_to_chunks_even_to_those_a_filter_hides(opened, address):
    page = opened(f"{address}#c120")
    expect(page.locator("#c120")).to_be_in_viewport()
    page.get_by_role("button", name="compactions").click()
    expect(page.locator(SHOWN)).to_have_count(2)
    page.locator('.clm-outline a[href="#c4"]').click()
    expect(page.locator("#c4")).to_be_in_viewport()
    expect(page.locator('.clm-outline a[href="#c4"]')).to_have_attribute("aria-current", "true")
    expect(page.locator(SHOWN)).to_have_count(147)


def test_a_page_begins_with_what_a_view_showed(opened, sessions, tmp_path):
    start = Start(query="rain", kinds=("user",))
    page = opened(write(tmp_path / "a.html", sessions["b3fefa1a"], start=start))
    expect(page.locator(".clm-said")).to_have_text(re.compile(r"^\d+ places? · \d+ of 147 chunks shown$"))
    expect(page.get_by_label("Find in session")).to_have_value("rain")


def test_the_keyboard_reaches_and_does_everything(opened, address):
    page = opened(address)
    for _press in range(100):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "clm-q":
            break
    page.keyboard.type("rain bed")
    page.keyboard.press("Enter")
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".clm-said")).to_have_text("16 of 16 places")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator(".clm-said")).to_have_text("1 of 16 places")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.className") == "clm-permalink"
    before = page.evaluate("document.activeElement.hash")
    page.keyboard.press("]")
    assert page.evaluate("document.activeElement.hash") != before
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "clm-q"
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator(SHOWN)).to_have_count(72)
    page.locator(".clm-keys > summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_label("Use these keys")).not_to_be_checked()
    page.keyboard.press("n")
    expect(page.locator(".clm-said")).to_contain_text(re.compile(r"^1 place · 72 of"))


def test_without_scripts_everything_can_be_read_and_nothing_is_offered_that_does_nothing(chromium, address):
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(address)
    expect(page.get_by_label("Find in session")).to_be_hidden()
    expect(page.locator(".clm-found-bar")).to_be_hidden()
    step = page.locator(f"#{page.locator('details.clm-step:not([open])').first.get_attribute('id')}")
    step.locator("> summary").click()
    expect(step.locator("> .clm-inner")).to_be_visible()
    page.locator('.clm-outline a[href="#c4"]').click()
    expect(page.locator("#c4")).to_be_in_viewport()
    page.context.close()


def test_paper_shows_everything_that_is_folded_and_the_page_is_as_it_was_afterwards(opened, address):
    page = opened(address)
    closed = page.locator("details:not([open])").count()
    page.evaluate(
        "addEventListener('beforeprint', () => { window.folded = document.querySelectorAll('details:not([open])').length })"
    )
    assert len(page.pdf()) > 100_000
    assert page.evaluate("window.folded") == 0
    assert page.locator("details:not([open])").count() == closed > 100
    page.emulate_media(media="print")
    expect(page.locator(".clm-side")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everyone_can_read_and_use_it(opened, sessions, tmp_path, scheme):
    from axe_playwright_python.sync_playwright import Axe

    session = min((s for s in sessions.values() if s.subagents and s.info.tool_errors), key=lambda s: len(s.messages))
    page = opened(write(tmp_path / "a.html", session), color_scheme=scheme, bypass_csp=True)
    page.get_by_label("Find in session").fill("a")
    page.locator(".clm-keys > summary").click()
    page.get_by_role("button", name="Open all steps").click()
    expect(page.locator(".clm-said")).to_contain_text("place")
    page.add_style_tag(content=".clm-root :is(.clm-part, .clm-chunk) { content-visibility: visible !important }")
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]}
    found = Axe().run(page, options=rules).response["violations"]
    assert [(v["id"], [n["html"][:160] for n in v["nodes"][:3]]) for v in found] == []


@pytest.mark.parametrize("width", [360, 800])
def test_it_fits_a_phone(opened, address, width):
    page = opened(address, viewport={"width": width, "height": 700}, bypass_csp=True)
    page.add_style_tag(content=".clm-root :is(.clm-part, .clm-chunk) { content-visibility: visible !important }")
    page.get_by_label("Find in session").fill("rain")
    page.keyboard.press("Enter")
    page.locator("#clm-all").evaluate("e => e.click()")
    expect(page.locator(".clm-said")).to_contain_text("places")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
