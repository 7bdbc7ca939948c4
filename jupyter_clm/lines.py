"""Values of the core in one line each: what they are, and how they begin. Their own ``repr`` holds all of their text."""

from __future__ import annotations

import reprlib

from clm_sessions import times
from clm_sessions.model import Chunk, ChunkContent, Fact, Message, Request, ToolCall, Usage
from clm_sessions.render.escape import visible
from clm_sessions.store.hits import Hit
from clm_sessions.store.snippets import MARK_END, MARK_START
from clm_sessions.view.words import count, duration, one_line, plural

_LONG = 80


def call_line(call: ToolCall) -> str:
    """A tool call: its name, how it ended, how long it took, what was asked."""
    took = "" if call.duration_ms is None else f", {duration(call.duration_ms)}"
    about = "" if call.input in ({}, None, "") else f" {_text(reprlib.repr(call.input))}"
    return f"<ToolCall {_text(call.name or 'unnamed', 40)}: {call.status}{took}{about}>"


def chunk_line(chunk: Chunk) -> str:
    """A chunk: its kind, what was spent, how it begins."""
    facts: list[str] = [chunk.kind]
    facts += [duration(chunk.duration_ms)] if chunk.duration_ms is not None else []
    facts += [plural(chunk.tool_calls, "tool call")] if chunk.tool_calls else []
    facts += [f"{count(chunk.usage.output)} tokens out"] if chunk.usage.output is not None else []
    facts += [chunk.status] if chunk.status and chunk.status != "complete" else []
    return f"<Chunk {chunk.seq}: {', '.join(facts)}: {_text(chunk.preview)}>"


def content_line(content: ChunkContent) -> str:
    """A chunk with all that stands in it."""
    held = f"{plural(len(content.messages), 'message')}, {plural(len(content.tool_calls), 'tool call')}"
    chunk = content.chunk
    return f"<ChunkContent {chunk.seq}: {chunk.kind}, {held}: {_text(chunk.preview)}>"


def message_line(message: Message) -> str:
    """A message: what it is, when it was said, how its text begins, or what else it holds."""
    facts = [message.origin, *_known(message.model), *_when(message.at)]
    kinds = dict.fromkeys(type(block).__name__ for block in message.blocks)
    text = message.text or message.joined
    return f"<Message: {', '.join(facts)}: {_text(text) if text.strip() else ' and '.join(kinds) or 'empty'}>"


def request_line(request: Request) -> str:
    """A reply of a model: its tokens, and when it came."""
    facts = [*_known(request.model or "model not recorded"), *_tokens(request.usage), *_when(request.at)]
    facts += ["inherited"] if request.inherited else []
    return f"<Request: {', '.join(facts)}>"


def hit_line(hit: Hit) -> str:
    """A place that a search found, what was looked for between ``«`` and ``»``."""
    place = f"{_text(hit.session_id[:8], 8)}, chunk {'unknown' if hit.chunk_seq is None else hit.chunk_seq}"
    words = hit.snippet.replace(MARK_START, "«").replace(MARK_END, "»")
    return f"<Hit in {place}: {_text(hit.name, 40)} {hit.part}{''.join(f', {each}' for each in _when(hit.at))}: {_text(words, 120)}>"


def fact_line(fact: Fact) -> str:
    """What a log says of its session."""
    return f"<Fact {_text(fact.name, 40)}: {_text(reprlib.repr(fact.value))}>"


def _text(text: str, longest: int = _LONG) -> str:
    return visible(one_line(text, longest))


def _known(text: str | None) -> list[str]:
    return [_text(text, 40)] if text else []


def _when(ms: int | None) -> list[str]:
    at = times.iso(ms)
    return [at[:19].replace("T", " ")] if at else []


def _tokens(usage: Usage | None) -> list[str]:
    if usage is None:
        return []
    said = (
        ("in", usage.input),
        ("out", usage.output),
        ("cache read", usage.cache_read),
        ("cache written", usage.cache_creation),
    )
    return [f"{count(number)} tokens {what}" for what, number in said if number is not None]
