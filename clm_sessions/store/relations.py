"""How a session stands to others: who started it, what it was forked from, what goes on elsewhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from clm_sessions.model import SessionInfo
from clm_sessions.store import reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Other:
    """Another session: its key, what to call it, and the chunk of it that matters, if one does."""

    id: str
    title: str
    chunk: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relations:
    """``agents`` are the direct subagents, internal ones too; ``forks`` were continued from this session."""

    parent: Other | None = None
    forked_from: Other | None = None
    forks: Sequence[Other] = ()
    agents: Sequence[SessionInfo] = ()
    source_gone: bool = False


def relations(db: sqlite3.Connection, tables: Collection[str], info: SessionInfo) -> Relations:
    """The relations of a session. The chunk in which it was started is named if tool calls may be read."""
    forks = db.execute(
        "SELECT id, title FROM sessions WHERE forked_from = ? ORDER BY started_at, id", (info.id,)
    ).fetchall()
    agents = reader.session_infos(db, "s.parent_id = ?", (info.id,))
    if "projects" not in tables:
        agents = [replace(agent, project=None) for agent in agents]
    state = db.execute("SELECT source_state FROM sessions WHERE id = ?", (info.id,)).fetchone()
    parent = _other(db, info.parent_id)
    if parent is not None and info.parent_call is not None and "tool_calls" in tables:
        row = db.execute(
            "SELECT chunk_seq FROM tool_calls WHERE session_id = ? AND tool_use_id = ? ORDER BY seq LIMIT 1",
            (parent.id, info.parent_call),
        ).fetchone()
        parent = Other(id=parent.id, title=parent.title, chunk=row[0] if row else None)
    return Relations(
        parent=parent,
        forked_from=_other(db, info.forked_from),
        forks=[Other(id=row[0], title=row[1] or row[0]) for row in forks],
        agents=sorted(agents, key=lambda a: (a.started_at is None, a.started_at or 0, a.id)),
        source_gone=bool(state) and state[0] == "gone",
    )


def _other(db: sqlite3.Connection, sid: str | None) -> Other | None:
    if sid is None:
        return None
    row = db.execute("SELECT id, title FROM sessions WHERE id = ?", (sid,)).fetchone()
    return Other(id=row[0], title=row[1] or row[0]) if row else None
