"""Turns and bars: only recorded times, parallel work side by side, long waits drawn short."""

import clm_sessions
from clm_sessions.tools.table import describe
from clm_sessions.view.align import align
from clm_sessions.view.scale import packed, scale
from clm_sessions.view.timeline import of_turn, turns
from support.logs import entry, session_id, text, turn, write_log
from support.site import tool_turn

SID = session_id(9)


def loaded(tmp_path, lines):
    return clm_sessions.load(write_log(tmp_path / "-home-dev-garden" / f"{SID}.jsonl", lines))


def all_bars(session):
    return [of_turn(session, turn, describe) for turn in turns(session.chunks)]


def use(number, name, **given):
    return {"type": "tool_use", "id": f"call{number}", "name": name, "input": given}


def result(number, at, *, error=False):
    back = [{"type": "tool_result", "tool_use_id": f"call{number}", "content": "x", "is_error": error}]
    return entry("user", at, back, session=SID)


def test_a_turn_is_a_prompt_with_all_that_follows_it(tmp_path):
    session = loaded(tmp_path, [*turn(1, "first", "a", session=SID), *turn(2, "second", "b", session=SID)])
    assert [(t.number, t.text, t.first, t.last) for t in turns(session.chunks)] == [
        (1, "first", 0, 1),
        (2, "second", 2, 3),
    ]


def test_a_reply_begins_at_the_entry_before_it_and_its_tools_stand_below_it(tmp_path):
    session = loaded(
        tmp_path,
        [
            entry("user", 0, "go", session=SID),
            *tool_turn(5, "Bash", {"command": "make"}, "done", session=SID, error=True),
            entry("assistant", 9, text("finished"), session=SID),
        ],
    )
    (bars,) = all_bars(session)
    assert [(bar.kind, bar.depth, bar.label, bar.duration_ms, bar.status) for bar in bars] == [
        ("reply", 0, "reply", 5000, None),
        ("tool", 1, "Bash", 1000, "error"),
        ("reply", 0, "reply", 3000, None),
    ]
    assert bars[1].about == "make"


def test_the_parts_of_one_reply_are_one_bar_though_results_stand_between_them(tmp_path):
    session = loaded(
        tmp_path,
        [
            entry("user", 0, "go", session=SID),
            entry("assistant", 1, [use(1, "Read", file_path="a")], session=SID, reply="one"),
            result(1, 2),
            entry("assistant", 3, [use(2, "Read", file_path="b")], session=SID, reply="one"),
            result(2, 4),
        ],
    )
    (bars,) = all_bars(session)
    assert [bar.kind for bar in bars] == ["reply", "tool", "tool"]
    assert bars[0].duration_ms == 3000


def test_calls_that_ran_at_the_same_time_overlap(tmp_path):
    session = loaded(
        tmp_path,
        [
            entry("user", 0, "go", session=SID),
            entry("assistant", 1, [use(1, "Bash", command="a"), use(2, "Bash", command="b")], session=SID),
            result(1, 8),
            result(2, 9),
        ],
    )
    (bars,) = all_bars(session)
    first, second = bars[1:]
    assert first.start < second.end
    assert second.start < first.end


def test_what_was_never_answered_has_no_end_and_what_has_no_time_gets_none(tmp_path):
    timeless = entry("assistant", 4, text("when?"), session=SID)
    del timeless["timestamp"]
    session = loaded(
        tmp_path,
        [
            entry("user", 0, "go", session=SID),
            entry("assistant", 1, [use(1, "Bash", command="a")], session=SID),
            timeless,
        ],
    )
    (bars,) = all_bars(session)
    assert [(bar.kind, bar.start is None, bar.end is None) for bar in bars] == [
        ("reply", False, False),
        ("tool", False, True),
        ("reply", True, True),
    ]
    assert bars[1].status == "unanswered"


def test_a_clock_that_runs_backwards_makes_no_bar_of_negative_length(tmp_path):
    session = loaded(
        tmp_path,
        [
            entry("user", 9, "go", session=SID),
            entry("assistant", 5, [use(1, "Bash", command="a")], session=SID),
            result(1, 3),
        ],
    )
    (bars,) = all_bars(session)
    assert [bar.duration_ms for bar in bars] == [0, 0]


def test_subagents_nest_to_any_depth_in_the_demo_logs():
    from pathlib import Path

    demo = Path(__file__).parent.parent.parent / "demo" / "logs" / "claude"
    found = next(demo.rglob("ada2de14-42d0-4d0a-8fb5-2888590c60ab.jsonl"))
    bars = [bar for rows in all_bars(clm_sessions.load(found)) for bar in rows]
    agents = [bar for bar in bars if bar.kind == "agent"]
    assert [bar.depth for bar in agents] == [1, 1, 1, 3]
    assert {bar.session for bar in bars if bar.depth == 4} == {agents[-1].agent}


# -- the axis ---------------------------------------------------------------------------------------------------


def test_time_is_even_where_nothing_waits():
    axis = scale([0, 1000, 4000])
    assert [axis.at(ms) for ms in (0, 1000, 2500, 4000)] == [0.0, 0.25, 0.625, 1.0]
    assert axis.breaks == ()
    assert axis.time(0.25) == 1000


def test_a_night_between_two_minutes_is_drawn_short_and_said():
    night = 8 * 3_600_000
    axis = scale([0, 60_000, 60_000 + night, 120_000 + night])
    (pause,) = axis.breaks
    assert pause.end - pause.start == night
    assert pause.width < 0.3
    assert axis.at(60_000) > 0.3


def test_waits_between_turns_together_take_a_quarter_of_the_axis_at_most():
    spans = [(n * 3_600_000, n * 3_600_000 + 10_000) for n in range(50)]
    axis = packed(spans)
    assert sum(pause.width for pause in axis.breaks) <= 0.26
    assert axis.at(spans[-1][1]) == 1.0


def test_an_axis_of_nothing_and_of_one_moment_raises_nothing():
    for axis in (scale([]), scale([5]), packed([]), packed([(5, 5)]), packed([(1, 1), (9, 9)])):
        assert 0.0 <= axis.at(5) <= 1.0


# -- two sessions -----------------------------------------------------------------------------------------------


def test_equal_prompts_stand_beside_each_other_and_every_turn_stands_once():
    pairs = align(["a", "b", "c", "z"], ["a", "c", "x", "y"])
    assert (0, 0) in pairs
    assert (2, 1) in pairs
    assert sorted(a for a, _b in pairs if a is not None) == [0, 1, 2, 3]
    assert sorted(b for _a, b in pairs if b is not None) == [0, 1, 2, 3]


def test_very_long_sessions_are_paired_as_they_come():
    a, b = ["same", *(f"a{n}" for n in range(3000))], ["same", *(f"b{n}" for n in range(2000))]
    pairs = align(a, b)
    assert pairs[:2] == [(0, 0), (1, 1)]
    assert pairs[-1] == (3000, None)
