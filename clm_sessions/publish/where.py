"""Which sessions meet a condition that a person wrote in SQL. Nothing but a question can be put that way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from clm_sessions.errors import UsageError, one_line
from clm_sessions.store.connect import open_reader

_ASKING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    getattr(sqlite3, "SQLITE_RECURSIVE", 33),
}


def sessions_where(path: Path, condition: str) -> set[str]:
    """The keys of the sessions for which ``condition`` holds, over the columns of ``sessions``. UsageError if it is none."""
    with closing(open_reader(path)) as db:
        db.set_authorizer(_asking)
        try:
            return {row[0] for row in db.execute(f"SELECT id FROM sessions WHERE ({condition}\n)")}  # noqa: S608 - the person's own, and only read
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise UsageError(f"--where {condition!r}: {one_line(error)}; write a condition such as project_name = 'garden'") from None  # fmt: skip


def _asking(action: int, _one: str | None, _two: str | None, _db: str | None, _inner: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ASKING else sqlite3.SQLITE_DENY
