"""A table as Parquet, a group of rows at a time, with the types its columns have. Needs the extra ``parquet``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import IO, Any

from clm_sessions import times
from clm_sessions.errors import UsageError
from clm_sessions.export.tables import Table
from clm_sessions.store.columns import ColumnKind

ROWS, CHARACTERS = 20_000, 16_000_000
"""A group of rows is written when it has one of these."""
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def write(table: Table, target: Path | IO[bytes]) -> int:
    """Write all rows to a file; gives their number. UsageError if pyarrow is missing.

    Times are timestamps in UTC with milliseconds, days dates, flags booleans, JSON stays text, bytes are binary.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet as pq
    except ImportError:
        raise UsageError("Parquet needs pyarrow: pip install 'clm-sessions[parquet]'") from None
    types = {
        "time": pa.timestamp("ms", tz="UTC"), "day": pa.date32(), "flag": pa.bool_(), "integer": pa.int64(),
        "real": pa.float64(), "blob": pa.binary(),
    }  # fmt: skip
    schema = pa.schema([(column.name, types.get(column.kind, pa.string())) for column in table.columns])
    count = 0
    with pq.ParquetWriter(target, schema, compression="zstd") as writer:
        for group in _groups(table):
            count += len(group[0]) if group else 0
            arrays = [pa.array(values, field.type) for values, field in zip(group, schema, strict=True)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return count


def _groups(table: Table) -> Iterator[list[list[Any]]]:
    """The rows as columns, some at a time."""
    readers = [_READ.get(column.kind, _same) for column in table.columns]
    group: list[list[Any]] = [[] for _ in readers]
    size = 0
    for row in table.rows:
        for values, read, value in zip(group, readers, row, strict=True):
            values.append(read(value))
            if isinstance(value, (str, bytes)):
                size += len(value)
        if len(group[0]) >= ROWS or size >= CHARACTERS:
            yield group
            group, size = [[] for _ in readers], 0
    if group[0]:
        yield group


def _same(value: Any) -> Any:  # noqa: ANN401 - a column value
    return value


def _moment(text: str | None) -> datetime | None:
    ms = times.parse(text)
    return None if ms is None else _EPOCH + timedelta(milliseconds=ms)


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


_READ: dict[ColumnKind, Callable[[Any], Any]] = {"time": _moment, "day": _day, "flag": _flag}
