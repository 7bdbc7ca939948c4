"""Give the rows and bytes of sources other keys, several at once: keys may be exchanged."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from clm_sessions.ingest import ledger
from clm_sessions.sources import bundle_key
from clm_sessions.store import raw
from clm_sessions.store.rows import COLUMNS

_COLUMNS = (
    ("sessions", "id"), ("sessions", "parent_id"), ("sessions", "forked_from"), ("tool_calls", "subagent_id"),
    ("sources", "id"), ("sources", "session_id"), ("source_lines", "source_id"), ("record_types", "source_id"),
    ("ingest_issues", "source_id"), ("ingest_issues", "session_id"), ("daily_usage", "session_id"),
    *((table, "session_id") for table, columns in COLUMNS.items() if "session_id" in columns),
)  # fmt: skip
"""Every indexed column that holds the key of a session or of a source."""


def move(db: sqlite3.Connection, moves: Mapping[str, str]) -> None:
    """Make each key and all that hangs on it the other one, which nobody has who keeps his. Runs in the open transaction.

    Searched texts and row numbers stay, so no search index has to follow.
    """
    if not moves:
        return
    _move_facts(db, moves)
    steps = [(old, f"{old}@") for old in moves], [(f"{old}@", new) for old, new in moves.items()]
    for pairs in steps:
        for old, new in pairs:
            raw.rename(db, old, new)
        for table, column in _COLUMNS:
            db.executemany(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", [(new, old) for old, new in pairs])
    for sid in moves.values():
        ledger.seal(db, sid)


def _move_facts(db: sqlite3.Connection, moves: Mapping[str, str]) -> None:
    """The files that facts come from: no index leads from them to the facts."""
    for key in {bundle_key(old) for old in moves}:
        rows = db.execute(
            "SELECT session_id, seq, side FROM facts WHERE (session_id = ? OR (session_id > ? AND session_id < ?)) "
            "AND side IS NOT NULL",
            (key, f"{key}:", f"{key};"),
        ).fetchall()
        db.executemany(
            "UPDATE facts SET side = ? WHERE session_id = ? AND seq = ?",
            [(moves[side], sid, seq) for sid, seq, side in rows if side in moves],
        )
