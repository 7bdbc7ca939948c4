"""Subagents: who started them, where they show, what is not shown (spec claude-code 9)."""

from __future__ import annotations

import pytest

from clm_sessions.derive import nest
from clm_sessions.model import Fact
from support.claude_entries import call, entry, reply, result, sessions, text, user


def run(name, prompt="p", at=2.0, **more):
    return [user(f"{name}-u", prompt, at, **more), reply(f"{name}-a", "done", at + 1)]


def spawn(use, prompt="p", **given):
    given = {"prompt": prompt, "description": f"about {use}", "subagent_type": "Explore", **given}
    return {"type": "tool_use", "id": use, "name": "Task", "input": given}


def meta(agent, **value):
    return Fact(name="agent_meta", value={"agent_id": agent, **value})


def links(flat):
    return {name: (s.info.parent_call, s.info.link) for name, s in flat.items() if name}


def test_each_level_of_evidence_finds_its_call():
    flat = sessions(
        reply("a", [spawn(t, prompt=t) for t in ("t1", "t2", "t3", "t5")], 1),
        reply("b", [spawn("t4", prompt="q", team_name="crew", name="bob")], 1.5),
        user("r", [result("t1")], toolUseResult={"agentId": "one"}),
        entry("progress", "p", data={"agentId": "two"}, parentToolUseID="t2"),
        agents={
            "one": run("one"),
            "two": run("two"),
            "three": run("three"),
            "four": run("four", '<teammate-message teammate_id="lead" summary="about t4">x</teammate-message>'),
            "five": run("five", " t5\n"),
            "none": run("none"),
        },
        side=[meta("three", tool_use_id="t3", agent_type="Other")],
    )
    assert links(flat) == {
        "one": ("t1", "result"), "two": ("t2", "hint"), "three": ("t3", "meta"), "four": ("t4", "team"),
        "five": ("t5", "prompt"), "none": (None, None),
    }  # fmt: skip
    assert (flat["three"].info.description, flat["three"].info.agent_type) == ("about t3", "Explore")
    assert (flat["four"].info.team, flat["four"].info.member) == ("crew", "bob")
    assert {s.info.parent_id for name, s in flat.items() if name} == {"s"}
    assert [c.subagent_id for c in flat[""].tool_calls] == ["s:one", "s:two", "s:three", "s:five", "s:four"]


def test_better_evidence_wins_over_worse_and_a_call_is_used_once():
    flat = sessions(
        reply("a", [spawn("t1", prompt="same"), spawn("t2", prompt="same")], 1),
        user("r", [result("t2")], toolUseResult={"agentId": "late"}),
        agents={"late": run("late", "same", 9), "early": run("early", "same", 2), "more": run("more", "same", 3)},
    )
    assert links(flat) == {"early": ("t1", "prompt"), "more": (None, None), "late": ("t2", "result")}


def test_meta_fills_what_no_call_says():
    flat = sessions(
        reply("a", [spawn("t1")], 1),
        agents={"x": run("x", "nobody asked", 3)},
        side=[meta("x", tool_use_id="unknown", description="from meta", agent_type="Plan")],
    )
    info = flat["x"].info
    assert (info.parent_call, info.description, info.agent_type, info.title) == (None, "from meta", "Plan", "from meta")


def test_a_call_in_no_log_or_in_the_agents_own_gives_no_link():
    flat = sessions(
        reply("a", "x", 1),
        user("r", [result("gone")], toolUseResult={"agentId": "x"}),
        user("r2", [result("own")], toolUseResult={"agentId": "y"}),
        agents={"x": run("x"), "y": [*run("y", "self", 3), reply("y-b", [spawn("own", prompt="self")], 5)]},
    )
    assert links(flat) == {"x": (None, None), "y": (None, None)}


def test_only_a_call_that_starts_agents_is_found_by_its_prompt():
    flat = sessions(reply("a", [call("t", "Search", prompt="p")], 1), agents={"x": run("x", "p", 3)})
    assert links(flat) == {"x": (None, None)}


def test_a_nested_agent_belongs_to_the_log_that_holds_its_call():
    flat = sessions(
        reply("a", [spawn("t1", prompt="outer")], 1),
        agents={
            "outer": [user("o", "outer", 2), reply("o2", [spawn("t2", prompt="inner")], 3)],
            "inner": run("inner", "inner", 4),
        },
    )
    inner = flat["inner"].info
    assert (inner.parent_id, inner.parent_agent_id, inner.parent_call) == ("s:outer", "outer", "t2")
    assert flat[""].chunks[0].subagents == ("outer",)
    assert flat["outer"].chunks[1].subagents == ("inner",)
    assert (flat[""].info.subagents, flat["outer"].info.subagents) == (1, 1)
    (main,) = nest(list(flat.values()))
    assert [s.id for s in main.subagents] == ["s:outer"]
    assert [s.id for s in main.subagents[0].subagents] == ["s:inner"]


def test_an_agent_without_a_call_shows_in_each_chunk_that_was_running_when_it_started():
    flat = sessions(
        reply("a", "x", 1),
        reply("b", "x", 5),
        user("u", "typed", 5),
        reply("c", "x", 5),
        reply("d", "x", 9),
        agents={
            "touching": run("touching", "p", 5), "first": run("first", "p", 2), "outside": run("outside", "p", 60),
            "timeless": [user("z", "p")],
        },
    )  # fmt: skip
    assert [c.subagents for c in flat[""].chunks] == [("first", "touching"), (), ("touching",)]
    assert {s.info.role for name, s in flat.items() if name} == {"subagent"}
    assert flat[""].info.subagents == 4


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        ("acompact-1", run("c")),
        ("aprompt_suggestion-1", run("c")),
        ("aside_question-1", run("c")),
        ("warm", run("w", "Warmup")),
        ("warm2", run("w", [text("Warmup")])),
        ("warm3", [reply("x", "x", 1), *run("w", "Warmup", isMeta=True)]),
        ("empty", []),
        ("nothing", [entry("queue-operation", None, operation="enqueue")]),
    ],
)
def test_a_run_the_program_started_for_itself_is_kept_but_in_nobodys_list(name, entries):
    flat = sessions(reply("a", [spawn("t1", prompt="Warmup")], 1), agents={name: entries, "real": run("real", "x", 4)})
    assert (flat[name].info.role, flat[name].info.parent_id) == ("internal", "s")
    assert (flat[""].info.subagents, flat[""].chunks[0].subagents) == (1, ())
    top = nest(list(flat.values()))
    assert [s.info.role for s in top] == ["main", "internal"]
    assert [s.info.agent_id for s in top[0].subagents] == ["real"]


@pytest.mark.parametrize("prompt", ["Warmup now", " Warmup", [text("Warmup"), text("x")]])
def test_a_warm_up_is_exactly_that_word(prompt):
    assert sessions(reply("a", "x"), agents={"w": run("w", prompt)})["w"].info.role == "subagent"


def test_agent_logs_without_a_main_log_are_orphans_or_nested_in_one():
    flat = sessions(
        agents={
            "outer": [user("o", "outer", 2), reply("o2", [spawn("t2", prompt="inner")], 3)],
            "inner": run("inner", "inner", 4),
        }
    )
    assert "" not in flat
    assert [(s.info.role, s.info.parent_id, s.info.native_id) for s in flat.values()] == [
        ("orphan", None, "s"), ("subagent", "s:outer", "s"),
    ]  # fmt: skip
    (top,) = nest(list(flat.values()))
    assert [s.id for s in (top, *top.subagents)] == ["s:outer", "s:inner"]


def test_logs_that_name_each_other_as_parents_still_show_somewhere():
    flat = sessions(
        reply("m", "x", 1),
        agents={
            "a": [user("a1", "to a", 2), reply("a2", [spawn("t1", prompt="to b")], 3)],
            "b": [user("b1", "to b", 4), reply("b2", [spawn("t2", prompt="to a")], 5)],
        },
    )
    assert {name: s.info.parent_id for name, s in flat.items() if name} == {"a": "s", "b": "s:a"}
    (main,) = nest(list(flat.values()))
    assert [s.id for s in main.subagents[0].subagents] == ["s:b"]


def test_agents_that_start_within_a_tenth_of_a_second_of_the_first_run_in_parallel():
    starts = {"a": 2.0, "b": 2.1, "c": 2.101, "d": 2.2, "e": 5.0}
    flat = sessions(reply("m", "x", 1), agents={n: run(n, n, at) for n, at in starts.items()} | {"z": [user("z", "x")]})
    assert {n for n, s in flat.items() if s.info.parallel} == {"a", "b", "c", "d"}
    assert not sessions(reply("m", "x"), agents={"a": run("a")})["a"].info.parallel


def test_a_follow_up_of_a_teammate_inherits_what_it_does_not_say_itself():
    team = [spawn("t1", team_name="crew", name="bob")]
    chain = {
        f"f{n:02}": [user(f"f{n}", "more", 10.0 + n, parentUuid="first-a" if n == 1 else f"f{n - 1}")]
        for n in range(1, 13)
    }
    flat = sessions(
        reply("m", team, 1),
        user("r", [result("t1")], toolUseResult={"status": "teammate_spawned", "agentId": "first", "color": "green"}),
        agents={"first": run("first"), **chain},
    )
    told = {n: (s.info.team, s.info.member, s.info.color, s.info.parent_call, s.info.description, s.info.agent_type)
            for n, s in flat.items() if n}  # fmt: skip
    whole = ("crew", "bob", "green", "t1", "about t1", "Explore")
    assert told == {n: whole if n == "first" or n <= "f10" else (None,) * 6 for n in told}
    assert (flat["first"].info.link, flat["f01"].info.link) == ("result", "team")
    assert flat[""].tool_calls[0].subagent_id == "s:first"


def test_times_and_counts_of_an_agent_are_those_of_its_messages():
    flat = sessions(
        reply("m", "x", 1),
        agents={
            "a": [user("u", "p", 5), reply("x", [call("t")], 3, usage={"output_tokens": 4}), user("v", "typed", 9)]
        },
    )
    info = flat["a"].info
    assert (info.duration_ms, info.messages, info.tool_calls, info.usage.output, info.prompts) == (6000, 3, 1, 4, 0)
    assert (info.id, info.agent_id, info.title, info.ongoing) == ("s:a", "a", "p", True)


def test_the_order_of_agents_is_that_of_their_starts():
    flat = sessions(
        reply("m", "x", 1),
        agents={"a": run("a", "x", 9), "b": run("b", "x", 3), "c": [user("c", "x")], "acompact-0": run("q", "x", 1)},
    )
    assert list(flat) == ["", "b", "a", "c", "acompact-0"]


def test_deriving_twice_gives_the_same_values():
    def once():
        return sessions(
            reply("a", [spawn("t1", prompt="p")], 1),
            agents={"x": run("x"), "y": run("y")},
            side=[meta("y", agent_type="q")],
        )

    assert once() == once()


def test_a_long_chain_of_nested_agents_needs_no_recursion():
    depth = 3000
    agents = {
        f"n{i:05}": [user(f"u{i}", f"p{i}", i), reply(f"a{i}", [spawn(f"t{i + 1}", prompt=f"p{i + 1}")], i)]
        for i in range(depth)
    }
    flat = sessions(reply("m", [spawn("t0", prompt="p0")], 0), agents=agents)
    (at,) = nest(list(flat.values()))
    for _ in range(depth):
        (at,) = at.subagents
    assert at.info.agent_id == f"n{depth - 1:05}"
