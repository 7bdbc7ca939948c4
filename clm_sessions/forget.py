"""Forget sessions: their rows, their bytes in the raw archive, and every page of the file that held them.

The logs themselves stay where they are; a tombstone keeps the next import from reading them again.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from clm_sessions.errors import DatabaseError, one_line
from clm_sessions.ingest import again, ledger
from clm_sessions.ingest.keys import plain_key
from clm_sessions.prices import Book
from clm_sessions.store import forgotten
from clm_sessions.store.connect import begin, close_writer, open_writer
from clm_sessions.store.rows import bundle_rows
from clm_sessions.store.writer import Writer

_END = re.compile("[~:/@]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was forgotten. ``sessions``: subagents included; ``logs``: the files that are still there; ``size``: bytes now.

    ``copies``: keys of sessions that went on from a forgotten one, and hold what they copied of it. ``indexes``: files
    that name many sessions, theirs too, and stay in the raw archive as they are.
    """

    sessions: int
    sources: int
    logs: Sequence[str]
    copies: Sequence[str]
    indexes: Sequence[str]
    size: int


def plain(sid: str) -> str:
    """The key that all logs of one session id share: without the number, the agent or the file behind it."""
    return _END.split(sid, maxsplit=1)[0]


def forget(
    database: Path, chosen: Collection[str], at: str, waiting: Callable[[], None] = lambda: None
) -> Forgotten:  # fmt: skip
    """Forget the sessions of these keys, with their subagents and all that claims the same id, and wipe the file.

    ``at``: now, ISO 8601. DatabaseError if another program has the database open; then nothing was changed.
    """
    db = open_writer(database, waiting)
    try:
        _alone(db, database)
        db.execute("PRAGMA secure_delete = ON")
        writer = Writer(db, book=Book(packaged=False))  # what is left has its prices
        begin(writer.begin, waiting)
        try:
            keys = _with_subagents(db, {plain(sid) for sid in chosen})
            sessions, sources, logs, copies = _drop(db, writer, keys)
            again.index(db)  # an index keeps words of rows that were deleted
            forgotten.note(db, keys, at)
            writer.commit()
        except BaseException:
            writer.rollback()
            raise
        _shrink(db, database)
        indexes = [source["path"] for source in ledger.by_path(db).values() if source["role"] == "index"]
    finally:
        close_writer(db)
    return Forgotten(
        sessions=sessions, sources=sources, logs=[path for path in logs if Path(path).exists()], copies=copies,
        indexes=indexes, size=database.stat().st_size,
    )  # fmt: skip


def undo(database: Path, ids: Collection[str]) -> int:
    """Let the sessions of these whole ids be imported again; how many of them were forgotten."""
    db = open_writer(database)
    try:
        return forgotten.undo(db, {key for sid in ids for key in (plain(sid), plain_key(sid))})
    finally:
        close_writer(db)


def _alone(db: sqlite3.Connection, database: Path) -> None:
    """Leave WAL mode, which needs that nobody else has the file open: what they read would stay in the journal."""
    try:
        db.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.OperationalError as error:
        raise DatabaseError(
            f"{database}: another program has it open, and would keep what is to be forgotten; "
            "stop it (an import, a watch, a server) and run it again"
        ) from error


def _with_subagents(db: sqlite3.Connection, keys: set[str]) -> list[str]:
    """These ids and those of subagents that have a log of their own."""
    waiting = sorted(keys)
    for key in waiting:
        for sid in _sessions(db, key):
            rows = db.execute("SELECT id FROM sessions WHERE parent_id = ? AND role = 'subagent'", (sid,))
            waiting += {plain(child) for (child,) in rows}.difference(waiting)
    return waiting


def _drop(db: sqlite3.Connection, writer: Writer, keys: Sequence[str]) -> tuple[int, int, list[str], list[str]]:
    """Drop all rows: how many sessions, how many sources, the paths of these, who copied from the sessions."""
    ids = [sid for key in keys for sid in _sessions(db, key)]
    copies = {
        str(row[0]) for sid in ids for row in db.execute("SELECT id FROM sessions WHERE forked_from = ?", (sid,))
    }.difference(ids)
    db.executemany("UPDATE tool_calls SET subagent_id = NULL WHERE subagent_id = ?", ((sid,) for sid in ids))
    writer.sync(bundle_rows([]), {}, ids)
    sources = [source for key in keys for source in ledger.of_id(db, key)]
    for source in sources:
        ledger.drop(db, source["id"])
    return len(ids), len(sources), [source["path"] for source in sources], sorted(copies)


def _sessions(db: sqlite3.Connection, key: str) -> list[str]:
    """The keys of all sessions of one id, subagents included."""
    rows = db.execute("SELECT id FROM sessions WHERE id >= ? AND id < ?", (key, f"{key}\x7f"))
    return [sid for (sid,) in rows if plain(sid) == key]


def _shrink(db: sqlite3.Connection, database: Path) -> None:
    """``_wipe``; DatabaseError says what is done and what is left to do where there is no room for it."""
    try:
        _wipe(db)
    except sqlite3.Error as error:
        raise DatabaseError(
            f"{database}: they are forgotten and overwritten, but the file keeps its empty pages ({one_line(error)}); "
            f"free some space and run: sqlite3 {database} VACUUM"
        ) from error


def _wipe(db: sqlite3.Connection) -> None:
    """Leave nothing of what was dropped: statistics may keep samples, the file keeps free pages."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat4'").fetchone():
        db.execute("ANALYZE")
    db.execute("VACUUM")
