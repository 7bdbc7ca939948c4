"""When things happened in a session: turns, and in each turn the replies, tool calls and subagents as bars in time.

Only recorded times are used. A reply is written to the log when it (or a part of it) is there, so its bar begins at the
entry before it: that is when the model could begin. What has no time has none here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from clm_sessions.model import Chunk, ChunkContent, Message, SessionInfo, ToolCall
from clm_sessions.view.build import compaction
from clm_sessions.view.model import ToolView
from clm_sessions.view.steps import Agents
from clm_sessions.view.words import near, one_line

Describe = Callable[[ToolCall], ToolView | None]
_MARKS = {"interruption": "Interrupted", "synthetic": "Notice from the program"}
_DEEPEST = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A prompt (or compaction) and all that followed it: chunks ``first`` to ``last``. Times in ms, None if unknown."""

    number: int
    kind: str
    first: int
    last: int
    text: str
    started_at: int | None = None
    ended_at: int | None = None
    tool_calls: int = 0
    tool_errors: int = 0
    status: str | None = None
    subagents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One row of the timeline.

    ``kind``: reply, tool, agent, mark (a moment), or more (``count`` entries that were not looked at). ``start`` and
    ``end`` in ms: no ``start`` means no time was recorded, a ``start`` without ``end`` that no end was. ``status``: ok,
    error, interrupted, unanswered, or None. ``depth`` 0 is the session itself, 1 what its replies called. ``agent``: key
    of the subagent.
    """

    kind: str
    depth: int
    label: str
    session: str
    about: str = ""
    chunk: int | None = None
    message: int | None = None
    start: int | None = None
    end: int | None = None
    status: str | None = None
    agent: str | None = None
    count: int = 0

    @property
    def duration_ms(self) -> int | None:
        """From start to end; None where either is not recorded."""
        return None if self.start is None or self.end is None else self.end - self.start


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The part of a session that bars are made of: messages by seq (their content is not looked at), calls, subagents.

    ``before``: the last time recorded before it. ``left``: how many messages follow that are not here.
    """

    info: SessionInfo
    messages: Mapping[int, Message]
    chunks: Mapping[int, int] = field(default_factory=dict)
    calls: Sequence[ToolCall] = ()
    agents: Sequence[Log] = ()
    before: int | None = None
    left: int = 0


class Held(Protocol):
    """A session as values, or in a database."""

    @property
    def info(self) -> SessionInfo:
        """The facts of the session."""

    @property
    def subagents(self) -> Sequence[Held]:
        """Its direct subagents."""

    def contents(self, start: int = 0, stop: int | None = None) -> list[ChunkContent]:
        """Chunks ``start`` to ``stop`` with all that stands in them."""


def turns(chunks: Iterable[Chunk]) -> list[Turn]:
    """The turns of a session, in order: one begins at every prompt, command or compaction."""
    groups: list[list[Chunk]] = []
    for chunk in chunks:
        if not groups or chunk.kind in {"user", "compact"}:
            groups.append([])
        groups[-1].append(chunk)
    return [_turn(number, group) for number, group in enumerate(groups, 1)]


def _turn(number: int, group: Sequence[Chunk]) -> Turn:
    first = group[0]
    starts = [chunk.started_at for chunk in group if chunk.started_at is not None]
    ends = [chunk.ended_at for chunk in group if chunk.ended_at is not None]
    stopped = [chunk.status for chunk in group if chunk.status not in {None, "complete"}]
    return Turn(
        number=number,
        kind=first.kind,
        first=first.seq,
        last=group[-1].seq,
        text=compaction(first) if first.kind == "compact" else one_line(first.preview, 200),
        started_at=min(starts, default=None),
        ended_at=max(ends, default=None) if starts else None,
        tool_calls=sum(chunk.tool_calls for chunk in group),
        tool_errors=sum(chunk.tool_errors for chunk in group),
        status=stopped[-1] if stopped else None,
        subagents=tuple(agent for chunk in group for agent in chunk.subagents),
    )


def bars(log: Log, describe: Describe, depth: int = 0) -> Iterator[Bar]:
    """The rows of a part of a session: each reply, below it the tools it called, below these the subagents' own rows."""
    calls: dict[int, list[ToolCall]] = {}
    for call in log.calls:
        calls.setdefault(call.message, []).append(call)
    logs = {agent.info.id: agent for agent in log.agents}
    agents = Agents(agent.info for agent in log.agents)

    def called(seqs: Iterable[int]) -> Iterator[Bar]:
        for seq in seqs:
            for call in calls.pop(seq, ()):
                taken = agents.take(call)
                yield from _tool(log, call, logs[taken.id] if taken else None, describe, depth + 1)

    for group, before in _groups(log):
        yield _first(log, group, before, depth)
        yield from called(group)
    yield from called(list(calls))
    for info in agents.left():
        yield _agent(logs[info.id], depth + 1)
        yield from _inside(logs[info.id], describe, depth + 2)
    if log.left:
        yield Bar(kind="more", depth=depth, label="more", session=log.info.id, count=log.left)


def of_turn(session: Held, turn: Turn, describe: Describe, *, before: int | None = None) -> list[Bar]:
    """The bars of one turn, with all that its subagents did. ``before``: the last time recorded before it."""
    return list(bars(_held(session, range(turn.first, turn.last + 1), before), describe))


def _held(session: Held, seqs: range | None = None, before: int | None = None) -> Log:
    """Some chunks of a session and their subagents; without ``seqs`` all of it."""
    found = session.contents(seqs.start, seqs.stop) if seqs else session.contents()
    chunks = {seq: content.chunk.seq for content in found for seq in content.chunk.messages}
    messages = {seq: content.messages[seq] for content in found for seq in content.chunk.messages}
    here = {info.id for content in found for info in content.subagents}
    return Log(
        info=session.info,
        messages={seq: messages[seq] for seq in sorted(messages)},
        chunks=chunks,
        calls=[call for content in found for call in content.tool_calls],
        agents=[_held(agent) for agent in session.subagents if seqs is None or agent.info.id in here],
        before=before,
    )


def _groups(log: Log) -> Iterator[tuple[list[int], int | None]]:
    """Replies and marks in order: the messages of each, and the time of the entry before it.

    The parts of a reply belong together though results of its tools stand between them.
    """
    found: list[tuple[list[int], int | None]] = []
    by_reply: dict[str, list[int]] = {}
    before, last = log.before, None
    for seq, message in log.messages.items():
        if message.origin in _MARKS:
            found.append(([seq], message.at))
            last = None
        elif message.origin == "reply":
            parts = by_reply.get(message.reply_id) if message.reply_id is not None else last
            if parts is None:
                parts = []
                found.append((parts, before))
                if message.reply_id is not None:
                    by_reply[message.reply_id] = parts
            parts.append(seq)
            last = parts if message.reply_id is None else None
        else:
            last = None
        before = message.at if message.at is not None else before
    yield from found


def _first(log: Log, group: Sequence[int], before: int | None, depth: int) -> Bar:
    """The bar of a reply or a mark."""
    message = log.messages[group[0]]
    mark = _MARKS.get(message.origin)
    ends = [at for seq in group if (at := log.messages[seq].at) is not None]
    end = max(ends, default=None)
    start = end if end is None or mark or before is None or before > end else before
    return Bar(
        kind="mark" if mark else "reply",
        depth=depth,
        label=mark or "reply",
        about="" if mark else message.model or "",
        session=log.info.id,
        chunk=log.chunks.get(group[0]),
        message=group[0],
        start=start,
        end=end,
        status="interrupted" if message.origin == "interruption" else "error" if mark else None,
    )


def _tool(log: Log, call: ToolCall, agent: Log | None, describe: Describe, depth: int) -> Iterator[Bar]:
    view = describe(call)
    over = agent is not None and call.ended_at is not None and call.ended_at >= (agent.info.ended_at or call.ended_at)
    backwards = call.started_at is not None and call.ended_at is not None and call.ended_at < call.started_at
    yield Bar(
        kind="agent" if over else "tool",
        depth=depth,
        label=(view.title if view else one_line(call.name or "")) or "unnamed tool",
        about=near(view.subtitle, log.info.cwd) if view else "",
        session=log.info.id,
        chunk=call.chunk,
        message=call.message,
        start=call.started_at,
        end=call.started_at if backwards else call.ended_at,
        status=call.status,
        agent=agent.info.id if agent and over else None,
    )
    if agent is not None:
        if not over:
            yield _agent(agent, depth + 1)
        yield from _inside(agent, describe, depth + (1 if over else 2))


def _inside(agent: Log, describe: Describe, depth: int) -> Iterator[Bar]:
    if depth <= _DEEPEST:
        yield from bars(agent, describe, depth)


def _agent(agent: Log, depth: int) -> Bar:
    info = agent.info
    start, end = info.started_at, info.ended_at
    return Bar(
        kind="agent",
        depth=depth,
        label=info.agent_type or "subagent",
        about=one_line(info.description or info.title or info.agent_id or ""),
        session=info.id,
        start=start,
        end=start if start is not None and end is not None and end < start else end,
        agent=info.id,
    )
