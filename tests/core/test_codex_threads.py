"""Forks and sub-agents begin with a copy of another thread: shown whole, counted once, linked."""

import itertools
import json

import pytest

import clm_sessions
from clm_sessions.formats.base import StreamContext
from clm_sessions.formats.codex import Codex
from clm_sessions.formats.codex.names import KNOWN, Names
from clm_sessions.model import Place
from support import rollouts as r
from support.logs import dump, import_logs, query

PARENT = [
    r.meta(1),
    r.says("developer", "<permissions>", second=1),
    r.says("user", "<environment_context>\n</environment_context>", second=1),
    *r.turn(1, "Sow the peas.", "Sown.", r.usage(900, 500, 60), 10),
    *r.opens(2, 20),
    *r.asks("Ask a helper.", 21),
    *r.answers("I ask one.", 22),
    r.calls("c_spawn", "spawn_agent", 23, message="Count the peas.\nAll of them.", agent_type="explorer"),
    r.counts(r.usage(2000, 1400, 160), second=24),
]
SPAWNED = [
    r.event("collab_agent_spawn_end", 25, call_id="c_spawn", new_thread_id=r.thread_id(2)),
    r.gives("c_spawn", f'{{"agent_id":"{r.thread_id(2)}","nickname":"Pea"}}', 25),
]
REST = [*r.answers("Seven peas.", 60), r.counts(r.usage(3500, 2000, 200), second=61)]


def copied(second):
    """The beginning of another thread: all of the parent, with new times."""
    return r.restamped(PARENT, second)


def child(number=2, parent=1, **more):
    """A sub-agent that begins with a copy of its parent."""
    return [
        r.meta(number, 26, **r.started_by(parent, **more)),
        *copied(26),
        r.gives("c_spawn", "You are the newly spawned agent.", 26),
        r.counts(r.usage(2000, 1400, 160), second=27),
        *r.opens(10 + number, 27),
        *r.asks("Count the peas.\nAll of them.", 28),
        *r.answers("Seven.", 30),
        r.counts(r.usage(3000, 2000, 190), second=31),
    ]


def fork(number=3, parent=1, begins=27):
    """A thread a person forked, and went on with before the parent went on."""
    return [
        r.meta(number, begins, forked_from_id=r.thread_id(parent)),
        *copied(begins),
        *r.opens(20 + number, begins),
        *r.asks("Rather beans.", begins + 1),
        *r.answers("Beans it is.", begins + 2),
        r.counts(r.usage(2600, 1500, 180), second=begins + 3),
    ]


def owned(db):
    """(id, messages inherited, came from, own input with cached, own output) of each session."""
    return query(
        db,
        "SELECT id, inherited_messages > 0, forked_from, own_input_tokens + own_cache_read_tokens, own_output_tokens "
        "FROM sessions ORDER BY id",
    )


def test_a_subagent_hangs_below_its_thread_at_the_very_call_and_counts_only_its_own(tmp_path):
    r.write(tmp_path, 1, [*PARENT, *SPAWNED, *REST])
    r.write(tmp_path, 2, child())
    db = tmp_path / "x.db"
    report = import_logs(db, tmp_path / "sessions")
    parent, agent = r.thread_id(1), f"{r.thread_id(1)}:{r.thread_id(2)}"
    assert owned(db) == [(parent, 0, None, 3500, 200), (agent, 1, parent, 1000, 30)]
    assert report.totals["tokens"]["output"] == 230
    facts = "SELECT role, parent_id, parent_tool_call_id, link, agent_type, title FROM sessions WHERE id = ?"
    assert query(db, facts, agent) == [("subagent", parent, "c_spawn", "result", "explorer", "Count the peas.")]
    assert query(db, "SELECT subagent_id FROM tool_calls WHERE inherited = 0 AND name = 'spawn_agent'") == [(agent,)]
    assert query(db, "SELECT prompts FROM sessions ORDER BY id") == [(2,), (0,)]
    own = query(db, "SELECT text FROM messages WHERE session_id = ? AND inherited = 0 AND text IS NOT NULL", agent)
    assert own == [("Count the peas.\nAll of them.",), ("Seven.",)]


def test_a_fork_points_to_its_parent_even_if_it_went_on_first(tmp_path):
    r.write(tmp_path, 1, [*PARENT, *SPAWNED, *REST])
    r.write(tmp_path, 3, fork())
    r.write(tmp_path, 4, fork(4, begins=200))
    db = tmp_path / "x.db"
    import_logs(db, tmp_path / "sessions")
    one, three, four = (r.thread_id(n) for n in (1, 3, 4))
    assert owned(db) == [(one, 0, None, 3500, 200), (three, 1, one, 600, 20), (four, 1, one, 600, 20)]


@pytest.mark.parametrize("order", list(itertools.permutations((1, 2, 3))))
def test_the_order_of_import_does_not_matter(tmp_path, order):
    threads = {1: [*PARENT, *SPAWNED, *REST], 2: child(), 3: fork()}
    paths = {n: r.write(tmp_path, n, records) for n, records in threads.items()}
    import_logs(tmp_path / "once.db", tmp_path / "sessions")
    for number in order:
        import_logs(tmp_path / "steps.db", paths[number])
    assert dump(tmp_path / "steps.db", sources=False) == dump(tmp_path / "once.db", sources=False)


def test_a_thread_that_was_forked_off_a_subagent_owns_nothing_of_what_that_was_asked(tmp_path):
    r.write(tmp_path, 1, [*PARENT, *SPAWNED, *REST])
    r.write(tmp_path, 2, child())
    asked = [r.meta(3, 40, forked_from_id=r.thread_id(2)), *child()[1:], *r.opens(30, 41), *r.asks("Rather beans.", 42)]
    r.write(tmp_path, 3, [*asked, *r.answers("Beans it is.", 43), r.counts(r.usage(3600, 2500, 210), second=44)])
    db = tmp_path / "x.db"
    import_logs(db, tmp_path / "sessions")
    agent = f"{r.thread_id(1)}:{r.thread_id(2)}"
    assert query(db, "SELECT forked_from FROM sessions WHERE id = ?", r.thread_id(3)) == [(agent,)]
    own = "SELECT text FROM messages WHERE session_id = ? AND inherited = 0 AND text IS NOT NULL"
    assert query(db, own, r.thread_id(3)) == [("Rather beans.",), ("Beans it is.",)]
    assert query(db, own, agent) == [("Count the peas.\nAll of them.",), ("Seven.",)]


def test_a_thread_whose_parent_is_not_there_is_kept_whole(tmp_path):
    r.write(tmp_path, 2, child())
    r.write(tmp_path, 3, fork())
    db = tmp_path / "x.db"
    report = import_logs(db, tmp_path / "sessions")
    assert query(db, "SELECT role FROM sessions ORDER BY role") == [("main",), ("orphan",)]
    assert report.totals["tokens"]["output"] == 160 + 30 + 20


def test_threads_that_only_look_alike_share_nothing(tmp_path):
    for number in (1, 2):
        records = [
            r.meta(number),
            *r.opens("t1"),
            *r.asks("Sow."),
            *r.answers("Sown."),
            r.counts(r.usage(900, 500, 60)),
        ]
        r.write(tmp_path, number, records)
    db = tmp_path / "x.db"
    import_logs(db, tmp_path / "sessions")
    assert owned(db) == [(r.thread_id(n), 0, None, 900, 60) for n in (1, 2)]


def test_copies_are_known_without_turn_ids_and_by_short_ones(tmp_path):
    def said(*words):
        return [r.says("user" if n % 2 == 0 else "assistant", word, second=n) for n, word in enumerate(words)]

    for folder, opening in (("none", []), ("short", r.opens("t1"))):
        first = [r.meta(1), *opening, *said("Sow.", "Sown."), r.counts(r.usage(900, 500, 60), second=5)]
        r.write(tmp_path / folder, 1, [*first, *said("on", "Fine.")])
        second = [
            r.meta(2, 9, forked_from_id=r.thread_id(1)),
            *r.restamped(first, 9),
            *said("stop", "on", "on", "Good."),
        ]
        r.write(tmp_path / folder, 2, second)
        db = tmp_path / f"{folder}.db"
        import_logs(db, tmp_path / folder)
        assert [row[2:] for row in owned(db)] == [(None, 900, 60), (r.thread_id(1), None, None)]
        own = "SELECT text FROM messages WHERE session_id = ? AND inherited = 0 AND text IS NOT NULL ORDER BY seq"
        assert [t for (t,) in query(db, own, r.thread_id(2))][-1] == "Good."


def test_a_copy_without_the_calls_is_known_by_what_is_left_and_by_its_counts(tmp_path):
    dropped = ("function_call", "function_call_output", "reasoning")
    kept = [x for x in copied(26) if x["payload"].get("type") not in dropped]
    r.write(tmp_path, 1, [*PARENT, *SPAWNED, *REST])
    r.write(tmp_path, 2, [r.meta(2, 26, **r.started_by(1)), *kept, *child()[-7:]])
    db = tmp_path / "x.db"
    import_logs(db, tmp_path / "sessions")
    assert [row[3:] for row in owned(db)] == [(3500, 200), (1000, 30)]


def test_agents_of_agents_hang_below_the_agent_that_started_them(tmp_path):
    inner = r.calls("c_inner", "spawn_agent", 32, message="Count again.")
    r.write(tmp_path, 1, [*PARENT, *SPAWNED, *REST])
    outer = [*child(), inner, r.gives("c_inner", f'{{"agent_id":"{r.thread_id(5)}"}}', 33)]
    r.write(tmp_path, 2, outer)
    nested = r.meta(5, 34, source={"subagent": {"thread_spawn": {"parent_thread_id": r.thread_id(2), "depth": 2}}})
    r.write(tmp_path, 5, [nested, *r.turn(50, "Count again.", "Still seven.", r.usage(100, 0, 7), 35)])
    db = tmp_path / "x.db"
    import_logs(db, tmp_path / "sessions")
    root = r.thread_id(1)
    rows = query(db, "SELECT id, parent_id, parent_tool_call_id FROM sessions WHERE role = 'subagent' ORDER BY id")
    assert rows == [
        (f"{root}:{r.thread_id(2)}", root, "c_spawn"),
        (f"{root}:{r.thread_id(5)}", f"{root}:{r.thread_id(2)}", "c_inner"),
    ]
    (top,) = clm_sessions.load_all(tmp_path / "sessions")
    assert [len(top.subagents), len(top.subagents[0].subagents)] == [1, 1]


def test_a_helper_of_a_helper_owns_nothing_of_what_it_was_told(tmp_path):
    first = child()
    inner = [
        r.meta(5, 40, **r.started_by(2)),
        *r.restamped(first, 40),
        *r.turn(50, "Again.", "Still seven.", r.usage(3300, 2000, 197), 41),
    ]
    r.write(tmp_path, 1, [*PARENT, *SPAWNED, *REST])
    r.write(tmp_path, 2, [*first, *r.answers("I was right.", 300), r.counts(r.usage(3600, 2000, 211), second=301)])
    r.write(tmp_path, 5, inner)
    db = tmp_path / "x.db"
    import_logs(db, tmp_path / "sessions")
    assert [row[3:] for row in owned(db)] == [(3500, 200), (1600, 51), (300, 7)]


def test_threads_that_name_each_other_as_parents_are_read_all_the_same(tmp_path):
    for one, other in ((6, 7), (7, 8), (8, 6)):
        meta = r.meta(one, source={"subagent": "review"}, parent_thread_id=r.thread_id(other))
        r.write(tmp_path, one, [meta, *r.turn(one, f"Review {one}.", "Fine.", r.usage(9, 0, 1))])
    report = import_logs(tmp_path / "x.db", tmp_path / "sessions")
    assert (report.totals["sessions"], report.totals["tokens"]["output"]) == (3, 3)


def test_a_subagent_s_rollout_by_itself_is_shown_alone(tmp_path):
    path = r.write(tmp_path, 2, child())
    r.write(tmp_path, 9, child(9))
    made = clm_sessions.load(path)
    assert (made.info.role, made.info.agent_id) == ("orphan", r.thread_id(2))


def test_names_are_never_given_twice(tmp_path):
    names = Names()
    names.thread("a", None)
    given = [names.name("reply", "yes") for _ in range(3)]
    for turn in (r.turn_id(1), r.turn_id(2), r.turn_id(1), r.turn_id(2), r.turn_id(1)):
        names.turn(turn)
        given += [names.name("reply", "yes") for _ in range(3)]
        given += [names.name("reply", str(n)) for n in range(KNOWN + 5)]
        given += [names.name("reply", "3") for _ in range(3)]
    names.thread("b", None)
    names.thread("a", None)
    given += [names.name("reply", "yes") for _ in range(3)]
    assert len(set(given)) == len(given)


def test_the_state_stays_small_in_a_long_and_hostile_thread():
    reader = Codex().reader(StreamContext(role="main", session="s"))
    huge = "x" * 1_000_000
    records = [r.record("session_meta", {"id": f"{n}{huge}", "cwd": huge, "forked_from_id": huge}) for n in range(300)]
    records += [r.record("turn_context", {"turn_id": f"{n}{huge}", "cwd": huge, "model": huge}) for n in range(3)]
    records += [x for n in range(1500) for x in (*r.opens(n), *r.asks(f"ask {n}"), r.calls(f"c{n}"))]
    records += [r.opens(9999)[0], *(r.calls(f"call_{n:024}") for n in range(3000))]
    records += [r.event("exec_command_end", call_id=f"{n}{huge}", exit_code=1) for n in range(70)]
    records += [r.event("thread_name_updated", thread_name=f"{n}{huge}") for n in range(3)]
    for record in records:
        reader.feed(record, Place(line=1, offset=0, length=1))
    assert len(json.dumps(reader.state())) < 64 << 10
