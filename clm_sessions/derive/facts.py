"""What a log says about its session as a whole: title, activity, project, counts (spec claude-code 11)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from clm_sessions.derive.tools import is_rejected
from clm_sessions.derive.words import headline
from clm_sessions.formats.base import Dialect
from clm_sessions.model import Chunk, Fact, Image, Message, Text, Thinking, ToolResult, ToolUse, Unknown
from clm_sessions.text import trim, visible

TITLE = 200


class Said:
    """The facts of a log by name."""

    def __init__(self, facts: Sequence[Fact]) -> None:
        self._by_name: dict[str, list[Any]] = {}
        for fact in facts:
            self._by_name.setdefault(fact.name, []).append(fact.value)

    def all(self, name: str) -> list[Any]:
        """Every value said, in order."""
        return self._by_name.get(name, [])

    def first(self, name: str) -> str | None:
        """The first text said under that name."""
        return next((v for v in self.all(name) if isinstance(v, str) and v), None)

    def last(self, name: str) -> str | None:
        """The last text said under that name."""
        return next((v for v in reversed(self.all(name)) if isinstance(v, str) and v), None)

    def number(self, name: str) -> int | None:
        """The first whole number said under that name."""
        return next((v for v in self.all(name) if isinstance(v, int) and not isinstance(v, bool)), None)


def given_title(said: Said, uuids: Collection[str | None], side: Sequence[Fact] = ()) -> str | None:
    """A title the log gives: by a person, by the agent, or the summary of a message that stands in this log.

    After these comes the name that an index gives the session (``side``).
    """
    named = Said(side).last("title.index")
    for text in (said.last("title.custom"), said.last("title.ai"), _summary(said, uuids), named):
        title = headline(text, TITLE) if text else ""
        if title:
            return title
    return None


def _summary(said: Said, uuids: Collection[str | None]) -> str | None:
    for value in reversed(said.all("title.summary")):
        leaf = value.get("leaf") if isinstance(value, Mapping) else None
        if isinstance(leaf, str) and visible(leaf) in uuids:
            summary = value.get("summary")
            return summary if isinstance(summary, str) else None
    return None


def text_title(chunks: Sequence[Chunk], messages: Sequence[Message], dialect: Dialect) -> str | None:
    """The first thing a person asked for; else the first command."""
    command = None
    for chunk in chunks:
        if chunk.kind != "user":
            continue
        message = messages[chunk.messages[0]]
        title = headline(dialect.gist(message), TITLE)
        if title and message.origin not in ("command", "bash_command"):
            return title
        command = command or title
    return command or None


def ongoing(messages: Sequence[Message], dialect: Dialect) -> bool:
    """Whether the last thing that happened was work rather than an ending."""
    working = False
    ended: set[str | None] = set()
    for message in messages:
        for is_work in (
            _assistant(message, dialect, ended) if message.role == "assistant" else _other(message, dialect, ended)
        ):
            working = is_work
    return working


def _assistant(message: Message, dialect: Dialect, ended: set[str | None]) -> Iterator[bool]:
    for block in message.blocks:
        if isinstance(block, Thinking):
            if block.text:
                yield True
        elif isinstance(block, Text):
            if trim(block.text):
                yield False
        elif isinstance(block, ToolUse):
            if dialect.ends_session(block):
                ended.add(block.id)
            yield not dialect.ends_work(block)
        elif isinstance(block, Unknown) and block.type == "tool_use":
            yield True


def _other(message: Message, dialect: Dialect, ended: Collection[str | None]) -> Iterator[bool]:
    rejected = is_rejected(message)
    for block in message.blocks:
        if isinstance(block, ToolResult):
            yield not (rejected or block.tool_use_id in ended)
        elif isinstance(block, Text):
            if message.origin == "interruption" or dialect.interrupts(block.text):
                yield False
        elif isinstance(block, Unknown) and block.type == "tool_result":
            yield not rejected


def project_name(cwd: str | None, folder: str | None, dialect: Dialect) -> str | None:
    """The last part of a working directory after a slash or backslash; else what the folder of the log suggests."""
    if cwd is None:
        return dialect.folder_name(folder) if folder else None
    return cwd.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or cwd


def image_count(messages: Sequence[Message]) -> int:
    """Images in messages and in tool results, also those that could not be read."""
    return sum(message_images(message) for message in messages if message.blocks)


def message_images(message: Message) -> int:
    """Images of one message."""
    count = 0
    for block in message.blocks:
        parts = block.content if isinstance(block, ToolResult) and isinstance(block.content, tuple) else (block,)
        count += sum(
            1 for part in parts if isinstance(part, Image) or (isinstance(part, Unknown) and part.type == "image")
        )
    return count
