"""What a person gives to a query as its parameters, as SQLite takes it."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timezone
from typing import Any

from clm_sessions import times
from clm_sessions.errors import UsageError

Parameters = Iterable[Any] | Mapping[str, Any]
_ELSEWHERE = frozenset({
    sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_CREATE_TEMP_INDEX, sqlite3.SQLITE_CREATE_TEMP_TABLE,
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER, sqlite3.SQLITE_CREATE_TEMP_VIEW,
})  # fmt: skip


def only_reads(db: sqlite3.Connection) -> None:
    """Let a connection that may only read its own file write to no other, by ``ATTACH``, ``VACUUM INTO`` or temporary tables."""
    db.set_authorizer(lambda action, *_more: sqlite3.SQLITE_DENY if action in _ELSEWHERE else sqlite3.SQLITE_OK)


def bound(parameters: Parameters) -> list[Any] | dict[str, Any]:
    """The parameters as numbers and texts that compare with those in the tables: a moment as ``2026-03-02T14:30:00.000Z``.

    UsageError for what is no list or dict of single values.
    """
    if isinstance(parameters, Mapping):
        return {name: value(each, f":{name}") for name, each in parameters.items()}
    if isinstance(parameters, str | bytes) or not isinstance(parameters, Iterable):
        raise UsageError(f"sql: parameters are a list or a dict; write [{parameters!r}]")
    return [value(each, str(number)) for number, each in enumerate(parameters, 1)]


def value(given: Any, which: str) -> Any:  # noqa: ANN401 - of any type
    """One parameter; values of numpy and pandas as the plain ones they stand for, what is missing there as None."""
    if getattr(given, "dtype", None) is not None and hasattr(given, "item") and getattr(given, "ndim", 1) == 0:
        given = given.astype("datetime64[ms]").item() if given.dtype.kind == "M" else given.item()
    if isinstance(given, str):
        return given.encode("utf-8", "replace").decode()  # SQLite takes no lone surrogate
    if _is_missing(given):
        return None
    if isinstance(given, datetime):
        aware = given if given.tzinfo else given.replace(tzinfo=timezone.utc)
        return times.iso(int(aware.timestamp() * 1000))
    if isinstance(given, date):
        return given.isoformat()
    if isinstance(given, os.PathLike):
        return os.fspath(given)
    if isinstance(given, Iterable) and not isinstance(given, bytes | bytearray | memoryview):
        kind = type(given).__name__
        raise UsageError(
            f"sql: parameter {which} is a {kind}; write IN (?, ?, …) with a parameter for each of its values"
        )
    return given


def _is_missing(given: Any) -> bool:  # noqa: ANN401 - of any type
    pandas = sys.modules.get("pandas")
    return pandas is not None and (given is pandas.NA or given is pandas.NaT)
