"""What a log says: messages made of blocks, facts, issues, and the tool calls that its blocks add up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Kind = Literal["user", "ai", "system", "compact", "hard_noise", "sidechain"]
CHUNK_KINDS: tuple[Kind, ...] = ("user", "ai", "system", "compact")
Status = Literal["ok", "error", "interrupted", "unanswered"]
Disposition = Literal["message", "fact", "noise", "duplicate", "raw", "blank", "issue", "pending"]
DISPOSITIONS: tuple[Disposition, ...] = ("message", "fact", "noise", "duplicate", "raw", "blank", "issue", "pending")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a record stands in its source: physical line (from 1), byte offset and length of that line.

    ``part`` counts from 0 the records of one line (two objects may be joined on it). ``earlier``: None, or where the
    line stands if it is no longer in the log: ``<file beside it, or nothing>#<generation in the raw archive>``.
    """

    line: int
    offset: int
    length: int
    part: int = 0
    earlier: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Text of a message. ``extra``: other keys the log gave this block, or None."""

    text: str
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """Reasoning text; may be empty (the log keeps only a signature)."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image by content. ``data`` is None when it was not loaded, though ``sha256`` and ``size`` are known."""

    media_type: str
    sha256: str
    size: int
    data: bytes | None = None
    extra: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A request to run a tool.

    ``input`` is the parsed JSON value; ``args`` the raw argument text of formats that log it as text
    (then ``input`` is that text parsed, or the text itself where it is no JSON).
    """

    id: str | None
    name: str | None
    input: Any
    args: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool gave back: a string, or the blocks (Text, Image, Unknown) it was made of."""

    tool_use_id: str | None
    content: str | tuple[Block, ...]
    is_error: bool = False
    name: str | None = None

    @property
    def held(self) -> Any:  # noqa: ANN401 - compared by identity, never looked into
        """What tells its content from that of another result: the content, or where it is kept for the time being."""
        return self.content

    def answer(self, **call: Any) -> ToolCall:  # noqa: ANN401 - the fields of a call
        """The call that this is the result of, given its other fields."""
        return ToolCall(result=self.content, is_error=self.is_error, **call)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A block of a kind nobody has told us about, kept as it was."""

    type: str
    data: Any


Block = Text | Thinking | Image | ToolUse | ToolResult | Unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one API reply. ``input`` excludes what came from or went to the cache; ``reasoning`` is part of output.

    ``cache_creation_1h`` is that part of ``cache_creation`` which the cache keeps for an hour, and which costs more. Only
    replies have it, sums do not.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_creation: int | None = None
    reasoning: int | None = None
    cache_creation_1h: int | None = None

    @property
    def total(self) -> int | None:
        """All four counts, or None if none was recorded."""
        known = [n for n in (self.input, self.output, self.cache_read, self.cache_creation) if n is not None]
        return sum(known) if known else None

    def counts(self) -> dict[str, int | None]:
        """The counts that sums have too, by name."""
        return {
            "input": self.input,
            "output": self.output,
            "cache_read": self.cache_read,
            "cache_creation": self.cache_creation,
            "reasoning": self.reasoning,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A slash command a person typed; ``name`` without the slash. A missing tag is None."""

    name: str
    message: str | None = None
    args: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One entry of a log that takes part in chunking.

    ``kind`` says where it goes (see ``Kind``); ``origin`` says what it is, in one word: prompt, command,
    bash_command, command_output, reply, synthetic, tool_result, interruption, notification, teammate, injected,
    compact_summary, context, system. ``text`` is what a person should read where that differs from the joined
    text blocks (None: it does not differ). ``detail`` holds the small structured facts the log gave beside the
    content (exit code, patch), already trimmed by the format.
    """

    place: Place
    role: str
    kind: Kind
    origin: str
    blocks: tuple[Block, ...] = ()
    at: int | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    text: str | None = None
    model: str | None = None
    usage: Usage | None = None
    reply_id: str | None = None
    is_sidechain: bool = False
    is_meta: bool = False
    agent_id: str | None = None
    source_tool_use_id: str | None = None
    command: Command | None = None
    detail: Any = None

    @property
    def joined(self) -> str:
        """The text blocks joined without a separator."""
        return "".join(b.text for b in self.blocks if isinstance(b, Text))

    @property
    def display(self) -> str:
        """What a person should read: ``text`` if given, else ``joined``."""
        return self.joined if self.text is None else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something a log says about its session rather than in it: a title, a mode, a link hint. ``value`` is JSON."""

    name: str
    value: Any
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """A place where a source could not be used as it stands.

    ``kind``: bad_line (not JSON, or of the wrong shape), not_object (JSON, but no object: a note), refused,
    repaired (joined records), unreadable, plugin, tie. ``line`` counts from 1, ``offset`` is in bytes.
    """

    kind: str
    reason: str
    line: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawn:
    """What a tool call that starts a subagent says about it."""

    prompt: str | None = None
    description: str | None = None
    agent_type: str | None = None
    team: str | None = None
    member: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """All that one log holds, normalised: the input of ``derive``.

    ``first_at``/``last_at``: first dated record in file order, latest time of any record.
    ``lines``: physical lines by disposition (they add up). ``types``: records by (type, disposition).
    """

    messages: Sequence[Message] = ()
    facts: Sequence[Fact] = ()
    issues: Sequence[Issue] = ()
    first_at: int | None = None
    last_at: int | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[tuple[str, str], int] = field(default_factory=dict)
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call linked to its result. ``message``/``result_message``/``chunk`` are seqs; None = there is none.

    ``duration_ms`` is result time minus call time (may be negative, None if unknown).
    """

    id: str | None
    name: str | None
    input: Any
    status: Status
    message: int
    args: str | None = None
    result: str | tuple[Block, ...] | None = None
    is_error: bool | None = None
    result_message: int | None = None
    chunk: int | None = None
    started_at: int | None = None
    ended_at: int | None = None
    duration_ms: int | None = None
    detail: Any = None
    subagent_id: str | None = None

    @property
    def held(self) -> Any:  # noqa: ANN401 - as of the result
        """``held`` of its result."""
        return self.result

    def linked(self, subagent_id: str) -> ToolCall:
        """The same call, known to have started that subagent."""
        return replace(self, subagent_id=subagent_id)
