"""Session logs of the terminal agent clm: one JSON record a line, no times, no usage, call ids that repeat (spec clm)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from clm_sessions import times
from clm_sessions.errors import Refused
from clm_sessions.formats import clm_json
from clm_sessions.formats.base import Claim, Confidence, Head, Located, LogFormat, Parsed, StreamContext
from clm_sessions.formats.clm_dialect import ClmDialect, context_time, job_done, job_started, outcome
from clm_sessions.formats.clm_rewrite import rejoin
from clm_sessions.frames import Decoded, parse_args, too_deep
from clm_sessions.hookspecs import hookimpl
from clm_sessions.model import Block, Fact, Kind, Message, Place, Stream, Text, ToolResult, ToolUse, Unknown

VERSION = 1
CONTENT_LIMIT = 65_535
"""Bytes of content clm keeps: its writer cuts there without a mark, and so does its reader."""
JOBS = 100
ROLES: Mapping[str, tuple[Kind, str]] = {
    "system": ("hard_noise", "system"),
    "user": ("user", "prompt"),
    "assistant": ("ai", "reply"),
    "tool": ("ai", "tool_result"),
}
_ID = "[0-9A-Za-z-]{1,64}"
_FILE = re.compile(rf"({_ID})\.jsonl(\.bak)?")
_BESIDE = re.compile(rf"({_ID})\.(blobs|spool)")
_BLOB = re.compile(r"[0-9a-f]{64}\.(png|jpg|gif|webp|bin)")
_CONTEXT = "[context update]"


@hookimpl
def clm_register_formats() -> Iterable[LogFormat]:
    """The format ``clm``."""
    return (Clm(),)


class Clm(LogFormat):
    """The format ``clm``. A file's name is the id of its session; what ``meta.id`` says is not checked."""

    name = "clm"
    label = "clm"
    dialect = ClmDialect()

    def roots(self, home: Path, env: Mapping[str, str]) -> Iterable[Path]:
        """``$XDG_STATE_HOME/clm``, else ``~/.local/state/clm``."""
        state = env.get("XDG_STATE_HOME")
        return ((Path(state) if state else home / ".local" / "state") / "clm",)

    def locate(self, path: PurePath) -> Located | None:
        """``ID.jsonl``, the log before it was compacted (``.bak``), and what lies in ``ID.blobs`` and ``ID.spool``."""
        beside = _BESIDE.fullmatch(path.parent.name)
        if beside is not None:
            known = _BLOB.fullmatch(path.name) if beside[2] == "blobs" else path.suffix == ".txt"
            return Located(role="side", session=beside[1]) if known else None
        found = _FILE.fullmatch(path.name)
        if found is None:
            return None
        return Located(role="earlier" if found[2] else "main", session=found[1])

    def sniff(self, located: Located, head: Head) -> Claim:
        """A meta record with a version is clm's own; messages of its shape are only like it (spec clm 8)."""
        del located
        sure = Confidence.NO
        for record in head.objects():
            if record.get("type") == "meta" and _number(record.get("v")) is not None:
                return Claim(confidence=Confidence.SIGNATURE)
            if record.get("type") == "msg" and _role(record) is not None:
                sure = Confidence.SHAPE
        return Claim(confidence=sure)

    def decode(self, line: bytes, first: bool) -> Decoded:
        """The first value of the line, read as laxly as clm does."""
        del first
        return clm_json.decode(line)

    def reader(self, context: StreamContext, state: Mapping[str, Any] | None = None) -> ClmReader:
        """A reader; ``state`` says whether meta was seen, and which call started which background job."""
        del context
        return ClmReader(state or {})

    def rejoin(self, earlier: Sequence[Stream], now: Stream) -> Stream:
        """The log with what stood in it before it was compacted."""
        return rejoin(earlier, now)

    def side(self, located: Located, name: str, data: bytes) -> Sequence[Fact]:
        """``full_result``: the whole text of a tool output that the log has cut, by the name of its file."""
        del located, data
        return (Fact(name="full_result", value={"name": name}),) if name.endswith(".txt") else ()


class ClmReader:
    """Turns records into messages and facts (spec clm 3 and 7)."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._meta = bool(state.get("meta"))
        self._jobs: dict[str, str] = dict(state.get("jobs") or {})

    def state(self) -> Mapping[str, Any]:
        """``{"meta": seen, "jobs": {job number: id of the call that started it}}``."""
        return {"meta": self._meta, "jobs": dict(self._jobs)}

    def feed(self, record: Any, place: Place) -> Parsed:  # noqa: ANN401 - a JSON value
        """Say what a record is. Raises Refused at a meta record of a newer format version."""
        if not isinstance(record, dict):
            return Parsed(disposition="raw", issue="JSON, but no object", issue_kind="not_object")
        kind = record.get("type")
        if kind == "meta":
            return self._feed_meta(record, place)
        if kind == "msg":
            return self._feed_message(record, place)
        if kind == "prompt" and isinstance(record.get("content"), str):
            value = {"hash": _text(record.get("hash")), "content": record["content"]}
            return Parsed(disposition="fact", type="prompt", facts=(Fact(name="system_prompt", value=value),))
        return Parsed(disposition="raw", type=kind if isinstance(kind, str) else None)

    def _feed_meta(self, record: dict[str, Any], place: Place) -> Parsed:
        version = _number(record.get("v"))
        if version is not None and version > VERSION:
            raise Refused(f"clm format version {version} (line {place.line}) is newer than {VERSION}, the newest known")
        if self._meta:
            return Parsed(disposition="duplicate", type="meta")
        self._meta = True
        return Parsed(disposition="fact", type="meta", facts=tuple(_meta_facts(record)))

    def _feed_message(self, record: dict[str, Any], place: Place) -> Parsed:
        role = _role(record)
        if role is None:
            return Parsed(disposition="issue", type="msg", issue="msg of no known role")
        if "content" in record and not isinstance(record["content"], str):
            return Parsed(disposition="issue", type="msg", issue="msg with content that is no text")
        calls = record.get("tool_calls", []) if role == "assistant" else []
        if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
            return Parsed(disposition="issue", type="msg", issue="msg with tool_calls that are no list of objects")
        message = self._message(role, record, calls, place)
        at = context_time(message.joined) if message.origin == "context" else None
        facts = () if at is None else (Fact(name="context_time", value=at),)
        return Parsed(disposition="message", type="msg", message=message, facts=facts)

    def _message(self, role: str, record: dict[str, Any], calls: list[dict[str, Any]], place: Place) -> Message:
        kind, origin = ROLES[role]
        content, cut = _cut(record.get("content"))
        detail: dict[str, Any] = {"cut": True} if cut else {}
        blocks: tuple[Block, ...] = () if content is None else (Text(text=content),)
        source = None
        if role == "assistant":
            blocks += tuple(_call(call) for call in calls)
        elif role == "tool":
            blocks = (self._result(record, content),)
            detail |= outcome(content or "")
        elif role == "user" and content is not None:
            job = job_done(content)
            if content.startswith(_CONTEXT):
                kind, origin = "hard_noise", "context"
            elif job is not None:
                kind, origin, source = "ai", "notification", self._jobs.pop(job, None)
        blocks += tuple(_attachments(record.get("attachments")))
        return Message(
            place=place,
            role=role,
            kind=kind,
            origin=origin,
            blocks=blocks,
            source_tool_use_id=source,
            detail=detail or None,
        )

    def _result(self, record: dict[str, Any], content: str | None) -> ToolResult:
        call = _text(record.get("tool_call_id"))
        job = job_started(content or "")
        if job is not None and call is not None:
            self._jobs[job] = call
            if len(self._jobs) > JOBS:
                del self._jobs[next(iter(self._jobs))]
        name = _text(record.get("tool_name"))
        return ToolResult(tool_use_id=call, content=() if content is None else content, name=name)


def _meta_facts(record: dict[str, Any]) -> Iterator[Fact]:
    kept = {k: v for k, v in record.items() if not isinstance(v, (dict, list))} if too_deep(record) else record
    yield Fact(name="meta", value=kept)
    for name in ("model", "provider", "agent"):
        if isinstance(record.get(name), str):
            yield Fact(name=name, value=record[name])
    created = _number(record.get("created"))
    at = times.parse(created) if created is not None and abs(created) < 1e11 else None
    if at is not None:
        yield Fact(name="created", value=at)


def _call(call: dict[str, Any]) -> ToolUse:
    args = _text(call.get("args"))
    value = None if args is None else parse_args(args)
    return ToolUse(id=_text(call.get("id")), name=_text(call.get("name")), input=value, args=args)


def _attachments(given: Any) -> Iterator[Unknown]:  # noqa: ANN401 - a JSON value
    """What the log names of files beside it; the core puts the image in its place, if it is there."""
    for item in given if isinstance(given, list) else ():
        kind = item.get("type") if isinstance(item, dict) else None
        yield Unknown(type=kind if isinstance(kind, str) else "attachment", data=item)


def _cut(content: str | None) -> tuple[str | None, bool]:
    """The content as clm would load it, and whether some of it is gone.

    A U+FFFD stands for a byte that was no UTF-8, as a rule one, and counts as one; so the cut never comes too early.
    """
    if content is None or len(content) * 4 < CONTENT_LIMIT:
        return content, False
    data = content.replace("\ufffd", "\udc80").encode("utf-8", "surrogateescape")
    if len(data) < CONTENT_LIMIT - (2 if content.endswith("\ufffd") else 0):
        return content, False
    return data[:CONTENT_LIMIT].decode("utf-8", "replace"), True


def _role(record: dict[str, Any]) -> str | None:
    role = record.get("role")
    return role if isinstance(role, str) and role in ROLES else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: object) -> int | float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
