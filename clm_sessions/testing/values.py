"""Whether values are what their annotations say. Frozen dataclasses do not look at that by themselves."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from clm_sessions.model import Message

ORIGINS = frozenset(
    (
        "prompt", "command", "bash_command", "command_output", "reply", "synthetic", "tool_result", "interruption",
        "notification", "teammate", "injected", "compact_summary", "context", "system",
    )
)  # fmt: skip
"""The words ``Message.origin`` may be."""


def message_fault(message: Message) -> str | None:
    """What is wrong with a message by itself, or None."""
    wrong = fault(message)
    if wrong is None and message.origin not in ORIGINS:
        wrong = f"Message.origin is {message.origin!r}, which is none of: {', '.join(sorted(ORIGINS))}"
    return wrong


def fault(value: Any) -> str | None:  # noqa: ANN401 - a dataclass of any kind
    """The first field of a dataclass that is not as annotated, or None."""
    for name, hint in _hints(value.__class__).items():
        if not fits(getattr(value, name), hint):
            return f"{type(value).__name__}.{name} is {getattr(value, name)!r:.200}"
    return None


def fits(value: object, hint: Any) -> bool:  # noqa: ANN401 - annotations have no type of their own
    """Whether a value is as annotated. A bool is no int; what is in mappings is not looked at."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin is tuple:
        return isinstance(value, tuple) and all(fits(one, inner[0]) for one in value)
    if origin is not None:
        return isinstance(value, origin)
    if hint in (int, float):
        return type(value) is hint
    return isinstance(value, hint) and not (is_dataclass(hint) and fault(value))


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)
