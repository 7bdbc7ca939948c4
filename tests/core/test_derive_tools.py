"""Calls and results: who answers whom, and how it ended (spec claude-code 7, spec clm 6, decision 10)."""

from __future__ import annotations

import pytest

from clm_sessions.derive import Bundle, derive
from clm_sessions.formats.base import Dialect
from clm_sessions.model import Message, Place, Stream, Text, ToolResult, ToolUse
from support.claude_entries import call, reply, result, session, text, user


def linked(*entries):
    return [(c.id, c.message, c.result_message, c.chunk) for c in session(*entries).tool_calls]


def test_results_are_found_by_id_wherever_they_stand():
    assert linked(
        user("r0", [result("b")]),
        reply("a", [call("a"), call("b")]),
        user("u", "typed meanwhile"),
        user("r1", [result("a")]),
    ) == [("a", 1, 3, 0), ("b", 1, 0, 0)]


def test_the_first_call_and_the_first_result_of_an_id_win():
    s = session(
        reply("a", [call("t", n=1)]), reply("b", [call("t", n=2)]), user("r", [result("t", "1"), result("t", "2")])
    )
    assert [(c.input, c.result) for c in s.tool_calls] == [({"n": 1}, "1")]


def test_a_result_in_a_typed_entry_still_links():
    assert linked(reply("a", [call("t")]), user("u", [result("t"), text("and go on")])) == [("t", 0, 1, 0)]


def test_the_source_id_links_only_a_lone_result_of_an_unknown_id():
    use = reply("a", [call("t"), call("u")])
    assert linked(use, user("r", [result("x")], sourceToolUseID="t"))[0] == ("t", 0, 1, 0)
    assert linked(use, user("r", [result("x"), result("y")], sourceToolUseID="t"))[0] == ("t", 0, None, 0)
    assert linked(use, user("r", [result("u")], sourceToolUseID="t")) == [("t", 0, None, 0), ("u", 0, 1, 0)]
    assert linked(use, user("r", [result("x")], sourceToolUseID="t"), user("s", [result("t")]))[0] == ("t", 0, 2, 0)


def test_calls_come_from_replies_and_results_from_others():
    assert linked(user("u", [call("t")]), reply("a", [result("t")]), user("r", [result("t")])) == []


def test_calls_of_a_sidechain_belong_to_no_chunk():
    assert linked(reply("a", [call("t")], isSidechain=True), user("r", [result("t")], isSidechain=True)) == [
        ("t", 0, 1, None)
    ]


def test_times_and_duration_are_those_of_the_entries_even_when_they_run_backwards():
    s = session(reply("a", [call("t"), call("u")], 10), user("r", [result("t")], 5), user("s", [result("u")]))
    assert [c.duration_ms for c in s.tool_calls] == [-5000, None]
    assert [c.ended_at for c in s.tool_calls] == [s.messages[1].at, None]


@pytest.mark.parametrize(
    ("entries", "status"),
    [
        ([user("r", [result("t")])], "ok"),
        ([user("r", [result("t", is_error=True)])], "error"),
        ([user("r", [result("t", is_error=True)], toolUseResult="User rejected tool use")], "interrupted"),
        ([user("r", [result("t")], toolUseResult={"interrupted": True})], "interrupted"),
        ([user("r", [result("t")], toolUseResult={"interrupted": False})], "ok"),
        ([], "unanswered"),
        ([user("i", [text("[Request interrupted by user]")])], "interrupted"),
        ([user("u", "next"), user("i", "[Request interrupted by user]")], "unanswered"),
    ],
)
def test_a_call_ends_in_one_of_four_ways(entries, status):
    assert session(reply("a", [call("t")]), *entries).tool_calls[0].status == status


def test_a_call_after_the_interruption_is_unanswered_not_interrupted():
    s = session(reply("a", "x"), user("i", "[Request interrupted by user]"), reply("b", [call("t")]))
    assert s.tool_calls[0].status == "unanswered"


def test_counts_of_calls_are_told_with_the_session():
    s = session(
        reply("a", [call("t"), call("u"), call("v")]),
        user("r", [result("t", is_error=True)]),
        user("s", [result("u")]),
    )
    assert (s.info.tool_calls, s.info.tool_errors, s.info.unanswered) == (3, 1, 1)
    assert (s.chunks[0].tool_calls, s.chunks[0].tool_errors) == (3, 1)


# -- ids that repeat (spec clm 6) -----------------------------------------------------------------------------------


class Reusing(Dialect):
    tool_ids = "reused"

    def failed(self, result: str) -> bool:
        return result.startswith("[tool failed")


def reused(*rounds):
    """Each round is a list of (id, name) calls in one reply, or one (id, name, text) result."""
    messages = []
    for number, each in enumerate(rounds):
        place = Place(line=number + 1, offset=number, length=1)
        if isinstance(each, list):
            blocks = tuple(ToolUse(id=i, name=n, input={}) for i, n in each)
            messages.append(Message(place=place, role="assistant", kind="ai", origin="reply", blocks=blocks))
        else:
            block = ToolResult(tool_use_id=each[0], name=each[1], content=each[2])
            messages.append(Message(place=place, role="tool", kind="ai", origin="tool_result", blocks=(block,)))
    (s,) = derive(Bundle(format="x", key="k", session="k", main=Stream(messages=messages)), Reusing())
    return [(c.name, c.result) for c in s.tool_calls]


def test_a_result_answers_the_latest_call_of_its_id():
    assert reused([("1", "a")], ("1", "a", "x"), [("1", "b")], ("1", "b", "y")) == [("a", "x"), ("b", "y")]
    assert reused([("1", "a")], [("1", "b")], ("1", "b", "y"), ("1", "a", "x")) == [("a", "x"), ("b", "y")]


def test_within_a_reply_the_call_of_equal_name_is_answered_first():
    assert reused([("1", "a"), ("1", "b")], ("1", "b", "y"), ("1", "z", "x")) == [("a", "x"), ("b", "y")]


def test_a_null_id_links_nothing_and_an_empty_one_does():
    assert reused([(None, "a"), ("", "b")], (None, "a", "x"), ("", "b", "y")) == [("a", None), ("b", "y")]


def test_a_result_before_its_call_or_after_the_answer_is_an_orphan():
    assert reused(("1", "a", "w"), [("1", "a")], ("1", "a", "x"), ("1", "a", "y")) == [("a", "x")]


def test_a_result_can_say_by_itself_that_the_call_failed():
    messages = [
        Message(place=Place(line=1, offset=0, length=1), role="assistant", kind="ai", origin="reply",
                blocks=(ToolUse(id="1", name="a", input={}), ToolUse(id="2", name="a", input={}))),
        Message(place=Place(line=2, offset=1, length=1), role="tool", kind="ai", origin="tool_result",
                blocks=(ToolResult(tool_use_id="1", content="[tool failed: x]"),)),
        Message(place=Place(line=3, offset=2, length=1), role="tool", kind="ai", origin="tool_result",
                blocks=(ToolResult(tool_use_id="2", content=(Text(text="[tool failed"),)),), detail={"denied": True}),
    ]  # fmt: skip
    (s,) = derive(Bundle(format="x", key="k", session="k", main=Stream(messages=messages)), Reusing())
    assert [c.status for c in s.tool_calls] == ["error", "interrupted"]
