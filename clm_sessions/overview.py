"""All sessions of a database at a glance: figures, days, models, tools, projects, what was last, where it was cut.

Everything is counted once, as in ``stats``: only rows that a session owns, and what a fork copied where it was first
said. Rows count on their own day (UTC); a session on the day it began, its subagents with it. ``None`` is unknown, or
stands in a table that may not be read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from clm_sessions.times import plausible

NEEDS = ("sessions",)
WANTS = (
    "requests",
    "daily_usage",
    "tool_calls",
    "messages",
    "chunks",
    "projects",
    "sources",
    "source_lines",
    "ingest_issues",
)
SHOWN = 6
"""How many of the recent sessions, and of the places where a session was cut, are given."""
_PROJECT = "coalesce(s.project_id, '~' || s.project_name)"
_WHOLE = "s.role IN ('main', 'orphan')"
_NAMED = ("sessions s LEFT JOIN projects p ON p.id = s.project_id", "coalesce(p.label, s.project_name, s.project_id)")
_UNNAMED = ("sessions s", "coalesce(s.project_name, s.project_id)")
"""Where sessions are read from, and what their project is called: projects of one name are told apart, if they may be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Part of a database: a project by its ``Project.key``, and days from ``since`` to ``until``, both inclusive."""

    project: str | None = None
    since: str | None = None
    until: str | None = None

    def where(self, day: str | None = None, session: str | None = None) -> tuple[str, list[str]]:
        """A condition over rows with their day in the column ``day`` and their session in ``session`` (None: they are ``s``)."""
        parts = [f"{day} {sign} ?" for sign, end in ((">=", self.since), ("<=", self.until)) if day and end]
        bound = [end for end in (self.since, self.until) if day and end]
        if self.project is not None:
            one = f"{_PROJECT} = ?"
            parts.append(one if session is None else f"{session} IN (SELECT s.id FROM sessions s WHERE {one})")
            bound.append(self.project)
        return " AND ".join(parts) or "1", bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Totals. ``unpriced``: replies without an estimate in ``cost_usd``. ``skipped``: lines of logs that could not be used."""

    sessions: int
    projects: int
    compactions: int
    interruptions: int
    prompts: int | None = None
    replies: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    unpriced: int | None = None
    tool_calls: int | None = None
    errors: int | None = None
    skipped: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What a model put out on a day (None: the log has no time, or none that can be true)."""

    day: str | None
    model: str | None
    output_tokens: int | None
    cost_usd: float | None
    replies: int
    unpriced: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """How often a tool was called, and how often it failed."""

    tool: str | None
    calls: int
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Sessions of a project (``key`` None: not recorded), the day the last one began, and the tokens they own."""

    key: str | None
    name: str | None
    sessions: int
    output_tokens: int | None
    last: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """A session. ``at``: when something happened in it last."""

    id: str
    title: str | None
    project: str | None
    branch: str | None
    status: str
    prompts: int
    errors: int
    at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A chunk at which context was compacted (from ``before`` to ``after`` tokens), or which was interrupted."""

    session: str
    title: str | None
    chunk: int
    compacted: bool
    before: int | None
    after: int | None
    at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """What was ``asked`` for. ``first`` and ``last``: the days on which sessions began, in the whole database.

    ``days``: sessions that began on each day that has any. ``names``: all projects by key, for a choice.
    """

    asked: Asked
    first: str | None
    last: str | None
    names: Sequence[tuple[str, str]]
    figures: Figures
    days: Sequence[tuple[str, int]]
    models: Sequence[Used] | None
    tools: Sequence[Tool] | None
    projects: Sequence[Project]
    recent: Sequence[Recent]
    cuts: Sequence[Cut] | None


def overview(db: sqlite3.Connection, asked: Asked, tables: Collection[str]) -> Overview:
    """Read it. Only ``tables`` (and ``sessions``) are read; what stands in others is None."""
    known = [day for (day,) in db.execute(f"SELECT DISTINCT s.day FROM sessions s WHERE {_WHOLE}") if plausible(day)]
    source, name = _NAMED if "projects" in tables else _UNNAMED
    names = db.execute(
        f"SELECT {_PROJECT}, min({name}) FROM {source} WHERE {_PROJECT} IS NOT NULL GROUP BY 1 ORDER BY 2, 1"
    ).fetchall()
    projects = _projects(db, asked, source, name)
    models = _models(db, asked) if {"requests", "daily_usage"} <= set(tables) else None
    tools = _tools(db, asked) if "tool_calls" in tables else None
    return Overview(
        asked=asked,
        first=min(known, default=None),
        last=max(known, default=None),
        names=names,
        figures=_figures(db, asked, tables, projects, models, tools),
        days=_days(db, asked),
        models=models,
        tools=tools,
        projects=projects,
        recent=_recent(db, asked, source, name),
        cuts=_cuts(db, asked) if "chunks" in tables else None,
    )


def _figures(
    db: sqlite3.Connection,
    asked: Asked,
    tables: Collection[str],
    projects: Sequence[Project],
    models: Sequence[Used] | None,
    tools: Sequence[Tool] | None,
) -> Figures:
    where, bound = asked.where("s.day")
    cut = db.execute(f"SELECT sum(s.compactions), sum(s.interruptions) FROM sessions s WHERE {where}", bound).fetchone()
    return Figures(
        sessions=sum(project.sessions for project in projects),
        projects=sum(project.key is not None for project in projects),
        compactions=cut[0] or 0,
        interruptions=cut[1] or 0,
        prompts=_prompts(db, asked) if "messages" in tables else None,
        replies=None if models is None else sum(used.replies for used in models),
        output_tokens=total([used.output_tokens for used in models or ()]),
        cost_usd=total([used.cost_usd for used in models or ()]),
        unpriced=total([used.unpriced for used in models or ()]),
        tool_calls=None if tools is None else sum(tool.calls for tool in tools),
        errors=None if tools is None else sum(tool.errors for tool in tools),
        skipped=_skipped(db, asked) if {"sources", "source_lines", "ingest_issues"} <= set(tables) else None,
    )


def total(numbers: Sequence[Any]) -> Any:  # noqa: ANN401 - of whole numbers or of fractions
    """The sum of what was recorded; None if nothing was."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _prompts(db: sqlite3.Connection, asked: Asked) -> int:
    """What a person typed. Without a span of time the sums of sessions do, but for those that copied something."""
    typed = (
        "m.kind = 'user' AND m.origin = 'prompt' AND m.inherited = 0 AND m.chunk_seq IS NOT NULL AND s.agent_id IS NULL"
    )
    join = f"SELECT count(*) FROM {{}} WHERE {typed}"
    if asked.since or asked.until:
        where, bound = asked.where("m.day")
        rows = "messages m JOIN sessions s ON s.id = m.session_id"
        return int(db.execute(f"{join.format(rows)} AND {where}", bound).fetchone()[0])
    where, bound = asked.where()
    whole = f"SELECT coalesce(sum(s.prompts), 0) FROM sessions s WHERE s.agent_id IS NULL AND NOT s.inherited_messages AND {where}"
    rows = "sessions s CROSS JOIN messages m ON m.session_id = s.id"
    part = f"{join.format(rows)} AND s.inherited_messages AND {where}"
    return sum(int(db.execute(sql, bound).fetchone()[0]) for sql in (whole, part))


def _skipped(db: sqlite3.Connection, asked: Asked) -> int:
    where, bound = asked.where("s.day")
    join = " JOIN sources f ON f.id = l.source_id JOIN sessions s ON s.id = f.session_id" if bound else ""
    sql = f"SELECT coalesce(sum(l.lines), 0) FROM source_lines l{join} WHERE l.disposition = 'issue' AND {where}"
    return int(db.execute(sql, bound).fetchone()[0])


def _days(db: sqlite3.Connection, asked: Asked) -> list[tuple[str, int]]:
    where, bound = asked.where("s.day")
    sql = f"SELECT s.day, count(*) FROM sessions s WHERE {_WHOLE} AND s.day IS NOT NULL AND {where} GROUP BY 1"
    return [(day, number) for day, number in db.execute(sql, bound) if plausible(day)]


def _models(db: sqlite3.Connection, asked: Asked) -> list[Used]:
    where, bound = asked.where("u.day", "u.session_id")
    sql = (
        "SELECT u.day, u.model, sum(u.output_tokens), sum(u.cost_usd), sum(u.replies), sum(u.unpriced_replies) "
        f"FROM daily_usage u WHERE {where} GROUP BY 1, 2"
    )
    return [
        Used(
            day=day if plausible(day) else None,
            model=model,
            output_tokens=tokens,
            cost_usd=cost_usd,
            replies=replies,
            unpriced=unpriced,
        )
        for day, model, tokens, cost_usd, replies, unpriced in db.execute(sql, bound)
    ]


def _tools(db: sqlite3.Connection, asked: Asked) -> list[Tool]:
    where, bound = asked.where("t.day", "t.session_id")
    sql = f"SELECT t.name, count(*), sum(t.status = 'error') FROM tool_calls t WHERE t.inherited = 0 AND {where} GROUP BY 1 ORDER BY 2 DESC, 1"
    return [Tool(tool=tool, calls=calls, errors=errors or 0) for tool, calls, errors in db.execute(sql, bound)]


def _projects(db: sqlite3.Connection, asked: Asked, source: str, name: str) -> list[Project]:
    where, bound = asked.where("s.day")
    sql = (
        f"SELECT {_PROJECT}, min({name}), sum({_WHOLE}), sum(s.own_output_tokens), max(s.day) "
        f"FROM {source} WHERE {where} GROUP BY 1 HAVING sum({_WHOLE}) > 0 ORDER BY 3 DESC, 2"
    )
    return [
        Project(key=key, name=name, sessions=sessions, output_tokens=tokens, last=last if plausible(last) else None)
        for key, name, sessions, tokens, last in db.execute(sql, bound)
    ]


def _recent(db: sqlite3.Connection, asked: Asked, source: str, name: str) -> list[Recent]:
    where, bound = asked.where("s.day")
    sql = (
        f"SELECT s.id, s.title, {name}, s.git_branch, s.status, s.prompts, s.tool_errors, "
        f"coalesce(s.ended_at, s.started_at) FROM {source} WHERE {_WHOLE} AND {where} ORDER BY 8 DESC, 1 LIMIT {SHOWN}"
    )
    names = ("id", "title", "project", "branch", "status", "prompts", "errors", "at")
    return [Recent(**dict(zip(names, row, strict=True))) for row in db.execute(sql, bound)]


def _cuts(db: sqlite3.Connection, asked: Asked) -> list[Cut]:
    """The newest of both kinds. Each kind has an index, so they are asked for one by one."""
    where, bound = asked.where("c.day")
    found = []
    for kind in ("c.kind = 'compact'", "c.status = 'interrupted'"):
        sql = (
            "SELECT c.session_id, s.title, c.seq, c.kind = 'compact', c.context_before, c.context_after, c.started_at "
            f"FROM chunks c JOIN sessions s ON s.id = c.session_id WHERE {kind} AND {where} ORDER BY 7 DESC, 1, 3 LIMIT {SHOWN}"
        )
        found += db.execute(sql, bound).fetchall()
    newest = sorted(found, key=lambda row: row[6] or "", reverse=True)[:SHOWN]
    return [
        Cut(session=sid, title=title, chunk=seq, compacted=bool(compacted), before=before, after=after, at=at)
        for sid, title, seq, compacted, before, after, at in newest
    ]
