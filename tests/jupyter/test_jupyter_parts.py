"""Chunks by slice, and how values look as the last line of a cell; the line magic."""

import re
from dataclasses import replace

import pytest
from IPython.core.error import UsageError as MagicError
from IPython.core.interactiveshell import InteractiveShell

import jupyter_clm as jc
from clm_sessions.model import ChunkContent, Fact, SessionInfo, Text, ToolCall
from jupyter_clm.lines import call_line, chunk_line, content_line, fact_line, hit_line, message_line, request_line
from jupyter_clm.magics import clm
from jupyter_clm.session import NotebookSession, registry
from jupyter_clm.shown import call_html, teach
from support.notebooks import LOGS, cards_of, plain
from support.safety import check


def cards(html):
    """How many cards it has, those of subagents inside them not counted."""
    return len(re.findall(r'<article[^>]* id="clm-\w{8}-c\d+"', html))


def html_of(value):
    return value._repr_mimebundle_()["text/html"]


def test_a_chunk_is_taken_by_its_place_with_all_that_stands_in_it(long, stored):
    for session in (long, stored):
        chunk = session[1]
        assert isinstance(chunk.content, ChunkContent)
        assert chunk.chunk == session.chunks[1]
        assert chunk.tool_calls == tuple(call for call in session.tool_calls if call.chunk == 1)
        assert [message.place.line for message in chunk.messages] == [
            session.messages[n].place.line for n in chunk.chunk.messages
        ]
        assert session[-1].chunk.seq == 146
        assert len(session) == len(list(session)) == 147
    assert "Today: a watering schedule." in long[0].text
    with pytest.raises(IndexError):
        long[147]


def test_a_slice_is_read_when_it_is_looked_at_and_shows_its_cards(long, stored):
    part = long[10:20]
    assert [chunk.chunk.seq for chunk in part] == list(range(10, 20))
    assert [chunk.chunk.seq for chunk in part[::-3]] == [19, 16, 13, 10]
    assert repr(part) == f"<10 chunks of {long.id}>"
    assert html_of(part) == html_of(stored[10:20])
    assert cards(html_of(part)) == 10
    assert check(cards_of(html_of(part)))[0] == []
    assert html_of(part[::-1]).index("#20") < html_of(part[::-1]).index("#11")


def test_what_a_slice_shows_is_bounded_and_the_rest_is_counted(long):
    html = html_of(long[:])
    assert len(html) < 110_000
    shown = cards(html)
    assert 5 < shown <= 20
    assert f"{147 - shown} more: slice on" in plain(html)
    assert "more: slice on" not in html_of(long[3])
    assert cards(html_of(long[5:5])) == 0


def test_a_line_says_what_a_chunk_or_a_call_is(long):
    assert repr(long[0]).startswith(f"<user chunk 0 of {long.id}: Today: a watering schedule.")
    assert chunk_line(long.chunks[1]).startswith(
        "<Chunk 1: ai, 13 s, 5 tool calls, 399 tokens out: One bed is right now"
    )
    assert call_line(long.tool_calls[0]).startswith("<ToolCall TodoWrite: ok, 1.2 s {")
    huge = ToolCall(id="x", name="Ba\nsh" * 99, input={"command": ["x" * 10_000] * 10_000}, status="error", message=0)
    assert len(call_line(huge)) < 200
    assert "\n" not in call_line(huge)


def test_a_hostile_call_is_only_text(sessions):
    bad = "<img src=x onerror=alert(1)>$x$"
    call = ToolCall(id=bad, name=bad, input={bad: bad}, result=bad * 5000, status="error", message=0)
    html = call_html(call, registry().describe)
    assert check(cards_of(html))[0] == []
    assert len(html) < 60_000
    assert "onerror=alert(1)" in plain(html)


def test_ipython_shows_the_values_of_the_core(long):
    shell = InteractiveShell.instance()
    try:
        teach(registry().describe)
        shown, _meta = shell.display_formatter.format(long.tool_calls[0])
        assert set(shown) == {"text/plain", "text/html"}
        assert shown["text/plain"] == call_line(long.tool_calls[0])
        assert shell.display_formatter.format(long.chunks[1])[0] == {"text/plain": chunk_line(long.chunks[1])}
        jc.load_ipython_extension(shell)
        assert isinstance(shell.run_line_magic("clm", str(LOGS)), jc.SessionList)
    finally:
        InteractiveShell.clear_instance()


def test_the_magic_opens_one_session_as_a_view_and_says_what_it_cannot(database, tmp_path):
    view = clm(f"'{LOGS / 'clm/20260214-101500-b1edfeed.jsonl'}'")
    assert view.n_hits > 0
    view.close()
    assert len(clm(str(database.path))) == len(database)
    for line, words in (
        ("", "%clm PATH"),
        ("a b", "%clm PATH"),
        (str(tmp_path / "no.db"), "no such database, log or folder"),
    ):
        with pytest.raises(MagicError, match=words):
            clm(line)
    with pytest.raises(MagicError, match="No closing quotation"):
        clm("'open")


def test_ids_complete_after_the_bracket_of_a_database(database):
    short = database._ipython_key_completions_()
    assert len(short) == len(database)
    assert {database[sid].id for sid in short} == {session.id for session in database}
    assert isinstance(database[short[0]].info, SessionInfo)


def test_each_value_of_the_core_is_one_line_of_a_bounded_length_in_ipython(long, database):
    huge = "\x1b[31m\u202e" + "text\n" * 100_000
    message = replace(long.messages[0], blocks=(Text(text=huge),), model=huge, origin="prompt")
    values = {
        hit_line: database.search("kale", limit=1)[0],
        message_line: message,
        content_line: ChunkContent(
            session=long.info, chunk=replace(long.chunks[0], preview=huge), messages={0: message}
        ),
        fact_line: Fact(name=huge, value={huge: [huge]}),
        request_line: long.requests[0],
    }
    shell = InteractiveShell.instance()
    try:
        teach(registry().describe)
        for line, value in values.items():
            shown = shell.display_formatter.format([value])[0]["text/plain"]
            assert shown == f"[{line(value)}]"
            assert len(shown) < 300
            assert not {"\n", "\x1b", "\u202e", "\x02", "\x03"} & set(shown)
    finally:
        InteractiveShell.clear_instance()
    assert hit_line(values[hit_line]).startswith("<Hit in b3fefa1a, chunk 19: Bash input, 2026-02-10 08:20:39: ")
    assert "crops/«kale».toml" in hit_line(values[hit_line])
    assert message_line(long.messages[1]).endswith(", claude-sonnet-4-5-20250929, 2026-02-10 08:06:38: Thinking>")
    assert "tokens out" in request_line(long.requests[0])


def test_what_a_log_hides_in_a_name_is_seen_in_a_line(sessions):
    core = sessions[0].core
    bad = NotebookSession(replace(core, info=replace(core.info, title="\x1b[31mred\u202e", project_name="a\x07b")))
    assert not {"\x1b", "\u202e", "\x07"} & set(repr(bad))
