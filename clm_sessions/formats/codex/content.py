"""Parts of messages, calls and results of Codex as blocks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from sys import intern
from typing import Any

from clm_sessions.formats.numbers import count
from clm_sessions.frames import parse_args
from clm_sessions.model import Block, Image, Text, Thinking, ToolUse, Unknown

Item = Mapping[str, Any]

_TEXT = frozenset(("input_text", "output_text", "text", "summary_text", "reasoning_text", "inputText", "outputText"))
_DATA_URL = re.compile(r"data:([\w.+-]{1,40}/[\w.+-]{1,80});base64,")
_HEADER = 1000
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,10})\s*$", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID \d", re.MULTILINE)
_STOPPED = re.compile(r"aborted by user\b|command was interrupted by the user\b", re.IGNORECASE)
# What Codex itself writes where the tool could not do its work, under the name of the tool.
_FAILED = re.compile(
    r"(?:\w{1,40}[_/][\w/]{0,40}|collab)(?: \w{1,20})? failed(?:: | for )"
    r"|failed to parse function arguments|unsupported call: |execution error: |tool call error: "
)


def parts(given: Any) -> tuple[Block, ...]:  # noqa: ANN401 - a JSON value
    """The blocks of a message or a result: a text, or a list of parts. Anything else is kept as it is."""
    if given is None:
        return ()
    if isinstance(given, str):
        return (Text(text=given),)
    if not isinstance(given, list):
        return (Unknown(type=type(given).__name__, data=given),)
    return tuple(_part(part) for part in given)


def _part(part: Any) -> Block:  # noqa: ANN401 - a JSON value
    if isinstance(part, str):
        return Text(text=part)
    if not isinstance(part, dict):
        return Unknown(type="null" if part is None else type(part).__name__, data=part)
    kind = word(part.get("type"))
    if kind in _TEXT and isinstance(part.get("text"), str):
        extra = {k: v for k, v in part.items() if k not in ("type", "text") and v}
        return Text(text=part["text"], extra=extra or None)
    image = data_image(part.get("image_url")) if kind in ("input_image", "inputImage") else None
    if image is not None:
        return image
    return Unknown(type=kind or "untyped", data=part)


def data_image(url: Any) -> Image | None:  # noqa: ANN401 - a JSON value
    """The image a ``data:`` URL holds; None for any other URL."""
    found = _DATA_URL.match(url) if isinstance(url, str) else None
    return encoded_image(found[1], url[found.end() :]) if found is not None else None


def encoded_image(media_type: str, text: Any) -> Image | None:  # noqa: ANN401 - a JSON value
    """An image written in base64; None if it is not."""
    if not isinstance(text, str):
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return Image(media_type=intern(media_type), sha256=hashlib.sha256(data).hexdigest(), size=len(data), data=data)


def thoughts(item: Item) -> tuple[Thinking, ...]:
    """What can be read of a ``reasoning`` item: its summaries, then its text. Nothing where all of it is encrypted."""
    listed = [*_list(item.get("summary")), *_list(item.get("content"))]
    texts = (part.get("text") if isinstance(part, dict) else part for part in listed)
    return tuple(Thinking(text=text) for text in texts if isinstance(text, str) and text.strip())


def call(item: Item) -> ToolUse:
    """A call of any kind. Arguments are JSON in a text, or free text; those of the provider's own tools are an object."""
    kind, call_id = item.get("type"), word(item.get("call_id"))
    if kind in ("function_call", "custom_tool_call"):
        args = item.get("arguments" if kind == "function_call" else "input")
        name = _name(word(item.get("namespace")), word(item.get("name")))
        if not isinstance(args, str):
            return ToolUse(id=call_id, name=name, input=args)
        return ToolUse(id=call_id, name=name, input=parse_args(args), args=args)
    if kind == "image_generation_call":
        given: Any = {k: v for k in ("revised_prompt", "size", "quality") if (v := item.get(k)) is not None}
    else:
        given = next((item[k] for k in ("action", "arguments") if item.get(k) is not None), {})
    return ToolUse(id=call_id or word(item.get("id")), name=str(kind).removesuffix("_call"), input=given)


def _name(space: str | None, name: str | None) -> str | None:
    """``mcp__server__tool``. Of some servers the space holds the first part of the tool's name too."""
    if space is None or name is None:
        return name or space
    return f"{space}{name}" if space.endswith("__") or name.startswith("_") else f"{space}__{name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a call gave back and how it ended. ``detail`` holds ``exit_code``, ``interrupted``, ``running``."""

    content: str | tuple[Block, ...]
    failed: bool
    detail: dict[str, Any]


def outcome(given: Any, told: Mapping[str, Any]) -> Outcome:  # noqa: ANN401 - a JSON value
    """The outcome of a call. ``told``: what an event said of it before (``exit_code``, ``failed``)."""
    success = None
    if isinstance(given, dict) and isinstance(given.get("content"), (str, list)):
        success, given = given.get("success"), given["content"]
    text, said = _unwrapped(given) if isinstance(given, str) else ("", {})
    blocks: str | tuple[Block, ...] = text if isinstance(given, str) else parts(given)
    if isinstance(blocks, tuple):
        text = next((block.text for block in blocks if isinstance(block, Text)), "")
    detail = {k: v for k, v in told.items() if k != "failed"} | said | _signs(text)
    code = detail.get("exit_code")
    failed = success is False or told.get("failed") is True or code not in (None, 0)
    return Outcome(content=blocks, failed=failed or _FAILED.match(text) is not None, detail=detail)


def _unwrapped(text: str) -> tuple[str, dict[str, Any]]:
    """The output in ``{"output": ..., "metadata": {"exit_code": ...}}``; any other text as it is."""
    if not text.startswith("{") or '"metadata"' not in text:
        return text, {}
    value = parse_args(text)
    if not isinstance(value, dict) or value.keys() != {"output", "metadata"} or not isinstance(value["output"], str):
        return text, {}
    metadata = value["metadata"]
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    return value["output"], {"exit_code": code} if count(code) is not None else {}


def _signs(text: str) -> dict[str, Any]:
    """What the lines above the output say of how a command ended."""
    if _STOPPED.match(text):
        return {"interrupted": True}
    head = text[:_HEADER].partition("\nOutput:")[0]
    found = _EXIT.search(head)
    if found is not None and "\nOutput:" in text[: _HEADER + 10]:
        return {"exit_code": int(found[1])}
    return {"running": True} if _RUNNING.search(head) else {}


def status_text(notification: str) -> str | None:
    """What the status of an agent says in words: ``completed`` with its last text, or only how it stands."""
    value = parse_args(notification)
    status = value.get("status") if isinstance(value, dict) else None
    if isinstance(status, dict):
        status = next((f"{how}: {text}" for how, text in status.items() if isinstance(text, str)), None)
    return word(status)


def _list(value: Any) -> Iterator[Any]:  # noqa: ANN401 - a JSON value
    yield from value if isinstance(value, list) else ()


def compact(value: Any) -> str:  # noqa: ANN401 - a JSON value
    """A value as text that differs where the value differs."""
    try:
        return json.dumps(value, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return "?"


def word(value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """A text that is not empty, else None."""
    return value if isinstance(value, str) and value else None
