"""Redact every string of a value as JSON has them: keys too, at any depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_NAMES = {"name", "key"}
_VALUES = {"value", "default", "current", "raw", "plain", "data"}
"""Keys of a pair: ``{"name": "DB_PASSWORD", "value": "x"}``, ``{"password": {"value": "x"}}``."""
_LONGEST_NAME = 100


def walked(value: Any, text: Callable[[str], str]) -> Any:  # noqa: ANN401 - any JSON value
    """``value`` with each string in it passed through ``text``; other values stay. Depth is bounded by no stack.

    A value that has a name (``{"password": "x"}``, ``["--password", "x"]``) is looked at together with that name.
    """
    holder: list[Any] = [value]
    work: list[tuple[Any, Any, Any]] = [(holder, 0, None)]
    while work:
        place, where, name = work.pop()
        item = place[where]
        if isinstance(item, str):
            named = isinstance(name, str) and len(name) <= _LONGEST_NAME
            place[where] = _told(name, item, text) if named else text(item)
        elif isinstance(item, dict):
            copy = {text(key) if isinstance(key, str) else key: inner for key, inner in item.items()}
            place[where] = copy
            pair = next((inner for key, inner in copy.items() if _low(key) in _NAMES and isinstance(inner, str)), name)
            work += [(copy, key, pair if pair and _low(key) in _VALUES else key) for key in copy]
        elif isinstance(item, (list, tuple)):
            place[where] = copied = list(item)
            work += [(copied, number, _before(item, number) or name) for number in range(len(copied))]
    return holder[0]


def _low(key: object) -> str:
    return key.lower() if isinstance(key, str) else ""


def _before(items: list[Any] | tuple[Any, ...], number: int) -> str | None:
    """The name that stands before an item: an option of a command, or the first of a pair such as a header."""
    before = items[number - 1] if number else None
    return before if isinstance(before, str) and (before.startswith("-") or len(items) == 2) else None


def _told(name: str, value: str, text: Callable[[str], str]) -> str:
    """A value redacted in the light of its name, given back alone."""
    quote = next((mark for mark in "\"'`" if mark not in value), '"')
    head = f"{name}: {quote}"
    whole = text(f"{head}{value}{quote}")
    if whole.startswith(head) and whole.endswith(quote) and len(whole) > len(head):
        return whole[len(head) : -1]
    return text(value)
