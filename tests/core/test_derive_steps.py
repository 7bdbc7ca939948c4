"""Steps, last output and items of an AI chunk (spec claude-code 8)."""

from __future__ import annotations

import pytest

from clm_sessions.derive import nest
from clm_sessions.derive.steps import correspondence, items, last_output, steps
from support.claude_entries import FORMAT, call, reply, result, session, sessions, text, user

MARK = "[Request interrupted by user]"
DIALECT = FORMAT.dialect


def content(*entries, number=-1):
    return session(*entries).contents()[number]


def spelled(*entries):
    return [(s.kind, s.id) for s in steps(content(*entries), DIALECT)]


def listed(*entries, **more):
    return [(i.kind, i.text or i.id, i.status) for i in items(content(*entries), DIALECT, **more)]


def thinking(words):
    return {"type": "thinking", "thinking": words}


def test_steps_stand_in_message_and_block_order_and_count_only_what_has_no_id():
    assert spelled(
        reply("a", [thinking("t"), thinking(""), text("o"), text(""), call("c")]),
        user("r", [result("c"), text("[Request interrupted by user for tool use]")]),
        reply("b", "end"),
    ) == [
        ("thinking", "a-thinking-0"), ("output", "a-output-1"), ("tool_call", "c"), ("tool_result", "c"),
        ("interruption", "r-interruption-2"), ("output", "b-output-3"),
    ]  # fmt: skip


def test_a_rejected_tool_is_an_interruption_unless_the_marker_says_so_itself():
    rejected = {"toolUseResult": "User rejected tool use"}
    found = steps(content(reply("a", [call("c")]), user("r", [result("c")], **rejected)), DIALECT)
    assert [(s.kind, s.text) for s in found][1:] == [
        ("tool_result", "done"), ("interruption", "Request interrupted by user"),
    ]  # fmt: skip
    both = steps(content(reply("a", [call("c")]), user("r", [result("c"), text(f" {MARK}")], **rejected)), DIALECT)
    assert [s.text for s in both if s.kind == "interruption"] == [MARK]


def test_text_that_was_not_written_by_the_agent_is_no_step():
    assert spelled(reply("a", "x"), user("m", [text("skill body")], isMeta=True)) == [("output", "a-output-0")]


def test_steps_are_sorted_by_time_and_an_unknown_time_stays_behind_its_neighbour():
    found = steps(content(reply("a", "1", 20), reply("b", "2"), reply("c", "3", 5), reply("d", "4")), DIALECT)
    assert [s.text for s in found] == ["3", "4", "1", "2"]
    assert [s.at is None for s in found] == [False, True, False, True]


def test_a_step_ends_where_the_next_one_begins_at_least_a_tenth_of_a_second_later():
    found = steps(
        content(reply("a", "1", 1), reply("b", "2", 1.099), reply("c", "3", 1.1), reply("d", "4", 3)), DIALECT
    )
    start = found[0].at
    assert [(s.at - start, s.ends_at - start) for s in found] == [(0, 100), (99, 2000), (100, 2000), (2000, 2000)]


def test_a_subagent_keeps_its_own_end_when_it_is_long_enough():
    flat = sessions(
        reply("a", [call("t1", "Task", prompt="p1"), call("t2", "Task", prompt="p2")], 1),
        reply("b", "end", 9),
        agents={
            "long": [user("l1", "p1", 2), reply("l2", "x", 5)],
            "short": [user("s1", "p2", 3), reply("s2", "x", 3.1)],
        },
    )
    main = nest(list(flat.values()))[0]
    found = {s.id: (s.at - found_start, s.ends_at - found_start) for s in steps(main.contents()[0], DIALECT)
             if s.kind == "subagent" and (found_start := main.chunks[0].started_at)}  # fmt: skip
    assert found == {"long": (1000, 4000), "short": (2000, 8000)}


PLAN = call("p", "ExitPlanMode", plan="# Plan")


@pytest.mark.parametrize(
    ("entries", "kind", "words"),
    [
        ([reply("a", [text("x"), call("c")]), user("r", [result("c", "out")])], "text", "x"),
        ([reply("a", [call("c")]), user("r", [result("c", "out")])], "tool_result", "out"),
        ([reply("a", [call("c")]), user("r", [result("c", [text("o"), text("p")])])], "tool_result", "o\np"),
        ([reply("a", [text("x")]), user("i", MARK)], "interruption", MARK),
        ([reply("a", [text("x")]), user("i", MARK), reply("b", [PLAN])], "interruption", MARK),
        ([user("i", MARK), reply("b", "after")], "text", "after"),
        ([reply("a", [text("x"), PLAN])], "plan_exit", "# Plan"),
        ([reply("a", [text("x"), PLAN]), user("r", [result("p", "")])], "plan_exit", "# Plan"),
        ([reply("a", [PLAN, text("x")])], "text", "x"),
        ([reply("a", [PLAN]), user("r", [result("p", "approved")])], "tool_result", "approved"),
        ([reply("a", [call("q", "ExitPlanMode", plan="old"), PLAN])], "plan_exit", "# Plan"),
        ([reply("a", [call("c")]), user("r", [result("c", "1")]), user("s", [result("d", "")])], "tool_result", "1"),
    ],
)
def test_a_collapsed_card_shows_what_matters_most(entries, kind, words):
    last = last_output(content(*entries), DIALECT)
    assert (last.kind, last.text) == (kind, words)


def test_a_chunk_without_anything_to_say_has_no_last_output():
    assert last_output(content(reply("a", [call("c")])), DIALECT) is None


def test_items_leave_out_the_last_output_and_nothing_else():
    assert listed(reply("a", [thinking("t"), text("1"), call("c")]), user("r", [result("c")]), reply("b", "2")) == [
        ("thinking", "t", None), ("output", "1", None), ("tool", "c", "ok"),
    ]  # fmt: skip
    assert listed(reply("a", [text("1")]), user("i", MARK)) == [("output", "1", None), ("interruption", MARK, None)]


def test_each_tool_use_block_is_an_item_with_the_outcome_of_its_id():
    assert listed(
        reply("a", [call("c"), call("d"), call("e")]),
        user("r", [result("c"), result("d", is_error=True)]),
        reply("b", [call("c")]),
    ) == [("tool", "c", "ok"), ("tool", "d", "error"), ("tool", "e", "unanswered"), ("tool", "c", "ok")]


def test_a_repeated_id_in_a_later_chunk_finds_its_call_when_all_calls_are_given():
    s = session(reply("a", [call("c")]), user("r", [result("c")]), user("u", "x"), reply("b", [call("c")]))
    later = s.contents()[-1]
    assert [i.status for i in items(later, DIALECT)] == ["unanswered"]
    assert [i.status for i in items(later, DIALECT, calls={c.id: c for c in s.tool_calls})] == ["ok"]


def test_a_command_directly_before_is_an_item_with_its_body():
    command = user("c", "<command-name>/review</command-name><command-args>41</command-args>", 1)
    body = user("b", [text("steps")], 2, isMeta=True, parentUuid="c")
    s = session(command, body, reply("a", "x", 3))
    (slash,) = items(s.contents()[1], DIALECT, before=s.messages[0])
    assert (slash.kind, slash.command.name, slash.command.args, slash.has_body) == ("slash", "review", "41", True)
    for other in (
        user("b", "steps", 2, isMeta=True, parentUuid="c"),
        user("b", [text("steps")], 2, isMeta=True, parentUuid="z"),
    ):
        s = session(command, other, reply("a", "x", 3))
        assert items(s.contents()[1], DIALECT, before=s.messages[0])[0].has_body is False
    assert items(s.contents()[1], DIALECT) == []


def send(use, **given):
    return reply(f"a-{use}", [call(use, "SendMessage", **given)])


def mate(uuid, *names):
    return user(uuid, "".join(f'<teammate-message teammate_id="{n}" summary="s">hi</teammate-message>' for n in names))


def test_a_teammate_message_answers_the_latest_call_that_wrote_to_them():
    entries = [
        mate("t0", "bob"),
        send("s1", type="message", recipient="bob"),
        send("s2", type="broadcast"),
        mate("t1", "bob", "eve"),
        send("s3", type="message", recipient="bob"),
        send("s4", type="shutdown_request", recipient="eve"),
        mate("t2", "bob", "eve"),
    ]
    s = session(*entries)
    assert correspondence(enumerate(s.messages), DIALECT) == {0: [None], 3: ["s2", "s2"], 6: ["s3", "s2"]}
    found = [i for i in items(s.contents()[0], DIALECT) if i.kind == "teammate_message"]
    assert [(i.id, i.summary, i.text, i.answers) for i in found] == [
        ("bob", "s", "hi", None), ("bob", "s", "hi", "s2"), ("eve", "s", "hi", "s2"), ("bob", "s", "hi", "s3"),
        ("eve", "s", "hi", "s2"),
    ]  # fmt: skip


def test_a_call_that_starts_an_attached_agent_shows_as_the_agent_only():
    flat = sessions(
        reply("a", [call("t", "Task", prompt="go"), call("u", "Task", prompt="none"), call("w", "Workflow")], 1),
        user("r", [result("w")], toolUseResult={"agentId": "wf"}),
        reply("b", "end", 9),
        agents={"x": [user("x1", "go", 2), reply("x2", "x", 5)], "wf": [user("w1", "q", 3)]},
    )
    main = nest(list(flat.values()))[0]
    found = items(main.contents()[0], DIALECT)
    assert [(i.kind, i.id) for i in found] == [("tool", "u"), ("tool", "w"), ("subagent", "x"), ("subagent", "wf")]
