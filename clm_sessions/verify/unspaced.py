"""The search indexes of scripts without spaces hold no text that SQLite could compare: they are made once more."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import zip_longest

from clm_sessions.store import schema, unspaced
from clm_sessions.verify.findings import AGAIN, Result


def check_unspaced(db: sqlite3.Connection, table: str, result: Result) -> None:
    """Whether the index of a table lists every word, with its rows and places, as one made now of the table does."""
    index = f"{table}_fts_cjk"
    db.execute(f"CREATE VIRTUAL TABLE temp.{index}_places USING fts5vocab('main', '{index}', 'instance')")
    with closing(sqlite3.connect("", isolation_level=None)) as scratch:
        scratch.execute("BEGIN")
        _make(scratch, db, table)
        scratch.execute(f"CREATE VIRTUAL TABLE temp.{index}_places USING fts5vocab('main', '{index}', 'instance')")
        wrong = {what for what, query in _told(index).items() if _differ(db, scratch, query)}
    result.add_all(
        index, (f"the search index does not agree with its table: {what} differ" for what in sorted(wrong)), AGAIN
    )
    result.checked["search indexes"] += 1


def _told(index: str) -> dict[str, str]:
    """All that an index says, by what it is. Row 1 of its data has the totals that ranks are worked out with."""
    return {
        "words": f"SELECT term, doc, col, offset FROM temp.{index}_places",
        "lengths": f"SELECT id, sz FROM {index}_docsize ORDER BY id",
        "totals": f"SELECT block FROM {index}_data WHERE id = 1",
    }


def _make(scratch: sqlite3.Connection, db: sqlite3.Connection, table: str) -> None:
    names = ", ".join(schema.FTS[table])
    scratch.execute(schema.unspaced_index(table))
    rows = unspaced.spread_rows(db.execute(f"SELECT rowid, {names} FROM {table}"))
    marks = ", ".join("?" * (1 + len(schema.FTS[table])))
    scratch.executemany(f"INSERT INTO {table}_fts_cjk (rowid, {names}) VALUES ({marks})", rows)
    # The totals stay in memory until something asks for them to be written.
    scratch.execute(f"SELECT count(*) FROM {table}_fts_cjk").fetchone()


def _differ(db: sqlite3.Connection, scratch: sqlite3.Connection, query: str) -> bool:
    return any(have != want for have, want in zip_longest(db.execute(query), scratch.execute(query)))
