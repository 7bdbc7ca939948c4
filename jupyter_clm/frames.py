"""Sessions as records and data frames. Names are those of the tables in the database, so Datasette shows the same ones.

Times are UTC, lengths of time milliseconds, token counts those of the log; what was not recorded is missing, never 0.
JSON columns (the input of a tool call, the models of a session …) come as values. Left out are the columns that only
tell the store how to put a message together again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from clm_sessions.errors import UsageError
from clm_sessions.library import StoredSession
from clm_sessions.model import Session
from clm_sessions.store.columns import kinds
from clm_sessions.store.costs import COSTS
from clm_sessions.store.rows import COLUMNS, bundle_rows
from jupyter_clm.engines import make, reader

Record = dict[str, Any]
T = TypeVar("T")

TABLES = ("sessions", "chunks", "messages", "tool_calls", "requests")
INTERNAL = frozenset({"layout", "result_layout", "input_is_text", "source_state"})
_CATEGORIES = frozenset({
    "agent", "agent_type", "color", "disposition", "format", "git_branch", "kind", "link", "member", "model", "origin", "project_id",
    "project_name", "provider", "role", "session_id", "state", "status", "team", "tool", "version",
})  # fmt: skip


def columns(table: str) -> tuple[str, ...]:
    """The columns of a table, in order. UsageError if there is no such table."""
    if table not in TABLES:
        raise UsageError(f"no table {table!r}; there are: {', '.join(TABLES)}")
    return tuple(name for name in _columns(table) if name not in INTERNAL)


def _columns(table: str) -> tuple[str, ...]:
    return (*COLUMNS[table], *COSTS.get(table, ()))


def kind(table: str, column: str) -> str:
    """What a column holds: time, day, flag, json, category, text, integer or real."""
    return narrowed(table, column, kinds(table)[column])


def narrowed(table: str, column: str, kind: str) -> str:
    """The kind of a column, text of few different values told apart as ``category``."""
    category = column in _CATEGORIES or (table, column) in {("tool_calls", "name"), ("facts", "name")}
    return "category" if category and kind == "text" else kind


def records(sessions: Iterable[Session | StoredSession], table: str, *, subagents: bool = False) -> Iterator[Record]:
    """The rows of some sessions as dicts; with ``subagents`` those of their subagents too, each after its parent."""
    readers = [(name, reader(kind(table, name))) for name in columns(table)]
    for row in _every(sessions, table, subagents=subagents):
        record = dict(zip(_columns(table), row, strict=True))
        yield {name: read(record[name]) for name, read in readers}


def frame(
    sessions: Iterable[Session | StoredSession], table: str, *, subagents: bool = False, engine: str = "pandas"
) -> Any:  # noqa: ANN401 - a frame of that engine
    """The same rows as a frame; ``engines`` says which types its columns have. UsageError names a missing extra."""
    names = columns(table)
    places = [_columns(table).index(name) for name in names]
    rows = ([row[n] for n in places] for row in _every(sessions, table, subagents=subagents))
    return make(engine, {name: kind(table, name) for name in names}, rows)


def _every(sessions: Iterable[Session | StoredSession], table: str, *, subagents: bool) -> Iterator[Sequence[Any]]:
    todo = list(sessions)[::-1]
    while todo:
        session = todo.pop()
        if subagents:
            todo.extend(reversed(session.subagents))
        yield from _rows(session, table)


def _rows(session: Session | StoredSession, table: str) -> Iterable[Sequence[Any]]:
    costs = COSTS.get(table, ())
    if isinstance(session, Session):
        return ((*row, *[None] * len(costs)) for row in bundle_rows([session])[table])
    key = "id" if table == "sessions" else "session_id"
    order = "" if table == "sessions" else " ORDER BY seq"
    names = ", ".join((*COLUMNS[table], *costs))
    sql = f"SELECT {names} FROM {table} WHERE {key} = ?{order}"  # noqa: S608 - names from COLUMNS
    return session.db.execute(sql, (session.id,))


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

    def to_df(self, *, engine: str = "pandas") -> Any:  # noqa: ANN401 - a frame of that engine
        """The rows as a frame of pandas, polars or Arrow; ``seq`` and ``session_id`` tell them apart."""
        return frame([self._session], self._table, engine=engine)

    def __repr__(self) -> str:
        return f"<{len(self):,} {self._table.replace('_', ' ')} of {self._session.id}; .to_df() for a data frame>"
