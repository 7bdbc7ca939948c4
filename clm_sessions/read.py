"""From the bytes of one log to a ``Stream``, with an account of every physical line.

The last line without LF is provisional (decision 2): it is used if it is whole, but the checkpoint stands before
it, so a later read begins there again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from clm_sessions.errors import DatabaseError, PluginError, Refused
from clm_sessions.formats.base import LogFormat, Parsed, Reader, StreamContext
from clm_sessions.formats.numbers import credible
from clm_sessions.frames import Decoded, RawLine, blank, document, lines, quick
from clm_sessions.model import Block, Disposition, Fact, Issue, Message, Place, Stream, ToolResult, ToolUse
from clm_sessions.spool import Spool
from clm_sessions.text import visible

# Of the records on one line, the one that says most gives the line its disposition.
_RANK: tuple[Disposition, ...] = ("issue", "message", "fact", "noise", "raw", "duplicate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Where a reading stands after the last LF: all a later reading needs besides the messages and facts.

    ``offset`` is in bytes, ``line`` the number of lines before it; counts leave the provisional tail out.
    """

    offset: int = 0
    line: int = 0
    state: Mapping[str, Any] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[tuple[str, str], int] = field(default_factory=dict)
    first_at: int | None = None
    last_at: int | None = None
    refused: str | None = None


class StreamBuilder:
    """Collects what a reader makes of the lines of one log. Begin fresh, or from a checkpoint and the stream so far.

    Raises PluginError where the reader raises on a record, or answers with what cannot be taken in.
    """

    def __init__(
        self,
        fmt: LogFormat,
        context: StreamContext,
        *,
        so_far: Stream | None = None,
        start: Checkpoint | None = None,
        spool: Spool | None = None,
    ) -> None:
        start = start or Checkpoint()
        so_far = so_far or Stream()
        self._plugin = fmt.plugin or fmt.name
        self._decode = fmt.decode
        self._quick = type(fmt).decode is LogFormat.decode
        self._spool = spool
        self._reader: Reader = fmt.reader(context, start.state or None)
        self.messages: list[Message] = [m for m in so_far.messages if m.place.line <= start.line]
        self.facts: list[Fact] = [f for f in so_far.facts if f.line is None or f.line <= start.line]
        self.issues: list[Issue] = [i for i in so_far.issues if i.line is None or i.line <= start.line]
        self._seen = {m.uuid for m in self.messages if m.uuid is not None}
        self._lines: Counter[str] = Counter(start.lines)
        self._types: Counter[tuple[str, str]] = Counter(start.types)
        self._first_at, self._last_at = start.first_at, start.last_at
        self._offset, self._line = start.offset, start.line
        self._refused = start.refused
        self._checkpoint: Checkpoint | None = None

    def add(self, raw: RawLine) -> None:
        """Take in the next line. A line that did not end is the provisional tail, and the last."""
        if not raw.ended:
            self._checkpoint = self._mark()
            self._tail(raw)
            return
        disposition = self._quickly(raw) if self._quick and not raw.skipped and self._refused is None else None
        if disposition is None:
            disposition = self._line_disposition(raw)
        self._lines[disposition] += 1
        self._offset = raw.offset + raw.length
        self._line = raw.number

    def _quickly(self, raw: RawLine) -> Disposition | None:
        """Take in the one record of a usual line; None where the line is not usual."""
        try:
            value = quick(raw.data)
        except ValueError:
            return None
        return self._feed(value, raw, 0)

    def add_values(self, raw: RawLine, decoded: Decoded) -> None:
        """Take in the values at one place of a source that has no lines: a part of a JSON document, a row."""
        self._count("raw" if self._refused is not None else self._disposition(raw, decoded))

    def refuse(self, reason: str) -> None:
        """The whole source is refused from outside."""
        self._count(self._refuse(reason, RawLine(1, 0, b"", True)))

    def finish(self) -> tuple[Stream, Checkpoint]:
        """The stream with the tail, and the checkpoint before it."""
        checkpoint = self._checkpoint or self._mark()
        return Stream(
            messages=self.messages,
            facts=self.facts,
            issues=self.issues,
            first_at=self._first_at,
            last_at=self._last_at,
            lines=dict(self._lines),
            types=dict(self._types),
            refused=self._refused,
        ), checkpoint

    def _mark(self) -> Checkpoint:
        state = dict(self._reader.state())
        try:
            _text(json.dumps(state, ensure_ascii=False), "state")
        except (TypeError, ValueError, RecursionError) as error:
            raise TypeError(f"the state is no JSON: {error}") from error
        return Checkpoint(
            offset=self._offset,
            line=self._line,
            state=state,
            lines=dict(self._lines),
            types=dict(self._types),
            first_at=self._first_at,
            last_at=self._last_at,
            refused=self._refused,
        )

    def _tail(self, raw: RawLine) -> None:
        if not blank(raw.data):
            decoded = self._decode(raw.data, raw.number == 1)
            if raw.skipped or not decoded.usable:
                self._lines["pending"] += 1
                return
        self._count(self._line_disposition(raw))

    def _count(self, disposition: Disposition) -> None:
        self._lines[disposition] += 1  # looked up only now: a refusal replaces the counter

    def _line_disposition(self, raw: RawLine) -> Disposition:
        if blank(raw.data):
            return "blank"
        if self._refused is not None:
            return "raw"
        if raw.skipped:
            self._issue("too_long", f"a line of {raw.length:,} bytes is kept in the raw archive, not read", raw)
            return "issue"
        return self._disposition(raw, self._decode(raw.data, raw.number == 1))

    def _disposition(self, raw: RawLine, decoded: Decoded) -> Disposition:
        if decoded.problem is not None:
            self._issue("bad_line" if decoded.bad else "repaired", decoded.problem, raw)
        found: set[Disposition] = set()
        for part, value in enumerate(decoded.values):
            found.add(self._feed(value, raw, part))
            if self._refused is not None:
                return "raw"
        if decoded.bad:
            return "issue"
        return min(found, key=_RANK.index) if found else "raw"

    def _feed(self, value: Any, raw: RawLine, part: int) -> Disposition:  # noqa: ANN401 - a JSON value
        """Hand a record to the reader, and take in what it says."""
        place = Place(line=raw.number, offset=raw.offset, length=raw.length, part=part)
        try:
            return self._take(self._reader.feed(value, place), raw)
        except Refused as refusal:
            return self._refuse(str(refusal), raw)
        except DatabaseError:
            raise
        except (Exception, SystemExit) as error:
            raise PluginError.of(self._plugin, f"feed, line {raw.number}", error) from error

    def _take(self, parsed: Parsed, raw: RawLine) -> Disposition:
        disposition = parsed.disposition
        kind = parsed.type or "?"
        if parsed.at is not None:
            self._date(parsed.at)
        if parsed.message is not None:
            message = _as_stored(parsed.message)
            uuid = message.uuid
            if uuid is not None and uuid in self._seen:
                disposition = "duplicate"
            else:
                if uuid is not None:
                    self._seen.add(uuid)
                self.messages.append(message if self._spool is None else self._spool.keep(message))
        if parsed.facts:
            self.facts.extend(replace(f, line=raw.number) if f.line is None else f for f in parsed.facts)
        if parsed.issue is not None:
            self._issue(_text(parsed.issue_kind, "issue_kind"), _text(parsed.issue, "issue"), raw)
        counted = (kind, disposition)
        if counted not in self._types:
            _text(kind, "type")
        self._types[counted] += 1
        return disposition

    def _date(self, at: int) -> None:
        if type(at) is not int:
            raise TypeError(f"at is {type(at).__name__}, not int")
        if self._last_at is None or at > self._last_at:
            self._last_at = at
        if self._first_at is None:
            self._first_at = at

    def _issue(self, kind: str, reason: str, raw: RawLine) -> None:
        self.issues.append(Issue(kind=kind, reason=reason, line=raw.number, offset=raw.offset))

    def _refuse(self, reason: str, raw: RawLine) -> Disposition:
        """The whole file is refused: what was read of it is taken back, and every used line counts as raw."""
        self._refused = reason
        self.messages.clear()
        self.facts.clear()
        self._types = Counter({(kind, "raw"): n for (kind, _d), n in self._types.items()})
        kept = {d: n for d, n in self._lines.items() if d in {"blank", "issue"}}
        kept["raw"] = sum(self._lines.values()) - sum(kept.values())
        self._lines = Counter(kept)
        self._issue("refused", reason, raw)
        return "raw"


def _text(value: str, what: str) -> str:
    """The value, if a column takes it: TypeError or UnicodeEncodeError (the format's fault) where it is no such text."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is {type(value).__name__}, not str")
    value.encode()
    return value


def _as_stored(message: Message) -> Message:
    """The message with its names as columns hold them and without counts that can be none, whatever format read it.

    When a log has grown, its earlier messages come from rows: what messages are compared by must already be as rows
    have it, or reading in steps would differ from reading at once. Texts stay; ``derive`` compares their visible form.
    """
    m = message
    if "\0" in f"{m.uuid}{m.parent_uuid}{m.reply_id}{m.model}{m.agent_id}{m.source_tool_use_id}":
        message = replace(
            message,
            uuid=_name(m.uuid),
            parent_uuid=_name(m.parent_uuid),
            reply_id=_name(m.reply_id),
            model=_name(m.model),
            agent_id=_name(m.agent_id),
            source_tool_use_id=_name(m.source_tool_use_id),
        )
    for block in m.blocks:
        if isinstance(block, (ToolUse, ToolResult)) and "\0" in f"{_call_id(block)}{block.name}":
            message = replace(message, blocks=tuple(map(_named, m.blocks)))
            break
    if m.usage is not None and (usage := credible(m.usage)) is not m.usage:
        message = replace(message, usage=usage)
    return message


def _name(name: str | None) -> str | None:
    return None if name is None else visible(name)


def _call_id(block: ToolUse | ToolResult) -> str | None:
    return block.id if isinstance(block, ToolUse) else block.tool_use_id


def _named(block: Block) -> Block:
    if isinstance(block, ToolUse):
        return replace(block, id=_name(block.id), name=_name(block.name))
    if isinstance(block, ToolResult):
        return replace(block, tool_use_id=_name(block.tool_use_id), name=_name(block.name))
    return block


def read_stream(
    fmt: LogFormat,
    context: StreamContext,
    file: BinaryIO,
    *,
    so_far: Stream | None = None,
    start: Checkpoint | None = None,
    spool: Spool | None = None,
) -> tuple[Stream, Checkpoint]:
    """Read one log from ``start`` (default: its beginning) to its end. ``file`` need not be positioned.

    ``spool``: where long texts are kept, for a log that would take much memory. Raises OSError where the file cannot be
    read.
    """
    builder = StreamBuilder(fmt, context, so_far=so_far, start=start, spool=spool)
    offset, number = (start.offset, start.line + 1) if start else (0, 1)
    file.seek(offset)
    for raw in lines(file, offset=offset, number=number):
        builder.add(raw)
    return builder.finish()


def read_document(fmt: LogFormat, context: StreamContext, data: bytes) -> Stream:
    """Read a log that is one JSON document; each of the parts its format splits it into counts as a line."""
    builder = StreamBuilder(fmt, context)
    found = document(data)
    if not found.values:
        builder.add_values(RawLine(1, 0, data, False), found)
    for value in found.values:
        for number, part in enumerate(fmt.split(value), 1):
            builder.add_values(RawLine(number, 0, data, False), Decoded(values=(part,)))
    return builder.finish()[0]


def read_rows(fmt: LogFormat, context: StreamContext, rows: Iterable[tuple[Any, ...]]) -> Stream:
    """Read the rows of a database; each counts as a line. ``rows`` may raise Refused: then the log is refused."""
    builder = StreamBuilder(fmt, context)
    try:
        for number, row in enumerate(rows, 1):
            builder.add_values(RawLine(number, 0, b"", False), Decoded(values=(row,)))
    except Refused as refusal:
        builder.refuse(str(refusal))
    return builder.finish()[0]
