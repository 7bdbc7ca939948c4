"""Where the long texts of a large log wait until they are written: in a file without a name, not in memory.

What is put there leaves a value of the same class behind that fetches it each time it is asked for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from clm_sessions.errors import DatabaseError
from clm_sessions.model import Block, Image, Message, Text, Thinking, ToolCall, ToolResult

LONG = 1024
"""Characters from which a text is worth a place in the file."""


class _Ref(NamedTuple):
    """A place in the file. ``text``: whether text stands there, or bytes."""

    spool: Spool
    at: int
    size: int
    text: bool


class Spool:
    """The file. It is made in ``folder``, is nobody else's to read, and is gone when it is closed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._room():
            self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it lives as long as this object
        self._end = 0

    def close(self) -> None:
        """Drop everything. What cannot be written any more is not needed."""
        with suppress(OSError):
            self._file.close()

    def keep(self, message: Message) -> Message:
        """The message with its long texts and its images put into the file. DatabaseError if there is no room."""
        with self._room():
            blocks = tuple(map(self._block, message.blocks))
        return message if all(map(_is, blocks, message.blocks)) else replace(message, blocks=blocks)

    def fetch(self, ref: _Ref) -> str | bytes:
        """What stands at a place."""
        with self._room():
            self._file.seek(ref.at)
            data = self._file.read(ref.size)
        return data.decode("utf-8", "surrogatepass") if ref.text else data

    def _block(self, block: Block) -> Block:
        if isinstance(block, Text):
            return _SpooledText(text=self._put(block.text), extra=block.extra) if len(block.text) >= LONG else block
        if isinstance(block, Thinking):
            return _SpooledThinking(text=self._put(block.text)) if len(block.text) >= LONG else block
        if isinstance(block, Image):
            return block if block.data is None else self._image(block, block.data)
        return self._result(block) if isinstance(block, ToolResult) else block

    def _image(self, image: Image, data: bytes) -> Image:
        return _SpooledImage(
            media_type=image.media_type,
            sha256=image.sha256,
            size=image.size,
            data=self._put(data),
            extra=image.extra,
        )

    def _result(self, result: ToolResult) -> ToolResult:
        content: Any = result.content
        if not isinstance(content, str):
            return replace(result, content=tuple(map(self._block, content)))
        if len(content) < LONG:
            return result
        return _SpooledResult(
            tool_use_id=result.tool_use_id, content=self._put(content), is_error=result.is_error, name=result.name
        )

    def _put(self, value: str | bytes) -> Any:  # noqa: ANN401 - it stands where the value stood
        data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        self._file.seek(self._end)
        self._file.write(data)
        ref = _Ref(self, self._end, len(data), isinstance(value, str))
        self._end += len(data)
        return ref

    @contextmanager
    def _room(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            told = f"{self._folder}: cannot keep texts here for the time being: {error.strerror or error}"
            raise DatabaseError(f"{told}; free some space on its disk and run it again") from error


def _is(one: object, other: object) -> bool:
    return one is other


def _fetched(owner: type, name: str) -> Any:  # noqa: ANN401 - a descriptor
    """The attribute ``name`` of a subclass of ``owner``: what it holds, or what stands at the place it holds."""
    slot = owner.__dict__[name]

    def get(self: object) -> Any:  # noqa: ANN401 - what the slot is declared to hold
        held = slot.__get__(self)
        return held.spool.fetch(held) if isinstance(held, _Ref) else held

    return property(get, slot.__set__)


class _SpooledText(Text):
    __slots__ = ()
    text = _fetched(Text, "text")


class _SpooledThinking(Thinking):
    __slots__ = ()
    text = _fetched(Thinking, "text")


class _SpooledImage(Image):
    __slots__ = ()
    data = _fetched(Image, "data")


class _SpooledResult(ToolResult):
    __slots__ = ()
    content = _fetched(ToolResult, "content")

    @property
    def held(self) -> Any:  # noqa: ANN401 - a place, or the content itself
        return ToolResult.__dict__["content"].__get__(self)

    def answer(self, **call: Any) -> ToolCall:  # noqa: ANN401 - the fields of a call
        return _SpooledCall(result=self.held, is_error=self.is_error, **call)


class _SpooledCall(ToolCall):
    __slots__ = ()
    result = _fetched(ToolCall, "result")

    @property
    def held(self) -> Any:  # noqa: ANN401 - a place, or the result itself
        return ToolCall.__dict__["result"].__get__(self)

    def linked(self, subagent_id: str) -> ToolCall:
        return replace(self, subagent_id=subagent_id, result=self.held)
