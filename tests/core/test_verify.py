"""``verify``: nothing wrong is found in what is right, and each of the damages is found in what is not."""

import os
import random
import shutil
import sqlite3
from contextlib import closing

import pytest

from clm_sessions import plugins
from clm_sessions.errors import DatabaseError
from clm_sessions.store.schema import FTS, TABLES
from clm_sessions.verify import verify
from support.kept import kept_database

EACH = 12
"""Damages in each table: 17 tables and the shadow tables of 3 search indexes make more than 200."""
SHADOWS = [f"{table}_fts_{part}" for table in FTS for part in ("data", "docsize")]
NIGHTLY = bool(os.environ.get("CLM_NIGHTLY"))


def check(database, **options):
    return verify(database, plugins.build(entry_points=False), **options)


def noticed(database):
    """Whether the check finds something, or refuses the file with a reason."""
    try:
        return bool(check(database).total)
    except DatabaseError:
        return True


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return kept_database(tmp_path_factory.mktemp("kept"))


def rows_of(db, table):
    """The rows of a table as (key columns, values): a rowid where there is one."""
    columns = [
        name
        for _cid, name, _type, _null, _default, _pk, hidden in db.execute(f"PRAGMA table_xinfo({table})")
        if not hidden
    ]
    return columns, db.execute(f"SELECT rowid, {', '.join(columns)} FROM {table} ORDER BY rowid").fetchall()


def changed(rng, value):
    """A value in which one byte is another."""
    if isinstance(value, int):
        return value ^ (1 << rng.randrange(8)), "?"
    data = bytearray(value if isinstance(value, bytes) else value.encode())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(7)
    return bytes(data), "?" if isinstance(value, bytes) else "CAST(? AS TEXT)"


def damage(database, table, seed):
    """Damage one row, or one byte of one value, as the seed says; what was done."""
    rng = random.Random(f"{table} {seed}")
    with closing(sqlite3.connect(database)) as db:
        columns, rows = rows_of(db, table)
        rowid, *values = rng.choice(rows)
        if seed % 3 == 0:
            db.execute(f"DELETE FROM {table} WHERE rowid = ?", (rowid,))
            db.commit()
            return f"{table}: row {values[:3]} deleted"
        while True:
            column = rng.randrange(len(columns))
            if values[column] in (None, "", b""):
                continue
            value, slot = changed(rng, values[column])
            if rowid == 10 and columns[column] == "block" and value[4:] == values[column][4:]:
                continue  # a counter by which open connections notice a new setting; it says nothing of the index
            try:
                db.execute(f"UPDATE {table} SET {columns[column]} = {slot} WHERE rowid = ?", (value, rowid))
            except sqlite3.IntegrityError:
                continue
            db.commit()
            return f"{table}: {columns[column]} of {values[:3]!r:.200}: {values[column]!r:.100} became {value!r:.100}"


def test_nothing_is_wrong_with_what_was_imported(kept):
    result = check(kept, full=True)
    assert (result.findings, result.notes) == ([], [])
    assert result.checked["lines"] > 300
    assert result.checked["images"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("table", [*TABLES, *SHADOWS])
def test_each_of_the_seeded_damages_is_found(kept, tmp_path, table):
    missed = []
    for seed in range(EACH * (10 if NIGHTLY else 1)):
        copy = tmp_path / "copy.db"
        shutil.copy(kept, copy)
        done = damage(copy, table, seed)
        if not noticed(copy):
            missed.append(done)
    assert not missed
