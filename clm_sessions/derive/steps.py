"""What an AI chunk shows: its steps in order, what a collapsed card says, the list of items (spec claude-code 8)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from clm_sessions.derive.chunks import message_key
from clm_sessions.derive.tools import is_rejected, result_text
from clm_sessions.formats.base import Dialect
from clm_sessions.model import (
    ChunkContent,
    Command,
    Message,
    SessionInfo,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolUse,
)
from clm_sessions.text import trim

StepKind = Literal["thinking", "tool_call", "output", "tool_result", "interruption", "subagent"]
GAP_MS = 100
REJECTED_TEXT = "Request interrupted by user"
_PLAIN = Dialect()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something the agent did. ``message`` is the seq it stands in (None: a subagent); times in ms.

    ``text``: of thinking, output and interruption as it is, of a result as text. ``use`` is the block of a tool_call.
    """

    kind: StepKind
    id: str
    at: int | None
    ends_at: int | None = None
    message: int | None = None
    text: str = ""
    use: ToolUse | None = None
    agent: SessionInfo | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastOutput:
    """What a collapsed card shows."""

    kind: Literal["text", "interruption", "tool_result", "plan_exit"]
    text: str
    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A line of the list of an AI card.

    thinking, output, interruption: ``text``. tool: ``id``, ``name``, ``status`` and, once linked, ``call``.
    subagent: ``agent``. slash: ``command``, ``has_body``. teammate_message: ``id`` (who), ``summary``, ``text``,
    ``answers`` (the id of the call it answers, or None).
    """

    kind: Literal["thinking", "output", "interruption", "tool", "subagent", "slash", "teammate_message"]
    at: int | None = None
    message: int | None = None
    text: str = ""
    id: str | None = None
    name: str | None = None
    status: Literal["ok", "error", "unanswered"] | None = None
    call: ToolCall | None = None
    agent: SessionInfo | None = None
    command: Command | None = None
    has_body: bool = False
    summary: str = ""
    answers: str | None = None


def steps(content: ChunkContent, dialect: Dialect = _PLAIN) -> list[Step]:
    """The steps of an AI chunk by time; one whose time is unknown stays behind the step before it. Linear."""
    found = list(_message_steps(content, dialect))
    found += [
        Step(kind="subagent", id=agent.agent_id or agent.id, at=agent.started_at, agent=agent)
        for agent in content.subagents
    ]
    return _with_ends(_by_time(found), content.chunk.ended_at)


def _message_steps(content: ChunkContent, dialect: Dialect) -> Iterator[Step]:
    number = 0
    for seq in content.chunk.messages:
        message = content.messages[seq]
        if not message.blocks and not is_rejected(message):
            continue
        make = _agent_steps(message, seq) if message.role == "assistant" else _other_steps(message, seq, dialect)
        for step in make:
            if step.id:
                yield step
            else:
                yield replace(step, id=f"{message_key(message)}-{step.kind}-{number}")
                number += step.kind != "tool_result"


def _agent_steps(message: Message, seq: int) -> Iterator[Step]:
    for block in message.blocks:
        if isinstance(block, ToolUse):
            yield Step(kind="tool_call", id=block.id or f"{seq}-call", at=message.at, message=seq, use=block)
        elif isinstance(block, (Text, Thinking)) and block.text:
            kind: StepKind = "output" if isinstance(block, Text) else "thinking"
            yield Step(kind=kind, id="", at=message.at, message=seq, text=block.text)


def _other_steps(message: Message, seq: int, dialect: Dialect) -> Iterator[Step]:
    marked = False
    for block in message.blocks:
        if isinstance(block, ToolResult):
            text = result_text(block.content)
            yield Step(kind="tool_result", id=block.tool_use_id or "", at=message.at, message=seq, text=text)
        elif isinstance(block, Text) and (message.origin == "interruption" or dialect.interrupts(block.text)):
            marked = True
            yield Step(kind="interruption", id="", at=message.at, message=seq, text=trim(block.text))
    if not marked and is_rejected(message):
        yield Step(kind="interruption", id="", at=message.at, message=seq, text=REJECTED_TEXT)


def _by_time(found: Sequence[Any]) -> list[Any]:
    """Stable sort by ``at``; an unknown time sorts as the known one before it in the given order."""
    known: float = float("-inf")
    keyed = []
    for number, each in enumerate(found):
        if each.at is not None:
            known = each.at
        keyed.append((known, number))
    keyed.sort()
    return [found[number] for _, number in keyed]


def _with_ends(found: Sequence[Step], chunk_end: int | None) -> list[Step]:
    """Effective ends: a subagent's own, else the start of the next step that begins clearly later, else the chunk's."""
    ended: list[Step] = []
    later = 0
    for step in found:
        end = chunk_end
        if step.at is not None:
            while later < len(found) and not _after(found[later], step.at):
                later += 1
            if later < len(found):
                end = found[later].at
        own = step.agent.ended_at if step.agent is not None else None
        if own is not None and step.at is not None and own - step.at > GAP_MS:
            end = own
        ended.append(replace(step, ends_at=end))
    return ended


def _after(step: Step, at: int) -> bool:
    return step.at is not None and step.at >= at + GAP_MS


def last_output(content: ChunkContent, dialect: Dialect = _PLAIN) -> LastOutput | None:
    """What a collapsed card shows: interruption, plan, last output or last result, whichever rule 8 puts first."""
    return last_of(steps(content, dialect), dialect)


def last_of(found: Sequence[Step], dialect: Dialect = _PLAIN) -> LastOutput | None:
    """The same from the steps."""
    spoken = next((step for step in reversed(found) if step.kind in ("output", "interruption")), None)
    if spoken is not None and spoken.kind == "interruption":
        return LastOutput(kind="interruption", text=spoken.text, step=spoken)
    result: Step | None = None
    planned = False  # of several calls with a plan the last one counts
    for step in reversed(found):
        if step is spoken:
            return LastOutput(kind="text", text=step.text, step=step)
        if step.kind == "tool_result" and step.text and result is None:
            result = step
        if step.use is not None and result is None and not planned:
            plan = dialect.plan(step.use)
            if plan:
                return LastOutput(kind="plan_exit", text=plan, step=step)
            planned = plan is not None
    return None if result is None else LastOutput(kind="tool_result", text=result.text, step=result)


def items(
    content: ChunkContent,
    dialect: Dialect = _PLAIN,
    *,
    before: Message | None = None,
    calls: Mapping[str, ToolCall] | None = None,
    answers: Mapping[int, Sequence[str | None]] | None = None,
) -> list[Item]:
    """The items of an AI chunk by time, without its last output.

    ``before``: the message of the user chunk directly before. ``calls``: those of the whole log by id, for a chunk
    that repeats the id of an earlier one. ``answers``: see ``correspondence``; default: of this chunk alone.
    """
    found = steps(content, dialect)
    last = last_of(found, dialect)
    hidden = last.step if last is not None and last.kind == "text" else None
    execution = _Executions(content.tool_calls, calls or {})
    if answers is None:
        answers = correspondence(((seq, content.messages[seq]) for seq in content.chunk.messages), dialect)
    attached = {agent.parent_call for agent in content.subagents if agent.parent_call is not None}
    listed: list[Item] = []
    if before is not None and before.command is not None:
        listed.append(_slash(before, content))
    for step in found:
        if step is not hidden and not _shown_as_agent(step, attached, dialect):
            listed += _items(step, execution)
    for seq in content.chunk.messages:
        listed += _teammates(content.messages[seq], seq, answers.get(seq, ()))
    return _by_time(listed)


def _shown_as_agent(step: Step, attached: set[str], dialect: Dialect) -> bool:
    """A call that starts an agent shows as the agent, where that is attached here."""
    return step.use is not None and step.use.id in attached and dialect.spawn(step.use) is not None


class _Executions:
    """Finds the call of a step: the one made there, else (a repeated id) the one its id names."""

    def __init__(self, calls: Iterable[ToolCall], of_log: Mapping[str, ToolCall]) -> None:
        self._there: dict[tuple[int, str | None], deque[ToolCall]] = {}
        self._by_id: dict[str | None, ToolCall] = {call.id: call for call in of_log.values()}
        for call in calls:
            self._there.setdefault((call.message, call.id), deque()).append(call)
            self._by_id.setdefault(call.id, call)

    def of(self, step: Step, use: ToolUse) -> ToolCall | None:
        """The call of a tool_call step; asked once for each, in order."""
        waiting = self._there.get((-1 if step.message is None else step.message, use.id))
        return waiting.popleft() if waiting else self._by_id.get(use.id)


def _items(step: Step, execution: _Executions) -> Iterable[Item]:
    if step.kind in ("thinking", "output", "interruption"):
        return (Item(kind=step.kind, at=step.at, message=step.message, text=step.text),)
    if step.agent is not None:
        return (Item(kind="subagent", at=step.at, id=step.id, agent=step.agent),)
    if step.use is None:
        return ()
    call = execution.of(step, step.use)
    status: Literal["ok", "error", "unanswered"] = "unanswered"
    if call is not None and (call.result is not None or call.status == "ok"):
        status = "error" if call.is_error or call.status == "error" else "ok"
    use = step.use
    return (Item(kind="tool", at=step.at, message=step.message, id=use.id, name=use.name, status=status, call=call),)


def _slash(before: Message, content: ChunkContent) -> Item:
    body = before.uuid is not None and any(
        m.is_meta and m.parent_uuid == before.uuid and _detail(m, "form") == "blocks"
        for m in (content.messages[seq] for seq in content.chunk.messages)
    )
    return Item(kind="slash", at=before.at, command=before.command, has_body=body)


def _teammates(message: Message, seq: int, answers: Sequence[str | None]) -> Iterator[Item]:
    for number, mate in enumerate(teammates(message)):
        yield Item(
            kind="teammate_message",
            at=message.at,
            message=seq,
            id=mate["id"],
            summary=mate["summary"],
            text=mate["text"],
            answers=answers[number] if number < len(answers) else None,
        )


def correspondence(messages: Iterable[tuple[int, Message]], dialect: Dialect) -> dict[int, list[str | None]]:
    """By seq of a message from teammates: for each, the id of the latest earlier call that wrote to that teammate."""
    found: dict[int, list[str | None]] = {}
    written: dict[str, tuple[int, str | None]] = {}
    never: tuple[int, str | None] = (-1, None)
    number = 0
    for seq, message in messages:
        if message.role == "assistant":
            for block in message.blocks:
                if isinstance(block, ToolUse):
                    number += 1
                    to = dialect.recipient(block)
                    if to is not None:
                        written[to] = (number, block.id)
            continue
        mates = teammates(message)
        if mates:
            everyone = written.get("*", never)
            found[seq] = [max(written.get(mate["id"], never), everyone, key=_first)[1] for mate in mates]
    return found


def teammates(message: Message) -> Sequence[Mapping[str, str]]:
    """The messages from teammates in it: ``id``, ``summary``, ``text`` of each."""
    return _detail(message, "teammates") or () if message.origin == "teammate" else ()


def _first(entry: tuple[int, str | None]) -> int:
    return entry[0]


def _detail(message: Message, name: str) -> Any:  # noqa: ANN401 - a JSON value
    return message.detail.get(name) if isinstance(message.detail, dict) else None
