"""Blocks to columns and back, without storing a text twice.

The text blocks of a message stand joined in ``messages.text``, its thinking in ``messages.thinking``; a tool
call and its first result stand in ``tool_calls``. ``layout`` is the JSON list that puts them back in order:

    ["t", n]  ["t", n, extra]        the next n characters of text
    ["k", n]                         the next n characters of thinking
    ["u", seq]                       the call stored as tool call ``seq``
    ["U", id, name, input, args]     a call that is stored nowhere else
    ["r", seq, is_error, name]       the result stored with tool call ``seq``
    ["R", id, is_error, name, n]     a result of its own, n characters of text (or its layout, a list)
    ["i", sha256, media_type, size, extra]   an image in ``attachments``
    ["x", type, data]                a block of a kind nobody told us about

It is NULL for the two plain cases: one text block (text is not NULL) and no block at all (text is NULL).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clm_sessions.model import Block, Image, Text, Thinking, ToolCall, ToolResult, ToolUse, Unknown
from clm_sessions.text import visible

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dumps(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Compact JSON text. A value nested too deep to write again is named as such: only the raw archive has it."""
    try:
        return _encode(value)
    except RecursionError:
        return '{"clm":"nested too deep, see the raw record"}'


def clean(text: str | None) -> str | None:
    """Text as a column holds it (see ``visible``); None stays None."""
    return None if text is None else visible(text)


class Packer:
    """Packs the blocks of one message. ``calls``: tool calls by (message seq) and by result message seq."""

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._by_call: dict[int, list[tuple[int, ToolCall]]] = {}
        self._by_result: dict[int, list[tuple[int, ToolCall]]] = {}
        for seq, call in enumerate(calls):
            self._by_call.setdefault(call.message, []).append((seq, call))
            if call.result_message is not None:
                self._by_result.setdefault(call.result_message, []).append((seq, call))

    def pack(self, seq: int, blocks: Sequence[Block]) -> tuple[str | None, str | None, str | None]:
        """(text, thinking, layout) of message ``seq``."""
        if not blocks:
            return None, None, None
        first = blocks[0]
        if len(blocks) == 1 and isinstance(first, Text) and first.extra is None:
            return clean(first.text), None, None
        text: list[str] = []
        thinking: list[str] = []
        uses = list(self._by_call.get(seq, ()))
        results = list(self._by_result.get(seq, ()))
        layout: list[str] = []
        for block in blocks:
            if isinstance(block, Thinking):
                thinking.append(block.text)
                layout.append(f'["k",{len(block.text)}]')
            elif isinstance(block, ToolUse):
                layout.append(_use(block, uses))
            elif isinstance(block, ToolResult):
                layout.append(_result(block, results, text))
            else:
                layout.append(_part(block, text))
        joined = "".join(text) if text else None
        reasoning = "".join(thinking) if thinking else None
        return clean(joined), clean(reasoning), _joined(layout)


def _joined(layout: list[str]) -> str:
    return f"[{','.join(layout)}]"


def _use(block: ToolUse, stored: list[tuple[int, ToolCall]]) -> str:
    for i, (seq, call) in enumerate(stored):
        if call.id == block.id and call.name == block.name and call.input is block.input and call.args == block.args:
            del stored[i]
            return f'["u",{seq}]'
    return _joined(['"U"', *map(dumps, (block.id, block.name, block.input, block.args))])


def _result(block: ToolResult, stored: list[tuple[int, ToolCall]], text: list[str]) -> str:
    name = "null" if block.name is None else dumps(block.name)
    for i, (seq, call) in enumerate(stored):
        if call.id == block.tool_use_id and call.held is block.held:
            del stored[i]
            return f'["r",{seq},{block.is_error:d},{name}]'
    if isinstance(block.content, str):
        text.append(block.content)
        content = str(len(block.content))
    else:
        content = _joined([_part(b, text) for b in block.content])
    return f'["R",{dumps(block.tool_use_id)},{block.is_error:d},{name},{content}]'


def _part(block: Block, text: list[str]) -> str:
    if isinstance(block, Text):
        text.append(block.text)
        if block.extra is None:
            return f'["t",{len(block.text)}]'
        return f'["t",{len(block.text)},{dumps(block.extra)}]'
    if isinstance(block, Image):
        return _joined(['"i"', *map(dumps, (block.sha256, block.media_type, block.size, block.extra))])
    if isinstance(block, Unknown):
        return _joined(['"x"', dumps(block.type), dumps(block.data)])
    return _joined(['"x"', dumps(type(block).__name__), "null"])


def pack_result(content: str | tuple[Block, ...] | None) -> tuple[str | None, str | None]:
    """(result, result_layout) of a tool call: a string as it is; blocks as their texts joined by LF, and a layout."""
    if content is None or isinstance(content, str):
        return clean(content), None
    text: list[str] = []
    layout = [_part(block, text) for block in content]
    return clean("\n".join(text)), _joined(layout)


class _Cursor:
    """Hands out the next n characters of a text, past a separator between them."""

    def __init__(self, text: str | None, separator: int = 0) -> None:
        self._text = text or ""
        self._at = -separator
        self._separator = separator

    def take(self, n: int) -> str:
        start = self._at + self._separator
        self._at = start + n
        return self._text[start : self._at]


LoadImage = Callable[[str], bytes | None]


def unpack_result(result: str | None, layout: str | None, load: LoadImage) -> str | tuple[Block, ...] | None:
    """The content of a tool result from its two columns."""
    if layout is None:
        return result
    cursor = _Cursor(result, separator=1)
    return tuple(_unpart(item, cursor, load) for item in json.loads(layout))


def unpack(
    text: str | None,
    thinking: str | None,
    layout: str | None,
    calls: Mapping[int, ToolCall],
    load: LoadImage,
) -> tuple[Block, ...]:
    """The blocks of a message. ``calls``: tool calls by seq, as far as the message refers to them."""
    if layout is None:
        return () if text is None else (Text(text=text),)
    texts, thoughts = _Cursor(text), _Cursor(thinking)
    blocks: list[Block] = []
    for item in json.loads(layout):
        kind = item[0]
        if kind == "k":
            blocks.append(Thinking(text=thoughts.take(item[1])))
        elif kind == "u":
            call = calls[item[1]]
            blocks.append(ToolUse(id=call.id, name=call.name, input=call.input, args=call.args))
        elif kind == "U":
            blocks.append(ToolUse(id=item[1], name=item[2], input=item[3], args=item[4]))
        elif kind in "rR":
            blocks.append(_unresult(item, calls, texts, load))
        else:
            blocks.append(_unpart(item, texts, load))
    return tuple(blocks)


def _unresult(item: list[Any], calls: Mapping[int, ToolCall], texts: _Cursor, load: LoadImage) -> ToolResult:
    if item[0] == "r":
        call = calls[item[1]]
        content = "" if call.result is None else call.result
        return ToolResult(tool_use_id=call.id, content=content, is_error=bool(item[2]), name=item[3])
    size = item[4]
    content = texts.take(size) if isinstance(size, int) else tuple(_unpart(part, texts, load) for part in size)
    return ToolResult(tool_use_id=item[1], content=content, is_error=bool(item[2]), name=item[3])


def _unpart(item: list[Any], texts: _Cursor, load: LoadImage) -> Block:
    if item[0] == "t":
        return Text(text=texts.take(item[1]), extra=item[2] if len(item) > 2 else None)
    if item[0] == "i":
        return Image(sha256=item[1], media_type=item[2], size=item[3], data=load(item[1]), extra=item[4])
    return Unknown(type=item[1], data=item[2])
