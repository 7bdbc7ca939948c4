"""What crosses sessions, worked out again in a scratch database and compared."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from clm_sessions.store import lineage
from clm_sessions.store.rows import COLUMNS, KEYS
from clm_sessions.store.schema import INDEXES, TABLES
from clm_sessions.store.writer import FROM_LINEAGE
from clm_sessions.verify.findings import AGAIN, Result

_WIDE = {"text", "thinking", "display", "detail", "layout", "input", "result", "result_layout"}
"""Columns that hold content; who owns what does not depend on them."""


def check_lineage(db: sqlite3.Connection, result: Result) -> None:
    """Every column that depends on other sessions, against what ``store.lineage`` makes of all of them."""
    with closing(sqlite3.connect("", isolation_level=None)) as scratch:
        scratch.execute("PRAGMA journal_mode = OFF")
        scratch.execute("BEGIN")
        for table in (*FROM_LINEAGE, "facts"):
            _copy(db, scratch, table)
        lineage.settle(scratch, [sid for (sid,) in scratch.execute("SELECT id FROM sessions")])
        for table, columns in FROM_LINEAGE.items():
            _compare(db, scratch, table, sorted(columns), result)


def _copy(db: sqlite3.Connection, scratch: sqlite3.Connection, table: str) -> None:
    """The rows of a table without content, and as if no session shared anything with another."""
    scratch.execute(f"CREATE TABLE {table} ({TABLES[table]})")
    names = [name for name in COLUMNS[table] if name not in _WIDE]
    values = [_ALONE.get(name, name) if name in FROM_LINEAGE.get(table, ()) else name for name in names]
    scratch.executemany(
        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
        map(_storable, db.execute(f"SELECT {', '.join(values)} FROM {table}")),
    )
    for number, columns in enumerate(INDEXES[table]):
        scratch.execute(f"CREATE INDEX scratch_{table}_{number} ON {table} ({', '.join(columns)})")


def _storable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row whose text may be damaged, as text that can be stored."""
    return tuple(
        value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        if isinstance(value, str) and not value.isascii()
        else value
        for value in row
    )


_ALONE = {
    "inherited": "0",
    "own_reads": "reads",
    "own_changes": "edits + writes",
    "inherited_messages": "0",
    "forked_from": "NULL",
    **{f"own_{kind}_tokens": f"{kind}_tokens" for kind in ("input", "output", "cache_read", "cache_creation")},
}


def _compare(
    db: sqlite3.Connection, scratch: sqlite3.Connection, table: str, columns: list[str], result: Result
) -> None:
    key = COLUMNS[table][: KEYS[table]]
    query = f"SELECT {', '.join((*key, *columns))} FROM {table} ORDER BY {', '.join(key)}"
    for have, want in zip(db.execute(query), scratch.execute(query), strict=True):
        for number, column in enumerate(columns, len(key)):
            if have[number] != want[number]:
                what = f"{have[: len(key)]}: {column} is {have[number]!r}, not {want[number]!r}"
                result.add(table, what, AGAIN)
