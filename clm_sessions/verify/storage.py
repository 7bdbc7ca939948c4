"""The file as SQLite sees it: pages, schema, markers, foreign keys, and the search indexes against their tables."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from clm_sessions.errors import DatabaseError
from clm_sessions.store import forgotten, schema
from clm_sessions.verify.findings import AGAIN, BACKUP, Result
from clm_sessions.verify.unspaced import check_unspaced

_OURS = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name"


def open_snapshot(path: Path) -> sqlite3.Connection:
    """A connection that reads one state of the database and takes damaged text as it is. DatabaseError as for readers."""
    if not path.is_file():
        raise DatabaseError(f"{path}: no such database; run: clm-sessions import {path}")
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=30, isolation_level=None)
    db.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    try:
        db.execute("BEGIN")
        _check_version(db)
    except (sqlite3.DatabaseError, DatabaseError) as error:
        db.close()
        raise DatabaseError(f"{path}: {error}") from None
    return db


def _check_version(db: sqlite3.Connection) -> None:
    version = schema.schema_version(db)
    schema.check_version(version)
    if version is not None and version < schema.SCHEMA_VERSION:
        raise DatabaseError(f"it has the older schema {version}; import once to bring it up to date")
    if version is not None and db.execute("SELECT 1 FROM _clm_meta WHERE key = ?", (schema.PUBLISHED,)).fetchone():
        raise DatabaseError("a published copy has no logs in it to be compared with; verify the private database")
    if version is None and not _known(db):
        raise DatabaseError("not a clm-sessions database")


def _known(db: sqlite3.Connection) -> bool:
    """Whether a file without a good marker is ours all the same."""
    return db.execute("SELECT 1 FROM sqlite_master WHERE name = 'raw_blocks'").fetchone() is not None


def check_file(db: sqlite3.Connection, result: Result) -> None:
    """Pages and indexes, the schema, the markers, foreign keys."""
    with result.step("integrity_check"):
        rows = db.execute("PRAGMA integrity_check").fetchall()
        result.add_all("file", (text for (text,) in rows if text != "ok"), BACKUP)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        schema.migrate(fresh)
        with result.step("schema"):
            _check_schema(db, fresh, result)
        with result.step("_clm_meta"):
            ours = f"SELECT key, value FROM _clm_meta WHERE key NOT GLOB '{forgotten.PREFIX}*'"
            _same_rows(db, fresh, ours, "_clm_meta", result)
        for table in schema.FTS:
            for index in (f"{table}_fts", f"{table}_fts_cjk"):
                with result.step(f"{index}_config"):
                    _same_rows(db, fresh, f"SELECT k, v FROM {index}_config", index, result)
    with result.step("foreign_key_check"):
        for table, rowid, parent, _number in db.execute("PRAGMA foreign_key_check"):
            result.add(table, f"row {rowid} names a row of {parent} that is not there", AGAIN)


def _check_schema(db: sqlite3.Connection, fresh: sqlite3.Connection, result: Result) -> None:
    there = dict(db.execute(_OURS).fetchall())
    for name, sql in fresh.execute(_OURS):
        if name not in there:
            result.add("file", f"{name} is missing", BACKUP)
        elif there[name] != sql:
            result.add("file", f"{name} is not defined as this version defines it", BACKUP)


def _same_rows(db: sqlite3.Connection, fresh: sqlite3.Connection, query: str, where: str, result: Result) -> None:
    want, have = set(fresh.execute(query)), set(db.execute(query))
    result.add_all(where, (f"{key!s}: {value!r} is missing" for key, value in sorted(want - have)), BACKUP)
    result.add_all(where, (f"{key!s}: {value!r} does not belong here" for key, value in have - want), BACKUP)


def check_search(path: Path, snapshot: sqlite3.Connection, result: Result) -> None:
    """Each search index against its table.

    SQLite compares them only over a connection that may write, though it writes nothing. Where there can be none (a
    read-only place, another import at work), a copy is looked at. It reads an index from end to end, so what a search
    finds by way of the index is asked word by word.
    """
    for table in schema.FTS:
        for index in (f"{table}_fts", f"{table}_fts_cjk"):
            with result.step(index):
                _check_words(snapshot, index, result)
        with result.step(f"{table}_fts_cjk"):
            check_unspaced(snapshot, table, result)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=1)) as db:
            _check_indexes(db, result)
    except sqlite3.OperationalError:
        with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(Path(folder, "copy.db"))) as db:
            snapshot.backup(db)
            _check_indexes(db, result)


def _check_words(db: sqlite3.Connection, index: str, result: Result) -> None:
    """Whether a search for each word finds as many rows as the index lists for it."""
    db.execute(f"CREATE VIRTUAL TABLE temp.{index}_words USING fts5vocab('main', '{index}', 'row')")
    wrong = 0
    for word, rows in db.execute(f"SELECT term, doc FROM temp.{index}_words"):
        phrase = '"' + word.replace('"', '""') + '"'
        found = db.execute(f"SELECT count(*) FROM {index} WHERE {index} MATCH ?", (phrase,)).fetchone()[0]
        wrong += found != rows
    if wrong:
        result.add(index, f"a search for {wrong} of its words does not find all their rows", AGAIN)


def _check_indexes(db: sqlite3.Connection, result: Result) -> None:
    db.isolation_level = None
    for table in schema.FTS:
        db.execute("BEGIN IMMEDIATE")
        try:
            db.execute(f"INSERT INTO {table}_fts({table}_fts, rank) VALUES ('integrity-check', 1)")
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
                raise
            result.add(f"{table}_fts", f"the search index does not agree with its table: {error}", AGAIN)
        finally:
            db.execute("ROLLBACK")
        result.checked["search indexes"] += 1
