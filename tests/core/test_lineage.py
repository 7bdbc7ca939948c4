"""Copied history belongs to one session, whoever is imported first; nothing is counted twice or not at all."""

import itertools
import json

import pytest

from clm_sessions import plugins
from clm_sessions.verify import verify
from support.logs import check_search_index, dump, entry, import_logs, query, session_id, turn, write_log

A, B, C = (session_id(n) for n in (1, 2, 3))


def at(entries, minute):
    """The same entries, some minutes later."""
    return [e | {"timestamp": e["timestamp"].replace("T09:", f"T{10 + minute // 60:02d}:", 1)} for e in entries]


def renamed(entries, session, suffix):
    """A copy with new uuids and the new session id; message ids stay."""
    return [e | {"uuid": f"{e['uuid']}-{suffix}", "sessionId": session} for e in entries]


def lineage(tmp_path, order=None):
    """(id, came from, inherited messages, own output) of each session, imported in the order given."""
    files = sorted((tmp_path / "p").iterdir())
    db = tmp_path / f"{'-'.join(map(str, order or 'x'))}.db"
    for number in order or range(len(files)):
        import_logs(db, files[number])
    return query(db, "SELECT id, forked_from, inherited_messages, own_output_tokens FROM sessions ORDER BY id")


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_session_forked_and_resumed_stays_the_original(order, tmp_path):
    first, second, third = turn(1, "start", "ok"), turn(2, "more", "yes"), turn(3, "own end", "done")
    write_log(tmp_path / "p" / f"{A}.jsonl", [*first, *second, *third])
    resumed = [*renamed(first, B, "b"), *at(turn(10, "resumed", "fine", session=B), 60)]
    write_log(tmp_path / "p" / f"{B}.jsonl", resumed)
    write_log(tmp_path / "p" / f"{C}.jsonl", [*first, *second, *at(turn(20, "forked", "good", session=C), 120)])
    assert lineage(tmp_path, order) == [(A, None, 0, 3 + 5 + 7), (B, A, 2, 21), (C, A, 4, 41)]


def test_a_session_copied_whole_is_the_original(tmp_path):
    first = turn(1, "start", "ok")
    write_log(tmp_path / "p" / f"{A}.jsonl", first)
    write_log(tmp_path / "p" / f"{B}.jsonl", [*first, *turn(2, "more", "yes", session=B)])
    assert lineage(tmp_path) == [(A, None, 0, 3), (B, A, 2, 5)]


def test_a_fork_of_a_fork_points_to_the_fork_for_what_is_its(tmp_path):
    first, second = turn(1, "start", "ok"), turn(2, "fork", "yes", session=B)
    write_log(tmp_path / "p" / f"{A}.jsonl", [*first, *turn(4, "own", "a")])
    write_log(tmp_path / "p" / f"{B}.jsonl", [*first, *second, *at(turn(5, "own", "b", session=B), 1)])
    write_log(tmp_path / "p" / f"{C}.jsonl", [*first, *second, *at(turn(6, "own", "c", session=C), 60)])
    rows = lineage(tmp_path)
    assert sum(row[3] for row in rows) == 3 + 5 + 9 + 11 + 13
    assert [row[0] for row in rows if row[1] is None]


def test_a_reply_that_nobody_else_has_is_counted_even_before_a_copied_one(tmp_path):
    shared, own = turn(2, "shared", "yes"), turn(1, "own", "first", session=B)
    write_log(tmp_path / "p" / f"{A}.jsonl", [*turn(0, "a", "b"), *shared, *turn(3, "on", "c")])
    write_log(tmp_path / "p" / f"{B}.jsonl", [*own, *shared, *at(turn(9, "later", "d", session=B), 60)])
    rows = lineage(tmp_path)
    assert sum(row[3] for row in rows) == 1 + 3 + 5 + 7 + 19


def test_when_a_rewritten_log_no_longer_shares_anything_nothing_stays_inherited(tmp_path):
    first = turn(1, "start", "ok")
    write_log(tmp_path / "p" / f"{A}.jsonl", [*first, *turn(3, "on", "c")])
    copy = write_log(tmp_path / "p" / f"{B}.jsonl", [*first, *turn(9, "later", "d", session=B)])
    db = tmp_path / "a.db"
    import_logs(db, tmp_path / "p")
    assert query(db, "SELECT sum(inherited) FROM messages") == [(2,)]
    write_log(copy, turn(9, "all new", "d", session=B))
    import_logs(db, tmp_path / "p")
    assert query(db, "SELECT sum(inherited), (SELECT count(forked_from) FROM sessions) FROM messages") == [(0, 0)]


def test_messages_without_ids_behind_the_last_shared_reply_do_not_make_the_copy_the_original(tmp_path):
    first = [*turn(1, "start", "ok", session=B), {"type": "system", "subtype": "turn_duration", "uuid": "s1", "sessionId": B,
              "timestamp": "2026-03-02T09:00:04.000Z", "durationMs": 1}]  # fmt: skip
    write_log(tmp_path / "p" / f"{B}.jsonl", [*first, *turn(3, "on", "c", session=B)])
    write_log(tmp_path / "p" / f"{A}.jsonl", [*renamed(first, A, "a"), *at(turn(9, "resumed", "d", session=A), 60)])
    assert lineage(tmp_path) == [(A, B, 3, 19), (B, None, 0, 3 + 7)]


def test_two_logs_that_part_are_told_apart_the_same_way_whatever_comes_first(tmp_path):
    shared = turn(1, "start", "ok")
    parted = [[*shared, *turn(5, f"on {word}", "yes"), *turn(7, "and on", word)] for word in ("c", "a", "b")]
    logs = [write_log(tmp_path / place / f"{A}.jsonl", log) for place, log in zip("xyz", parted, strict=True)]
    write_log(
        tmp_path / "x" / A / "subagents" / "agent-a1.jsonl", [e | {"agentId": "a1"} for e in turn(20, "help", "h")]
    )
    write_log(tmp_path / "p" / f"{B}.jsonl", [*shared, *at(turn(9, "forked", "d", session=B), 60)])
    want = None
    for order in itertools.permutations([*logs, tmp_path / "p" / f"{B}.jsonl"]):
        db = tmp_path / "a.db"
        db.unlink(missing_ok=True)
        for log in order:
            import_logs(db, log.parent)
        want = want or dump(db, sources=False)
        assert dump(db, sources=False) == want
    assert query(db, "SELECT id, title FROM sessions WHERE role = 'main' ORDER BY id") == [
        (A, "start"), (f"{A}~2", "start"), (f"{A}~3", "start"), (B, "start")
    ]  # fmt: skip
    last = "SELECT text FROM messages WHERE session_id = ? ORDER BY seq DESC LIMIT 1"
    assert [query(db, last, key) for key in (A, f"{A}~2", f"{A}~3")] == [[("a",)], [("b",)], [("c",)]]
    assert query(db, "SELECT parent_id FROM sessions WHERE agent_id = 'a1'") == [(f"{A}~3",)]
    assert verify(db, plugins.build(entry_points=False)).findings == []
    check_search_index(db)
    before = dump(db)
    import_logs(db, *(tmp_path / place for place in "xyzp"))
    assert dump(db) == before
    with logs[0].open("ab") as log:
        log.write(json.dumps(turn(30, "more", "yes")[0]).encode() + b"\n")
    import_logs(db, tmp_path)
    assert query(db, last, f"{A}~3") == [("more",)]
    import_logs(db, tmp_path, again=True)
    assert verify(db, plugins.build(entry_points=False), full=True).findings == []


def settled(tmp_path, then):
    """The sessions after an import and one more of the changed logs, which is what an import in one go makes."""
    db = tmp_path / "steps.db"
    import_logs(db, tmp_path / "p")
    for name, entries in then.items():
        write_log(tmp_path / "p" / f"{name}.jsonl", entries)
    import_logs(db, tmp_path / "p")
    import_logs(tmp_path / "once.db", tmp_path / "p")
    rows = "SELECT id, forked_from, inherited_messages, own_output_tokens FROM sessions ORDER BY id"
    assert query(db, rows) == query(tmp_path / "once.db", rows)
    assert verify(db, plugins.build(entry_points=False)).findings == []
    return query(db, rows)


def test_when_the_original_is_rewritten_its_copies_own_what_they_copied(tmp_path):
    first, second = turn(1, "start", "ok"), turn(9, "forked", "yes", session=B)
    write_log(tmp_path / "p" / f"{A}.jsonl", first)
    write_log(tmp_path / "p" / f"{B}.jsonl", [*first, *second])
    write_log(tmp_path / "p" / f"{C}.jsonl", [*second, *turn(10, "and again", "yes", session=C)])
    assert settled(tmp_path, {A: turn(50, "all new", "d")}) == [(A, None, 0, 101), (B, None, 0, 22), (C, B, 2, 21)]


def test_when_the_middle_of_a_chain_of_forks_is_rewritten_what_follows_it_stands_alone(tmp_path):
    first, second = turn(1, "start", "ok"), turn(9, "forked", "yes", session=B)
    write_log(tmp_path / "p" / f"{A}.jsonl", first)
    write_log(tmp_path / "p" / f"{B}.jsonl", [*first, *second])
    write_log(tmp_path / "p" / f"{C}.jsonl", [*second, *turn(10, "and again", "yes", session=C)])
    new = turn(50, "all new", "d", session=B)
    assert settled(tmp_path, {B: new}) == [(A, None, 0, 3), (B, None, 0, 101), (C, None, 0, 40)]


def test_when_original_and_fork_are_rewritten_at_once_a_third_copy_owns_the_turn(tmp_path):
    first = turn(1, "start", "ok")
    write_log(tmp_path / "p" / f"{A}.jsonl", first)
    for number, name in ((20, B), (30, C)):
        write_log(tmp_path / "p" / f"{name}.jsonl", [*first, *turn(number, "forked", "yes", session=name)])
    new = {A: turn(50, "all new", "d"), B: turn(51, "all new", "d", session=B)}
    assert settled(tmp_path, new) == [(A, None, 0, 101), (B, None, 0, 103), (C, None, 0, 3 + 61)]


def test_when_the_original_is_cut_off_before_the_copied_turn_the_copy_owns_it(tmp_path):
    before, first = turn(0, "before", "b"), turn(1, "start", "ok")
    write_log(tmp_path / "p" / f"{A}.jsonl", [*before, *first])
    write_log(tmp_path / "p" / f"{B}.jsonl", [*first, *turn(9, "forked", "yes", session=B)])
    assert settled(tmp_path, {A: before}) == [(A, None, 0, 1), (B, None, 0, 22)]


def test_a_session_that_got_another_key_and_is_rewritten_leaves_its_copy_alone(tmp_path):
    """Two logs of one id: the later found one takes the key of the other, which then shares nothing any more."""
    shared = turn(1, "start", "ok")
    db = tmp_path / "a.db"
    late = write_log(tmp_path / "y" / f"{A}.jsonl", [*shared, *turn(5, "on b", "yes")])
    import_logs(db, tmp_path / "y")
    write_log(tmp_path / "x" / f"{A}.jsonl", [*shared, *turn(5, "on a", "yes")])
    write_log(tmp_path / "x" / f"{B}.jsonl", [*shared, *at(turn(9, "forked", "d", session=B), 60)])
    import_logs(db, tmp_path / "x")
    write_log(late, turn(60, "all new", "n"))
    write_log(tmp_path / "x" / f"{A}.jsonl", turn(50, "all new", "n"))
    import_logs(db, tmp_path)
    assert query(db, "SELECT count(forked_from), sum(inherited_messages) FROM sessions") == [(0, 0)]
    assert verify(db, plugins.build(entry_points=False)).findings == []


def part(number, call, output, second):
    """One entry of a reply that has a call in each, with the tokens up to there."""
    return entry(
        "assistant", number, [{"type": "tool_use", "id": call, "name": "Bash", "input": {}}], reply="msg_R",
        usage={"input_tokens": 1, "output_tokens": output}, timestamp=f"2026-03-02T09:00:{second:02d}.000Z",
    )  # fmt: skip


@pytest.mark.parametrize(("suffix", "second", "owner"), [("", 4, A), ("", 10, A), ("b", 4, A), ("b", 10, B)])
def test_the_rest_of_a_reply_that_was_forked_while_it_was_written_is_of_the_session_that_has_it(
    suffix, second, owner, tmp_path
):
    begun = [turn(0, "go", "")[0], part(2, "t1", 5, 3)]
    write_log(tmp_path / "p" / f"{A}.jsonl", [*begun, part(3, "t2", 50, second)])
    forked = entry("user", 9, "forked", session=B, timestamp="2026-03-02T09:00:06.000Z")
    write_log(tmp_path / "p" / f"{B}.jsonl", [*(renamed(begun, B, suffix) if suffix else begun), forked])
    for order in ((0, 1), (1, 0)):
        assert [row[3] for row in lineage(tmp_path, order)] == [50, None]
        db = tmp_path / f"{'-'.join(map(str, order))}.db"
        calls = query(db, "SELECT tool_use_id, session_id FROM tool_calls WHERE inherited = 0 ORDER BY 1")
        assert calls == [("t1", owner), ("t2", A)]
        assert query(db, "SELECT session_id, output_tokens FROM requests WHERE inherited = 0") == [(A, 50)]
        assert verify(db, plugins.build(entry_points=False)).findings == []


def test_entries_of_a_copied_reply_that_have_no_time_are_told_apart_by_their_number(tmp_path):
    def timeless(*entries):
        return [{k: v for k, v in e.items() if k != "timestamp"} for e in entries]

    begun = timeless(turn(0, "go", "")[0], part(2, "t1", 5, 3))
    write_log(tmp_path / "p" / f"{A}.jsonl", [*begun, *timeless(part(3, "t2", 50, 4))])
    write_log(tmp_path / "p" / f"{B}.jsonl", [*renamed(begun, B, "b"), turn(9, "forked", "", session=B)[0]])
    lineage(tmp_path)
    db = tmp_path / "x.db"
    assert query(db, "SELECT tool_use_id FROM tool_calls WHERE inherited = 0 ORDER BY 1") == [("t1",), ("t2",)]
    assert query(db, "SELECT sum(own_output_tokens), sum(own_tool_calls) FROM sessions") == [(50, 2)]
