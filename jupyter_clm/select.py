"""Rows of a database: the filters become SQL, so that nothing else is read.

Rows count by their own time: a session by all the time it was going on, a chunk, tool call, message or reply by when it
began. Days are UTC days.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from functools import cache
from typing import Any

from clm_sessions import times
from clm_sessions.errors import UsageError, one_line
from clm_sessions.store import narrow
from clm_sessions.store.columns import PUBLIC, Column, columns, kind, kinds
from clm_sessions.store.narrow import Condition, Narrow
from jupyter_clm.bind import Parameters, bound
from jupyter_clm.engines import make
from jupyter_clm.frames import INTERNAL, narrowed

When = str | date | datetime
Names = str | Sequence[str]
_AT = {"chunks": "started_at", "messages": "at", "tool_calls": "started_at", "requests": "at"}
_MODEL = {
    "sessions": "",
    "messages": "t.model IN ({})",
    "requests": "t.model IN ({})",
    "chunks": "EXISTS (SELECT 1 FROM messages m WHERE m.session_id = t.session_id AND m.chunk_seq = t.seq AND m.model IN ({}))",
    "tool_calls": "(SELECT m.model FROM messages m WHERE m.session_id = t.session_id AND m.seq = t.message_seq) IN ({})",
}
_TOOL = {
    "sessions": "s.id IN (SELECT u.session_id FROM session_tools u WHERE u.tool IN ({}))",
    "tool_calls": "t.name IN ({})",
    "chunks": "EXISTS (SELECT 1 FROM tool_calls u WHERE u.session_id = t.session_id AND u.chunk_seq = t.seq AND u.name IN ({}))",
}
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which rows are asked for; None asks for all.

    ``since`` (inclusive) and ``until``: ``2026-03-02`` (for ``until`` that day included), ISO 8601, a date, or a datetime
    (``until`` then exclusive; without a zone it is UTC). ``project``, ``model``, ``tool``, ``format``: names as in
    ``clm-sessions list``, one or several. ``session``: ids, or their beginnings.
    """

    since: When | None = None
    until: When | None = None
    project: Names | None = None
    model: Names | None = None
    tool: Names | None = None
    format: Names | None = None
    session: Names | None = None

    def narrow(self) -> Narrow:
        """The same for the core."""
        return Narrow(
            projects=names(self.project),
            models=names(self.model),
            formats=names(self.format),
            tools=names(self.tool),
            since=None if self.since is None else moment(self.since, "since"),
            until=None if self.until is None else moment(self.until, "until", end=True),
        )


def names(given: Any) -> tuple[str, ...]:  # noqa: ANN401 - one, several, or none
    """One name or several as several; what has an ``id`` is named by it."""
    if given is None:
        return ()
    several = [given] if isinstance(given, str) or hasattr(given, "id") else given
    return tuple(str(getattr(each, "id", each)) for each in several)


def moment(given: When, what: str, *, end: bool = False) -> int:
    """Milliseconds of a day or moment; with ``end`` a day stands for the one after it. UsageError for what is neither."""
    day = given
    if isinstance(given, str):
        try:
            day = date.fromisoformat(given.strip())
        except ValueError:
            ms = times.parse(given)
            if ms is None:
                raise UsageError(f"{what}={given!r}: no date; write 2026-03-02 or 2026-03-02T14:30") from None
            return ms
    if not isinstance(day, date) or day != day:  # noqa: PLR0124 - what pandas has for a missing time is a datetime
        raise UsageError(f"{what}={day!r}: no date; write 2026-03-02, or give a date or datetime")
    if not isinstance(day, datetime):
        day = datetime(day.year, day.month, day.day, tzinfo=timezone.utc) + (_DAY if end else timedelta())
    aware = day if day.tzinfo else day.replace(tzinfo=timezone.utc)
    return int(aware.timestamp() * 1000)


def table(
    db: sqlite3.Connection, name: str, filters: Filters, ids: Sequence[str], wanted: Names | None, engine: str
) -> Any:  # noqa: ANN401 - a frame of that engine
    """Rows of a table in the order of its key. ``ids``: of sessions; ``wanted``: columns (None: all that say something).

    UsageError for tables, columns, names and filters that are not there.
    """
    real, where, there = columns(db, name)
    chosen = _chosen(name, there, wanted)
    alias = "s" if real == "sessions" else "t"
    conditions, bound = _conditions(db, name, real, filters.narrow(), {c.name for c in there})
    if ids:
        conditions.append(f"{alias}.{_key(name, real, {c.name for c in there})} IN ({_marks(ids)})")
        bound += ids
    keys = [row[0] for row in db.execute("SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk", (real,))]
    sql = (
        f"SELECT {', '.join(f'{alias}.{column.name}' for column in chosen)} FROM {real} {alias} "
        f"WHERE {' AND '.join([where, *conditions])} ORDER BY {', '.join(f'{alias}.{key}' for key in keys)}"
    )
    return make(engine, {c.name: narrowed(real, c.name, c.kind) for c in chosen}, _Lazy(db, sql, bound))


class _Lazy:
    """Rows that are read when somebody goes through them."""

    def __init__(self, db: sqlite3.Connection, sql: str, bound: Sequence[Any]) -> None:
        self._ask = db, sql, bound

    def __iter__(self) -> Any:  # noqa: ANN401 - of rows
        db, sql, bound = self._ask
        return iter(db.execute(sql, bound))


def _chosen(name: str, there: Sequence[Column], wanted: Names | None) -> list[Column]:
    if wanted is None:
        return [column for column in there if column.name not in INTERNAL]
    by_name = {column.name: column for column in there}
    asked = dict.fromkeys(names(wanted))
    if not asked:
        raise UsageError(f"columns=[]: name at least one; {name} has: {', '.join(by_name)}")
    strange = [each for each in asked if each not in by_name]
    if strange:
        raise UsageError(f"{name} has no column {strange[0]!r}; there are: {', '.join(by_name)}")
    return [by_name[each] for each in asked]


def _conditions(
    db: sqlite3.Connection, name: str, real: str, ask: Narrow, names_of: Iterable[str]
) -> tuple[list[str], list[Any]]:
    parts: list[str] = []
    bound: list[Any] = []
    for sql, values in (_where(db, name, real, ask, names_of), _model(db, name, real, ask), _tool(db, name, real, ask)):
        parts += [sql] if sql else []
        bound += values
    return parts, bound


def _where(db: sqlite3.Connection, name: str, real: str, ask: Narrow, names_of: Iterable[str]) -> Condition:
    """Projects, formats and time."""
    if real == "sessions":
        return narrow.of_sessions(db, ask, in_span=True)
    if real in _AT:
        return narrow.of_rows(db, ask, "t", _AT[real])
    if ask.since is not None or ask.until is not None:
        raise UsageError(f"{name} cannot be filtered by time; these can: sessions, {', '.join(_AT)}")
    if not ask.projects and not ask.formats:
        return "", []
    sql, bound = narrow.of_sessions(db, Narrow(projects=ask.projects, formats=ask.formats))
    return f"t.{_key(name, real, names_of)} IN (SELECT s.id FROM sessions s WHERE {sql})", bound


def _model(db: sqlite3.Connection, name: str, real: str, ask: Narrow) -> Condition:
    if not ask.models or real == "sessions":
        return "", []
    return _one(name, real, "model", _MODEL, narrow.models(db, ask) if real in _MODEL else [])


def _tool(db: sqlite3.Connection, name: str, real: str, ask: Narrow) -> Condition:
    return _one(name, real, "tool", _TOOL, narrow.tools(db, ask) if real in _TOOL else []) if ask.tools else ("", [])


def _one(name: str, real: str, what: str, sqls: Mapping[str, str], found: list[str]) -> Condition:
    if real not in sqls:
        raise UsageError(f"{name} cannot be filtered by {what}; these can: {', '.join(sqls)}")
    return sqls[real].format(_marks(found)), found


def _key(name: str, real: str, names_of: Iterable[str]) -> str:
    """The column that says which session a row belongs to."""
    if real == "sessions":
        return "id"
    if "session_id" not in names_of:
        raise UsageError(f"{name} cannot be filtered by session, project or format: its rows belong to no session")
    return "session_id"


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))


# -- queries of one's own ------------------------------------------------------------------------------------------

_ONLY_READS = "a query may only read; write a SELECT"
_DENIED = {"not authorized", "authorization denied", "attempt to write a readonly database"}


def text(query: str) -> str:
    """A query, checked: the arguments of ``sql`` are easily put the wrong way round."""
    if not isinstance(query, str):
        raise UsageError(f"sql: the query is text and comes first, not a {type(query).__name__}")
    return query.encode("utf-8", "replace").decode()  # SQLite takes no lone surrogate


def query(db: sqlite3.Connection, sql: str, parameters: Parameters, engine: str) -> Any:  # noqa: ANN401
    """What a SELECT gives, as a frame. Types follow the values; columns named as times, days and flags are such.

    UsageError with what SQLite says, or if the statement gives no rows.
    """
    try:
        cursor = db.execute(text(sql), bound(parameters))
        rows = cursor.fetchall()
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        words = one_line(error).partition(": ")[2]
        raise UsageError(f"sql: {_ONLY_READS if words in _DENIED else words}") from None
    finally:
        if db.in_transaction:
            db.rollback()
    if cursor.description is None:
        raise UsageError("sql: this statement gives no rows; write a SELECT")
    found = _unique([column[0] for column in cursor.description])
    values = list(zip(*rows, strict=True)) or [()] * len(found)
    return make(engine, {name: _kind(name, each) for name, each in zip(found, values, strict=True)}, rows)


def _unique(given: Sequence[str]) -> list[str]:
    found: dict[str, None] = {}
    for name in given:
        number = 1
        while (label := name if number == 1 else f"{name}_{number}") in found:
            number += 1
        found[label] = None
    return list(found)


def _kind(name: str, values: Sequence[Any]) -> str:
    there = {type(value) for value in values if value is not None}
    guess = kind("", name, "")
    if guess in {"time", "day", "flag"} and all(_fits(guess, value) for value in values if value is not None):
        return guess
    if not there:
        return _numbers().get(name, "text")
    if len(there) == 1:
        return {int: "integer", float: "real", bytes: "blob"}.get(there.pop(), "text")
    return "real" if there == {int, float} else "mixed"


@cache
def _numbers() -> Mapping[str, str]:
    """Columns that hold numbers wherever they stand, so that a column of them in which nothing is recorded can be added up."""
    found: dict[str, set[str]] = {}
    for table_ in PUBLIC:
        for name, what in kinds(table_).items():
            found.setdefault(name, set()).add(what)
    return {name: what.pop() for name, what in found.items() if what in ({"integer"}, {"real"})}


def _fits(guess: str, value: Any) -> bool:  # noqa: ANN401 - a column value
    if guess == "flag":
        return value in {0, 1} if isinstance(value, int) else False
    if guess == "time":
        return isinstance(value, str) and times.parse(value) is not None
    try:
        date.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return True
