"""The steps of an AI card: the blocks in order, a tool call and its result as one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from clm_sessions.model import (
    Block,
    ChunkContent,
    Image,
    Message,
    SessionInfo,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolUse,
    Unknown,
)
from clm_sessions.view import asides
from clm_sessions.view.blocks import block_section, content_sections, json_section
from clm_sessions.view.model import Section, Step, ToolView
from clm_sessions.view.words import count, near, one_line, plural

_ASIDES: dict[str, Callable[[int, Message], Step]] = {
    "interruption": asides.interruption,
    "notification": asides.notification,
    "teammate": asides.teammate,
    "synthetic": asides.notice,
}


class Steps:
    """Builds the steps of one chunk: all that its messages hold, but for texts of blanks alone."""

    def __init__(self, content: ChunkContent, describe: Callable[[ToolCall], ToolView]) -> None:
        self._content = content
        self._describe = describe
        self._calls: dict[int, deque[ToolCall]] = {}
        for call in content.tool_calls:
            self._calls.setdefault(call.message, deque()).append(call)
        self._answers = {(call.result_message, call.id) for call in content.tool_calls if call.result is not None}
        self._agents = Agents(content.subagents)

    def all(self) -> tuple[Step, ...]:
        """All steps in the order of the log; subagents and side entries that belong to no call come last."""
        steps: list[Step] = []
        for seq in self._content.chunk.messages:
            steps += self._message(seq, self._content.messages[seq])
        steps += (_agent_step(info) for info in self._agents.left())
        steps += asides.sidechain({seq: self._content.messages[seq] for seq in self._content.chunk.sidechain})
        return tuple(steps)

    def _message(self, seq: int, message: Message) -> Iterator[Step]:
        aside = _ASIDES.get(message.origin)
        if aside is None and message.role != "assistant" and message.joined.strip():
            aside = asides.injected
        if aside is not None:
            yield aside(seq, message)
        linked: set[str | None] = set()
        for block in message.blocks:
            if isinstance(block, Text) and aside is not None:
                continue
            if isinstance(block, ToolResult) and block.tool_use_id not in linked and self._linked(seq, message, block):
                linked.add(block.tool_use_id)
                continue
            yield from self._block(seq, block)

    def _linked(self, seq: int, message: Message, block: ToolResult) -> bool:
        return any((seq, key) in self._answers for key in (block.tool_use_id, message.source_tool_use_id))

    def _block(self, seq: int, block: Block) -> Iterator[Step]:
        if isinstance(block, Text):
            if block.text.strip():
                cut = asides.cut(self._content.messages[seq])
                text = Section(kind="markdown", text=block.text)
                yield Step(kind="text", message=seq, sections=(text, cut) if cut else (text,))
        elif isinstance(block, Thinking):
            yield asides.thinking(seq, block)
        elif isinstance(block, ToolUse):
            yield self._tool(seq, block)
        elif isinstance(block, ToolResult):
            yield _stray_result(seq, block)
        elif isinstance(block, Image):
            yield Step(kind="image", title="Image", message=seq, sections=(block_section(block),), open=True)
        else:
            yield _raw(seq, block)

    def _tool(self, seq: int, block: ToolUse) -> Step:
        calls = self._calls.get(seq)
        call = calls.popleft() if calls and (calls[0].id, calls[0].name) == (block.id, block.name) else None
        if call is None:
            return _unlinked(seq, block, self._describe)
        view = self._describe(call)
        agent = self._agents.take(call)
        return Step(
            kind="tool",
            title=view.title,
            subtitle=near(view.subtitle, self._content.session.cwd),
            status=call.status,
            duration_ms=call.duration_ms,
            badges=(*view.badges, *_marks(call)),
            sections=view.sections,
            open=view.open,
            message=seq,
            tool=call.name,
            family=view.family,
            subagent=agent.id if agent else None,
        )


class Agents:
    """The subagents of a chunk, each to be taken once by the call that started it."""

    def __init__(self, agents: Iterable[SessionInfo]) -> None:
        self._left = {info.id: info for info in agents}
        self._keys = {
            key: info.id
            for info in reversed(list(self._left.values()))
            for key in (("call", info.parent_call), ("agent", info.agent_id), ("agent", info.id))
            if key[1] is not None
        }

    def take(self, call: ToolCall) -> SessionInfo | None:
        """The subagent this call started, if it stands in this chunk."""
        found = self._keys.get(("agent", call.subagent_id)) or self._keys.get(("call", call.id))
        return self._left.pop(found, None) if found else None

    def left(self) -> Iterable[SessionInfo]:
        """Those no call has taken."""
        return self._left.values()


def _marks(call: ToolCall) -> Iterator[str]:
    """What the format says of any tool's result beside the result."""
    detail = call.detail if isinstance(call.detail, Mapping) else {}
    if detail.get("denied") is True or detail.get("rejected") is True:
        yield "refused by the person"
    if detail.get("cut") is True:
        yield "cut in the log"


def _agent_step(info: SessionInfo) -> Step:
    badges = [info.agent_type] if info.agent_type else []
    badges += [plural(info.tool_calls, "call")] if info.tool_calls else []
    badges += [f"{count(info.usage.output)} out"] if info.usage.output else []
    return Step(
        kind="subagent",
        title="Subagent",
        subtitle=one_line(info.description or info.title or info.agent_id or info.id),
        duration_ms=info.duration_ms,
        badges=tuple(badges),
        subagent=info.id,
        family="agent",
    )


def _unlinked(seq: int, block: ToolUse, describe: Callable[[ToolCall], ToolView]) -> Step:
    """A tool_use block that counts as no call of its own: without id or name, or with an id used before."""
    view = describe(
        ToolCall(id=block.id, name=block.name, input=block.input, args=block.args, status="unanswered", message=seq)
    )
    return Step(
        kind="tool",
        title=view.title,
        subtitle=view.subtitle,
        badges=(*view.badges, "id used before" if block.id and block.name else "no id" if block.name else "no name"),
        sections=view.sections,
        message=seq,
        tool=block.name,
        family=view.family,
    )


def _stray_result(seq: int, block: ToolResult) -> Step:
    return Step(
        kind="result",
        title="Result",
        subtitle=one_line(block.name or block.tool_use_id or ""),
        status="error" if block.is_error else None,
        badges=("its call is not in this chunk",),
        sections=content_sections(block.content),
        message=seq,
    )


def _raw(seq: int, block: Unknown) -> Step:
    return Step(
        kind="raw",
        title=f"Block of type {one_line(block.type, 60)}",
        sections=(json_section(block.data),),
        message=seq,
    )
