"""One log analysed by itself: chunks, calls, replies. What other logs say about it comes later (``agents``)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from clm_sessions.derive import chunks, facts, tools, usage
from clm_sessions.derive.branches import abandoned, rolled_back
from clm_sessions.derive.words import preview
from clm_sessions.formats.base import Dialect
from clm_sessions.model import Chunk, Context, Message, Request, Stream, Text, ToolCall, ToolResult, ToolUse


@dataclass(frozen=True, kw_only=True)
class Log:
    """What a stream alone says. ``agent_id`` None: the main log. Chunks do not know their subagents yet."""

    agent_id: str | None
    stream: Stream
    said: facts.Said
    chunks: Sequence[Chunk]
    tool_calls: Sequence[ToolCall]
    requests: Sequence[Request]
    context: Context
    opening: Message | None
    """The message of the user role that says what was asked: the first one that can (Dialect.opens)."""

    @property
    def messages(self) -> Sequence[Message]:
        """The messages, by seq."""
        return self.stream.messages

    @cached_property
    def span(self) -> tuple[int | None, int | None]:
        """Earliest and latest time of its messages."""
        return chunks.span(self.messages)


def analyse(agent_id: str | None, stream: Stream, dialect: Dialect) -> Log:
    """Work out one log. Linear in its messages and blocks."""
    messages = stream.messages
    groups = chunks.groups(messages)
    chunk_of = {seq: number for number, group in enumerate(groups) for seq in group.messages}
    calls = tools.link(messages, dialect, chunk_of)
    fill = usage.Fill.of(messages)
    return Log(
        agent_id=agent_id,
        stream=stream,
        said=facts.Said(stream.facts),
        chunks=list(_chunks(stream, groups, calls, fill, dialect)),
        tool_calls=calls,
        requests=usage.requests(messages, chunk_of),
        context=usage.context(fill),
        opening=next((m for m in messages if m.role == "user" and dialect.opens(m.origin)), None),
    )


def _chunks(
    stream: Stream,
    groups: Sequence[chunks.Group],
    calls: Sequence[ToolCall],
    fill: usage.Fill,
    dialect: Dialect,
) -> Iterator[Chunk]:
    messages = stream.messages
    sidechain = chunks.Sidechain(messages)
    made: dict[int | None, list[ToolCall]] = {}
    for call in calls:
        made.setdefault(call.chunk, []).append(call)
    windows = _Windows(fill)
    dead = abandoned(messages) | rolled_back(messages, stream.facts)
    for seq, group in enumerate(groups):
        mine = made.get(seq, ())
        errors = sum(1 for call in mine if call.status == "error")
        before, after = windows.of(group)
        yield Chunk(
            seq=seq,
            kind=group.kind,
            key=chunks.key(group.kind, messages[group.messages[0]]),
            messages=group.messages,
            sidechain=sidechain.within(group),
            started_at=group.started_at,
            ended_at=group.ended_at,
            duration_ms=group.duration_ms,
            span_ms=group.span_ms,
            usage=usage.total((n, messages[n]) for n in group.messages),
            status=_status(messages, group, errors, dead),
            preview=preview(_gist(messages, group, dialect)),
            tool_calls=len(mine),
            tool_errors=errors,
            context_before=before,
            context_after=after,
        )


class _Windows:
    """Context size before and after each chunk, asked for in order."""

    def __init__(self, fill: usage.Fill) -> None:
        self._values = fill.values
        self._around = fill.around()
        self._at = 0

    def of(self, group: chunks.Group) -> tuple[int | None, int | None]:
        """For AI chunks: at the last reply before it, at the last one in it; for compactions: around it."""
        first, last = group.messages[0], group.messages[-1]
        if group.kind == "compact":
            return self._around.get(first, (None, None))
        if group.kind != "ai":
            return None, None
        while self._at < len(self._values) and self._values[self._at][0] < first:
            self._at += 1
        before = self._values[self._at - 1][1] if self._at else None
        after = None
        while self._at < len(self._values) and self._values[self._at][0] <= last:
            after = self._values[self._at][1]
            self._at += 1
        return before, after


def _status(messages: Sequence[Message], group: chunks.Group, errors: int, dead: Collection[int]) -> str | None:
    if group.kind != "ai":
        return "abandoned" if group.messages[0] in dead else None
    if any(is_interruption(messages[seq]) for seq in group.messages):
        return "interrupted"
    return "error" if errors else "complete"


def is_interruption(message: Message) -> bool:
    """Whether a message says that a person stopped the agent: a marker, or a rejected tool."""
    return message.origin == "interruption" or tools.is_rejected(message)


def _interruptions(messages: Sequence[Message]) -> int:
    """How often a person stopped the agent: a rejected tool and the marker that follows it are one time."""
    stops = (is_interruption(message) for message in messages if message.kind != "hard_noise")
    return sum(1 for stop, _ in groupby(stops) if stop)


def _gist(messages: Sequence[Message], group: chunks.Group, dialect: Dialect) -> str:
    """What a person should read first of a chunk. For AI chunks: its last output, by place in the file."""
    if group.kind != "ai":
        return dialect.gist(messages[group.messages[0]])
    result = call = ""
    planned = False
    for seq in reversed(group.messages):
        message = messages[seq]
        if message.role != "assistant" and message.origin == "interruption":
            return message.joined
        for block in reversed(message.blocks):
            if isinstance(block, Text) and block.text and message.role == "assistant":
                return block.text
            if isinstance(block, ToolResult) and not result:
                result = tools.result_text(block.content)
            elif isinstance(block, ToolUse):
                plan = None if result or planned else dialect.plan(block)
                if plan:
                    return plan
                planned = planned or plan is not None
                call = call or block.name or ""
    return result or call or messages[group.messages[0]].display


def counts(log: Log) -> dict[str, Any]:
    """The counts of ``SessionInfo`` that one log answers."""
    typed = [c for c in log.chunks if c.kind == "user" and log.messages[c.messages[0]].origin == "prompt"]
    return {
        "messages": len(log.messages),
        "chunks": len(log.chunks),
        "prompts": len(typed) if log.agent_id is None else 0,
        "tool_calls": len(log.tool_calls),
        "tool_errors": sum(1 for call in log.tool_calls if call.status == "error"),
        "unanswered": sum(1 for call in log.tool_calls if call.result_message is None and call.status != "ok"),
        "interruptions": _interruptions(log.messages),
        "compactions": sum(1 for chunk in log.chunks if chunk.kind == "compact"),
        "images": facts.image_count(log.messages),
        "requests": len(log.requests),
    }
