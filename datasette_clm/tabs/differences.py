"""Two sessions in figures, one row for each thing that can be compared."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clm_sessions.model import SessionInfo
from clm_sessions.view.words import duration
from datasette_clm.visit import Visit

_TOOLS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What is compared, and how it is in both; empty where it was not recorded."""

    what: str
    a: str
    b: str

    @property
    def same(self) -> bool:
        """Whether both are alike."""
        return self.a == self.b


def _number(n: int | None) -> str:
    return "" if n is None else f"{n:,}"


_FIGURES: tuple[tuple[str, Callable[[SessionInfo], str]], ...] = (
    ("Models", lambda info: ", ".join(info.models)),
    ("Project", lambda info: info.project_name or ""),
    ("Branch", lambda info: info.git_branch or ""),
    ("Duration", lambda info: "" if info.duration_ms is None else duration(info.duration_ms) or "0 s"),
    ("Prompts", lambda info: _number(info.prompts)),
    ("Replies", lambda info: _number(info.requests)),
    ("Messages", lambda info: _number(info.messages)),
    ("Input tokens", lambda info: _number(info.usage.input)),
    ("Output tokens", lambda info: _number(info.usage.output)),
    ("Cache read tokens", lambda info: _number(info.usage.cache_read)),
    ("Cache written tokens", lambda info: _number(info.usage.cache_creation)),
    ("Compactions", lambda info: _number(info.compactions)),
    ("Interruptions", lambda info: _number(info.interruptions)),
    ("Subagents", lambda info: _number(info.subagents)),
    ("Tool calls", lambda info: _number(info.tool_calls)),
    ("Failed calls", lambda info: _number(info.tool_errors)),
    ("Calls without a result", lambda info: _number(info.unanswered)),
)


def differences(db: sqlite3.Connection, visit: Visit, a: SessionInfo, b: SessionInfo) -> list[Difference]:
    """The figures of two sessions, those of tools only if they may be read; what is nothing in both is left out."""
    found = [Difference(what="Agent", a=_agent(visit, a), b=_agent(visit, b))]
    found += [Difference(what=what, a=told(a), b=told(b)) for what, told in _FIGURES]
    if "tool_calls" in visit.tables:
        found += _files(db, a.id, b.id)
        if "session_tools" in visit.tables:
            found += _tools(db, a.id, b.id)
    return [one for one in found if {one.a, one.b} - {"", "0"}]


def _agent(visit: Visit, info: SessionInfo) -> str:
    known = visit.agent(info.format)
    return " ".join(word for word in (known.label if known else info.format, info.version) if word)


def _files(db: sqlite3.Connection, *sids: str) -> Iterator[Difference]:
    sql = "SELECT count(DISTINCT path) FROM tool_calls WHERE session_id = ?"
    a, b = (_number(db.execute(sql, (sid,)).fetchone()[0]) for sid in sids)
    yield Difference(what="Files named by calls", a=a, b=b)


def _tools(db: sqlite3.Connection, *sids: str) -> Iterator[Difference]:
    sql = "SELECT tool, calls, coalesce(errors, 0) FROM session_tools WHERE session_id = ?"
    a, b = ({tool: (calls, bad) for tool, calls, bad in db.execute(sql, (sid,))} for sid in sids)
    names = sorted({*a, *b}, key=lambda name: (-(a.get(name, (0, 0))[0] + b.get(name, (0, 0))[0]), name))
    for name in names[:_TOOLS]:
        yield Difference(what=f"{name} calls", a=_calls(a.get(name)), b=_calls(b.get(name)))


def _calls(found: tuple[int, int] | None) -> str:
    calls, bad = found or (0, 0)
    return f"{calls:,}" + (f", {bad:,} failed" if bad else "")
