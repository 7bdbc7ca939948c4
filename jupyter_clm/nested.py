"""Subagents of a session at any depth, read one level at a time."""

from __future__ import annotations

from clm_sessions.library import StoredSession
from clm_sessions.render.escape import visible
from clm_sessions.store import reader
from clm_sessions.view.words import one_line
from jupyter_clm.session import NotebookSession

NO_BREAK = "\N{NO-BREAK SPACE}"
OFFERED = 200
"""Subagents named at once at most."""


def trail(root: NotebookSession, sid: str) -> list[NotebookSession]:
    """From the session to its subagent ``sid`` at any depth, both included; empty if it has no such subagent."""
    core = root.core
    above = _from_database(core, sid) if isinstance(core, StoredSession) else _from_log(root)
    found: list[NotebookSession] = []
    while sid != root.id:
        if sid not in above:
            return []
        one, sid = above.pop(sid)
        found.append(one)
    return [root, *reversed(found)]


def _from_log(root: NotebookSession) -> dict[str, tuple[NotebookSession, str]]:
    """Each subagent below a session with the id of what started it, by its id."""
    above: dict[str, tuple[NotebookSession, str]] = {}
    todo = [root]
    while todo:
        parent = todo.pop()
        fresh = [child for child in parent.subagents if child.id not in above]
        above |= {child.id: (child, parent.id) for child in fresh}
        todo += fresh
    return above


def _from_database(core: StoredSession, sid: str) -> dict[str, tuple[NotebookSession, str]]:
    """The same for those that lead up from ``sid``; nothing else is read."""
    above: dict[str, tuple[NotebookSession, str]] = {}
    while sid != core.id and sid not in above:
        infos = reader.session_infos(core.db, "s.id = ?", (sid,))
        if not infos or infos[0].parent_id is None:
            break
        above[sid] = (NotebookSession(StoredSession(infos[0], core.db)), infos[0].parent_id)
        sid = infos[0].parent_id
    return above


def offered(path: list[NotebookSession]) -> list[tuple[str, str]]:
    """Label and id of what a reader can go to from the last of these: all that lead to it, and its own subagents."""
    below = path[-1].subagents
    rows = [(_label(one, depth), one.id) for depth, one in enumerate(path)]
    rows += [(_label(one, len(path)), one.id) for one in below[:OFFERED]]
    left = len(below) - OFFERED
    return [*rows, (f"… {left:,} more: session.subagents", path[-1].id)] if left > 0 else rows


def _label(one: NotebookSession, depth: int) -> str:
    if not depth:
        return "The session itself"
    info = one.info
    words = ": ".join(word for word in (info.agent_type, info.description or info.title) if word)
    return f"{NO_BREAK * 2 * (depth - 1)}↳ {visible(one_line(words or info.agent_id or info.native_id, 70))}"
