"""What a log format is: one object that finds, recognises and reads. It never opens a file; the core does.

Three steps: ``locate`` says by path alone what a file could be; ``sniff`` says by its first records whether it
is; ``reader`` turns records into messages and facts. ``dialect`` answers the few questions about tools that the
format-neutral ``derive`` room has to ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, Literal, Protocol

from clm_sessions.frames import Decoded, decode_strict
from clm_sessions.model import Disposition, Fact, Message, Place, Spawn, Status, Stream, ToolUse

API_VERSION = 1
SourceRole = Literal["main", "agent", "side", "earlier", "known", "index"]


class Confidence(IntEnum):
    """How sure a format is that a file is its own."""

    NO = 0
    SHAPE = 1  # the records look right, but others write such records too
    SIGNATURE = 2  # nobody else writes this


@dataclass(frozen=True, slots=True, kw_only=True)
class Located:
    """What a file could be, by its path: ``session`` and ``agent`` are the agent program's own ids.

    ``session`` None: only the head can tell. ``folder``: name of the project folder, for display only. ``role``
    ``side``: a file beside the logs; ``earlier``: the log as it was before the program wrote it anew; ``known``: a file
    of the program that is no log, and that nobody needs to be told of; ``index``: a file that says something of many
    sessions.
    """

    role: SourceRole
    session: str | None = None
    agent: str | None = None
    folder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The first complete records of a file: ``records`` as read by the format's framing, ``data`` the bytes.

    A record is decoded when it is first looked at: a format that knows by the first few should look no further.
    """

    records: Sequence[Any]
    data: bytes

    def objects(self, limit: int = 8) -> Iterator[dict[str, Any]]:
        """The first records that are JSON objects: enough to tell a format whose own records come first."""
        return islice((record for record in self.records if isinstance(record, dict)), limit)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The answer of ``sniff``. ``session`` names the session where the path does not.

    ``agent``: the file is the log of that agent of ``session``, which its path did not say.
    """

    confidence: Confidence
    session: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What one record is. ``type`` counts records by kind; ``at`` is its time, if it has one.

    ``issue`` gives the reason where ``disposition`` is issue, or a note beside another one.
    ``issue_kind`` is the kind of that issue (``bad_line``, ``not_object`` …).
    """

    disposition: Disposition
    type: str | None = None
    at: int | None = None
    message: Message | None = None
    facts: tuple[Fact, ...] = ()
    issue: str | None = None
    issue_kind: str = "bad_line"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamContext:
    """Which log a reader reads: its role, the session's own id, the agent's id (agent logs only)."""

    role: SourceRole
    session: str
    agent: str | None = None


class Reader(Protocol):
    """Reads the records of one log in order. May raise ``errors.Refused`` to refuse the whole file."""

    def feed(self, record: Any, place: Place) -> Parsed:  # noqa: ANN401 - a JSON value
        """Say what one JSON value is. Never raises on content."""
        ...

    def state(self) -> Mapping[str, Any]:
        """What a later reader needs to go on from here: small JSON."""
        ...


class Dialect:
    """Questions about tools that differ from format to format; these answers suit a format without specials."""

    tool_ids: Literal["unique", "reused"] = "unique"
    """unique: an id names one call of the file, first call and first result win. reused: ids repeat, a result
    answers the latest earlier unanswered call of its id (spec clm 6)."""

    def spawn(self, call: ToolUse) -> Spawn | None:
        """What the call says if it starts a subagent, else None."""
        return None

    def plan(self, call: ToolUse) -> str | None:
        """The plan text if the call ends planning (empty where it does not say the plan), else None."""
        return None

    def ends_work(self, call: ToolUse) -> bool:
        """Whether the call itself is an ending: the agent waits for a person after it."""
        return False

    def gist(self, message: Message) -> str:
        """What a person should read of a user, system or compact message in one line: without the format's tags."""
        return message.display

    def recipient(self, call: ToolUse) -> str | None:
        """Whom the call writes to (``*`` for all), if it sends a message to a teammate."""
        return None

    def failed(self, result: str) -> bool:
        """Whether a result text says by itself that the call failed, in formats that log no error flag."""
        return False

    def settled(self, call: ToolUse) -> Status | None:
        """How a call without a result ended, where the call itself says so (tools the provider runs), else None."""
        return None

    def opens(self, origin: str) -> bool:
        """Whether a message of the user role with that origin can be what an agent was asked."""
        return True

    def ends_session(self, call: ToolUse) -> bool:
        """Whether the result of the call is an ending too."""
        return False

    def interrupts(self, text: str) -> bool:
        """Whether a text that did not come from the agent is the note that a person interrupted it."""
        return False

    def internal_agent(self, agent_id: str, prompt: str | None) -> bool:
        """Whether the program started an agent for itself. ``prompt``: the only text of its first user message."""
        return False

    def folder_name(self, folder: str) -> str:
        """A short project name from the name of a log folder, where no working directory is known."""
        return folder


class LogFormat:
    """Base of all formats. Override what differs; the defaults suit one JSONL file per session."""

    name: str = ""
    label: str = ""
    api_version: int = API_VERSION
    framer: Literal["jsonl", "json", "sqlite"] = "jsonl"
    """How the core makes records of a file: a line each; the one JSON document; the rows of ``queries``."""
    queries: tuple[str, ...] = ()
    dialect: Dialect = Dialect()
    resume_command: str | None = None  # with {id}, e.g. "claude --resume {id}"
    plugin: str = ""
    """Set by the core: the name of the plugin that brought the format."""

    def roots(self, home: Path, env: Mapping[str, str]) -> Iterable[Path]:
        """Where this agent keeps its logs by default. Need not exist."""
        return ()

    def locate(self, path: PurePath) -> Located | None:
        """What the file could be by path alone; None: not ours. ``path`` is absolute or below a scanned root."""
        if path.suffix == ".jsonl":
            return Located(role="main", session=path.stem, folder=path.parent.name)
        return None

    def sniff(self, located: Located, head: Head) -> Claim:
        """Whether the file is ours, by its first records. Does no I/O."""
        raise NotImplementedError

    def decode(self, line: bytes, first: bool) -> Decoded:
        """The JSON values of one line, its LF taken off. ``first``: the line begins the file."""
        return decode_strict(line, first=first)

    def split(self, document: Any) -> Iterable[Any]:  # noqa: ANN401 - a JSON value
        """The records of a file that is one JSON document (framer ``json``), in order."""
        return (document,)

    def reader(self, context: StreamContext, state: Mapping[str, Any] | None = None) -> Reader:
        """A reader for one log, fresh or going on from ``state``."""
        raise NotImplementedError

    def rejoin(self, earlier: Sequence[Stream], now: Stream) -> Stream:
        """What a log says together with what it said before its program wrote it anew. Default: only what it says.

        ``earlier``: each state that is known of, from the archive and from files of role ``earlier``; their messages
        are marked as ``Place.earlier``. Its counts are those of ``now``: lines that repeat older messages are duplicates.
        """
        del earlier
        return now

    def index(self, data: bytes) -> Mapping[str, Sequence[Fact]]:
        """Facts in a file of role ``index``, by the agent's own session id, e.g. the names of all sessions."""
        del data
        return {}

    def side(self, located: Located, name: str, data: bytes) -> Sequence[Fact]:
        """Facts in a file beside the logs (role ``side``), e.g. a subagent's meta.json."""
        return ()
