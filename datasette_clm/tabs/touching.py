"""Which files the calls of a session and of its subagents changed or read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from clm_sessions.model import SessionInfo, ToolCall
from clm_sessions.store import reader
from clm_sessions.tools.touched import Touch, absolute, touches
from clm_sessions.view import ToolView
from clm_sessions.view.words import near, one_line

SESSIONS, CALLS, CHARACTERS, UNNAMED = 200, 1_500, 8_000_000, 40
"""How many subagents, calls and characters of arguments are looked at; calls without a path of their own for a count."""
Describe = Callable[[ToolCall], ToolView | None]
TREE = "WITH tree(id) AS (SELECT value FROM json_each(?))"
"""Some sessions, as SQL that takes their ids as JSON. Where SQLite works them out itself it takes them for many, and reads all calls."""
_OWN = "(t.session_id = ? OR coalesce(t.inherited, 0) = 0)"
"""What a subagent copied from the session that started it is that session's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of a file: what, by which call of which session (``who``: a subagent's name, empty for the session)."""

    touch: Touch
    call: ToolCall
    session: str
    who: str = ""


@dataclass(slots=True, kw_only=True)
class File:
    """A file and its changes in order."""

    path: str
    name: str
    changes: list[Change] = field(default_factory=list)

    @property
    def added(self) -> int | None:
        """Lines added, as far as they are known."""
        return _sum(change.touch.added for change in self.changes)

    @property
    def removed(self) -> int | None:
        """Lines removed, as far as they are known."""
        return _sum(change.touch.removed for change in self.changes)


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [n for n in counts if n is not None]
    return sum(known) if known else None


def family(describe: Callable[[ToolCall], ToolView | None], name: str | None) -> str:
    """What kind of tool a name stands for (``read``, ``edit`` …), by its describer; empty if none says so."""
    view = describe(ToolCall(id=None, name=name, input={}, status="ok", message=0))
    return view.family if view else ""


def changed(db: sqlite3.Connection, describe: Describe, info: SessionInfo) -> tuple[dict[str, File], int]:
    """The files that were changed, by path, in the order of their first change; and how many calls were too many."""
    whose = _sessions(db, info.id)
    listed, unseen = _calls(db, describe, info.id)
    changes: list[Change] = []
    for sid, group in groupby(listed, lambda pair: pair[0]):
        cwd, who = whose.get(sid, (None, ""))
        for call in reader.tool_calls(db, sid, seqs=[seq for _sid, seq in group], images=False):
            view = describe(call)
            found = touches(call, view, cwd) if view else ()
            changes += (Change(touch=touch, call=call, session=sid, who=who) for touch in found)
    if all(change.call.started_at is not None for change in changes):
        changes.sort(key=lambda change: change.call.started_at or 0)
    files: dict[str, File] = {}
    for change in changes:
        path = change.touch.path
        files.setdefault(path, File(path=path, name=near(path, info.cwd))).changes.append(change)
    return files, unseen


def _family(db: sqlite3.Connection, sid: str) -> str:
    """The ids of a session and all its subagents, as JSON."""
    sql = "WITH RECURSIVE tree(id) AS (SELECT ? UNION SELECT s.id FROM sessions s JOIN tree ON s.parent_id = tree.id) SELECT id FROM tree"
    return json.dumps([row[0] for row in db.execute(sql, (sid,))])


def _sessions(db: sqlite3.Connection, sid: str) -> Mapping[str, tuple[str | None, str]]:
    """(working directory, name of a subagent) of a session and its subagents."""
    rows = db.execute(
        f"{TREE} SELECT s.id, s.cwd, coalesce(s.description, s.title, s.agent_id, s.id) "
        "FROM tree JOIN sessions s ON s.id = tree.id LIMIT ?",
        (_family(db, sid), SESSIONS),
    )
    return {row[0]: (row[1], "" if row[0] == sid else one_line(row[2], 60)) for row in rows}


def _named(db: sqlite3.Connection, describe: Describe, tree: str, kind: str) -> list[str]:
    """Names of the tools of a family that the sessions of ``tree`` (see ``_family``) used."""
    sql = f"{TREE} SELECT DISTINCT t.name FROM tree CROSS JOIN tool_calls t ON t.session_id = tree.id"
    names = [row[0] for row in db.execute(sql, (tree,))]
    return [name for name in names if family(describe, name) == kind]


def _calls(db: sqlite3.Connection, describe: Describe, sid: str) -> tuple[list[tuple[str, int]], int]:
    """(session, seq) of the calls that may have changed a file, as many as may be looked at; and how many more there are."""
    tree = _family(db, sid)
    names = _named(db, describe, tree, "edit")
    rows = db.execute(
        f"{TREE} SELECT t.session_id, t.seq, length(t.input) FROM tree CROSS JOIN tool_calls t "
        f"ON t.session_id = tree.id WHERE t.name IN ({', '.join('?' * len(names))}) AND {_OWN} ORDER BY t.session_id <> ?, t.session_id, t.seq",
        (tree, *names, sid, sid),
    ).fetchall()
    taken: list[tuple[str, int]] = []
    left = CHARACTERS
    for session, seq, size in rows[:CALLS]:
        left -= size
        if left < 0:
            break
        taken.append((session, seq))
    return taken, len(rows) - len(taken)


def only_read(
    db: sqlite3.Connection, describe: Describe, info: SessionInfo, files: Mapping[str, File]
) -> list[tuple[str, int]]:
    """(path, how often) of the files that were read and not changed."""
    tree = _family(db, info.id)
    names = _named(db, describe, tree, "read")
    rows = db.execute(
        f"{TREE} SELECT t.path, count(*) FROM tree CROSS JOIN tool_calls t ON t.session_id = tree.id "
        f"WHERE t.name IN ({', '.join('?' * len(names))}) AND t.path IS NOT NULL AND t.status = 'ok' GROUP BY 1 ORDER BY 2 DESC, 1",
        (tree, *names),
    )
    found: dict[str, int] = {}
    for path, n in rows:
        whole = absolute(path, info.cwd)
        if whole not in files:
            found[whole] = found.get(whole, 0) + n
    return list(found.items())


def count(db: sqlite3.Connection, describe: Describe, info: SessionInfo) -> int | None:
    """How many files were changed; None for none, and where too much would have to be read to know."""
    tree = _family(db, info.id)
    names = _named(db, describe, tree, "edit")
    marks = ", ".join("?" * len(names))
    rows = db.execute(
        f"{TREE} SELECT DISTINCT t.path, CASE WHEN t.path IS NULL THEN t.seq END, t.session_id, s.cwd FROM tree CROSS JOIN "
        f"tool_calls t ON t.session_id = tree.id JOIN sessions s ON s.id = tree.id WHERE t.name IN ({marks}) AND {_OWN} "
        "LIMIT 2000",
        (tree, *names, info.id),
    ).fetchall()
    paths = {absolute(path, cwd) for path, _seq, _sid, cwd in rows if path is not None}
    unnamed = [(sid, seq, cwd) for path, seq, sid, cwd in rows if path is None]
    if len(unnamed) > UNNAMED:
        return None
    for sid, seq, cwd in unnamed:
        for call in reader.tool_calls(db, sid, seqs=[seq], images=False):
            view = describe(call)
            paths |= {touch.path for touch in (touches(call, view, cwd) if view else ())}
    return len(paths) or None
