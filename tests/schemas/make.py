"""Write the fixture of the current schema: a small database as SQL text. Run it only while that schema is not released.

    python tests/schemas/make.py

A released schema is never written again: what users have is what its file says. A new schema gets a new file.
"""

import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]


def statements(db: sqlite3.Connection) -> Iterator[str]:
    """The database as SQL: tables, rows, indexes; search indexes are made again from their tables."""
    objects = db.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'index', name"
    ).fetchall()
    searched = [name for _type, name, sql in objects if sql.startswith("CREATE VIRTUAL TABLE")]
    shadows = {f"{name}_{part}" for name in searched for part in ("data", "idx", "docsize", "config", "content")}
    for kind, name, sql in objects:
        if name in shadows or name.startswith("sqlite_"):
            continue
        yield f"{sql};"
        if kind == "table" and name not in searched:
            yield from _rows(db, name)
    for name in searched:
        if name.endswith("_cjk"):
            yield from _unspaced(db, name)
            continue
        yield f"INSERT INTO {name}({name}) VALUES ('rebuild');"
        yield f"INSERT INTO {name}({name}, rank) VALUES ('hashsize', 16777216);"


def _rows(db: sqlite3.Connection, table: str) -> Iterator[str]:
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
    quoted = " || ', ' || ".join(f"quote({column})" for column in columns)
    for (values,) in db.execute(f"SELECT {quoted} FROM {table} ORDER BY rowid"):
        yield f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values});"


def _unspaced(db: sqlite3.Connection, name: str) -> Iterator[str]:
    """The rows of an index that keeps no text, and cannot make itself again."""
    from clm_sessions.store.schema import FTS
    from clm_sessions.store.unspaced import spread_rows

    table = name.removesuffix("_fts_cjk")
    names = ", ".join(FTS[table])
    for row in spread_rows(db.execute(f"SELECT rowid, {names} FROM {table}")):
        values = ", ".join(db.execute("SELECT quote(?)", (value,)).fetchone()[0] for value in row)
        yield f"INSERT INTO {name} (rowid, {names}) VALUES ({values});"


def make() -> Path:
    """Write ``N.sql`` for the current schema."""
    sys.modules["zstandard"] = None  # the fixture must open without the extra
    from clm_sessions.ingest import ledger
    from clm_sessions.store.schema import SCHEMA_VERSION
    from support.kept import BOOK, change_logs, write_logs
    from support.logs import import_logs

    with tempfile.TemporaryDirectory() as scratch:
        database, logs = Path(scratch, "a.db"), write_logs(Path(scratch, "logs"), long=False)
        import_logs(database, logs, book=BOOK)
        change_logs(logs)
        import_logs(database, logs, book=BOOK)
        with closing(sqlite3.connect(database, isolation_level=None)) as db:
            for (sid,) in db.execute("SELECT id FROM sources").fetchall():
                source = ledger.one(db, sid)
                path = source["path"].replace(scratch, "/home/dev")
                db.execute(
                    "UPDATE sources SET path = ?, device = 1, inode = 1, mtime_ns = 1, ctime_ns = 1 WHERE id = ?",
                    (path, sid),
                )
                ledger.set_state(db, sid, source["state"])
            db.execute("UPDATE _sqlite_migrations SET applied_at = '2026-03-02 09:00:00+00:00'")
            target = HERE / f"{SCHEMA_VERSION}.sql"
            target.write_text("".join(f"{line}\n" for line in statements(db)))
    return target


if __name__ == "__main__":
    print(make())
