"""Open the database file: for writing (made private, in WAL mode) and for reading (never written to)."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from clm_sessions.errors import DatabaseError
from clm_sessions.store import schema

PAGE_SIZE = 8192
PATIENCE = 600.0
"""Seconds to wait for another writer before giving up."""


def open_writer(path: Path) -> sqlite3.Connection:
    """A connection that may write, the file made 0600 and brought to this schema. DatabaseError if it is not ours."""
    fresh = not path.exists()
    try:
        if fresh:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        db = sqlite3.connect(path, timeout=30, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise DatabaseError(f"{path}: cannot open: {error}") from error
    try:
        if fresh or path.stat().st_size == 0:
            db.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -16000")
        schema.migrate(db)
    except sqlite3.DatabaseError as error:
        db.close()
        raise DatabaseError(f"{path}: {error}; name another file, or move this one away") from error
    except DatabaseError as error:
        db.close()
        raise DatabaseError(f"{path}: {error}") from None
    return db


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads. DatabaseError if the file is missing, not ours, or newer than this version."""
    if not path.is_file():
        raise DatabaseError(f"{path}: no such database; run: clm-sessions import {path}")
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=30, isolation_level=None)
    try:
        schema.check_version(schema.schema_version(db), required=True)
    except (sqlite3.DatabaseError, DatabaseError) as error:
        db.close()
        raise DatabaseError(f"{path}: {error}") from None
    return db


def begin(start: Callable[[], None], waiting: Callable[[], None], patience: float = PATIENCE) -> None:
    """Call ``start`` (which begins a write transaction) until no other writer is in the way; tell ``waiting`` once.

    DatabaseError when the patience is used up.
    """
    until = time.monotonic() + patience
    told = False
    while True:
        try:
            start()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) and "busy" not in str(error):
                raise
            if time.monotonic() > until:
                raise DatabaseError(
                    "another program has been writing to the database all the time; try again"
                ) from error
            if not told:
                waiting()
                told = True
        else:
            return


def close_writer(db: sqlite3.Connection) -> None:
    """Put all pages into the one file and close. Without other readers the journal files go away too."""
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.execute("PRAGMA optimize")
    db.execute("PRAGMA busy_timeout = 0")
    try:
        db.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError:  # somebody is reading: the file stays in WAL mode, and whole
        db.execute("PRAGMA wal_checkpoint(PASSIVE)")
    db.close()
