"""The steps from one schema to the next, as sqlite-utils migrations: each is recorded in the database once applied."""

from __future__ import annotations

import sqlite3

import sqlite_utils
from sqlite_utils import Migrations

from clm_sessions.store.schema import FTS, INDEXES, TABLES, TOKENIZE

migrations = Migrations("clm_sessions")


@migrations()
def first(db: sqlite_utils.Database) -> None:
    """Schema 1."""
    for table, definition in TABLES.items():
        db.execute(f"CREATE TABLE {table} ({definition})")
    for table, indexes in INDEXES.items():
        for columns in indexes:
            db.table(table).create_index(columns)
    for table, searched in FTS.items():
        db.table(table).enable_fts(searched, tokenize=TOKENIZE, create_triggers=False)
        # FTS5 flushes pending terms at this many bytes; 16 MB makes bulk indexing half as long. An older SQLite
        # that does not know the setting refuses it, and only loses the speed.
        try:
            db.execute(f"INSERT INTO {table}_fts({table}_fts, rank) VALUES ('hashsize', 16777216)")
        except sqlite3.OperationalError:
            continue


def apply(connection: sqlite3.Connection) -> None:
    """Apply the steps that a database has not seen."""
    migrations.apply(sqlite_utils.Database(connection))
