"""Tombstones: which sessions were forgotten, so that no import brings them back. A digest of the id, nothing of the text."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable

PREFIX = "forgotten:"
"""Before the digest in a key of ``_clm_meta``; the value is when it was forgotten."""


def mark(key: str) -> str:
    """The key of ``_clm_meta`` that says that a session is forgotten. ``key``: of the session, without a number behind it."""
    return PREFIX + hashlib.sha256(f"clm-sessions forgotten {key}".encode()).hexdigest()


def marks(db: sqlite3.Connection) -> set[str]:
    """All that is forgotten."""
    rows = db.execute("SELECT key FROM _clm_meta WHERE key >= ? AND key < ?", (PREFIX, PREFIX[:-1] + ";"))
    return {row[0] for row in rows}


def note(db: sqlite3.Connection, keys: Iterable[str], at: str) -> None:
    """These sessions are forgotten."""
    db.executemany("INSERT OR IGNORE INTO _clm_meta VALUES (?, ?)", ((mark(key), at) for key in keys))


def undo(db: sqlite3.Connection, keys: Iterable[str]) -> int:
    """They may come back; how many of them were forgotten."""
    return db.executemany("DELETE FROM _clm_meta WHERE key = ?", [(mark(key),) for key in keys]).rowcount
