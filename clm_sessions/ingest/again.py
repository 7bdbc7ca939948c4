"""Import again, trusting nothing: what ``import --again`` does beyond reading every file from its beginning.

It makes rows right that were damaged, or that an earlier version made otherwise. Rows and bytes that stand nowhere else
are never dropped for it.
"""

from __future__ import annotations

import os
import sqlite3

from clm_sessions.errors import DatabaseError
from clm_sessions.ingest import ledger
from clm_sessions.plugins import Registry
from clm_sessions.sources import bundle_key
from clm_sessions.store import costs, unspaced
from clm_sessions.store.rows import COLUMNS, KEYS
from clm_sessions.store.schema import FTS
from clm_sessions.store.writer import OF_SESSION

_ACCOUNT = ("source_lines", "record_types", "ingest_issues")


def prepare(db: sqlite3.Connection) -> None:
    """Before reading: nothing may stand in the way of what is written.

    Rows whose key is damaged go, search indexes are made anew, so that rows can be taken out of them, and what is said
    wrongly of files that are there is forgotten.
    """
    _mend_keys(db)
    for table in ("sessions", *OF_SESSION):
        kinds = {name: kind.lower() for _n, name, kind, *_rest in db.execute(f"PRAGMA table_info({table})")}
        for name in COLUMNS[table][: KEYS[table]]:
            db.execute(f"DELETE FROM {table} WHERE typeof({name}) <> ?", (kinds[name],))
    index(db)
    if not costs.sound(db):
        db.execute("DELETE FROM prices")
    db.execute("DELETE FROM daily_usage WHERE session_id IS NULL OR session_id NOT IN (SELECT id FROM sessions)")
    for (sid,) in db.execute("SELECT id FROM sources").fetchall():
        source = ledger.one(db, sid)
        if ledger.checksum(db, sid) != source["checksum"] and os.path.exists(source["path"]):
            ledger.forget(db, sid)


def _mend_keys(db: sqlite3.Connection) -> None:
    """The keys of sources that are no text any more. DatabaseError where one is lost: nothing else tells what it names."""
    db.execute("UPDATE OR IGNORE sources SET id = CAST(id AS TEXT) WHERE typeof(id) <> 'text'")
    lost = db.execute("SELECT count(*) FROM sources WHERE typeof(id) <> 'text'").fetchone()[0]
    if lost:
        raise DatabaseError(f"damaged: {lost} rows of its table sources have no key; clm-sessions verify tells which")


def finish(db: sqlite3.Connection) -> None:
    """Drop rows of sessions and sources that nobody knows. Call it only if all that is known could be read again."""
    before = db.total_changes
    known = {sid for (sid,) in db.execute("SELECT id FROM sources")}
    for table in _ACCOUNT:
        strays = {sid for (sid,) in db.execute(f"SELECT DISTINCT source_id FROM {table}")} - known
        db.executemany(f"DELETE FROM {table} WHERE source_id = ?", ((sid,) for sid in strays))
    keys = {bundle_key(sid) for sid in known}
    for table, column in (("sessions", "id"), *((table, "session_id") for table in OF_SESSION)):
        named = {sid for (sid,) in db.execute(f"SELECT DISTINCT {column} FROM {table}")}
        strays = {sid for sid in named if bundle_key(sid) not in keys}
        db.executemany(f"DELETE FROM {table} WHERE {column} = ?", ((sid,) for sid in strays))
    db.execute("DELETE FROM attachments WHERE sha256 NOT IN (SELECT sha256 FROM message_attachments)")
    if db.total_changes > before:
        index(db)


def index(db: sqlite3.Connection) -> None:
    """Make every search index anew from its table."""
    for table in FTS:
        db.execute(f"INSERT INTO {table}_fts({table}_fts) VALUES ('rebuild')")
        unspaced.rebuild(db, table)


def all_known(db: sqlite3.Connection, registry: Registry) -> bool:
    """Whether the formats of all sources are installed, and what is said of each source is what was said."""
    return all(
        fmt is None or fmt in registry.formats
        for (fmt,) in db.execute("SELECT DISTINCT format FROM sources WHERE state <> 'copy'")
    ) and all(
        ledger.checksum(db, sid) == checksum
        for sid, checksum in db.execute("SELECT id, checksum FROM sources").fetchall()
    )


def left(db: sqlite3.Connection, registry: Registry, done: set[str]) -> list[tuple[str, str, str]]:
    """(key, format, session) of the sessions that no file was found of, of those formats that are installed."""
    rows = db.execute(
        "SELECT id, format, native_id FROM sources WHERE checkpoint IS NOT NULL AND state <> 'copy' ORDER BY id"
    )
    found: dict[str, tuple[str, str, str]] = {}
    for sid, fmt, session in rows:
        key = bundle_key(sid)
        if key not in done and fmt in registry.formats:
            found.setdefault(key, (key, fmt, session))
    return list(found.values())
