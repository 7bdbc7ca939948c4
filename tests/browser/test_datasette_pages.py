"""The pages in a real browser, served by a real ``datasette`` process: safe, readable, usable by keyboard alone."""

from __future__ import annotations

import json

import pytest

from support.attacks import ALL
from support.hostile import hostile_id, write_hostile
from support.logs import entry, import_logs, query, session_id, turn, write_log
from support.site import MODERN, ROOT, opened, served, tool_turn

pytestmark = pytest.mark.browser
WIDE = session_id(0x360)


@pytest.fixture(scope="module")
def databases(tmp_path_factory):
    """The demo, the attacks, a long session, and a session that is wider than any screen."""
    folder = tmp_path_factory.mktemp("browser")
    import_logs(folder / "demo.db", ROOT / "demo" / "logs")
    write_hostile(folder / "hostile")
    import_logs(folder / "hostile.db", folder / "hostile")
    lines = (one for n in range(150) for one in turn(n, f"Question {n}", f"Answer {n}", session=session_id(5)))
    write_log(folder / "long" / "-x" / f"{session_id(5)}.jsonl", lines)
    write_log(folder / "long" / "-x" / f"{WIDE}.jsonl", wide_log())
    import_logs(folder / "long.db", folder / "long")
    return folder


def wide_log():
    """Long words, long lines, wide tables, long names."""
    word, table = "W" * 900, "|" + "column|" * 40 + "\n|" + "-|" * 40 + "\n|" + "cell|" * 40
    return [
        entry("user", 1, f"{word}\n\n{table}", session=WIDE, cwd=f"/{word}", gitBranch=word),
        entry("assistant", 2, [{"type": "thinking", "thinking": word}, {"type": "text", "text": f"`{word}`\n\n{table}\n\n```\n{word}\n```\n\n# {word}"}], session=WIDE, model=word),
        *tool_turn(3, word[:200], {word[:60]: word}, f"{word} {word}\n" * 5, session=WIDE, error=True),
        *tool_turn(5, "Edit", {"file_path": f"/{word}", "old_string": word, "new_string": f"{word}x"}, word, session=WIDE),
        *tool_turn(7, "Bash", {"command": word}, word, session=WIDE),
        entry("assistant", 9, [{"type": "text", "text": f"https://example.org/{word}"}], session=WIDE),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def address(databases):
    with served(*sorted(databases.glob("*.db"))) as base:
        yield base


def unfold(page):
    """Open every disclosure, as a curious reader would."""
    page.evaluate("document.querySelectorAll('main details').forEach((d) => { d.open = true; })")
    page.wait_for_timeout(150)


# -- safe -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_attack_runs_loads_or_leaves_a_word_on_the_console(chromium, address, databases):
    sid = query(databases / "hostile.db", "SELECT id FROM sessions ORDER BY chunks DESC LIMIT 1")[0][0]
    root = f"{address}/hostile"
    paths = [f"{root}/-/session/{sid}?page={n}" for n in range(1, 6)]
    paths += [f"{root}/-/session/{hostile_id(n)}" for n in range(0, len(ALL), 8)]
    paths += [
        f"{root}/-/session/{hostile_id(0)}/chunk/1",
        f"{root}/-/search?q=readable",
        f"{root}/-/session/{sid}?q=readable",
    ]
    with opened(chromium, address) as (page, wrong):
        for path in paths:
            page.goto(path)
            unfold(page)
            assert page.evaluate("window.__hit") is None, path
            assert wrong == [], path


@pytest.mark.slow
def test_table_pages_of_the_attacks_run_nothing(chromium, address):
    with opened(chromium, address) as (page, wrong):
        for table in ("sessions", "messages", "tool_calls", "chunks"):
            page.goto(f"{address}/hostile/{table}")
            assert page.evaluate("window.__hit") is None
        assert [one for one in wrong if not one.startswith("console")] == []


def test_the_attacks_do_run_where_nothing_holds_them_back(chromium):
    """Without this control, a silent browser would prove nothing."""
    fired = 0
    context = chromium.new_context(offline=True)
    page = context.new_page()
    for attack in ALL:
        if "http-equiv" in attack:
            continue
        page.set_content(
            f"<div>{attack.replace(chr(0), '')}</div>".encode("utf-8", "replace").decode(), wait_until="commit"
        )
        page.wait_for_timeout(15)
        fired += page.evaluate("window.__hit === 1")
        page.evaluate("delete window.__hit")
    context.close()
    assert fired >= 12


def test_a_script_that_gets_into_the_page_all_the_same_is_stopped_by_the_policy(chromium, address, databases):
    sid = query(databases / "demo.db", "SELECT id FROM sessions WHERE role = 'main' LIMIT 1")[0][0]
    with opened(chromium, address) as (page, wrong):
        page.goto(f"{address}/demo/-/session/{sid}")
        page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=window.__hit=1>')")
        page.evaluate(
            "const s = document.createElement('script'); s.textContent = 'window.__hit=1'; document.body.append(s)"
        )
        page.wait_for_timeout(200)
        assert page.evaluate("window.__hit") is None
        assert any("Content Security Policy" in one for one in wrong)


# -- readable ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_scrolls_sideways_even_with_a_log_wider_than_any_screen(chromium, address, databases, width, scheme):
    main = query(databases / "demo.db", "SELECT id FROM sessions ORDER BY chunks DESC LIMIT 1")[0][0]
    paths = [
        f"long/-/session/{WIDE}",
        f"long/-/session/{WIDE}/chunk/1",
        f"long/-/session/{WIDE}?q=wwww",
        "long/-/search?q=column",
        f"demo/-/session/{main}",
    ]
    with opened(chromium, address, viewport={"width": width, "height": 800}, color_scheme=scheme) as (page, wrong):
        for path in paths:
            page.goto(f"{address}/{path}")
            unfold(page)
            page.evaluate(
                "document.querySelectorAll('.clm-chunk').forEach((c) => { c.style.contentVisibility = 'visible'; })"
            )
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert wrong == []


def test_dark_and_light_follow_the_system(chromium, address):
    colours = {}
    for scheme in ("light", "dark"):
        with opened(chromium, address, color_scheme=scheme) as (page, _wrong):
            page.goto(f"{address}/long/-/session/{session_id(5)}")
            colours[scheme] = page.evaluate(
                "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.clm-who')).color].map((c) => c.match(/[\\d.]+/g).slice(0, 3).reduce((a, b) => a + +b, 0))"
            )
    assert colours["light"][0] > 600 > 300 > colours["light"][1]
    assert colours["dark"][0] < 150 < 450 < colours["dark"][1]


def test_a_theme_of_another_plugin_is_followed_whatever_the_system_says(chromium, databases, tmp_path):
    (tmp_path / "theme.css").write_text("body { background-color: #1c2128; color: #d1d5da; }")
    (tmp_path / "metadata.json").write_text(json.dumps({"extra_css_urls": ["/theme/theme.css"]}))
    options = ["--static", f"theme:{tmp_path}", "--config" if MODERN else "--metadata", tmp_path / "metadata.json"]
    with served(databases / "long.db", *options) as base, opened(chromium, base, color_scheme="light") as (page, wrong):
        page.goto(f"{base}/long/-/session/{session_id(5)}")
        assert page.evaluate("getComputedStyle(document.querySelector('main')).colorScheme") == "dark"
        assert page.evaluate("getComputedStyle(document.querySelector('.clm-who')).color") == "rgb(209, 213, 218)"
        assert wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_our_pages(chromium, address, databases, scheme):
    from axe_playwright_python.sync_playwright import Axe

    sids = query(
        databases / "demo.db",
        "SELECT id FROM sessions WHERE role = 'main' ORDER BY subagents DESC, chunks DESC LIMIT 2",
    )
    paths = [f"-/session/{sid}" for (sid,) in sids] + [
        f"-/session/{sids[0][0]}?show=errors",
        f"-/session/{sids[0][0]}/chunk/1",
        "-/search?q=rain",
        "-/search?q=rain&tool=Read&time=2026-02",
        "-/search?q=zeppelin+rain",
        "-/search",
    ]
    excused = {"rules": {"html-has-lang": {"enabled": MODERN}}}
    with opened(chromium, address, color_scheme=scheme, bypass_csp=True) as (page, _wrong):
        for path in paths:
            page.goto(f"{address}/demo/{path}")
            # Cards off the screen are laid out by their estimated size, so axe would see them below the foot of the page.
            page.add_style_tag(content="* { content-visibility: visible !important; }")
            unfold(page)
            # Its property ``matches`` hides the method of that name, on which axe stumbles.
            page.evaluate("document.querySelector('navigation-search')?.remove()")
            found = Axe().run(page, options=excused).response["violations"]
            assert [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found] == [], path


# -- usable -----------------------------------------------------------------------------------------------------


def test_two_steps_stay_open_at_once(chromium, address, databases):
    """Datasette 0.65 closes every disclosure at a click outside of it."""
    sid = query(databases / "demo.db", "SELECT id FROM sessions ORDER BY tool_calls DESC LIMIT 1")[0][0]
    with opened(chromium, address) as (page, wrong):
        page.goto(f"{address}/demo/-/session/{sid}")
        closed = page.locator("details.clm-step:not([open]) > summary")
        first, second = closed.nth(0).element_handle(), closed.nth(1).element_handle()
        first.click()
        second.click()
        page.locator(".clm-transcript").click(position={"x": 2, "y": 2})
        assert first.evaluate("(s) => s.parentElement.open")
        assert second.evaluate("(s) => s.parentElement.open")
        assert wrong == []


def test_a_subagent_is_fetched_when_its_step_is_opened_and_has_a_page_without_scripts_too(chromium, address, databases):
    sid = query(databases / "demo.db", "SELECT id FROM sessions WHERE subagents > 1 AND role = 'main' LIMIT 1")[0][0]
    with opened(chromium, address) as (page, wrong):
        page.goto(f"{address}/demo/-/session/{sid}")
        step = page.locator("details.clm-step", has=page.locator(".clm-goto")).first
        assert step.locator(".clm-nest").count() == 0
        step.locator("summary").first.click()
        step.locator(".clm-nest .clm-chunk").first.wait_for()
        assert wrong == []
    with opened(chromium, address, java_script_enabled=False) as (page, wrong):
        page.goto(f"{address}/demo/-/session/{sid}")
        step = page.locator("details.clm-step", has=page.locator(".clm-goto")).first
        step.locator("summary").first.click()
        step.locator(".clm-goto a").click()
        assert "Subagent of" in page.locator("main").inner_text()
        assert wrong == []


def test_a_fragment_of_another_page_leads_to_that_page(chromium, address):
    with opened(chromium, address) as (page, wrong):
        page.goto(f"{address}/long/-/session/{session_id(5)}#c250")
        page.wait_for_url("**?chunk=250#c250")
        assert page.locator("#c250").is_visible()
        assert page.locator("#c250").evaluate("(c) => c.getBoundingClientRect().top < innerHeight")
        assert wrong == []


def test_a_fragment_inside_copied_history_unfolds_it(chromium, address, databases):
    rows = query(
        databases / "demo.db", "SELECT id FROM sessions WHERE forked_from IS NOT NULL AND inherited_messages > 2"
    )
    with opened(chromium, address) as (page, _wrong):
        page.goto(f"{address}/demo/-/session/{rows[0][0]}#c0")
        page.locator("#c0").wait_for(state="visible")


def test_the_words_of_a_search_are_marked_in_the_cards(chromium, address):
    with opened(chromium, address) as (page, wrong):
        page.goto(f"{address}/long/-/session/{session_id(5)}")
        page.get_by_label("Find in this session").fill("question 7")
        page.keyboard.press("Enter")
        page.wait_for_url("**q=question+7*")
        assert page.locator(".clm-hit mark").first.inner_text().lower() in {"question", "7"}
        assert page.evaluate("CSS.highlights.get('clm-find').size") > 1
        assert wrong == []


def test_the_keyboard_alone_reaches_filters_steps_and_pages(chromium, address, databases):
    sid = query(databases / "demo.db", "SELECT id FROM sessions ORDER BY chunks DESC LIMIT 1")[0][0]
    with opened(chromium, address) as (page, _wrong):
        page.goto(f"{address}/demo/-/session/{sid}")
        seen = set()
        for _press in range(160):
            page.keyboard.press("Tab")
            seen.add(
                page.evaluate(
                    "document.activeElement.closest('.clm-chips') ? 'chips' : document.activeElement.closest('.clm-pager') ? 'pager' : document.activeElement.closest('.clm-outline') ? 'outline' : document.activeElement.matches('summary.clm-row') ? 'step' : document.activeElement.matches('#clm-q') ? 'find' : ''"
                )
            )
            if "step" in seen and page.evaluate("document.activeElement.matches('summary.clm-row')"):
                break
        assert {"chips", "outline", "step", "find", "pager"} <= seen
        before = page.evaluate("document.activeElement.parentElement.open")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.parentElement.open") != before


def test_under_a_base_url_style_script_images_and_subagents_all_load(chromium, databases):
    sid = query(databases / "demo.db", "SELECT id FROM sessions WHERE subagents > 1 AND role = 'main' LIMIT 1")[0][0]
    picture = query(databases / "demo.db", "SELECT session_id FROM message_attachments LIMIT 1")[0][0]
    with (
        served(databases / "demo.db", "--setting", "base_url", "/pre/") as base,
        opened(chromium, base) as (page, wrong),
    ):
        page.goto(f"{base}/pre/demo/-/session/{sid}")
        step = page.locator("details.clm-step", has=page.locator(".clm-goto")).first
        step.locator("summary").first.click()
        step.locator(".clm-nest .clm-chunk").first.wait_for()
        page.goto(f"{base}/pre/demo/-/session/{picture}")
        unfold(page)
        image = page.locator("img.clm-img").first
        image.scroll_into_view_if_needed()
        for _ in range(100):  # not wait_for_function, which needs an eval that the policy of the page forbids
            if image.evaluate("image => image.naturalWidth > 0"):
                break
            page.wait_for_timeout(100)
        assert image.evaluate("image => image.naturalWidth") > 0
        assert wrong == []


def test_the_menu_of_datasette_still_works_on_our_pages(chromium, address):
    with opened(chromium, address) as (page, wrong):
        page.goto(f"{address}/long/-/session/{session_id(5)}")
        page.locator("details.nav-menu > summary").click()
        assert page.locator("details.nav-menu").evaluate("(d) => d.open")
        page.locator(".clm-transcript").click(position={"x": 2, "y": 2})
        assert not page.locator("details.nav-menu").evaluate("(d) => d.open")
        assert wrong == []
