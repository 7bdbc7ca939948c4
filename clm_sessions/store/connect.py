"""Open the database file: for writing (made private, in WAL mode) and for reading (never written to)."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from clm_sessions.errors import DatabaseError
from clm_sessions.store import schema

PAGE_SIZE = 8192
PAUSE = 2.0
"""Seconds to wait for another writer before saying so."""
PATIENCE = 600.0
"""Seconds to wait for another writer before giving up."""


def open_writer(path: Path, waiting: Callable[[], None] = lambda: None) -> sqlite3.Connection:
    """A connection that may write, the file made 0600 and brought to this schema. DatabaseError if it is not ours, or published.

    ``waiting`` is told when somebody else has the file for longer. Call ``write_ahead`` before the first write.
    """
    fresh = not path.exists()
    try:
        if fresh:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        db = sqlite3.connect(path, timeout=PAUSE, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise DatabaseError(f"{path}: cannot open: {error}") from error
    try:
        if fresh or path.stat().st_size == 0:
            db.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            write_ahead(db, waiting)
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -16000")
        begin(lambda: schema.migrate(db), waiting)
        schema.refuse_published(db)
    except sqlite3.DatabaseError as error:
        db.close()
        raise DatabaseError(f"{path}: {what_failed(error)}") from error
    except DatabaseError as error:
        db.close()
        raise DatabaseError(f"{path}: {error}") from None
    return db


def write_ahead(db: sqlite3.Connection, waiting: Callable[[], None] = lambda: None) -> None:
    """Go over to WAL mode, so that readers go on while this connection writes. DatabaseError as for ``begin``."""
    begin(lambda: db.execute("PRAGMA journal_mode = WAL"), waiting)


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


def folder_of(db: sqlite3.Connection) -> Path:
    """The folder a database lies in."""
    return Path(db.execute("PRAGMA database_list").fetchone()[2]).parent


def begin(start: Callable[[], object], waiting: Callable[[], None], patience: float = PATIENCE) -> None:
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
    """Put all pages into the one file and close; never raises, for the data are safe in the journal as well.

    Without other readers the journal files go away too. Somebody who reads keeps the file in WAL mode, and whole.
    """
    try:
        for step in _CLOSING:
            with suppress(sqlite3.Error):  # somebody reads or writes, or the disk is full
                db.execute(step)
    finally:
        db.close()


_CLOSING = (
    "PRAGMA busy_timeout = 2000",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA busy_timeout = 0",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA wal_checkpoint(PASSIVE)",
)


def what_failed(error: sqlite3.Error) -> str:
    """What SQLite could not do, and what to do about it, in one line."""
    text = str(error)
    if "full" in text or "I/O" in text:
        return f"{text}: free some space on its disk (or raise its limit) and run it again"
    if "locked" in text or "busy" in text:
        return "another program keeps writing to it; run it again when that has ended"
    if "malformed" in text or "not a database" in text:
        return f"{text}: the file is damaged; restore it from a backup, or move it away and import again"
    return f"{text}; run it again"
