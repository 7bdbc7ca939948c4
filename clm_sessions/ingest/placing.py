"""Which log a file beside logs belongs to, and what becomes of its rows when that turns out to be another one.

Of several logs of one session id, an agent's log belongs to the one that it lies by. If that one comes later, rows and
bytes get the name then that they would have had at once, so that no order of imports changes what is in the database.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from clm_sessions.ingest import copies, ledger
from clm_sessions.ingest.discover import Discovery, Files, LogFile, marked, nearness, place
from clm_sessions.ingest.keys import compare, numbered, plain_key
from clm_sessions.sources import Prints, bundle_key

Taken = Mapping[str, tuple[str, Prints | None]]
_NAMED = (
    ("sessions", "id"), ("chunks", "session_id"), ("messages", "session_id"), ("tool_calls", "session_id"),
    ("requests", "session_id"), ("session_models", "session_id"), ("session_tools", "session_id"),
    ("facts", "session_id"), ("message_attachments", "session_id"), ("sources", "session_id"), ("sources", "id"),
    ("source_lines", "source_id"), ("record_types", "source_id"), ("ingest_issues", "session_id"),
    ("ingest_issues", "source_id"),
)  # fmt: skip
"""The columns that hold the key of an agent, or of a file. Those that refer to an agent are derived anew."""


def apart(found: Discovery, db: sqlite3.Connection, taken: Taken) -> None:
    """Take the files that lie by a log that is known, but was not found now, out of the bundles of other logs."""
    here = {bundle.main.found.path for bundle in found.bundles if bundle.main is not None}
    made: list[Files] = []
    for bundle in found.bundles:
        lost = [path for path in _mains(bundle, db, taken) if path not in here]
        made += _split(bundle, lost) if lost else [bundle]
    found.bundles = made


def key_of(bundle: Files, taken: Taken, sources: Mapping[str, ledger.Source]) -> str:
    """The key of a bundle without a log: that of the log it lies by, else the one its files have (``sources``: by path)."""
    by_log = (key for key in _numbers(bundle, taken) if taken[key][0] == bundle.beside)
    known = (sources.get(log.found.path) for log in (*bundle.logs(), *bundle.side))
    by_file = (bundle_key(source["id"]) for source in known if source is not None and bundle.beside is not None)
    return next(by_log, None) or next(by_file, None) or plain_key(bundle.session)


def misplaced(bundle: Files, taken: Taken, sources: Mapping[str, ledger.Source]) -> bool:
    """Whether rows of a file, none of which changed, have another name than they should. ``sources``: by path."""
    key = key_of(bundle, taken, sources)
    if bundle.main is not None:
        main = sources[bundle.main.found.path]
        if main["role"] != "main" or main["state"] == "copy":
            return False
        key = main["id"]
    rivals = {log.agent for log in bundle.copies}
    for log in (*bundle.agents.values(), *bundle.side):
        known = sources[log.found.path]
        if known["state"] == "copy":
            if log.role == "agent" and bundle.main is not None and log.agent not in rivals:
                return True
        elif known["role"] == log.role and known["id"] not in _names(key, log):
            return True
        elif known["id"] != ledger.source_id(key, log):
            wanted = ledger.source_id(key, log)
            if not any(other["id"] == wanted and other["state"] == "gone" for other in sources.values()):
                return True
    return False


def settle(
    db: sqlite3.Connection, bundle: Files, key: str, sources: dict[str, ledger.Source], found: Sequence[Files]
) -> set[str]:
    """Give rows and bytes of the files of a bundle the names they have in it; keys of the sessions that had them.

    ``sources``: by path, brought up to date. ``found``: all bundles.
    """
    for log in bundle.copies:
        known = sources.get(log.found.path)
        if known is not None and known["state"] == "copy" and known["id"] != copies.source_id(key, log):
            ledger.forget(db, known["id"])
    moves = _room(db, bundle, key, sources, found)
    for old in moves:
        _rename(db, old, f"{old}@")
    for old, log in moves.items():
        sid = ledger.source_id(key, log)
        _rename(db, f"{old}@", sid)
        sources[log.found.path] = _renamed(db, sid, log.agent)
    return {bundle_key(old) for old in moves}


def _numbers(bundle: Files, taken: Taken) -> Iterator[str]:
    number, plain = 1, plain_key(bundle.session)
    while (key := numbered(plain, number)) in taken:
        yield key
        number += 1


def _mains(bundle: Files, db: sqlite3.Connection, taken: Taken) -> list[str]:
    """The paths of the main logs that are known of the session of a bundle that has other files, too."""
    if not (bundle.agents or bundle.side or bundle.copies):
        return []
    keys = [key for key in _numbers(bundle, taken) if bundle.main is None or taken[key][0] != bundle.main.found.path]
    return [taken[key][0] for key in keys if ledger.one(db, key)["format"] == bundle.format.name]


def _split(bundle: Files, lost: Sequence[str]) -> list[Files]:
    parts = {path: Files(format=bundle.format, session=bundle.session, beside=path) for path in lost}
    rest = replace(bundle, agents={}, side=[], copies=[])
    for log in (*bundle.agents.values(), *bundle.side, *bundle.copies):
        path = max(parts, key=lambda path: nearness(path, log))
        near = bundle.main is not None and nearness(bundle.main.found.path, log) >= nearness(path, log)
        place(rest if near else parts[path], log)
    return [part for part in (rest, *parts.values()) if part.main or part.agents or part.side or part.copies]


def _names(key: str, log: LogFile) -> tuple[str, str]:
    return ledger.source_id(key, log), ledger.source_id(key, marked(log))


def _astray(
    db: sqlite3.Connection, bundle: Files, key: str, sources: Mapping[str, ledger.Source]
) -> Iterator[tuple[LogFile, ledger.Source]]:
    for log in (*bundle.agents.values(), *bundle.side):
        known = sources.get(log.found.path)
        if known is None or known["id"] == ledger.source_id(key, log) or known["role"] != log.role:
            continue
        if known["state"] not in ("copy", "unrecognised") and ledger.has(db, known["id"], log.found.path):
            yield log, known


def _room(
    db: sqlite3.Connection, bundle: Files, key: str, sources: dict[str, ledger.Source], found: Sequence[Files]
) -> dict[str, LogFile]:
    """By the name it has, each file of the bundle that is to get another one. Nobody else has those any more."""
    moves = {known["id"]: log for log, known in _astray(db, bundle, key, sources)}
    for old, log in [*moves.items()]:
        sid = ledger.source_id(key, log)
        if sid in moves or _is_free(db, sid) or _evict(db, sid, sources, found):
            continue
        del moves[old]  # what is gone, or elsewhere, keeps its name
        if log.role == "agent":
            del bundle.agents[str(log.agent)]
            other = marked(log)
            bundle.agents[str(other.agent)] = other
            if _is_free(db, ledger.source_id(key, other)):
                moves[old] = other
    others = [one for one in found if one is not bundle]
    for log in bundle.agents.values():
        sid = ledger.source_id(key, log)
        if log.found.path not in sources and sid not in moves:
            _evict(db, sid, sources, others, by=log)
    return moves


def _is_free(db: sqlite3.Connection, sid: str) -> bool:
    tables = ("sources", "id"), ("sessions", "id"), ("raw_blocks", "source_id")
    return not any(db.execute(f"SELECT 1 FROM {t} WHERE {c} = ? LIMIT 1", (sid,)).fetchone() for t, c in tables)


def _evict(
    db: sqlite3.Connection,
    sid: str,
    sources: dict[str, ledger.Source],
    found: Sequence[Files],
    *,
    by: LogFile | None = None,
) -> bool:
    """Give the log of an agent, which is in a bundle to come, a name that nobody else wants; not if it goes on in ``by``."""
    for log in (log for bundle in found for log in (*bundle.agents.values(), *bundle.copies)):
        if log.role == "agent" and ledger.has(db, sid, log.found.path):
            if by is not None and compare(log, by.found.path) == "copy":
                return False
            other = marked(log)
            new = ledger.source_id(bundle_key(sid), other)
            if _is_free(db, new):
                _rename(db, sid, new)
                db.execute("UPDATE sources SET agent_id = ? WHERE id = ?", (other.agent, new))
                ledger.seal(db, new)
                sources[log.found.path] = ledger.one(db, new)
                return True
    return False


def _rename(db: sqlite3.Connection, old: str, new: str) -> None:
    from clm_sessions.store import raw  # not needed where nothing changed

    raw.rename(db, old, new)
    for table, column in _NAMED:
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, old))


def _renamed(db: sqlite3.Connection, sid: str, agent: str | None) -> ledger.Source:
    """The row of a file that was renamed. One that has another agent's name now is to be read again."""
    if ledger.one(db, sid)["agent_id"] != agent:
        unread = "consumed = NULL, mtime_ns = NULL, checkpoint = NULL"
        db.execute(f"UPDATE sources SET agent_id = ?, {unread} WHERE id = ?", (agent, sid))
    ledger.seal(db, sid)
    return ledger.one(db, sid)
