"""Sessions as records and data frames. Names are those of the tables in the database, so Datasette shows the same ones.

Times are UTC, lengths of time milliseconds, token counts those of the log; what was not recorded is missing, never 0.
JSON columns (the input of a tool call, the models of a session …) come as values. Left out are the columns that only
tell the store how to put a message together again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from clm_sessions import times
from clm_sessions.errors import UsageError
from clm_sessions.frames import parse_args
from clm_sessions.library import StoredSession
from clm_sessions.model import Session
from clm_sessions.store.columns import kinds
from clm_sessions.store.costs import COSTS
from clm_sessions.store.rows import COLUMNS, bundle_rows
from jupyter_clm.extras import need

if TYPE_CHECKING:
    import pandas as pd

Record = dict[str, Any]
T = TypeVar("T")

TABLES = ("sessions", "chunks", "messages", "tool_calls", "requests")
_INTERNAL = frozenset({"layout", "result_layout", "input_is_text", "source_state"})
_CATEGORIES = frozenset({
    "agent", "agent_type", "color", "format", "git_branch", "kind", "link", "member", "model", "origin", "project_id",
    "project_name", "provider", "role", "session_id", "status", "team", "version",
})  # fmt: skip
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def columns(table: str) -> tuple[str, ...]:
    """The columns of a table, in order. UsageError if there is no such table."""
    if table not in TABLES:
        raise UsageError(f"no table {table!r}; there are: {', '.join(TABLES)}")
    return tuple(name for name in (*COLUMNS[table], *COSTS.get(table, ())) if name not in _INTERNAL)


def kind(table: str, column: str) -> str:
    """What a column holds: time, day, flag, json, category, text, integer or real."""
    if column in _CATEGORIES or (table, column) == ("tool_calls", "name"):
        return "category"
    return kinds(table)[column]


def records(sessions: Iterable[Session | StoredSession], table: str, *, subagents: bool = False) -> Iterator[Record]:
    """The rows of some sessions as dicts; with ``subagents`` those of their subagents too, each after its parent."""
    names = columns(table)
    readers = [(name, _reader(table, name)) for name in names]
    todo = list(sessions)[::-1]
    while todo:
        session = todo.pop()
        if subagents:
            todo.extend(reversed(session.subagents))
        for row in _rows(session, table):
            record = dict(zip((*COLUMNS[table], *COSTS.get(table, ())), row, strict=True))
            raw_text = bool(record.get("input_is_text"))
            yield {n: parse_args(record[n]) if raw_text and n == "input" else read(record[n]) for n, read in readers}


def frame(table: str, rows: Iterable[Record]) -> pd.DataFrame:
    """Records as a pandas DataFrame: UTC times, days, nullable integers and booleans, categories, strings.

    UsageError names the extra if pandas is missing.
    """
    pandas = need("pandas", "all", "a data frame")
    rows = list(rows)
    data = {name: _column(pandas, kind(table, name), [row[name] for row in rows]) for name in columns(table)}
    result: pd.DataFrame = pandas.DataFrame(data)
    return result


def _rows(session: Session | StoredSession, table: str) -> Iterable[Sequence[Any]]:
    costs = COSTS.get(table, ())
    if isinstance(session, Session):
        return ((*row, *[None] * len(costs)) for row in bundle_rows([session])[table])
    key = "id" if table == "sessions" else "session_id"
    order = "" if table == "sessions" else " ORDER BY seq"
    names = ", ".join((*COLUMNS[table], *costs))
    sql = f"SELECT {names} FROM {table} WHERE {key} = ?{order}"  # noqa: S608 - names from COLUMNS
    return session.db.execute(sql, (session.id,))


def _reader(table: str, column: str) -> Callable[[Any], Any]:
    what = kind(table, column)
    if what == "json":
        return _loads
    if what == "time":
        return _moment
    return _flag if what == "flag" else _same


def _same(value: Any) -> Any:  # noqa: ANN401 - a column value
    return value


def _loads(value: str | None) -> Any:  # noqa: ANN401 - a JSON value
    return None if value is None else json.loads(value)


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _moment(value: str | None) -> datetime | None:
    ms = times.parse(value)
    return None if ms is None else _EPOCH + timedelta(milliseconds=ms)


def _column(pandas: Any, what: str, values: list[Any]) -> Any:  # noqa: ANN401 - pandas and one of its arrays
    if what == "real":
        return pandas.array(values, dtype="Float64")
    if what == "integer":
        return pandas.array(values, dtype="Int64")
    if what == "flag":
        return pandas.array(values, dtype="boolean")
    if what == "text":
        return pandas.array(values, dtype="string")
    if what == "category":
        return pandas.Categorical(values, categories=sorted({v for v in values if v is not None}))
    if what == "json":
        return pandas.Series(values, dtype=object)
    if what == "day":
        return pandas.Series(values, dtype="datetime64[s]")
    naive = [None if value is None else value.replace(tzinfo=None) for value in values]
    return pandas.Series(naive, dtype="datetime64[ms]").dt.tz_localize("UTC")


class Rows(Sequence[T], Generic[T]):
    """The chunks, messages, tool calls or API replies of a session: a sequence that also makes records and data frames.

    Nothing is read before it is asked for; a data frame does not read the values, nor the values the rows.
    """

    def __init__(self, session: Session | StoredSession, table: str) -> None:
        """``table``: chunks, messages, tool_calls or requests."""
        self._session, self._table = session, table
        self._values: Sequence[T] | None = None

    @property
    def _all(self) -> Sequence[T]:
        if self._values is None:
            self._values = getattr(self._session, self._table)
        return self._values

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __eq__(self, other: object) -> bool:
        return list(self._all) == list(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._session.id, self._table))

    def to_records(self) -> list[Record]:
        """The rows as dicts of plain values."""
        return list(records([self._session], self._table))

    def to_df(self) -> pd.DataFrame:
        """The rows as a pandas DataFrame; ``seq`` and ``session_id`` tell them apart."""
        return frame(self._table, records([self._session], self._table))

    def __repr__(self) -> str:
        return f"<{len(self):,} {self._table.replace('_', ' ')} of {self._session.id}; .to_df() for a data frame>"
