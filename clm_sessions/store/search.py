"""Full-text search over messages and tool calls. Any text a person types is a valid query.

``find`` gives all places that hold the words, as light rows; ``store.hits`` makes of some of them what a person reads,
``store.counts`` counts them by project, tool, day. ``search`` is for those who want the best few.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clm_sessions.store import unspaced
from clm_sessions.store.hits import Hit, hits
from clm_sessions.store.narrow import Condition, Narrow, of_days, of_sessions, of_time, tools
from clm_sessions.store.narrow import models as names
from clm_sessions.store.places import PARTS, Found, Place, in_part
from clm_sessions.store.snippets import MARK_END, MARK_START, pieces
from clm_sessions.store.words import fts_query, unspaced_query

__all__ = [
    "KINDS",
    "LIMIT",
    "MARK_END",
    "MARK_START",
    "RANKED",
    "Found",
    "Hit",
    "Place",
    "find",
    "fts_query",
    "hits",
    "pieces",
    "search",
]

LIMIT = 1 << 20
_MESSAGES = ("user", "ai", "system", "compact", "sidechain")
KINDS = (*_MESSAGES, "thinking", "tool", "input", "output")
"""Where to search: the texts of messages of one kind, thinking, tool calls with their results, or one of the two."""
RANKED = 15_000
"""Places of one table that are ranked, those imported last: to rank one, SQLite has to read how long its text is."""


def search(
    db: sqlite3.Connection,
    text: str,
    *,
    limit: int = 50,
    narrow: Narrow | None = None,
    kinds: Collection[str] = (),
    noise: bool = True,
    copies: bool = True,
) -> list[Hit]:
    """The best ``limit`` hits in messages and tool calls together, at most ``LIMIT``. The rest as in ``find``."""
    limit = max(0, min(limit, LIMIT))
    found = find(db, text, narrow=narrow, kinds=kinds, noise=noise, copies=copies) if limit else Found(text=text)
    return hits(db, found, found.places[:limit])


def find(
    db: sqlite3.Connection,
    text: str,
    *,
    narrow: Narrow | None = None,
    kinds: Collection[str] = (),
    sessions: Narrow | None = None,
    session: str | None = None,
    tables: Collection[str] = tuple(PARTS),
    noise: bool = True,
    copies: bool = True,
    ranked: int = RANKED,
) -> Found:
    """All places in ``tables`` that hold the words of ``text``, best first.

    ``narrow`` asks something of the place itself, ``sessions`` of its session: there a model is one that the session
    used. ``session``: only in that one. ``kinds``: some of ``KINDS``, none for all. ``noise``: also what is never shown.
    ``copies``: also in what a session copied from another one. Of more than ``ranked`` places in a table the newest are
    taken. UsageError if a ``Narrow`` names what the database does not have.
    """
    places: list[Place] = []
    queries: dict[str, str] = {}
    newest: dict[str, int] = {}
    for ask in _asks(db, narrow or Narrow(), kinds, noise=noise, copies=copies):
        if ask.table in tables:
            asked = _within(db, ask, sessions or Narrow(), session)
            for index, query in _queries(ask.table, text):
                queries[index] = query
                more = _places(db, index, query, asked, ranked, newest)
                places = _joint(places, more) if places and more and places[-1].table == ask.table else places + more
    return Found(text=text, places=sorted(places), queries=queries, newest=newest)


def _joint(places: list[Place], more: list[Place]) -> list[Place]:
    """Places of two questions: a row that both found is there once, with its better rank."""
    best = {(place.table, place.rowid): place for place in sorted([*places, *more], reverse=True)}
    return list(best.values())


def _queries(table: str, text: str) -> list[tuple[str, str]]:
    """The indexes that are asked, each with its query. A text in a script without spaces can only be in the second."""
    words, pairs = fts_query(text), unspaced_query(text)
    if words is None or pairs is None:
        return []
    return [*([] if unspaced.within(text) else [(f"{table}_fts", words)]), (f"{table}_fts_cjk", pairs)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """One question: of which table and part of it, and for which of its rows (alias ``m``).

    ``narrow``: conditions that an index of the table answers, ``also``: those for which the row is read.
    """

    table: str
    part: str | None = None
    narrow: tuple[Condition, ...] = ()
    also: tuple[Condition, ...] = ()
    first: int = 0
    last: int = (1 << 63) - 1


def _asks(
    db: sqlite3.Connection, narrow: Narrow, kinds: Collection[str], *, noise: bool, copies: bool
) -> Iterator[_Ask]:
    for table, at, models in (("messages", "at", "m.model IN (%s)"), ("tool_calls", "started_at", _MODEL_OF_CALL)):
        sessions = of_sessions(db, Narrow(projects=narrow.projects, formats=narrow.formats))
        days, bound = of_days(narrow, "m.day")
        also = [of_time(narrow, f"m.{at}", f"m.{at}")]
        if not noise:
            also.append(("m.chunk_seq IS NOT NULL", []))
        if not copies:
            also.append(("m.inherited = 0", []))
        if narrow.models:
            also.append(_one_of(models, names(db, narrow)))
        ask = _Ask(table=table, narrow=_there(_of_sessions(*sessions), (" AND ".join(days), bound)), also=_there(*also))
        yield from _messages(ask, narrow, kinds) if table == "messages" else _calls(db, ask, narrow, kinds)


_MODEL_OF_CALL = "(SELECT a.model FROM messages a WHERE a.session_id = m.session_id AND a.seq = m.message_seq) IN (%s)"


def _messages(ask: _Ask, narrow: Narrow, kinds: Collection[str]) -> Iterator[_Ask]:
    if narrow.tools:
        return
    if not kinds:
        yield ask
    if "thinking" in kinds:
        yield replace(ask, part="thinking")
    if spoken := [kind for kind in _MESSAGES if kind in kinds]:
        yield replace(ask, part="text", narrow=(*ask.narrow, _one_of("m.kind IN (%s)", spoken)))


def _calls(db: sqlite3.Connection, ask: _Ask, narrow: Narrow, kinds: Collection[str]) -> Iterator[_Ask]:
    if narrow.tools:
        ask = replace(ask, narrow=(*ask.narrow, _one_of("m.name IN (%s)", tools(db, narrow))))
    if not kinds or "tool" in kinds:
        yield ask
    else:
        yield from (replace(ask, part=part) for part in PARTS["tool_calls"] if part in kinds)


def _within(db: sqlite3.Connection, ask: _Ask, sessions: Narrow, session: str | None) -> _Ask:
    """The question for some sessions only, or for one, whose rows lie together."""
    asked = replace(ask, narrow=(*ask.narrow, *_there(_of_sessions(*of_sessions(db, sessions, in_span=True)))))
    if session is None:
        return asked
    span = f"SELECT min(rowid), max(rowid) FROM {ask.table} WHERE session_id = ?"
    first, last = db.execute(span, (session,)).fetchone()
    also = (*ask.also, ("m.session_id = ?", [session]))
    return replace(asked, also=also, first=first or 0, last=-1 if last is None else last)


def _of_sessions(condition: str, bound: list[Any]) -> Condition:
    return (f"m.session_id IN (SELECT s.id FROM sessions s WHERE {condition})" if condition else ""), bound


def _one_of(condition: str, values: Sequence[str]) -> Condition:
    return condition % ", ".join("?" * len(values)), list(values)


def _there(*conditions: Condition) -> tuple[Condition, ...]:
    return tuple(condition for condition in conditions if condition[0])


def _places(
    db: sqlite3.Connection, index: str, query: str, ask: _Ask, ranked: int, newest: dict[str, int]
) -> list[Place]:
    """The places of one question in one index. Of more than ``ranked`` rows the newest; ``newest`` is told from where on.

    As long as there are few, each row that matches is held against the conditions. Of many, only what the table's own
    indexes leave over is ranked and read.
    """
    source = (
        f"{index} f CROSS JOIN {ask.table} m ON m.rowid = f.rowid WHERE {index} MATCH ? AND f.rowid BETWEEN ? AND ?"
    )
    bound: list[Any] = [in_part(query, ask.part), ask.first, ask.last]
    narrow = list(ask.narrow)
    first = _newest(db, index, bound, [], ranked)
    if first and narrow:
        # With a plus SQLite makes the set once and looks each match up in it, instead of asking for each rowid.
        narrow = [(f"+f.rowid IN (SELECT m.rowid FROM {ask.table} m WHERE {sql})", values) for sql, values in narrow]
        first = _newest(db, index, bound, narrow, ranked)
    if first:
        bound[1] = first
        newest[ask.table] = max(first, newest.get(ask.table, 0))
    name, at = ("m.kind", "m.at") if ask.table == "messages" else ("m.name", "m.started_at")
    also, values = _joined([*narrow, *ask.also])
    rows = db.execute(
        f"SELECT f.rank, ?, f.rowid, m.session_id, {name}, {at} FROM {source}{also}", [index, *bound, *values]
    )
    return list(map(Place._make, rows))


def _newest(
    db: sqlite3.Connection, index: str, bound: Sequence[Any], narrow: Iterable[Condition], ranked: int
) -> int | None:
    """The rowid of the last of the newest ``ranked`` rows that match; None if there are no more than that."""
    also, values = _joined(narrow)
    rows = db.execute(
        f"SELECT f.rowid FROM {index} f WHERE {index} MATCH ? AND f.rowid BETWEEN ? AND ?{also} "
        f"ORDER BY f.rowid DESC LIMIT 2 OFFSET {ranked - 1}",
        [*bound, *values],
    ).fetchall()
    return int(rows[0][0]) if len(rows) > 1 else None


def _joined(conditions: Iterable[Condition]) -> Condition:
    conditions = list(conditions)
    return "".join(f" AND {sql}" for sql, _bound in conditions), [
        value for _sql, bound in conditions for value in bound
    ]
