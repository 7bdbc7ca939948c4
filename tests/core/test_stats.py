"""Totals: each way to count gives the same sum, everything once, unknown is not zero."""

import json
import time
from datetime import date, datetime, timezone
from itertools import pairwise
from pathlib import Path

import pytest

from clm_sessions import open_db, zones
from clm_sessions.errors import UsageError
from clm_sessions.stats import BYS, stats
from clm_sessions.store.narrow import Narrow
from support.logs import entry, import_logs, query, session_id, text, turn, write_log
from support.terminals import bare, on_terminal, piped

DEMO_SUMS = ("own_input_tokens", "own_output_tokens", "own_cache_read_tokens", "own_cache_creation_tokens")


def at(time, *entries):
    return [{**each, "timestamp": time} for each in entries]


def ms(text_):
    return int(datetime.fromisoformat(text_).replace(tzinfo=timezone.utc).timestamp()) * 1000


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stats")
    import_logs(folder / "demo.db", Path(__file__).parents[2] / "demo" / "logs")
    return folder / "demo.db"


@pytest.fixture
def make(tmp_path):
    def of(*sessions, cwd="/home/dev/garden"):
        for number, entries in enumerate(sessions, 1):
            write_log(tmp_path / "logs" / "-p" / f"{session_id(number)}.jsonl", entries)
        import_logs(tmp_path / "a.db", tmp_path / "logs")
        return open_db(tmp_path / "a.db").db

    return of


@pytest.mark.parametrize("by", BYS)
def test_the_rows_add_up_to_what_the_database_owns(demo, by):
    found = stats(open_db(demo).db, by)
    (tokens,) = query(
        demo, f"SELECT {', '.join(f'sum({name})' for name in DEMO_SUMS)}, sum(own_tool_calls) FROM sessions"
    )
    usage = found.total.usage
    if by != "tool":
        assert (usage.input, usage.output, usage.cache_read, usage.cache_creation) == tokens[:4]
    assert found.total.tool_calls == tokens[4]
    for name in ("prompts", "replies", "tool_calls", "errors"):
        rows = [getattr(row, name) for row in found.rows]
        assert sum(n for n in rows if n is not None) == (getattr(found.total, name) or 0)
    assert sum(row.usage.output or 0 for row in found.rows) == (usage.output or 0)


def test_what_a_fork_copied_counts_where_it_was_first_said(make):
    first = turn(1, "Plan", "Planned")
    fork = [{**each, "sessionId": session_id(2)} for each in first]
    db = make(first, [*fork, *at("2026-03-09T10:00:00.000Z", *turn(40, "More", "Done", session=session_id(2)))])
    by_session = {row.key: row for row in stats(db, "session").rows}
    assert [(by_session[session_id(n)].prompts, by_session[session_id(n)].replies) for n in (1, 2)] == [(1, 1), (1, 1)]
    assert stats(db, "day").total.prompts == 2


def test_unknown_is_not_zero(tmp_path):
    meta = {"type": "meta", "v": 1, "id": "20260302-090000-0a1b2c3d"}
    write_log(
        tmp_path / "logs" / "20260302-090000-0a1b2c3d.jsonl",
        [meta, {"type": "msg", "role": "user", "content": "hello"}],
    )
    import_logs(tmp_path / "a.db", tmp_path / "logs")
    (row,) = stats(open_db(tmp_path / "a.db").db, "day").rows
    assert (row.key, row.prompts, row.replies, row.usage.output) == (None, 1, 0, None)
    said = json.loads(piped("stats", tmp_path / "a.db", "--json").output)
    assert said["rows"][0]["tokens"]["output"] is None
    shown = piped("stats", tmp_path / "a.db").output.splitlines()
    assert shown[1].split()[0] == "unknown"
    assert shown[1].split()[-1] == "?"


def test_a_block_begins_at_the_full_hour_and_lasts_five_hours(make):
    def reply(number, time):
        return at(time, entry("assistant", number, text("x")))

    db = make([
        *reply(1, "2026-03-02T09:40:00.000Z"), *reply(2, "2026-03-02T13:59:59.999Z"), *reply(3, "2026-03-02T14:00:00.000Z"),
        *reply(4, "2026-03-02T18:59:00.000Z"), *reply(5, "2026-03-03T00:10:00.000Z"),
    ])  # fmt: skip
    rows = stats(db, "block").rows
    assert [(row.key, row.replies) for row in rows] == [
        ("2026-03-02T09:00Z", 2), ("2026-03-02T14:00Z", 2), ("2026-03-03T00:00Z", 1),
    ]  # fmt: skip
    assert rows[1].start == ms("2026-03-02T14:00")


@pytest.mark.parametrize(
    ("zone", "day", "hour"), [("Asia/Kolkata", "2026-03-03", "01:00"), ("America/New_York", "2026-03-02", "15:00")]
)
def test_days_are_those_of_the_zone(make, monkeypatch, zone, day, hour):
    db = make(at("2026-03-02T20:10:00.000Z", *turn(1, "a", "b")))
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert [row.key for row in stats(db, "day", tz=zones.LOCAL).rows] == [day]
        assert [row.key for row in stats(db, "hour", tz=zones.LOCAL).rows] == [hour]
        assert [row.key for row in stats(db, "day").rows] == ["2026-03-02"]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_day_with_another_number_of_hours_begins_and_ends_where_its_clocks_say(monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        days = [zones.midnight(date(2026, 3, n), zones.LOCAL) for n in (28, 29, 30)]
        assert [(b - a) // 3_600_000 for a, b in pairwise(days)] == [24, 23]
        assert str(zones.at(days[1], zones.LOCAL))[:16] == "2026-03-29 00:00"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_weeks_begin_on_monday_and_months_on_their_first(make):
    db = make(
        [*at("2026-03-01T10:00:00.000Z", *turn(1, "a", "b")), *at("2026-03-02T10:00:00.000Z", *turn(2, "a", "b"))]
    )
    assert [row.key for row in stats(db, "week").rows] == ["2026-02-23", "2026-03-02"]
    assert [(row.key, row.start) for row in stats(db, "month").rows] == [("2026-03", ms("2026-03-01"))]


def test_times_at_the_ends_of_the_calendar_are_counted_too(make):
    ends = [*at("0001-01-01T00:00:00.000Z", *turn(1, "a", "b")), *at("9999-12-31T23:59:59.999Z", *turn(2, "a", "b"))]
    db = make(ends)
    for by in BYS:
        assert stats(db, by, tz=zones.LOCAL).total.sessions == (0 if by == "tool" else 1)


def test_a_part_can_be_asked_for(make):
    db = make(
        [
            *at("2026-03-02T10:00:00.000Z", *turn(1, "a", "b")),
            *at("2026-03-04T10:00:00.000Z", *turn(2, "a", "b"), entry("assistant", 9, text("c"), model="other-2")),
        ]
    )
    assert [row.key for row in stats(db, "day", narrow=Narrow(since=ms("2026-03-03"))).rows] == ["2026-03-04"]
    assert [row.key for row in stats(db, "day", narrow=Narrow(until=ms("2026-03-03"))).rows] == ["2026-03-02"]
    other = stats(db, "day", narrow=Narrow(models=("OTHER",))).total
    assert (other.replies, other.prompts) == (1, None)
    with pytest.raises(UsageError, match="claude-test-1"):
        stats(db, "day", narrow=Narrow(models=("nobody",)))


def test_projects_of_one_name_are_told_apart(make, tmp_path):
    db = make(
        turn(1, "a", "b", cwd="/home/a/garden"),
        turn(1, "a", "b", session=session_id(2), cwd="/home/b/garden"),
        turn(1, "a", "b", session=session_id(3), cwd="/home/b/x"),
    )
    db.close()
    shown = bare(on_terminal(120, "stats", tmp_path / "a.db", "--by", "project")).splitlines()
    assert sorted(row.split()[0] for row in shown[1:4]) == ["a/garden", "b/garden", "x"]


def test_a_tool_has_calls_and_no_tokens(demo):
    shown = piped("stats", demo, "--by", "tool").output.splitlines()
    assert shown[0].split() == ["TOOL", "SESSIONS", "CALLS", "ERRORS"]
    assert shown[1].split()[0] == "Bash"
