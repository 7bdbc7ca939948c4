"""Full-text search for the pages: only in tables that may be read, in one session or in all. No text is an error."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from clm_sessions.store.search import MARK_END, MARK_START, fts_query, newest

_WORDS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A place that holds the words. ``what``: origin of the message, or the tool; ``snippet`` is marked by STX and ETX."""

    session: str
    title: str | None
    chunk: int | None
    message: int
    what: str
    at: str | None
    snippet: str
    tool: bool = False


def places(
    db: sqlite3.Connection, q: str, tables: Collection[str], *, session: str | None = None, limit: int = 50
) -> list[Found]:
    """The best ``limit`` places for what a person typed; none if it has no letter or digit. Noise is left out."""
    query = fts_query(q)
    if query is None:
        return []
    found: list[tuple[float, Found]] = []
    if "messages" in tables:
        found += _places(db, query, "messages", "m.seq, m.origin, m.at", session, limit)
    if "tool_calls" in tables:
        found += _places(db, query, "tool_calls", "m.message_seq, m.name, m.started_at", session, limit)
    found.sort(key=lambda pair: pair[0])
    return [place for _rank, place in found[:limit]]


def _places(
    db: sqlite3.Connection, query: str, table: str, columns: str, session: str | None, limit: int
) -> list[tuple[float, Found]]:
    """Places in one table. FTS is told the rowids of the session, so that a common word elsewhere costs nothing."""
    where, arguments = f" AND {newest(table)}", [query]
    if session is not None:
        span = f"SELECT min(rowid), max(rowid) FROM {table} WHERE session_id = ?"  # noqa: S608 - the table is ours
        first, last = db.execute(span, (session,)).fetchone()
        if first is None:
            return []
        where, arguments = " AND f.rowid BETWEEN ? AND ? AND m.session_id = ?", [first, last, session]
    sql = f"""SELECT m.session_id, s.title, m.chunk_seq, {columns}, snippet({table}_fts, -1, ?, ?, '…', {_WORDS}), f.rank
        FROM {table}_fts f JOIN {table} m ON m.rowid = f.rowid JOIN sessions s ON s.id = m.session_id
        WHERE {table}_fts MATCH ?{where} AND m.chunk_seq IS NOT NULL ORDER BY f.rank LIMIT ?"""  # noqa: S608 - names are ours
    rows = db.execute(sql, (MARK_START, MARK_END, query, *arguments, limit))
    return [
        (
            rank,
            Found(
                session=sid, title=title, chunk=chunk, message=message, what=what or "", at=at, snippet=snippet or "",
                tool=table == "tool_calls",
            ),
        )
        for sid, title, chunk, message, what, at, snippet, rank in rows
    ]  # fmt: skip


def titles(db: sqlite3.Connection, q: str, limit: int = 10) -> list[tuple[str, str]]:
    """Sessions whose title holds the words: (id, title)."""
    query = fts_query(q)
    if query is None:
        return []
    rows = db.execute(
        "SELECT s.id, s.title FROM sessions_fts f JOIN sessions s ON s.rowid = f.rowid WHERE sessions_fts MATCH ? "
        "ORDER BY f.rank LIMIT ?",
        (query, limit),
    )
    return [(row[0], row[1]) for row in rows]
