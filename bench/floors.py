"""The floors an import is measured against, each run as a process of its own so that start-up and memory compare.

floors.py parse PATH...           JSON of every line, nothing else
floors.py insert DB OUT           the rows that DB holds, by bare executemany into OUT, no index
floors.py index OUT DB            the indexes of DB on OUT
floors.py fts OUT DB              the search indexes of DB on OUT, one INSERT ... SELECT each
"""

from __future__ import annotations

import json
import sqlite3
import sys
from pathlib import Path

try:
    from orjson import loads
except ImportError:
    from json import loads

from clm_sessions.store.rows import COLUMNS
from clm_sessions.store.schema import FTS, INDEXES, TOKENIZE

TABLES = (*COLUMNS, "attachments")


def parse(*roots: str) -> None:
    lines = 0
    for path in sorted(p for root in roots for p in Path(root).rglob("*.jsonl")):
        with path.open("rb") as file:
            for line in file:
                try:
                    loads(line)
                except ValueError:
                    continue
                lines += 1
    print(json.dumps({"lines": lines}))


def insert(source: str, out: str) -> None:
    rows = {}
    with sqlite3.connect(source) as db:
        for table in TABLES:
            names = COLUMNS.get(table, ("sha256", "media_type", "bytes", "data"))
            rows[table] = (names, db.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall())
    to = sqlite3.connect(out, isolation_level=None)
    to.execute("PRAGMA page_size = 8192")
    to.execute("PRAGMA journal_mode = WAL")
    to.execute("PRAGMA synchronous = NORMAL")
    to.execute("BEGIN")
    for table, (names, found) in rows.items():
        to.execute(f"CREATE TABLE {table} ({', '.join(names)})")
        to.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", found)
    to.execute("COMMIT")
    to.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def read_only(source: str, _out: str) -> None:
    """What ``insert`` spends on fetching the rows; taken off its cost."""
    with sqlite3.connect(source) as db:
        for table in TABLES:
            names = COLUMNS.get(table, ("sha256", "media_type", "bytes", "data"))
            db.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()


def index(out: str, _source: str) -> None:
    db = sqlite3.connect(out, isolation_level=None)
    for table, indexes in INDEXES.items():
        if table in COLUMNS:
            for columns in indexes:
                db.execute(f"CREATE INDEX idx_{table}_{'_'.join(columns)} ON {table} ({', '.join(columns)})")


def fts(out: str, _source: str) -> None:
    db = sqlite3.connect(out, isolation_level=None)
    for table, columns in FTS.items():
        names = [c.removeprefix("search_") for c in columns]
        db.execute(
            f"CREATE VIRTUAL TABLE {table}_fts USING fts5({', '.join(names)}, tokenize='{TOKENIZE}', content='{table}')"
        )
        db.execute(f"INSERT INTO {table}_fts({table}_fts, rank) VALUES ('hashsize', 16777216)")
        db.execute("BEGIN")
        heads = ", ".join(f"substr({n}, 1, 65536)" for n in names)
        db.execute(f"INSERT INTO {table}_fts(rowid, {', '.join(names)}) SELECT rowid, {heads} FROM {table}")
        db.execute("COMMIT")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
