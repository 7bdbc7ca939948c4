"""What the walk says of files that are in no session: those that went away, and those that nobody recognises."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

from clm_sessions.ingest import ledger
from clm_sessions.ingest.discover import Discovery, LogFile
from clm_sessions.ingest.report import Report
from clm_sessions.model import Issue


def news(sources: Mapping[str, ledger.Source], found: Discovery) -> bool:
    """Whether there is a file that no format recognises and that was not noted as it is. ``sources``: by path."""
    for file in found.unrecognised:
        before = sources.get(file.path)
        noted = before is not None and before["state"] == "unrecognised" and ledger.stat_of(before) == file.stat
        if file.path in found.problems or not (noted or (before is None and not file.stat.size)):
            return True
    return False


def note_unrecognised(db: sqlite3.Connection, sources: Mapping[str, ledger.Source], found: Discovery) -> None:
    """Write down the files that no format recognises, each with the reason. ``sources``: by path."""
    for file in found.unrecognised:
        before = sources.get(file.path)
        if before is not None:  # a copy may have taken its place just now
            before = ledger.by_path(db, [file.path]).get(file.path)
        if before is not None and before["checkpoint"] is not None:
            reason = "it was a log, and no format recognises it now; its rows are kept"
            ledger.put_failed(db, before, Issue(kind="unrecognised", reason=reason))
        elif file.stat.size:
            reason = "no format recognises this file; name one with --format if you know it"
            issue = found.problems.get(file.path) or Issue(kind="unrecognised", reason=reason)
            ledger.put(db, ledger.unrecognised_row(file, f"unrecognised/{file.relative}"), [issue])


def put_off(db: sqlite3.Connection, log: LogFile, error: OSError) -> Issue:
    """Note a log that cannot be read so far that it could be told apart from others of its session: half packed, perhaps."""
    issue = Issue(kind="unreadable", reason=f"cannot read: {error.strerror or error}; the next import tries again")
    ledger.put(db, ledger.unrecognised_row(log.found, f"unrecognised/{log.found.relative}"), [issue])
    return issue


def gone(
    db: sqlite3.Connection, roots: Iterable[Path], found: Discovery, paths: Iterable[str] | None = None
) -> list[tuple[str, str | None, str | None]]:
    """(id, role, session) of the sources below the roots that are no longer there and not marked so.

    ``paths``: of these only, and of what lay below them.
    """
    blind = tuple(path + os.sep for path, issue in found.issues if issue.kind == "unreadable")
    tops = tuple(os.path.join(os.path.abspath(root), "") for root in roots if root.is_dir())
    return [
        (sid, role, session)
        for sid, path, role, session in ledger.here(db, paths)
        if path.startswith(tops) and path not in found.paths and not path.startswith(blind) and not os.path.exists(path)
    ]


def note_gone(db: sqlite3.Connection, sources: Iterable[tuple[str, str | None, str | None]], report: Report) -> None:
    """Mark what ``gone`` found; its rows stay."""
    for sid, role, session in sources:
        ledger.set_state(db, sid, "gone")
        report.sources["gone"] += 1
        if role in ("main", "agent") and session is not None:
            db.execute("UPDATE sessions SET source_state = 'gone' WHERE id = ?", (session,))
            report.sessions["gone"] += role == "main"
