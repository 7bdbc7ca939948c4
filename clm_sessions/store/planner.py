"""What SQLite knows of the sizes of tables when it chooses an index.

Without it SQLite takes the first index that fits, even where almost every row does: a page of tool calls then reads a million
rows to show a hundred. ``PRAGMA optimize`` leaves out tables that the connection did not ask about, and newer versions look
at some rows only, from which they cannot tell that a value is in most of them.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from clm_sessions.store.schema import INDEXES

_SMALL = 5_000
"""Of a table with fewer rows every plan is quick."""
_GROWN = 4
_SPARSE = {"sessions"}
"""Parents and forks are empty in most rows. SQLite takes empty for a value that is there often, and would read all rows."""


def analyse(db: sqlite3.Connection) -> None:
    """Analyse tables that are large and were never analysed, or have several times as many rows as when they were."""
    with suppress(sqlite3.OperationalError):  # somebody writes, or the disk is full: it is done another time
        known = _rows_known(db)
        for table in (name for name in INDEXES if name not in _SPARSE):
            rows = db.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] or 0
            if rows >= max(_SMALL, _GROWN * known.get(table, 0)):
                db.execute(f"ANALYZE {table}")


def _rows_known(db: sqlite3.Connection) -> dict[str, int]:
    """How many rows each table had when it was analysed. The first number of each line says it."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat1'").fetchone() is None:
        return {}
    return dict(db.execute("SELECT tbl, max(CAST(stat AS INTEGER)) FROM sqlite_stat1 GROUP BY tbl"))
