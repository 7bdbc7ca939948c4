"""Rows as a frame of pandas, polars or Arrow, with the types their columns have.

=========  ==========================  =====================  =======================
kind       pandas                      polars                 Arrow
=========  ==========================  =====================  =======================
time       datetime64[ms, UTC]         Datetime("ms", "UTC")  timestamp("ms", "UTC")
day        datetime64[s]               Date                   date32
flag       boolean                     Boolean                bool
integer    Int64                       Int64                  int64
real       Float64                     Float64                float64
category   category                    Categorical            dictionary of string
text       string                      String                 string
json       object: the value           String: the JSON       string: the JSON
blob       object: bytes               Binary                 binary
mixed      object                      String                 string
=========  ==========================  =====================  =======================

What was not recorded is missing, never 0. ``mixed`` is what only a query of one's own can give.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from typing import Any, NoReturn

from clm_sessions import times
from clm_sessions.errors import UsageError
from clm_sessions.frames import parse_args
from jupyter_clm.extras import need

Values = Sequence[Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def make(engine: str, kinds: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> Any:  # noqa: ANN401 - of any of them
    """A frame of the columns ``kinds`` (what each holds, by name) from rows as a database has them.

    UsageError for an engine there is not, or names the extra that brings it.
    """
    if engine not in _ENGINES:
        raise UsageError(f"no engine {engine!r}; there are: {', '.join(_ENGINES)}")
    module, extra, build = _ENGINES[engine]
    library = need(module, extra, f"a frame of {engine}")
    values = list(zip(*rows, strict=True)) or [()] * len(kinds)
    return build(library, {name: (what, column) for (name, what), column in zip(kinds.items(), values, strict=True)})


def reader(kind: str) -> Callable[[Any], Any]:
    """What makes a plain Python value of one in the database: moments, booleans, JSON values; the rest as it is."""
    return _READ.get(kind, _same)


def _same(value: Any) -> Any:  # noqa: ANN401 - a column value
    return value


def _value(text: str | None) -> Any:  # noqa: ANN401 - a JSON value
    """What a JSON column holds; arguments of a tool call that were logged as text may be no JSON."""
    if text is None:
        return None
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return parse_args(text)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _flag(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _moment(text: str | None) -> datetime | None:
    ms = times.parse(text)
    return None if ms is None else _EPOCH + timedelta(milliseconds=ms)


def _day(text: str | None) -> date | None:
    return None if text is None else date.fromisoformat(text)


def _text(value: Any) -> str | None:  # noqa: ANN401 - a column value
    return None if value is None else str(value)


_READ: dict[str, Callable[[Any], Any]] = {"json": _value, "flag": _flag, "time": _moment}
_TYPED: dict[str, Callable[[Any], Any]] = {"time": times.parse, "day": _day, "flag": _flag, "mixed": _text}


def _pandas(pandas: Any, columns: Mapping[str, tuple[str, Values]]) -> Any:  # noqa: ANN401 - pandas and its frame
    return pandas.DataFrame({name: _series(pandas, what, values) for name, (what, values) in columns.items()})


def _series(pandas: Any, what: str, values: Values) -> Any:  # noqa: ANN401 - pandas and one of its arrays
    dtypes = {"integer": "Int64", "real": "Float64", "flag": "boolean", "text": "string"}
    if what in dtypes:
        return pandas.array(list(map(reader(what), values)), dtype=dtypes[what])
    if what == "category":
        return pandas.Categorical(values, categories=sorted({v for v in values if v is not None}))
    if what == "day":
        return pandas.Series(values, dtype="datetime64[s]")
    if what == "time":
        naive = [None if at is None else at.replace(tzinfo=None) for at in map(_moment, values)]
        return pandas.Series(naive, dtype="datetime64[ms]").dt.tz_localize("UTC")
    return pandas.Series(list(map(reader(what), values)), dtype=object)


def _polars(polars: Any, columns: Mapping[str, tuple[str, Values]]) -> Any:  # noqa: ANN401 - polars and its frame
    dtypes = {
        "time": polars.Datetime("ms", "UTC"), "day": polars.Date, "flag": polars.Boolean, "integer": polars.Int64,
        "real": polars.Float64, "category": polars.Categorical, "blob": polars.Binary,
    }  # fmt: skip
    made = [
        polars.Series(name, _typed(what, values), dtype=polars.Int64 if what == "time" else dtypes.get(what, polars.String))
        for name, (what, values) in columns.items()
    ]  # fmt: skip
    times_ = [name for name, (what, _values) in columns.items() if what == "time"]
    return polars.DataFrame(made).with_columns(polars.col(name).cast(dtypes["time"]) for name in times_)


def _arrow(pyarrow: Any, columns: Mapping[str, tuple[str, Values]]) -> Any:  # noqa: ANN401 - pyarrow and its table
    types = {
        "time": pyarrow.timestamp("ms", tz="UTC"), "day": pyarrow.date32(), "flag": pyarrow.bool_(),
        "integer": pyarrow.int64(), "real": pyarrow.float64(), "blob": pyarrow.binary(),
    }  # fmt: skip
    made = {}
    for name, (what, values) in columns.items():
        array = pyarrow.array(_typed(what, values), types.get(what, pyarrow.string()))
        made[name] = array.dictionary_encode() if what == "category" else array
    return pyarrow.table(made)


def _typed(what: str, values: Values) -> Values:
    return list(map(_TYPED[what], values)) if what in _TYPED else values


_ENGINES: dict[str, tuple[str, str, Callable[[Any, Mapping[str, tuple[str, Values]]], Any]]] = {
    "pandas": ("pandas", "pandas", _pandas),
    "polars": ("polars", "polars", _polars),
    "arrow": ("pyarrow", "parquet", _arrow),
}
