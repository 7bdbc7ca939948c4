"""Databases in which every text is what a test put there. The columns are found by listing the schema."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORDS = frozenset(
    {
        "kind",
        "origin",
        "role",
        "status",
        "state",
        "source_state",
        "format",
        "codec",
        "disposition",
        "display",
        "link",
    }
)
"""Columns with a small vocabulary, or a form of our own, that decides what is shown; they are planted only where a test says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of text. ``key``: it names a row; ``json``: it holds JSON, if only in some rows; ``empty``: no row has a value."""

    table: str
    name: str
    key: bool
    json: bool
    empty: bool


Text = Callable[[Column, str, int], str | None]
"""What to put into a column, from what stands there ("" for nothing) and the number of the row."""


def columns(db: sqlite3.Connection) -> list[Column]:
    """All text columns of our tables, without the marker that makes the database ours."""
    found = []
    tables = (
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%\\_fts%' ESCAPE '\\' ORDER BY name"
    )
    for (table,) in db.execute(tables).fetchall():
        if table.startswith(("_", "sqlite_")):
            continue
        refers = {row[3] for row in db.execute(f"PRAGMA foreign_key_list([{table}])")}
        for _cid, name, kind, _null, _default, key, hidden in db.execute(f"PRAGMA table_xinfo([{table}])"):
            if kind == "TEXT" and not hidden:
                held = f"FROM [{table}] WHERE [{name}] IS NOT NULL"
                every, some = db.execute(
                    f"SELECT min(json_valid([{name}])), max(json_valid([{name}]) AND [{name}] GLOB '[[{{]*') {held}"
                ).fetchone()
                named, listed = bool(key) or name in refers, bool(every or some)
                found.append(Column(table=table, name=name, key=named, json=listed, empty=every is None))
    return found


def plant(source: Path, target: Path, text: Text, *, words: bool = False, keys: bool = False) -> list[Column]:
    """A copy of a database with ``text`` in its columns; gives those that were planted. Columns without a value stay so.

    ``words`` plants those of a small vocabulary too, ``keys`` the keys, the same wherever one is referred to.
    """
    shutil.copy(source, target)
    with closing(sqlite3.connect(target)) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        chosen = [c for c in columns(db) if not c.empty and (words or c.name not in WORDS) and (keys or not c.key)]
        for column in chosen:
            _plant(db, column, text)
        indexes = db.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%using fts5%' AND sql LIKE '%content=\"%'")
        for (name,) in indexes.fetchall():  # the others hold no text to be read
            db.execute(f"INSERT INTO [{name}]([{name}]) VALUES ('rebuild')")
        db.commit()
    return chosen


def _plant(db: sqlite3.Connection, column: Column, text: Text) -> None:
    def value(before: str | None, row: int) -> str | None:
        if before is None and (column.json or column.key):
            return None
        if column.key:
            return text(column, before or "", sum((before or "").encode()))
        try:
            return json.dumps(
                _strings(json.loads(before or "" if column.json else ""), lambda one: text(column, one, row))
            )
        except ValueError:
            return text(column, before or "", row)

    db.create_function("planted", 2, value)
    db.execute(f"UPDATE [{column.table}] SET [{column.name}] = planted([{column.name}], rowid)")


def _strings(value: Any, text: Callable[[str], str | None]) -> Any:
    """The same value with the strings in it planted, but for our own marks: words and letters that stand for a kind."""
    if isinstance(value, str):
        return value if len(value) == 1 or (value.isidentifier() and value.islower()) else text(value)
    if isinstance(value, list):
        return [_strings(one, text) for one in value]
    if isinstance(value, dict):
        return {key: _strings(one, text) for key, one in value.items()}
    return value
