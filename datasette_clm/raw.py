"""The bytes of the log behind a message, out of the raw archive."""

from __future__ import annotations

import sqlite3

from clm_sessions.store.raw import read_range

NEEDS = ("sessions", "messages", "sources", "raw_blocks")


def record(db: sqlite3.Connection, sid: str, message: int) -> bytes | None:
    """The line of a message as the log has it; None if there is no such message or the archive was not kept."""
    row = db.execute(
        "SELECT s.id, s.generation, m.byte_offset, m.byte_length, m.earlier FROM messages m JOIN sources s ON s.session_id = m.session_id "
        "WHERE m.session_id = ? AND m.seq = ? AND s.role IN ('main', 'agent') AND s.state <> 'copy' ORDER BY s.id LIMIT 1",
        (sid, message),
    ).fetchone()
    if row is None or row[2] is None:
        return None
    source, generation, offset, length, earlier = row
    if earlier is not None:
        name, _, number = earlier.rpartition("#")
        source, generation = f"{source}{name}", int(number) if number.isdecimal() else -1
    return read_range(db, source, generation, offset, length) or None
