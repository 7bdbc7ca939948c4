"""The steps from one schema to the next, as sqlite-utils migrations: each is recorded in the database once applied."""

from __future__ import annotations

import sqlite3

import sqlite_utils
from sqlite_utils import Migrations

from clm_sessions.store.schema import create

migrations = Migrations("clm_sessions")


@migrations()
def first(db: sqlite_utils.Database) -> None:
    """Schema 1. Once it is released, it is written out here; a new database never comes by."""
    create(db.conn)


def apply(connection: sqlite3.Connection) -> None:
    """Apply the steps that a database has not seen."""
    migrations.apply(sqlite_utils.Database(connection))
