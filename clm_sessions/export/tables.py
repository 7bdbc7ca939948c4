"""A table as CSV, JSON or JSON Lines, row by row: memory does not grow with the table."""

from __future__ import annotations

import base64
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from clm_sessions.errors import UsageError
from clm_sessions.store.columns import Column, columns

Row = Sequence[Any]
_BATCH = 500
_FORMULA = re.compile("['=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Some columns of a table, and its rows in the order of its key. ``rows`` can be gone through once."""

    name: str
    columns: Sequence[Column]
    rows: Iterator[Row]


def open_table(db: sqlite3.Connection, name: str, wanted: Sequence[str] = ()) -> Table:
    """A public table, with the columns that are ``wanted`` (none: all). UsageError for names that are not there."""
    table, where, there = columns(db, name)
    by_name = {column.name: column for column in there}
    strange = [each for each in wanted if each not in by_name]
    if strange:
        raise UsageError(f"{name} has no column {strange[0]!r}; there are: {', '.join(by_name)}")
    chosen = [by_name[each] for each in wanted] if wanted else there
    key = [row[0] for row in db.execute("SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk", (table,))]
    names, order = ", ".join(f'"{column.name}"' for column in chosen), ", ".join(key)
    cursor = db.execute(f"SELECT {names} FROM {table} WHERE {where} ORDER BY {order}")
    cursor.arraysize = _BATCH
    return Table(name=name, columns=chosen, rows=cursor)


def to_csv(table: Table, *, exact: bool = False) -> Iterator[str]:
    """CSV (RFC 4180, LF, UTF-8) with a header. An empty cell is null, ``""`` an empty text; bytes are base64.

    Text that a spreadsheet would take for a formula, or that begins with an apostrophe, gets an apostrophe in front:
    take off one to have it back. ``exact`` leaves that out. Texts are always quoted, so that no other separator splits
    them into cells that begin anew.
    """
    yield ",".join(column.name for column in table.columns) + "\n"
    cell = _exact if exact else _guarded
    for row in table.rows:
        yield (",".join(map(cell, row)) or '""') + "\n"  # an empty line would be no row to most readers


def to_ndjson(table: Table, *, ascii_only: bool = False) -> Iterator[str]:
    """One JSON object a line. JSON columns are values, flags true or false, bytes base64."""
    for line in _objects(table, ascii_only):
        yield f"{line}\n"


def to_json(table: Table, *, ascii_only: bool = False) -> Iterator[str]:
    """One JSON array of the same objects."""
    yield "["
    for number, line in enumerate(_objects(table, ascii_only)):
        yield f",\n{line}" if number else f"\n{line}"
    yield "\n]\n"


def _objects(table: Table, ascii_only: bool) -> Iterator[str]:
    readers = [(column.name, _READ.get(column.kind, _same)) for column in table.columns]
    plain = [(name, _same if read is _value else read) for name, read in readers]
    encode = json.JSONEncoder(ensure_ascii=ascii_only, allow_nan=False).encode
    for row in table.rows:
        try:
            yield encode({name: read(value) for (name, read), value in zip(readers, row, strict=True)})
        except (ValueError, RecursionError):  # JSON of a log that is none to others: NaN, 1e999, a million levels
            yield encode({name: read(value) for (name, read), value in zip(plain, row, strict=True)})


def _same(value: Any) -> Any:  # noqa: ANN401 - a column value
    return value


def _value(text: str | None) -> Any:  # noqa: ANN401 - a JSON value
    """What a JSON column holds; the text itself where it is no JSON, as the arguments of some tool calls."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _base64(value: bytes | None) -> str | None:
    return None if value is None else base64.b64encode(value).decode()


_READ: dict[str, Callable[[Any], Any]] = {"json": _value, "flag": _flag, "blob": _base64}


def _exact(value: Any) -> str:  # noqa: ANN401 - a column value
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return "" if value is None else str(value)


def _guarded(value: Any) -> str:  # noqa: ANN401 - a column value
    if isinstance(value, str) and _FORMULA.match(value):
        value = f"'{value}"
    return _exact(value)
