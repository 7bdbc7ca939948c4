"""Give the rows of a session another key, when one of the same id comes before it (see ``keys``)."""

from __future__ import annotations

import sqlite3

from clm_sessions.ingest import ledger
from clm_sessions.store import raw

_NAMED = (
    ("sessions", ("id", "parent_id", "forked_from")),
    ("chunks", ("session_id",)),
    ("messages", ("session_id",)),
    ("tool_calls", ("session_id", "subagent_id")),
    ("requests", ("session_id",)),
    ("session_models", ("session_id",)),
    ("session_tools", ("session_id",)),
    ("facts", ("session_id", "side")),
    ("message_attachments", ("session_id",)),
    ("sources", ("id", "session_id")),
    ("source_lines", ("source_id",)),
    ("record_types", ("source_id",)),
    ("ingest_issues", ("source_id", "session_id")),
    ("raw_blocks", ("source_id",)),
)
"""Every column that holds the key of a session or of a source."""


def rename(db: sqlite3.Connection, old: str, new: str) -> list[str]:
    """Make ``old`` and all that hangs below it ``new``, which nobody has. Runs inside the caller's transaction.

    Searched texts and row numbers stay, so no search index has to follow. Gives the new keys of the sessions.
    """
    sources = [
        sid
        for (sid,) in db.execute(f"SELECT DISTINCT source_id FROM raw_blocks WHERE {_below('source_id')}", _span(old))
    ]
    for sid in sources:
        raw.rename(db, sid, new + sid[len(old) :])
    for table, columns in _NAMED:
        for column in columns:
            db.execute(
                f"UPDATE {table} SET {column} = ? || substr({column}, ?) WHERE {_below(column)}",
                (new, len(old) + 1, *_span(old)),
            )
    for (sid,) in db.execute(f"SELECT id FROM sources WHERE {_below('id')}", _span(new)).fetchall():
        ledger.seal(db, sid)
    return [sid for (sid,) in db.execute(f"SELECT id FROM sessions WHERE {_below('id')}", _span(new))]


def _below(column: str) -> str:
    ranges = " OR ".join(f"({column} >= ? AND {column} < ?)" for _ in "/:@")
    return f"({column} = ? OR {ranges})"


def _span(key: str) -> tuple[str, ...]:
    """The key, and the ranges of what stands below it: files, subagents, copies."""
    return (key, *(f"{key}{mark}" for one in "/:@" for mark in (one, chr(ord(one) + 1))))
