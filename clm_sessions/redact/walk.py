"""Redact every string of a value as JSON has them: keys too, at any depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def walked(value: Any, text: Callable[[str], str]) -> Any:  # noqa: ANN401 - any JSON value
    """``value`` with each string in it passed through ``text``; other values stay. Depth is bounded by no stack.

    A value below a name that tells of a secret (``{"password": "x"}``) is looked at together with that name.
    """
    holder: list[Any] = [value]
    work: list[tuple[Any, Any, Any]] = [(holder, 0, None)]
    while work:
        place, where, name = work.pop()
        item = place[where]
        if isinstance(item, str):
            place[where] = _told(name, item, text) if isinstance(name, str) else text(item)
        elif isinstance(item, dict):
            copy = {text(key) if isinstance(key, str) else key: inner for key, inner in item.items()}
            place[where] = copy
            work += [(copy, key, key) for key in copy]
        elif isinstance(item, (list, tuple)):
            place[where] = copied = list(item)
            work += [(copied, number, name) for number in range(len(copied))]
    return holder[0]


def _told(name: str, value: str, text: Callable[[str], str]) -> str:
    """A value redacted in the light of its name, given back alone."""
    head = f'{name}: "'
    whole = text(f'{head}{value}"')
    if whole.startswith(head) and whole.endswith('"') and len(whole) > len(head):
        return whole[len(head) : -1]
    return text(value)
