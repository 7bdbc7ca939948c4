"""A database that is about to be seen: is it a published one, does anything of the private one lie in it or beside it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from clm_sessions.check.files import texts
from clm_sessions.check.findings import Finder, Finding
from clm_sessions.publish import MARKER

_MAGIC = b"SQLite format 3\x00"
_PRIVATE = {
    "raw_blocks": "the raw archive is in it: every log byte for byte",
    "sources": "the paths of the logs are in it, and hashes of them",
}
_REMEDY = "make a copy for others by clm-sessions publish"


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def check_database(path: Path, finder: Finder) -> Iterator[Finding]:
    """All that is wrong with a database. It is only read, as it is: what waits in a journal is told of, not looked into."""
    for end in ("-wal", "-journal"):
        beside = path.with_name(path.name + end)
        if beside.exists() and beside.stat().st_size:
            yield Finding(place=str(beside), kind="private", what="holds rows, older ones too: let no program have it open, and leave it behind")  # fmt: skip
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as db:
        db.text_factory = lambda data: data.decode("utf-8", "replace")
        try:
            yield from _state(db, path)
            yield from _cells(db, path, finder)
        except sqlite3.DatabaseError as error:
            yield Finding(place=str(path), kind="unread", what=f"not checked to its end: {error}")


def _state(db: sqlite3.Connection, path: Path) -> Iterator[Finding]:
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    ours = "_clm_meta" in tables
    published = ours and bool(db.execute("SELECT 1 FROM _clm_meta WHERE key = ?", (MARKER,)).fetchone())
    if ours and not published:
        yield Finding(place=str(path), kind="private", what=f"a private database, nothing in it is redacted; {_REMEDY}")
        if path.stat().st_mode & 0o077:
            yield Finding(place=str(path), kind="private", what="others on this machine can read it; chmod 600")
    for table, why in _PRIVATE.items():
        if ours and table in tables and db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():  # noqa: S608 - names are ours
            yield Finding(place=f"{path}: {table}", kind="private", what=f"{why}; {_REMEDY}")
    free = db.execute("PRAGMA freelist_count").fetchone()[0]
    if free:
        yield Finding(
            place=str(path), kind="private", what=f"{free:,} free pages may hold what was deleted; run VACUUM"
        )


def _cells(db: sqlite3.Connection, path: Path, finder: Finder) -> Iterator[Finding]:
    """Secrets in the cells of every table; those that SQLite keeps for a search index hold the same words in pieces."""
    listed = db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' ORDER BY name"
    )
    names = [row[0] for row in listed]
    for table in (name for name in names if not any(f"{kept}_fts" in name for kept in names)):
        cursor = db.execute('SELECT * FROM "{}"'.format(table.replace('"', '""')))  # noqa: S608 - quoted
        columns = [each[0] for each in cursor.description]
        for number, row in enumerate(cursor, 1):
            for column, cell in zip(columns, row, strict=True):
                for place, text in _texts(cell):
                    yield from finder(f"{path}: {table}.{column}, row {number}{place}", text)


def _texts(cell: object) -> Iterator[tuple[str, str]]:
    if isinstance(cell, str):
        yield "", cell
    elif isinstance(cell, bytes):
        yield from texts("", cell)
