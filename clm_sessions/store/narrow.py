"""Which sessions and rows are asked for: names as people say them, and a span of time, as conditions in SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from clm_sessions import times
from clm_sessions.errors import UsageError

Condition = tuple[str, list[Any]]
"""A condition in SQL (empty: none) and what is bound to it."""
_NAMED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrow:
    """What is asked for; an empty field asks for everything.

    ``projects``: name of the working directory, or its path. ``models``: any part of a model's name. ``formats``,
    ``tools``: the name. All are compared without regard to case, and ``*`` and ``?`` stand for anything. ``since``
    (inclusive) and ``until`` (exclusive) are milliseconds since the epoch; what has no time is in no span.
    """

    projects: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None


def is_project(wanted: str, name: str | None, path: str | None) -> bool:
    """Whether a project is the one a person named."""
    return any(each is not None and _named(wanted, each) for each in (name, path))


def of_sessions(db: sqlite3.Connection, narrow: Narrow, *, in_span: bool = False) -> Condition:
    """The condition over ``sessions s``; with ``in_span`` the session must have been going on in the span of time.

    UsageError for a project, model or format that the database does not have.
    """
    parts: list[str] = []
    bound: list[Any] = []
    if narrow.projects:
        ids = [pid for wanted in narrow.projects for pid in _projects(db, wanted)]
        parts.append(f"coalesce(s.project_id, '~' || s.project_name) IN ({_marks(ids)})")
        bound += ids
    if narrow.formats:
        names = _known(db, "format", "SELECT DISTINCT format FROM sessions", narrow.formats, _named)
        parts.append(f"s.format IN ({_marks(names)})")
        bound += names
    if narrow.models:
        names = models(db, narrow)
        parts.append(f"s.id IN (SELECT session_id FROM session_models WHERE model IN ({_marks(names)}))")
        bound += names
    if in_span:
        span, times_ = of_time(narrow, "coalesce(s.ended_at, s.started_at)", "s.started_at")
        parts += [span] if span else []
        bound += times_
    return " AND ".join(parts), bound


def of_rows(db: sqlite3.Connection, narrow: Narrow, alias: str, at: str) -> Condition:
    """The condition over rows with a ``session_id`` and a time in the column ``at``; models and tools are left to the caller."""
    sessions, bound = of_sessions(db, Narrow(projects=narrow.projects, formats=narrow.formats))
    parts = [f"{alias}.session_id IN (SELECT s.id FROM sessions s WHERE {sessions})"] if sessions else []
    span, times_ = of_time(narrow, f"{alias}.{at}", f"{alias}.{at}")
    days, bound_days = of_days(narrow, f"{alias}.day")
    return " AND ".join([*parts, *([span] if span else []), *days]), [*bound, *times_, *bound_days]


def of_days(narrow: Narrow, column: str) -> tuple[list[str], list[Any]]:
    """The same span in whole UTC days, for the index there is on them."""
    ends = [(f"{column} >= ?", narrow.since)] if narrow.since is not None else []
    ends += [(f"{column} <= ?", narrow.until)] if narrow.until is not None else []
    return [sql for sql, _ms in ends], [times.day(ms) for _sql, ms in ends]


def of_time(narrow: Narrow, last: str, first: str) -> Condition:
    """The condition that what lasted from column ``first`` to column ``last`` touches the span of time."""
    parts = [(f"{last} >= ?", narrow.since)] if narrow.since is not None else []
    parts += [(f"{first} < ?", narrow.until)] if narrow.until is not None else []
    return " AND ".join(sql for sql, _ms in parts), [times.iso(ms) for _sql, ms in parts]


def models(db: sqlite3.Connection, narrow: Narrow) -> list[str]:
    """The models of the database that are asked for. UsageError if there is none of that name."""
    return _known(db, "model", "SELECT DISTINCT model FROM session_models", narrow.models, _holds)


def tools(db: sqlite3.Connection, narrow: Narrow) -> list[str]:
    """The tools of the database that are asked for. UsageError if there is none of that name."""
    return _known(db, "tool", "SELECT DISTINCT tool FROM session_tools", narrow.tools, _named)


def _projects(db: sqlite3.Connection, wanted: str) -> list[str]:
    """What ``coalesce(project_id, '~' || project_name)`` is in the sessions of a project."""
    rows = db.execute(
        "SELECT DISTINCT coalesce(s.project_id, '~' || s.project_name), s.project_name, p.path FROM sessions s "
        "LEFT JOIN projects p ON p.id = s.project_id WHERE s.project_name IS NOT NULL OR s.project_id IS NOT NULL"
    ).fetchall()
    found = [pid for pid, name, path in rows if is_project(wanted, name, path)]
    if not found:
        raise _unknown("project", wanted, [name for _pid, name, _path in rows if name])
    return found


def _known(
    db: sqlite3.Connection, what: str, sql: str, wanted: Iterable[str], fits: Callable[[str, str], bool]
) -> list[str]:
    names = sorted(row[0] for row in db.execute(sql) if row[0] is not None)
    found: dict[str, None] = {}
    for each in wanted:
        these = [name for name in names if fits(each, name)]
        if not these:
            raise _unknown(what, each, names)
        found |= dict.fromkeys(these)
    return list(found)


def _named(wanted: str, name: str) -> bool:
    return fnmatchcase(name.casefold(), wanted.casefold()) or name.casefold() == wanted.casefold()


def _holds(wanted: str, name: str) -> bool:
    return wanted.casefold() in name.casefold() or _named(wanted, name)


def _unknown(what: str, wanted: str, names: Sequence[str]) -> UsageError:
    from difflib import get_close_matches  # only for an error

    near = get_close_matches(wanted, set(names), _NAMED) or sorted(set(names))
    there = ", ".join(near[:_NAMED]) + (", …" if len(near) > _NAMED else "")
    return UsageError(f"no {what} {wanted!r} in the database" + (f"; there are: {there}" if there else ""))


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))
