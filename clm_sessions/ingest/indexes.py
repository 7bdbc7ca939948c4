"""Files that say something of many sessions at once, as Codex keeps the names of its threads.

They are archived whole, even where logs are not: what they say of a session that is imported later is read from there.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace

from clm_sessions.errors import DatabaseError, PluginError
from clm_sessions.formats.base import LogFormat
from clm_sessions.ingest import ledger
from clm_sessions.ingest.discover import LogFile
from clm_sessions.ingest.intake import intake, next_generation
from clm_sessions.ingest.keys import place_digest
from clm_sessions.ingest.streams import border, open_log
from clm_sessions.model import Fact, Issue
from clm_sessions.packed import is_packed
from clm_sessions.plugins import Registry
from clm_sessions.sources import prints
from clm_sessions.store import raw
from clm_sessions.store.codec import dumps

LIMIT = 64 << 20
Told = Mapping[tuple[str, str], list[tuple[str, Fact]]]
"""By format and the agent's own session id: what is said of it, each with the key of the source that says it."""


def take_in(
    db: sqlite3.Connection,
    log: LogFile,
    known: ledger.Source | None,
    advance: Callable[[int], None],
    *,
    again: bool = False,
) -> str:
    """Archive an index and write its row; what happened to it: new, changed, unchanged or unreadable."""
    if ledger.untouched(known, log) and not again:
        return "unchanged"
    sid = _key(db, log) if known is None else known["id"]
    try:
        file, stat = open_log(log)
        with closing(file):
            generation = next_generation(db, sid, file)
            with intake(db, sid, generation, file, 0, advance) as taken:
                taken.take(file.read(LIMIT))
            if not is_packed(log.found.path):
                stat = replace(stat, size=taken.end)
            ledger.put(db, ledger.side_row(log, sid, stat, generation, prints(file, taken.end)))
    except OSError as error:
        issue = Issue(kind="unreadable", reason=f"cannot read: {error.strerror or error}")
        ledger.put_failed(db, known or ledger.row(log, sid, log.found.stat), issue)
        return "unreadable"
    return "new" if known is None else "changed"


def _key(db: sqlite3.Connection, log: LogFile) -> str:
    """No session is named so. A second file of that name gets a digest of its place behind it."""
    key = f"@{log.format.name}/{log.found.relative.rsplit('/', 1)[-1]}"
    taken = db.execute("SELECT 1 FROM sources WHERE id = ?", (key,)).fetchone()
    return f"{key}~{place_digest(log.found.path)}" if taken else key


def told(db: sqlite3.Connection, registry: Registry) -> Told:
    """What all indexes in the archive say. One that is damaged, or whose format is missing, says nothing."""
    found: dict[tuple[str, str], list[tuple[str, Fact]]] = {}
    rows = db.execute("SELECT id, format, generation FROM sources WHERE role = 'index' ORDER BY id").fetchall()
    for sid, name, generation in rows:
        fmt = registry.formats.get(name)
        with suppress(PluginError, DatabaseError):
            data = b"".join(raw.read(db, sid, generation)) if fmt is not None else b""
            for session, fact in _facts(fmt, data):
                found.setdefault((name, session), []).append((sid, fact))
    return found


def told_by(logs: Iterable[LogFile]) -> Told:
    """What these indexes say, without a database."""
    found: dict[tuple[str, str], list[tuple[str, Fact]]] = {}
    for log in logs:
        with suppress(OSError, PluginError), closing(open_log(log)[0]) as file:
            for session, fact in _facts(log.format, file.read(LIMIT)):
                found.setdefault((log.format.name, session), []).append((log.found.path, fact))
    return found


def _facts(fmt: LogFormat | None, data: bytes) -> Iterator[tuple[str, Fact]]:
    if fmt is not None:
        with border(fmt, "index"):
            for session, facts in fmt.index(data).items():
                for fact in facts:
                    yield session, fact


def stale(db: sqlite3.Connection, said: Told) -> dict[str, tuple[str, str]]:
    """The sessions whose rows say something else: format and own id by key."""
    have: dict[str, list[tuple[str, str, str]]] = {}
    if said or db.execute("SELECT 1 FROM sources WHERE role = 'index'").fetchone():
        for sid, side, name, value in db.execute(
            "SELECT session_id, side, name, value FROM facts WHERE side >= '@' AND side < 'A' ORDER BY session_id, seq"
        ):
            have.setdefault(sid, []).append((side, name, value))
    if not said and not have:
        return {}
    rows = db.execute("SELECT id, format, native_id FROM sessions WHERE role = 'main'")
    want = {sid: [(s, f.name, dumps(f.value)) for s, f in said.get((fmt, own), ())] for sid, fmt, own in rows}
    names = {sid: (fmt, own) for sid, fmt, own in db.execute("SELECT id, format, native_id FROM sessions")}
    return {sid: names[sid] for sid in names if want.get(sid, []) != have.get(sid, [])}
