"""Content blocks and tool details of Claude Code as values (spec claude-code 2.4, 3 and 7)."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping
from sys import intern
from typing import Any

from clm_sessions.formats.numbers import count
from clm_sessions.model import Block, Image, Text, Thinking, ToolResult, ToolUse, Unknown, Usage

DETAIL_TEXT = 2_000
"""Longer strings of a toolUseResult repeat the result, or are a file; the raw record has them."""
DETAIL_ITEMS = 100
_DETAIL_DEPTH = 3
REJECTED = "User rejected tool use"

# Parts of a toolUseResult that repeat the call, its result or a file, or that must never be counted (usage); and
# names that mean something of ours in a detail.
_DROPPED = frozenset(
    ("content", "originalFile", "originalFileContents", "stdout", "stderr", "oldString", "newString", "oldTodos",
     "prompt", "usage", "result", "output", "edits", "base64", "rejected", "denied", "teammates", "form")
)  # fmt: skip


class MalformedError(Exception):
    """An entry of the wrong shape; ``str()`` says how. Never leaves the reader."""


def content_blocks(content: Any) -> tuple[Block, ...]:  # noqa: ANN401 - a JSON value
    """The blocks of a message. MalformedError for content that is neither string nor array, or holds null."""
    if isinstance(content, str):
        return (Text(text=content),)
    if not isinstance(content, list):
        raise MalformedError(f"content is neither text nor a list of blocks ({type(content).__name__})")
    return tuple(_block(item) for item in content)


def _block(item: Any) -> Block:  # noqa: ANN401 - a JSON value
    if isinstance(item, dict):
        kind = item.get("type")
        make = _MAKERS.get(kind) if isinstance(kind, str) else None
        return make(item) if make is not None else _unknown(item)
    if isinstance(item, str):
        return Text(text=item)
    if item is None:
        raise MalformedError("a block is null")
    return Unknown(type=type(item).__name__, data=item)


def _unknown(item: Mapping[str, Any]) -> Unknown:
    kind = item.get("type")
    return Unknown(type=kind if isinstance(kind, str) else "untyped", data=item)


def _text(item: Mapping[str, Any]) -> Text:
    text = item.get("text")
    if isinstance(text, str):
        if len(item) == 2:
            return Text(text=text)
        return Text(text=text, extra={k: v for k, v in item.items() if k not in ("type", "text")})
    extra = {k: v for k, v in item.items() if k != "type"}
    return Text(text="", extra=extra or None)


def _thinking(item: Mapping[str, Any]) -> Thinking:
    text = item.get("thinking")
    return Thinking(text=text if isinstance(text, str) else "")


def _tool_use(item: Mapping[str, Any]) -> Block:
    call, name = item.get("id"), item.get("name")
    if not (isinstance(call, str) and call and isinstance(name, str) and name):
        return _unknown(item)
    given = item.get("input")
    return ToolUse(id=call, name=intern(name), input={} if given is None else given)


def _tool_result(item: Mapping[str, Any]) -> Block:
    call = item.get("tool_use_id")
    if not (isinstance(call, str) and call):
        return _unknown(item)
    content = item.get("content")
    if isinstance(content, list):
        content = tuple(_inner_block(part) for part in content)
    elif content is None:
        content = ""
    elif not isinstance(content, str):
        content = (Unknown(type=type(content).__name__, data=content),)
    return ToolResult(tool_use_id=call, content=content, is_error=item.get("is_error") is True)


def _inner_block(item: Any) -> Block:  # noqa: ANN401 - a JSON value
    """A block inside a tool result: text and images; all else stays raw, so that nothing nests."""
    if isinstance(item, str):
        return Text(text=item)
    if isinstance(item, dict):
        if item.get("type") == "text":
            return _text(item)
        return _image(item) if item.get("type") == "image" else _unknown(item)
    return Unknown(type="null" if item is None else type(item).__name__, data=item)


def _image(item: Mapping[str, Any]) -> Block:
    source = item.get("source")
    if not isinstance(source, dict) or source.get("type") != "base64":
        return _unknown(item)
    media_type, text = source.get("media_type"), source.get("data")
    if not (isinstance(media_type, str) and isinstance(text, str)):
        return _unknown(item)
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return _unknown(item)
    extra = {k: v for k, v in item.items() if k not in ("type", "source")}
    return Image(
        media_type=intern(media_type),
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        data=data,
        extra=extra or None,
    )


_MAKERS: dict[str, Callable[[Mapping[str, Any]], Block]] = {
    "text": _text,
    "thinking": _thinking,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "image": _image,
}


def usage(given: Any) -> Usage | None:  # noqa: ANN401 - a JSON value
    """Token counts of an entry; None if it has none."""
    if not isinstance(given, dict):
        return None
    counts = [
        count(given.get(key))
        for key in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    ]
    if not any(n is not None for n in counts):
        return None
    kept = given.get("cache_creation")
    hour = count(kept.get("ephemeral_1h_input_tokens")) if isinstance(kept, dict) else None
    return Usage(
        input=counts[0], output=counts[1], cache_read=counts[2], cache_creation=counts[3], cache_creation_1h=hour
    )


def detail(given: Any) -> Any:  # noqa: ANN401 - JSON values
    """The small facts of a toolUseResult. ``{"rejected": true}`` where a person refused the tool."""
    if given == REJECTED:
        return {"rejected": True}
    if isinstance(given, list):
        return None
    return _kept(given, _DETAIL_DEPTH) or None


def _kept(value: Any, depth: int) -> Any:  # noqa: ANN401 - JSON values
    """The value without what is large, repeats the result or lies too deep; None where nothing is left."""
    if isinstance(value, str):
        return value if len(value) <= DETAIL_TEXT else None
    if isinstance(value, dict):
        if not depth:
            return None
        inner = {k: v if k == "structuredPatch" else _kept(v, depth - 1) for k, v in value.items() if k not in _DROPPED}
        return {k: v for k, v in inner.items() if v is not None}
    if isinstance(value, list):
        if not depth or len(value) > DETAIL_ITEMS:
            return None
        return [left for left in (_kept(item, depth - 1) for item in value) if left is not None]
    return value
