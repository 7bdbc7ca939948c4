"""What is made of the logs of a session: chunks, API replies, context, and the session itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from clm_sessions.model.log import Fact, Issue, Kind, Message, ToolCall, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One API reply, counted once: ``message`` is the entry whose usage counts (the largest, last of equals)."""

    reply_id: str | None
    model: str | None
    message: int
    usage: Usage | None
    at: int | None = None
    chunk: int | None = None
    inherited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A unit of display: one user, system or compact message, or a run of AI messages.

    ``key`` is ``<kind>-<uuid of its first message>`` (line number where there is no uuid). ``started_at``,
    ``ended_at``, ``duration_ms`` follow spec section 6; ``span_ms`` is latest minus earliest time.
    ``usage`` counts each reply once within the chunk. ``status``: complete, error or interrupted (AI chunks);
    abandoned (a prompt that was rewound). ``context_before``, ``context_after``: tokens in the context window at the
    last reply before and the last one in an AI chunk, or around a compaction.
    """

    seq: int
    kind: Kind
    key: str
    messages: tuple[int, ...]
    sidechain: tuple[int, ...] = ()
    subagents: tuple[str, ...] = ()
    started_at: int | None = None
    ended_at: int | None = None
    duration_ms: int | None = None
    span_ms: int | None = None
    usage: Usage = field(default_factory=Usage)
    status: str | None = None
    preview: str = ""
    tool_calls: int = 0
    tool_errors: int = 0
    context_before: int | None = None
    context_after: int | None = None


class ChunkLine(NamedTuple):
    """What a list of all chunks of a session needs of each one: the same values as in ``Chunk``, cheap to read."""

    seq: int
    kind: Kind
    status: str | None
    preview: str
    tool_calls: int
    tool_errors: int
    context_before: int | None
    context_after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A stretch between compactions: number from 1, tokens it added, peak, and size after its compaction (None: open)."""

    number: int
    contribution: int
    peak: int
    after: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """How the context window filled: tokens consumed over all phases, and the phases."""

    consumption: int | None = None
    phases: tuple[Phase, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """The facts of one session, without its content: one row of the ``sessions`` table.

    ``id`` is the key; ``native_id`` what the agent calls the session. ``role``: main, subagent, orphan (an agent
    log whose session log is missing), internal (an agent the program started for itself). ``parent_id`` and
    ``parent_call`` say which session and tool call started a subagent, ``link`` how that is known (result, hint,
    meta, team, prompt). ``prompts`` are those a person typed. Token counts are of this session alone.

    ``cost_usd`` is an estimate over the replies that have a price, ``own_cost_usd`` without inherited ones;
    ``unpriced_requests`` of its own replies have none. Only a database knows them.
    """

    id: str
    native_id: str
    format: str
    role: str = "main"
    agent_id: str | None = None
    parent_id: str | None = None
    parent_call: str | None = None
    parent_agent_id: str | None = None
    link: str | None = None
    description: str | None = None
    agent_type: str | None = None
    team: str | None = None
    member: str | None = None
    color: str | None = None
    parallel: bool = False
    forked_from: str | None = None
    project: str | None = None
    project_name: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    provider: str | None = None
    agent: str | None = None
    title: str | None = None
    models: tuple[str, ...] = ()
    started_at: int | None = None
    ended_at: int | None = None
    duration_ms: int | None = None
    ongoing: bool = False
    messages: int = 0
    chunks: int = 0
    prompts: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    unanswered: int = 0
    interruptions: int = 0
    compactions: int = 0
    subagents: int = 0
    images: int = 0
    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    context: Context = field(default_factory=Context)
    cost_usd: float | None = field(default=None, compare=False)
    own_cost_usd: float | None = field(default=None, compare=False)
    unpriced_requests: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Session:
    """A session as values: facts, messages, chunks, tool calls, API replies, and the sessions of its subagents."""

    info: SessionInfo
    messages: Sequence[Message] = ()
    chunks: Sequence[Chunk] = ()
    tool_calls: Sequence[ToolCall] = ()
    requests: Sequence[Request] = ()
    facts: Sequence[Fact] = ()
    issues: Sequence[Issue] = ()
    subagents: Sequence[Session] = ()

    def __repr__(self) -> str:
        return f"<Session {self.id} {self.info.title!r}: {len(self.chunks)} chunks>"

    @property
    def id(self) -> str:
        """The key of the session."""
        return self.info.id

    def contents(self, start: int = 0, stop: int | None = None) -> list[ChunkContent]:
        """Chunks ``start`` to ``stop`` with all that is needed to show them."""
        by_agent = {s.info.agent_id: s.info for s in self.subagents}
        calls: dict[int | None, list[ToolCall]] = {}
        for call in self.tool_calls:
            calls.setdefault(call.chunk, []).append(call)
        return [
            ChunkContent(
                session=self.info,
                chunk=chunk,
                messages={seq: self.messages[seq] for seq in (*chunk.messages, *chunk.sidechain)},
                tool_calls=tuple(calls.get(chunk.seq, ())),
                subagents=tuple(by_agent[a] for a in chunk.subagents if a in by_agent),
            )
            for chunk in self.chunks[start:stop]
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkContent:
    """One chunk with its messages (by seq), the tool calls made in it, and the subagents attached to it."""

    session: SessionInfo
    chunk: Chunk
    messages: Mapping[int, Message]
    tool_calls: tuple[ToolCall, ...] = ()
    subagents: tuple[SessionInfo, ...] = ()
