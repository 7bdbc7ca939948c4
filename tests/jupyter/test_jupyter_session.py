"""What a session shows as the last line of a cell."""

import re

import pytest

import jupyter_clm as jc
from clm_sessions.errors import NoSessionError, NotALogError, UsageError
from jupyter_clm.snapshot import LIMIT, style
from support.logs import entry, turn, write_log
from support.notebooks import cards_of, plain
from support.safety import check


def test_every_session_shows_itself_within_the_limit(sessions):
    for session in sessions:
        html = session._repr_mimebundle_()["text/html"]
        assert len(html.encode()) <= LIMIT
        assert html.count("<article") <= session.info.chunks
        assert html.count("<article") >= min(session.info.chunks, 1)


def test_it_reads_well_without_any_style(sessions):
    words = plain(sessions["81d62477"].snapshot())
    assert words.startswith("Plan the beds for spring 2026 Agent Claude Code 2.1.40")
    assert "Morning! Please plan the beds for spring." in words
    assert "clm-root" not in words


def test_what_is_left_out_is_counted_and_the_way_to_it_named(long):
    assert re.search(r"The first \d+ of 147 chunks, long texts cut\. session\.view\(\) pages", plain(long.snapshot()))


def test_it_holds_only_what_we_write(sessions):
    for session in sessions:
        problems, _text = check(cards_of(session.snapshot()))
        assert problems == []


def test_no_heading_gets_into_the_table_of_contents_of_the_notebook(sessions):
    html = sessions["81d62477"].snapshot()
    headings = re.findall(r"<h[1-6][^>]*>", html)
    assert len(headings) > 10
    assert all("jp-toc-ignore" in heading for heading in headings)


def test_the_same_session_gives_the_same_html_so_that_notebooks_stay_quiet_in_git(sessions, stored, long):
    assert long.snapshot() == long.snapshot()
    assert stored.snapshot() == long.snapshot()


def test_two_views_of_a_session_have_no_id_in_common(long):
    one, two = long.view(), long.view()
    ids = [set(re.findall(r' id="([^"]+)"', v._snapshot() + v._controls.body.value)) for v in (one, two)]
    ids.append(set(re.findall(r' id="([^"]+)"', long.snapshot())))
    assert not ids[0] & ids[1] | ids[0] & ids[2]
    for view in (one, two):
        both = re.findall(r' id="([^"]+)"', view._snapshot() + view._controls.body.value)
        assert len(both) == len(set(both))
        view.close()


def test_include_and_exclude_are_honoured(long):
    assert set(long._repr_mimebundle_(include={"text/plain"})) == {"text/plain"}
    assert set(long._repr_mimebundle_(exclude={"text/html"})) == {"text/plain"}
    view = long.view()
    assert set(view._repr_mimebundle_(include=["text/html"])) == {"text/html"}
    assert "application/vnd.jupyter.widget-view+json" in view._repr_mimebundle_()
    view.close()


def test_a_huge_first_chunk_does_not_break_the_limit(tmp_path):
    calls = [
        {"type": "tool_use", "id": f"t{n}", "name": "Bash" * 40, "input": {"command": "ä" * 3000}} for n in range(400)
    ]
    log = write_log(tmp_path / "5e550000-0000-4000-8000-000000000001.jsonl", [
        entry("assistant", 1, [*calls, *({"type": "text", "text": "Grüße. " * 4000} for _ in range(40))]),
    ])  # fmt: skip
    html = jc.load(log).snapshot()
    assert len(html.encode()) <= LIMIT
    assert html.count("<article") == 1


def test_the_style_touches_nothing_outside_our_elements():
    selectors = re.findall(r"^\s*([^{}@]+)\{", style(), re.MULTILINE)
    outside = [s for s in selectors if "clm-" not in s and not s.lstrip().startswith("&")]
    assert outside == []


def test_a_session_forwards_what_the_core_has(long):
    assert long.id == long.info.id == long.core.id
    assert [s.id for s in long.subagents] == [s.id for s in long.core.subagents]
    assert long.contents(3, 5) == long.core.contents(3, 5)
    assert repr(long).startswith(
        f"<NotebookSession {long.id}: The watering schedule and 39 crops (claude-code, garden-planner, 147 chunks"
    )


def test_errors_are_the_core_s(tmp_path, sessions):
    with pytest.raises(UsageError, match="no such file"):
        jc.load(tmp_path / "none.jsonl")
    (tmp_path / "x.txt").write_text("hello")
    with pytest.raises(NotALogError):
        jc.load(tmp_path / "x.txt")
    for number in (1, 2):
        name = f"5e550000-0000-4000-8000-00000000000{number}"
        write_log(tmp_path / f"{name}.jsonl", turn(1, "hello", "hi", session=name))
    with pytest.raises(UsageError, match="holds 2 sessions; use load_all"):
        jc.load(tmp_path)
    with pytest.raises(NoSessionError, match="no session with an id that is or begins with 'zzz'"):
        sessions["zzz"]
