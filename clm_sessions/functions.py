"""SQL functions for queries over our databases. None of them raises: what makes no sense gives NULL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any

from clm_sessions.model import Usage
from clm_sessions.prices import Book
from clm_sessions.render.ansi import plain
from clm_sessions.view.words import duration, one_line

_PATH_KEYS = ("file_path", "notebook_path", "path")
_LONGEST = 10_000


def register(connection: sqlite3.Connection, book: Callable[[], Book]) -> None:
    """Add ``clm_price``, ``clm_preview``, ``clm_path``, ``clm_arg`` and ``clm_duration``. ``book``: asked for at each price."""

    def price(*given: object) -> float | None:
        if not 4 <= len(given) <= 7:
            return None
        model, day, *tokens = given
        counts = [whole(number) for number in tokens]
        sent, out, read, written, hour = counts + [None] * (5 - len(counts))
        if not isinstance(model, str) or not isinstance(day, str | None):
            return None
        usage = Usage(input=sent, output=out, cache_read=read, cache_creation=written, cache_creation_1h=hour)
        return book().cost(model, day, usage)

    functions: tuple[tuple[str, int, Callable[..., Any]], ...] = (
        ("clm_price", -1, price),
        ("clm_preview", 1, preview),
        ("clm_preview", 2, preview),
        ("clm_path", 1, path),
        ("clm_arg", 2, argument),
        ("clm_duration", 1, length),
    )
    for name, arguments, function in functions:
        connection.create_function(name, arguments, function)


def preview(text: object, size: object = 160) -> str | None:
    """The beginning of a text on one line, without what acts on a terminal."""
    limit = whole(size)
    if not isinstance(text, str) or limit is None or not 0 < limit <= _LONGEST:
        return None
    return one_line(plain(text[: 4 * limit + 4]), limit)


def path(given: object) -> str | None:
    """The file that the input of a tool names."""
    values = _object(given)
    return next((v for key in _PATH_KEYS if isinstance(v := values.get(key), str)), None)


def argument(given: object, key: object) -> str | int | float | None:
    """One argument in the input of a tool: a text or a number as it is, anything else as JSON."""
    value = _object(given).get(key) if isinstance(key, str) else None
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1 << 62:
        return value
    return json.dumps(value, ensure_ascii=False)


def length(ms: object) -> str | None:
    """Milliseconds as people say them."""
    number = whole(ms)
    return None if number is None or not 0 <= number < 1 << 53 else duration(number)


def _object(given: object) -> dict[str, Any]:
    if not isinstance(given, str):
        return {}
    try:
        value = json.loads(given)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def whole(value: object) -> int | None:
    """A whole number, also one that came as text, as the parameters of a page do."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None
