"""The figures of two sessions that a reader may see."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from clm_sessions.model import SessionInfo
from clm_sessions.view.differences import Difference, number, of_figures, of_tools, told
from datasette_clm.pricing import priced
from datasette_clm.visit import Visit


def differences(db: sqlite3.Connection, visit: Visit, a: SessionInfo, b: SessionInfo) -> list[Difference]:
    """The figures of two sessions, those of tools only if they may be read; what is nothing in both is left out."""
    found = [
        Difference(what="Agent", a=_agent(visit, a), b=_agent(visit, b)),
        *of_figures(priced(db, a, visit), priced(db, b, visit)),
    ]
    if "tool_calls" in visit.tables:
        found += _files(db, a.id, b.id)
        if "session_tools" in visit.tables:
            found += of_tools(_tools(db, a.id), _tools(db, b.id))
    return told(found)


def _agent(visit: Visit, info: SessionInfo) -> str:
    known = visit.agent(info.format)
    return " ".join(word for word in (known.label if known else info.format, info.version) if word)


def _files(db: sqlite3.Connection, *sids: str) -> Iterator[Difference]:
    sql = "SELECT count(DISTINCT path) FROM tool_calls WHERE session_id = ?"
    a, b = (number(db.execute(sql, (sid,)).fetchone()[0]) for sid in sids)
    yield Difference(what="Files named by calls", a=a, b=b)


def _tools(db: sqlite3.Connection, sid: str) -> dict[str, tuple[int, int]]:
    sql = "SELECT tool, calls, coalesce(errors, 0) FROM session_tools WHERE session_id = ?"
    return {tool: (calls, bad) for tool, calls, bad in db.execute(sql, (sid,))}
