"""What belongs to the sessions that were chosen."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from clm_sessions.errors import UsageError
from clm_sessions.redact import user_names
from clm_sessions.store import reader


def trees(db: sqlite3.Connection, chosen: Iterable[str], *, subagents: bool = True) -> list[list[str]]:
    """The keys of each chosen session with its subagents, parents first, none twice. UsageError if nothing is chosen."""
    seen: dict[str, None] = {}
    found: list[list[str]] = []
    for sid in chosen:
        if sid not in seen:
            tree = [each for each in (_tree(db, sid) if subagents else [sid]) if each not in seen]
            seen |= dict.fromkeys(tree)
            found.append(tree)
    if not found:
        raise UsageError("no session is chosen; nothing to publish")
    return found


def _tree(db: sqlite3.Connection, sid: str) -> list[str]:
    found = {sid: None}
    waiting = [sid]
    for each in waiting:
        fresh = [child for child in reader.children(db, each) if child not in found]
        waiting += fresh
        found |= dict.fromkeys(fresh)
    return list(found)


def names(db: sqlite3.Connection, *, sources: bool = True) -> set[str]:
    """The users whose home folders the sessions ran in. ``sources``: and those of the paths of logs."""
    paths = db.execute("SELECT path FROM projects UNION SELECT DISTINCT cwd FROM sessions").fetchall()
    paths += db.execute("SELECT path FROM sources").fetchall() if sources else []
    return user_names(path for (path,) in paths if isinstance(path, str))
