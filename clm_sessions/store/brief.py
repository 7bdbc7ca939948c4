"""What a message or a tool call is about, in a few words: made for rows, so it looks at the beginning of texts only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clm_sessions.model import Image, Message, Text, ToolCall, ToolResult, ToolUse
from clm_sessions.store.touched import MARKS, PATHS, below
from clm_sessions.text import visible

LIMIT = 100
"""Characters of a preview."""
_LOOK = 160
_TELLING = (
    *PATHS, "command", "cmd", "description", "query", "url", "pattern", "skill", "name",
    "summary", "title", "subject", "message", "prompt",
)  # fmt: skip


def line(text: str) -> str:
    """The beginning of a text on one line, cut with an ellipsis at ``LIMIT`` characters."""
    words = " ".join(text[:_LOOK].split())
    if len(words) <= LIMIT and len(text) <= _LOOK:
        return visible(words)
    return visible(words[: LIMIT - 1].rstrip()) + "…"


def subject(call: ToolCall | ToolUse, folder: str | None = None) -> str | None:
    """What a tool was asked to work on: the file as seen from ``folder``, the command, the question.

    None if the arguments do not say.
    """
    given = call.input
    if isinstance(given, dict):
        for name in _TELLING:
            told = given.get(name)
            if isinstance(told, str) and told:
                return line(below(told, folder) if name in PATHS else told)
            if isinstance(told, list) and told:
                return line(" ".join(part for part in told[:LIMIT] if isinstance(part, str))) or None
        given = next((value for value in given.values() if isinstance(value, str) and value), None)
    if not isinstance(given, str):
        return None
    start = given[:_LOOK]
    patched = next((row[len(mark) :] for row in start.split("\n") for mark in MARKS if row.startswith(mark)), None)
    return line(given if patched is None else patched) or None


def preview(message: Message, text: str | None, thinking: str | None, folder: str | None = None) -> str | None:
    """How a message begins: what a person should read of it, else its tools and results, else its thinking.

    ``text``, ``thinking``: its blocks of these kinds, joined. None for a message that holds nothing.
    """
    found = message.text or text
    return (line(found) if found else "") or line(" · ".join(_parts(message.blocks, folder)) or thinking or "") or None


def _parts(blocks: Iterable[Any], folder: str | None) -> list[str]:
    """A few words on each of the first blocks that are neither text nor thinking."""
    found: list[str] = []
    for block in blocks:
        if isinstance(block, ToolUse):
            found.append(f"{block.name or 'tool'} {subject(block, folder) or ''}".strip())
        elif isinstance(block, ToolResult):
            found.append(_result(block.content))
        elif isinstance(block, Image):
            found.append("image")
        if len(found) > 3:
            break
    return [part for part in found if part]


def _result(content: Any) -> str:  # noqa: ANN401 - text or blocks
    if isinstance(content, str):
        return content[:_LOOK]
    return next((part.text[:_LOOK] for part in content if isinstance(part, Text) and part.text.strip()), "image")
