"""Tool calls and their results (spec claude-code 7, spec clm 6); how each ended (decision 10)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from clm_sessions.formats.base import Dialect
from clm_sessions.model import Block, Message, Status, Text, ToolCall, ToolResult, ToolUse


@dataclass(slots=True)
class Pair:
    """A call, by the seq of its message, and the first result found for it."""

    message: int
    use: ToolUse
    result_message: int | None = None
    result: ToolResult | None = None


def result_text(content: str | tuple[Block, ...]) -> str:
    """A result as text: a string as it is, of blocks the texts joined by line feeds (8)."""
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content if isinstance(block, Text))


def link(messages: Sequence[Message], dialect: Dialect, chunk_of: Mapping[int, int]) -> list[ToolCall]:
    """All calls of a log in order, each with its result. Linear in the number of blocks."""
    pairs = _unique(messages) if dialect.tool_ids == "unique" else _reused(messages)
    stopped = _last_interruptions(messages, chunk_of)
    return [_tool_call(pair, messages, dialect, chunk_of.get(pair.message), stopped) for pair in pairs]


def is_rejected(message: Message) -> bool:
    """Whether a person rejected the tool: the format says so in the detail."""
    return isinstance(message.detail, dict) and message.detail.get("rejected") is True


def _unique(messages: Sequence[Message]) -> list[Pair]:
    """One call per id: the first call and the first result of an id win, wherever in the file they stand."""
    pairs: list[Pair] = []
    by_id: dict[str, Pair] = {}
    for seq, use in _calls(messages):
        if use.id and use.id in by_id:
            continue
        pair = Pair(seq, use)
        pairs.append(pair)
        if use.id:
            by_id[use.id] = pair
    strays: list[tuple[Pair, int, ToolResult]] = []
    for seq, result, source in _results(messages):
        found = by_id.get(result.tool_use_id or "")
        if found is not None:
            _answer(found, seq, result)
        elif source in by_id:
            strays.append((by_id[source], seq, result))
    for pair, seq, result in strays:
        _answer(pair, seq, result)
    return pairs


def _results(messages: Sequence[Message]) -> Iterator[tuple[int, ToolResult, str]]:
    """Each result with the call its entry names as source, if it is the only one there (else empty)."""
    for seq, message in enumerate(messages):
        if message.role != "assistant":
            results = [block for block in message.blocks if isinstance(block, ToolResult)]
            source = message.source_tool_use_id if len(results) == 1 else None
            for result in results:
                yield seq, result, source or ""


def _answer(pair: Pair, seq: int, result: ToolResult) -> None:
    if pair.result is None:
        pair.result_message, pair.result = seq, result


def _calls(messages: Sequence[Message]) -> Iterator[tuple[int, ToolUse]]:
    for seq, message in enumerate(messages):
        if message.role == "assistant":
            for block in message.blocks:
                if isinstance(block, ToolUse):
                    yield seq, block


@dataclass(slots=True)
class _Open:
    """The unanswered calls of one id in one message: in order, and by name."""

    message: int
    order: deque[Pair] = field(default_factory=deque)
    by_name: dict[str | None, deque[Pair]] = field(default_factory=dict)

    def add(self, pair: Pair) -> None:
        self.order.append(pair)
        self.by_name.setdefault(pair.use.name, deque()).append(pair)

    def take(self, name: str | None) -> Pair | None:
        """The first unanswered call of that name, else the first of all; None if all are answered."""
        for waiting in (self.by_name.get(name), self.order):
            while waiting and waiting[0].result is not None:
                waiting.popleft()
            if waiting:
                return waiting[0]
        return None


def _reused(messages: Sequence[Message]) -> list[Pair]:
    """Ids repeat: a result answers the latest earlier message with an unanswered call of its id (spec clm 6)."""
    pairs: list[Pair] = []
    waiting: dict[str, list[_Open]] = {}
    for seq, message in enumerate(messages):
        for block in message.blocks:
            if isinstance(block, ToolUse) and message.role == "assistant":
                pair = Pair(seq, block)
                pairs.append(pair)
                if block.id is not None:
                    stack = waiting.setdefault(block.id, [])
                    if not stack or stack[-1].message != seq:
                        stack.append(_Open(seq))
                    stack[-1].add(pair)
            elif isinstance(block, ToolResult) and message.role != "assistant" and block.tool_use_id is not None:
                found = _latest(waiting.get(block.tool_use_id, []), block.name)
                if found is not None:
                    _answer(found, seq, block)
    return pairs


def _latest(stack: list[_Open], name: str | None) -> Pair | None:
    while stack:
        found = stack[-1].take(name)
        if found is not None:
            return found
        stack.pop()
    return None


def _last_interruptions(messages: Sequence[Message], chunk_of: Mapping[int, int]) -> dict[int, int]:
    """By chunk: the seq of its last interruption."""
    found: dict[int, int] = {}
    for seq, message in enumerate(messages):
        if (message.origin == "interruption" or is_rejected(message)) and seq in chunk_of:
            found[chunk_of[seq]] = seq
    return found


def _tool_call(
    pair: Pair, messages: Sequence[Message], dialect: Dialect, chunk: int | None, stopped: Mapping[int, int]
) -> ToolCall:
    use, result = pair.use, pair.result
    started = messages[pair.message].at
    answer = None if pair.result_message is None else messages[pair.result_message]
    ended = None if answer is None else answer.at
    cut_off = chunk is not None and stopped.get(chunk, -1) > pair.message
    make = ToolCall if result is None else result.answer
    return make(
        id=use.id,
        name=use.name,
        input=use.input,
        args=use.args,
        status=_status(use, result, answer, dialect, cut_off=cut_off),
        message=pair.message,
        result_message=pair.result_message,
        chunk=chunk,
        started_at=started,
        ended_at=ended,
        duration_ms=None if started is None or ended is None else ended - started,
        detail=None if answer is None else answer.detail,
    )


def _status(
    use: ToolUse, result: ToolResult | None, answer: Message | None, dialect: Dialect, *, cut_off: bool
) -> Status:
    if result is None or answer is None:
        return dialect.settled(use) or ("interrupted" if cut_off else "unanswered")
    if isinstance(answer.detail, dict) and any(
        answer.detail.get(sign) is True for sign in ("rejected", "denied", "interrupted")
    ):
        return "interrupted"
    if result.is_error or dialect.failed(result_text(result.content)):
        return "error"
    return "ok"
