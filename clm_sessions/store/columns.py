"""What the columns of the tables hold, for those who give rows away with types."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import Literal

from clm_sessions.errors import UsageError
from clm_sessions.store.schema import TABLES

ColumnKind = Literal["time", "day", "flag", "json", "integer", "real", "text", "blob"]
ALIASES: dict[str, tuple[str, str]] = {
    "files": ("sources", "1"),
    "issues": ("ingest_issues", "1"),
    "subagents": ("sessions", "role = 'subagent'"),
}
"""Names for tables, or parts of them, that people look for: the table, and which of its rows."""
PUBLIC = tuple(table for table in TABLES if not table.startswith("_"))
NAMES = (*PUBLIC, *ALIASES)
_TIMES = frozenset(("started_at", "ended_at", "at", "first_at", "last_at"))
_FLAGS = frozenset(("inherited", "is_sidechain", "is_meta", "is_error", "parallel", "input_is_text"))
_JSON = frozenset({
    ("sessions", "context_phases"), ("sessions", "models"), ("chunks", "sidechain"), ("chunks", "subagents"),
    ("messages", "usage"), ("messages", "command"), ("messages", "layout"), ("messages", "detail"),
    ("tool_calls", "input"), ("tool_calls", "result_layout"), ("facts", "value"), ("session_files", "read_by"),
    ("session_files", "changed_by"), ("sources", "checkpoint"),
    ("sources", "archived"),
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column and what it holds. time: ISO 8601 in UTC; day: ``2026-03-02``; flag: 0 or 1; json: JSON as text."""

    name: str
    kind: ColumnKind


def kind(table: str, column: str, declared: str) -> ColumnKind:
    """What a column holds; ``declared`` is its type in the schema."""
    if (table, column) in _JSON:
        return "json"
    if column == "day":
        return "day"
    if column in _TIMES:
        return "time"
    if column in _FLAGS:
        return "flag"
    affinity: dict[str, ColumnKind] = {"INTEGER": "integer", "REAL": "real", "BLOB": "blob"}
    return affinity.get(declared.split(maxsplit=1)[0].upper() if declared else "", "text")


@cache
def kinds(table: str) -> Mapping[str, ColumnKind]:
    """What each column of a table holds, by the schema alone."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(f"CREATE TABLE {table} ({TABLES[table]})")
        return {column.name: column.kind for column in columns(db, table)[2]}


def columns(db: sqlite3.Connection, name: str) -> tuple[str, str, list[Column]]:
    """The table behind a public name, which of its rows are meant (SQL), and its columns.

    Left out are the columns that SQLite generates for its search index. UsageError if there is no such table.
    """
    if name not in NAMES:
        raise UsageError(f"no table {name!r}; there are: {', '.join(NAMES)}")
    table, where = ALIASES.get(name, (name, "1"))
    rows = db.execute("SELECT name, type FROM pragma_table_info(?)", (table,)).fetchall()
    return table, where, [Column(name=column, kind=kind(table, column, declared)) for column, declared in rows]
