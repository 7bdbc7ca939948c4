"""Totals by day, hour, model, project, session, tool or 5-hour block. Everything is counted once.

Only owned rows count (``inherited = 0``): what a fork or a resumed session copied is counted where it was first said.
A reply is an API reply and its tokens are counted once, subagents included; a prompt is one that a person typed; a tool
call belongs to the moment it was made. ``None`` is unknown: nothing of the kind was recorded, or it cannot be told by
what is asked (a tool has no tokens).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import Any, Literal, get_args

from clm_sessions import times, zones
from clm_sessions.model import Usage
from clm_sessions.sources import bundle_key
from clm_sessions.store.narrow import Narrow, models, of_rows, tools

By = Literal["day", "week", "month", "hour", "block", "model", "project", "session", "tool"]
BYS: tuple[By, ...] = get_args(By)
HOUR = 3_600_000
BLOCK = 5 * HOUR
"""How long a block lasts, in milliseconds. It starts at the full hour (UTC) of the first activity that no earlier block
holds, and ends five hours later whether anything happens or not: so after a pause of five hours a new one starts."""
_SLOT = 900_000
_TOKENS = ("input", "output", "cache_read", "cache_creation", "reasoning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """One row. ``key`` names it (a day, a model, the id of a session or project …); None: what it goes by is unknown.

    ``label`` is for people: the title of a session, the name of a project. ``path``: of a project. ``start``: when a day, week, month or block
    begins, in milliseconds. ``sessions``: those that were active; subagents are part of theirs. ``errors`` are failed calls.
    ``cost`` is an estimate in US dollars, ``unpriced`` how many replies are not in it.
    """

    key: str | None
    label: str | None = None
    path: str | None = None
    start: int | None = None
    sessions: int = 0
    prompts: int | None = None
    replies: int | None = None
    tool_calls: int | None = None
    errors: int | None = None
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None
    unpriced: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Rows in order (time goes on; otherwise the most tokens, then calls, come first), and the total of all."""

    by: By
    rows: Sequence[Totals]
    total: Totals


@dataclass(frozen=True, slots=True)
class _Count:
    """What was counted of a session in one quarter of an hour (milliseconds; None: no time) under one name."""

    what: Literal["prompts", "replies", "calls"]
    session: str
    slot: int | None
    name: str | None
    numbers: tuple[float | None, ...]


class _Sum:
    def __init__(self) -> None:
        self.sessions: set[str] = set()
        self.numbers: dict[str, list[Any]] = {}

    def add(self, count: _Count) -> None:
        self.sessions.add(bundle_key(count.session))
        have = self.numbers.setdefault(count.what, [None] * len(count.numbers))
        for i, number in enumerate(count.numbers):
            if number is not None:
                have[i] = (have[i] or 0) + number

    def totals(
        self, kinds: Sequence[str], key: str | None, start: int | None = None, label: str | None = None
    ) -> Totals:
        def of(what: str, size: int) -> list[Any]:
            nothing: list[Any] = [0 if what in kinds else None] + [None] * (size - 1)
            return self.numbers.get(what, nothing)

        replies, usd, unpriced, *tokens = of("replies", 8)
        calls, errors = of("calls", 2)
        return Totals(
            key=key, label=label, start=start, sessions=len(self.sessions), prompts=of("prompts", 1)[0],
            replies=replies, tool_calls=calls, errors=0 if calls == 0 else errors,
            usage=Usage(**dict(zip(_TOKENS, tokens, strict=True))), cost=usd, unpriced=unpriced,
        )  # fmt: skip


def stats(db: sqlite3.Connection, by: By, *, narrow: Narrow | None = None, tz: tzinfo = timezone.utc) -> Stats:
    """Totals of the rows that are asked for. Days, weeks (from Monday), months and hours of the day are those of ``tz``.

    A tool that is asked for leaves calls alone, a model leaves prompts out. UsageError if ``narrow`` names what the
    database does not have.
    """
    narrow = narrow or Narrow()
    kinds = _kinds(by, narrow)
    counts = [count for kind in kinds for count in _QUERIES[kind](db, by, narrow)]
    key_of = _keys(db, by, tz, counts)
    sums: dict[str | None, _Sum] = {}
    total = _Sum()
    for count in counts:
        sums.setdefault(key_of(count), _Sum()).add(count)
        total.add(count)
    labels = _labels(db, by)
    rows = [each.totals(kinds, key, _start(by, key, tz), labels.get(key)) for key, each in sums.items()]
    if by == "project":
        paths = dict(db.execute("SELECT id, path FROM projects").fetchall())
        rows = [replace(row, path=paths.get(row.key)) for row in rows]
    return Stats(by=by, rows=sorted(rows, key=_order(by)), total=total.totals(kinds, "total"))


def _kinds(by: By, narrow: Narrow) -> tuple[str, ...]:
    if by == "tool" or narrow.tools:
        return ("calls",)
    return ("replies", "calls") if by == "model" or narrow.models else ("replies", "calls", "prompts")


# -- what is counted --------------------------------------------------------------------------------------------


def _slot(column: str) -> str:
    """The quarter of an hour of a time: no zone is off by less, and so a million rows become few."""
    return f"substr({column}, 1, 14) || (substr({column}, 15, 2) / 15)"


def _replies(db: sqlite3.Connection, by: By, narrow: Narrow) -> Iterator[_Count]:
    condition, bound = of_rows(db, narrow, "r", "at")
    where, also = _in("r.model", models(db, narrow) if narrow.models else [])
    sums = ", ".join(f"sum(r.{name}_tokens)" for name in _TOKENS)
    rows = db.execute(
        f"SELECT r.session_id, {_slot('r.at')}, {'r.model' if by == 'model' else 'NULL'}, count(*), "
        f"sum(r.cost_usd), sum(r.cost_usd IS NULL), {sums} "
        f"FROM requests r WHERE r.inherited = 0{_and(condition)}{where} GROUP BY 1, 2, 3",
        (*bound, *also),
    )
    return (_Count("replies", sid, _ms(slot), name, tuple(numbers)) for sid, slot, name, *numbers in rows)


def _calls(db: sqlite3.Connection, by: By, narrow: Narrow) -> Iterator[_Count]:
    condition, bound = of_rows(db, narrow, "t", "started_at")
    where, also = _in("t.name", tools(db, narrow) if narrow.tools else [])
    of_model, wanted = _in("m.model", models(db, narrow) if narrow.models else [])
    join = " LEFT JOIN messages m ON m.session_id = t.session_id AND m.seq = t.message_seq"
    name = {"model": "m.model", "tool": "t.name"}.get(by, "NULL")
    rows = db.execute(
        f"SELECT t.session_id, {_slot('t.started_at')}, {name}, count(*), sum(t.status = 'error') FROM tool_calls t"
        f"{join if by == 'model' or of_model else ''} "
        f"WHERE t.inherited = 0{_and(condition)}{where}{of_model} GROUP BY 1, 2, 3",
        (*bound, *also, *wanted),
    )
    return (_Count("calls", sid, _ms(slot), each, tuple(numbers)) for sid, slot, each, *numbers in rows)


def _prompts(db: sqlite3.Connection, by: By, narrow: Narrow) -> Iterator[_Count]:
    """Prompts as ``sessions.prompts`` has them, without those that were copied."""
    del by
    condition, bound = of_rows(db, narrow, "m", "at")
    rows = db.execute(
        f"SELECT m.session_id, {_slot('m.at')}, count(*) FROM messages m JOIN sessions s ON s.id = m.session_id "
        "WHERE m.kind = 'user' AND m.origin = 'prompt' AND m.inherited = 0 AND m.chunk_seq IS NOT NULL "
        f"AND s.agent_id IS NULL{_and(condition)} GROUP BY 1, 2",
        bound,
    )
    return (_Count("prompts", sid, _ms(slot), None, (number,)) for sid, slot, number in rows)


_QUERIES: dict[str, Callable[[sqlite3.Connection, By, Narrow], Iterator[_Count]]] = {
    "replies": _replies,
    "calls": _calls,
    "prompts": _prompts,
}


def _and(condition: str) -> str:
    return f" AND {condition}" if condition else ""


def _in(column: str, names: Sequence[str]) -> tuple[str, Sequence[str]]:
    return (f" AND {column} IN ({', '.join('?' * len(names))})" if names else "", names)


def _ms(slot: str | None) -> int | None:
    """The moment of ``2026-03-02T09:2``: the third quarter."""
    if slot is None:
        return None
    hour = times.parse(f"{slot[:13]}:00")
    return None if hour is None else hour + int(slot[14:]) * _SLOT


# -- what it is counted by --------------------------------------------------------------------------------------


def _keys(db: sqlite3.Connection, by: By, tz: tzinfo, counts: Iterable[_Count]) -> Callable[[_Count], str | None]:
    if by in ("model", "tool"):
        return lambda count: count.name
    if by == "session":
        return lambda count: bundle_key(count.session)
    if by == "project":
        ids = dict(db.execute("SELECT id, coalesce(project_id, project_name) FROM sessions").fetchall())
        return lambda count: ids.get(count.session)
    if by == "block":
        starts = _blocks({count.slot for count in counts if count.slot is not None})
        return lambda count: None if count.slot is None else _text(starts[count.slot])
    known: dict[int | None, str | None] = {None: None}
    period = _PERIODS[by]

    def key(count: _Count) -> str | None:
        if count.slot not in known:
            known[count.slot] = period(zones.at(count.slot or 0, tz))
        return known[count.slot]

    return key


_PERIODS: dict[str, Callable[[datetime], str]] = {
    "day": lambda at: at.date().isoformat(),
    "week": lambda at: (at.date() - timedelta(days=at.weekday())).isoformat(),
    "month": lambda at: at.date().isoformat()[:7],
    "hour": lambda at: f"{at.hour:02}:00",
}


def _blocks(slots: Iterable[int]) -> dict[int, int]:
    """The start of the block of each moment."""
    starts: dict[int, int] = {}
    start = None
    for slot in sorted(slots):
        if start is None or slot >= start + BLOCK:
            start = slot - slot % HOUR
        starts[slot] = start
    return starts


def _text(ms: int) -> str:
    return zones.at(ms, timezone.utc).isoformat()[:16] + "Z"


def _start(by: By, key: str | None, tz: tzinfo) -> int | None:
    if key is None or by not in ("day", "week", "month", "block"):
        return None
    if by == "block":
        return times.parse(key)
    return zones.midnight(date.fromisoformat(f"{key}-01" if by == "month" else key), tz)


def _labels(db: sqlite3.Connection, by: By) -> dict[str | None, str | None]:
    if by == "session":
        rows = db.execute("SELECT id, title FROM sessions WHERE role IN ('main', 'orphan') ORDER BY role DESC, id DESC")
        return {bundle_key(sid): title for sid, title in rows}
    if by == "project":
        return dict(
            db.execute("SELECT DISTINCT coalesce(project_id, project_name), project_name FROM sessions").fetchall()
        )
    return {}


def _order(by: By) -> Callable[[Totals], tuple[object, ...]]:
    if by in ("model", "project", "session", "tool"):
        return lambda row: (row.key is None, -(row.usage.output or 0), -(row.tool_calls or 0), row.key or "")
    return lambda row: (row.key is None, row.key or "")
