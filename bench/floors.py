"""The floors of an import, each step timed inside one process of its own: floors.py LOGS DATABASE OUT.

parse      JSON of every line, nothing kept
insert     the rows that DATABASE holds, all tables, by bare executemany in one transaction, no index, no key
index      every index DATABASE has, those of its primary keys too
search     each of its search indexes by one INSERT ... SELECT, with the hash size that an import sets
pack       the bytes of the logs in blocks as the raw archive packs them
archive    the rows of the raw archive, by bare executemany

The rows are fetched before the clock starts. The file is written as an import must write it: WAL, synchronous NORMAL.
Prints the CPU seconds of each step as JSON. Knows the schema only from DATABASE.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

try:
    from orjson import loads
except ImportError:
    from json import loads

ARCHIVE = "raw_blocks"
BLOCK = 256 * 1024
HASH_SIZE = 16 * 1024 * 1024
Table = tuple[str, tuple[str, ...], list[tuple[object, ...]]]


def main(logs: str, database: str, out: str) -> None:
    source = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    paths = sorted(Path(logs).rglob("*.jsonl"))
    plain, archive = [], []
    for name, columns in tables(source):
        rows = source.execute(f"SELECT {', '.join(columns)} FROM {name}").fetchall()
        (archive if name == ARCHIVE else plain).append((name, columns, rows))
    to = sqlite3.connect(out, isolation_level=None)
    for pragma in ("page_size = 8192", "journal_mode = WAL", "synchronous = NORMAL", "cache_size = -16000"):
        to.execute(f"PRAGMA {pragma}")
    steps: dict[str, Callable[[], object]] = {
        "parse": lambda: parse(paths),
        "insert": lambda: insert(to, plain),
        "index": lambda: index(to, source),
        "search": lambda: search(to, source),
        "pack": lambda: pack(paths),
        "archive": lambda: insert(to, archive),
    }
    print(json.dumps({name: timed(step) for name, step in steps.items()}))


def timed(step: Callable[[], object]) -> float:
    begun = time.process_time()
    step()
    return time.process_time() - begun


def tables(db: sqlite3.Connection) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each table with the columns that are stored; not the search indexes and their shadow tables."""
    rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid").fetchall()
    virtual = {name for name, *_ in search_tables(db)}
    for (name,) in rows:
        if name.startswith("sqlite_") or any(name == v or name.startswith(f"{v}_") for v in virtual):
            continue
        yield name, tuple(c[1] for c in db.execute(f"PRAGMA table_xinfo({name})") if not c[6])


def search_tables(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """(name, SQL) of each search index."""
    return db.execute("SELECT name, sql FROM sqlite_master WHERE sql LIKE '%USING fts5%' ORDER BY rowid").fetchall()


def parse(paths: list[Path]) -> None:
    for path in paths:
        with path.open("rb") as file:
            for line in file:
                with suppress(ValueError):
                    loads(line)


def insert(to: sqlite3.Connection, found: list[Table]) -> None:
    to.execute("BEGIN")
    for name, columns, rows in found:
        to.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        to.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(columns))})", rows)
    to.execute("COMMIT")
    to.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def index(to: sqlite3.Connection, source: sqlite3.Connection) -> None:
    to.execute("BEGIN")
    for name, _columns in list(tables(source)):
        for _seq, key, _unique, origin, _partial in source.execute(f"PRAGMA index_list({name})").fetchall():
            parts = [row[2] for row in source.execute(f"PRAGMA index_info({key})")]
            if name != ARCHIVE and None not in parts:
                kind = "UNIQUE INDEX" if origin == "pk" else "INDEX"
                to.execute(f"CREATE {kind} {key.replace('sqlite_', 'key_')} ON {name} ({', '.join(parts)})")
    to.execute("COMMIT")
    to.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def search(to: sqlite3.Connection, source: sqlite3.Connection) -> None:
    """The indexed texts are columns of the content table, or made of its columns as DATABASE makes them."""
    for name, sql in search_tables(source):
        content = name.removesuffix("_fts")
        made = dict(expressions(source, content))
        columns = [row[1] for row in source.execute(f"PRAGMA table_info({name})")]
        to.execute(sql)
        with suppress(sqlite3.Error):
            to.execute(f"INSERT INTO {name}({name}, rank) VALUES ('hashsize', {HASH_SIZE})")
        values = ", ".join(made.get(column, column) for column in columns)
        to.execute(f"INSERT INTO {name}(rowid, {', '.join(columns)}) SELECT rowid, {values} FROM {content}")
    to.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def expressions(db: sqlite3.Connection, table: str) -> Iterator[tuple[str, str]]:
    """The generated columns of a table, each as the expression that makes it."""
    sql = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    for row in db.execute(f"PRAGMA table_xinfo({table})").fetchall():
        if row[6]:
            after = sql.split(f"{row[1]} TEXT GENERATED ALWAYS AS (", 1)[1]
            yield row[1], after[: after.index(") VIRTUAL")]


def pack(paths: list[Path]) -> None:
    from zstandard import ZstdCompressor

    compress = ZstdCompressor(level=1).compress
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                compress(block)


if __name__ == "__main__":
    main(*sys.argv[1:])
