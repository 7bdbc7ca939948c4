"""Reading a transcript in a real browser: finding, filtering, unfolding, moving by keys, copying."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from support.logs import entry, import_logs, query, session_id, text, turn, write_log
from support.site import ROOT, served, tool_turn

pytestmark = pytest.mark.browser
SID, NESTED = session_id(0x500), session_id(0x501)
OUTPUT = "".join(f"a line of output {n}\n" for n in range(300))


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("transcript")
    lines = [one for n in range(120) for one in turn(n, f"Question {n}", f"Answer {n}", session=SID)]
    lines += [entry("user", 300, "now the tool", session=SID)]
    lines += [*tool_turn(301, "Bash", {"command": "make"}, f"{OUTPUT}the needle\n{OUTPUT}", session=SID)]
    lines += [*tool_turn(303, "Bash", {"command": "false"}, f"{OUTPUT} failed", session=SID, error=True)]
    lines += [entry("assistant", 305, text("a needle again"), session=SID)]
    write_log(folder / "logs" / "-x" / f"{SID}.jsonl", lines)
    write_nested(folder / "logs" / "-x")
    import_logs(folder / "x.db", folder / "logs")
    import_logs(folder / "demo.db", ROOT / "demo" / "logs")
    with served(folder / "x.db", folder / "demo.db") as base:
        yield base


def write_nested(folder):
    """A session whose agent calls an agent, which calls one of 240 chunks."""
    write_log(folder / f"{NESTED}.jsonl", [entry("user", 1, "go", session=NESTED), *call(None, "aaaaaaa1")])
    for name, child in (("aaaaaaa1", "aaaaaaa2"), ("aaaaaaa2", "aaaaaaa3"), ("aaaaaaa3", None)):
        more = {"session": NESTED, "agentId": name, "isSidechain": True}
        lines = [entry("user", 1, f"Task of {name}", **more)]
        lines += call(name, child) if child else []
        if not child:
            lines += [one for n in range(5, 125) for one in turn(n, f"Q{n}", f"deep answer {n}", **more)]
        for line in lines:
            line["uuid"] = f"{name}-{line['uuid']}"
        write_log(folder / NESTED / "subagents" / f"agent-{name}.jsonl", lines)


def call(agent, child):
    more = {"session": NESTED, **({"agentId": agent, "isSidechain": True} if agent else {})}
    given = {"description": f"Ask {child}", "prompt": f"Task of {child}", "subagent_type": "general"}
    back = [{"type": "tool_result", "tool_use_id": f"toolu_{child}", "content": "done"}]
    return [
        entry("assistant", 2, [{"type": "tool_use", "id": f"toolu_{child}", "name": "Task", "input": given}], **more),
        entry("user", 3, back, toolUseResult={"status": "completed", "agentId": child}, **more),
    ]


@pytest.fixture
def page(chromium, address):
    """A page that fails the test if anything goes wrong on it."""
    context = chromium.new_context(viewport={"width": 1300, "height": 800})
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if said.type in {"error", "warning"} else None)
    yield page
    context.close()
    assert [one for one in wrong if "Failed to load resource" not in one] == []


def top_of(page, anchor):
    return page.locator(f"#{anchor}").evaluate("(one) => one.getBoundingClientRect().top")


def count(page):
    return " ".join(page.locator(".clm-found-count").inner_text().split())


# -- find -------------------------------------------------------------------------------------------------------


def test_what_stands_on_a_page_not_yet_loaded_is_found_and_walked_through(page, address):
    page.goto(f"{address}/x/-/session/{SID}")
    page.keyboard.press("/")
    page.keyboard.type("needle")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=needle*")
    assert count(page) == "1 of 2 for needle"
    step = page.locator("#c241-1")
    expect(step).to_have_attribute("open", "")
    expect(step).to_be_in_viewport()
    assert page.evaluate("CSS.highlights.get('clm-find').size") >= 2
    page.keyboard.press("n")
    assert count(page) == "2 of 2 for needle"
    expect(page.locator("#c241-3")).to_be_in_viewport()
    page.keyboard.press("p")
    expect(page.locator(".clm-here")).to_have_attribute("id", "c241-1")
    page.reload()
    assert count(page) == "1 of 2 for needle"


def test_the_next_place_may_be_on_the_next_page(page, address):
    page.goto(f"{address}/x/-/session/{SID}?q=answer&hit=50")
    assert count(page) == "50 of 120 for answer"
    page.keyboard.press("n")
    page.wait_for_url("**hit=51*")
    expect(page.locator(".clm-here")).to_be_in_viewport()
    assert page.locator(".clm-here").get_attribute("data-n") == "51"


def test_finding_works_without_scripts(chromium, address):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/x/-/session/{SID}?q=answer")
    page.get_by_role("link", name="Next").first.click()
    assert count(page) == "2 of 120 for answer"
    page.goto(f"{address}/x/-/session/{SID}?q=needle")
    assert "the needle" in page.locator("#c241-1").text_content()
    page.goto(f"{address}/x/-/session/{SID}?page=3")
    page.locator("#c241 > .clm-body summary").nth(1).click()
    page.locator("#c241-2 .clm-later a").click()
    assert "failed" in page.locator("#c241-2 .clm-inner").text_content()
    context.close()


# -- the place of the reader ------------------------------------------------------------------------------------


def test_a_filter_keeps_the_chunk_that_is_read_where_it_is(page, address):
    page.goto(f"{address}/x/-/session/{SID}?chunk=150#c150")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('.clm-chunk').id") == "c152"
    before = top_of(page, "c152")
    page.get_by_role("link", name=re.compile("prompts")).click()
    page.wait_for_url("**show=prompts*")
    page.wait_for_timeout(100)
    assert page.locator("#c153").count() == 0
    assert abs(top_of(page, "c152") - before) < 3
    page.get_by_role("link", name=re.compile("prompts")).click()
    page.wait_for_url("**chunk=152*")
    assert page.locator("#c153").count() == 1
    expect(page.locator("#c152")).to_be_in_viewport()


def test_the_outline_marks_the_prompt_that_is_read(page, address):
    page.goto(f"{address}/x/-/session/{SID}")
    here = page.locator(".clm-outline a[aria-current]")
    expect(here).to_contain_text("Question 0")
    page.locator("#c60").evaluate("(one) => one.scrollIntoView()")
    expect(here).to_contain_text("Question 30")
    expect(here).to_be_in_viewport()


def test_the_keys_move_by_chunk_prompt_and_page_and_do_nothing_inside_a_field(page, address):
    page.goto(f"{address}/x/-/session/{SID}")
    for key, card in (("j", "c1"), ("]", "c2"), ("]", "c4"), ("[", "c2"), ("k", "c1")):
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.closest('.clm-chunk').id") == card, key
    page.keyboard.press("/")
    page.keyboard.type("jk]?o")
    assert page.locator("#clm-q").input_value() == "jk]?o"
    page.keyboard.press("Escape")
    page.keyboard.press("l")
    page.wait_for_url("**page=2")


def test_the_keys_are_explained_and_can_be_switched_off(page, address):
    page.goto(f"{address}/x/-/session/{SID}")
    page.keyboard.press("?")
    box = page.locator("dialog.clm-keys")
    expect(box).to_be_visible()
    box.get_by_label("Use these keys").uncheck()
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    page.keyboard.press("l")
    page.wait_for_timeout(200)
    assert "page=2" not in page.url


# -- unfolding --------------------------------------------------------------------------------------------------


def test_all_steps_open_at_once_and_fetch_what_they_hold_only_near_the_screen(page, address):
    page.goto(f"{address}/x/-/session/{SID}?page=3")
    page.locator("#c0, #c240").first.evaluate("(one) => one.scrollIntoView()")
    page.get_by_role("button", name="Open all steps").click()
    expect(page.locator("#c241-1 .clm-terminal").first).to_contain_text("a line of output 0")
    assert page.locator("details.clm-step:not([open])").count() == 0
    page.get_by_role("button", name="Close all steps").click()
    assert page.locator("details.clm-step[open]").count() == 0


def test_agents_nest_three_deep_and_a_long_one_goes_on_in_place(page, address):
    page.goto(f"{address}/x/-/session/{NESTED}")
    nest = page.locator(".clm-transcript")
    for depth in (1, 2, 3):
        nest.locator(".clm-f-agent > summary").last.click()
        expect(page.locator(".clm-nest")).to_have_count(depth)
        nest = page.locator(".clm-nest").last
        expect(nest.locator(".clm-chunk").first).to_be_visible()
    before = nest.locator(".clm-chunk").count()
    nest.get_by_role("link", name=re.compile("Show the next")).click()
    expect(nest.locator(".clm-filled .clm-chunk").first).to_be_visible()
    assert before == 100
    assert nest.locator(".clm-chunk").count() > before
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_what_cannot_be_fetched_says_so_and_can_be_asked_for_again(page, address):
    page.goto(f"{address}/x/-/session/{SID}?page=3")
    page.route("**/cards?step=0", lambda route: route.abort())
    step = page.locator("#c241-1")
    step.locator("summary").first.click()
    expect(step.get_by_role("alert")).to_contain_text("could not be loaded")
    page.unroute("**/cards?step=0")
    step.locator("summary").first.click()
    step.locator("summary").first.click()
    expect(step.locator(".clm-terminal").first).to_contain_text("a line of output")


def test_the_raw_records_of_a_chunk_unfold_below_it(page, address):
    page.goto(f"{address}/x/-/session/{SID}")
    item = page.locator(".clm-item").first
    item.hover()
    item.locator(".clm-records > summary").click()
    item.locator(".clm-records td").first.wait_for()
    assert item.get_by_role("link", name="raw").count() == 1


# -- copying and printing ---------------------------------------------------------------------------------------


def test_link_markdown_and_command_are_copied(chromium, address):
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{address}/x/-/session/{SID}")
    copied = []
    item = page.locator(".clm-item").nth(3)
    item.hover()
    for button, said in (
        (page.get_by_role("button", name="Copy the command"), "Copied the command"),
        (item.get_by_role("button", name="Copy link"), "Copied the link"),
        (item.get_by_role("button", name="Copy Markdown"), "Copied the chunk as Markdown"),
        (page.get_by_role("button", name="Copy Markdown of this page"), "Copied the page as Markdown"),
    ):
        button.click()
        expect(page.locator(".clm-said")).to_have_text(said)
        copied.append(page.evaluate("navigator.clipboard.readText()"))
    context.close()
    assert copied[0] == f"claude --resume {SID}"
    assert copied[1] == f"{address}/x/-/session/{SID}?chunk=3#c3"
    assert "Answer 1" in copied[2]
    assert "Question 1" not in copied[2]
    assert "Answer 49" in copied[3]


def test_on_paper_stands_the_transcript_without_what_is_for_the_screen(page, address):
    page.goto(f"{address}/x/-/session/{SID}")
    page.emulate_media(media="print")
    for gone in (".clm-side", ".clm-pager", ".clm-foot", ".clm-tabs", ".clm-also", "header.hd"):
        expect(page.locator(gone).first).to_be_hidden()
    expect(page.locator("#c0")).to_be_visible()


def test_axe_finds_nothing_while_something_is_found_and_the_keys_are_shown(chromium, address):
    from axe_playwright_python.sync_playwright import Axe

    context = chromium.new_context(bypass_csp=True)
    page = context.new_page()
    for after in (lambda: None, lambda: page.keyboard.press("?")):
        page.goto(f"{address}/x/-/session/{SID}?q=needle")
        page.locator("#c241-1 .clm-terminal").first.wait_for()
        after()
        page.evaluate("document.querySelector('navigation-search')?.remove()")
        found = Axe().run(page, options={"rules": {"html-has-lang": {"enabled": False}}}).response["violations"]
        assert [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found] == []
    context.close()


def test_demo_sessions_tell_failed_from_interrupted_and_mark_both_in_the_outline(page, address, tmp_path):
    import_logs(tmp_path / "demo.db", ROOT / "demo" / "logs")
    sid = query(tmp_path / "demo.db", "SELECT id FROM sessions WHERE interruptions > 2 LIMIT 1")[0][0]
    page.goto(f"{address}/demo/-/session/{sid}")
    outline = page.get_by_role("navigation", name="Outline")
    assert outline.get_by_text("interrupted").count() > 1
    assert outline.get_by_text("failed").count() == 1
    page.get_by_role("link", name=re.compile(r"^\d+ interrupted")).click()
    page.wait_for_url("**show=interrupted*")
    assert page.locator(".clm-step.clm-is-error").count() == 0
    assert page.locator(".clm-step.clm-is-interrupted").count() > 0
