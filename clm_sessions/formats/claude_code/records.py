"""The reader: one JSON value of a Claude Code log in, one ``Parsed`` out (spec claude-code 2, 3 and 9.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sys import intern
from typing import Any

from clm_sessions.formats.base import Parsed, StreamContext
from clm_sessions.formats.claude_code import classify, tags
from clm_sessions.formats.claude_code.blocks import MalformedError, content_blocks, detail, usage
from clm_sessions.formats.claude_code.clock import Clock
from clm_sessions.formats.claude_code.facts import FACT_TYPES, Facts
from clm_sessions.model import Block, Disposition, Image, Kind, Message, Place, Text, ToolResult

Entry = Mapping[str, Any]

SYNTHETIC = "<synthetic>"
_LABEL = 80
_SUBTYPE = {"system": "subtype", "queue-operation": "operation"}
_NESTED_TYPE = {"progress": "data", "attachment": "attachment"}


class ClaudeReader:
    """Reads the entries of one log. ``state``: what an earlier reader of the same log left."""

    def __init__(self, context: StreamContext, state: Mapping[str, Any] | None = None) -> None:
        self._in_main = context.role == "main"
        self._facts = Facts(state)
        self._clock = Clock()
        # The six types whose entries are messages when they have a uuid (2.3).
        self._readers: dict[str, Callable[[Entry, dict[str, Any]], Message]] = {
            "user": self._user,
            "assistant": self._assistant,
            "system": self._system,
            "summary": self._quiet,
            "file-history-snapshot": self._quiet,
            "queue-operation": self._quiet,
        }

    def state(self) -> Mapping[str, Any]:
        """Small JSON: the facts already told."""
        return self._facts.state()

    def feed(self, record: Any, place: Place) -> Parsed:  # noqa: ANN401 - a JSON value
        """Say what a JSON value is. Never raises on content."""
        if not isinstance(record, dict):
            if record is None:
                return Parsed(disposition="issue", issue="JSON null")
            name = "array" if isinstance(record, list) else "scalar"
            return Parsed(disposition="issue", issue=f"JSON {name}, not an object", issue_kind="not_object")
        kind = record.get("type")
        if not isinstance(kind, str):
            kind = "(no type)"
        at = self._clock.read(record.get("timestamp"))
        facts = self._facts.of(kind, record, at)
        uuid = record.get("uuid")
        read = self._readers.get(kind) if isinstance(uuid, str) and uuid else None
        if read is None:
            disposition: Disposition = "fact" if kind in FACT_TYPES else "raw"
            return Parsed(disposition=disposition, type=_label(kind, record), at=at, facts=facts)
        try:
            message = read(record, self._common(kind, record, place, at))
        except MalformedError as error:
            return Parsed(disposition="issue", type=_label(kind, record), at=at, facts=facts, issue=str(error))
        disposition = "noise" if message.kind == "hard_noise" else "message"
        return Parsed(disposition=disposition, type=_label(kind, record), at=at, facts=facts, message=message)

    def _common(self, kind: str, entry: Entry, place: Place, at: int | None) -> dict[str, Any]:
        return {
            "place": place,
            "role": kind,
            "at": at,
            "uuid": entry["uuid"],
            "parent_uuid": _word(entry.get("parentUuid")),
            "is_sidechain": _truthy(entry.get("isSidechain")),
            "is_meta": entry.get("isMeta") is True,
            "agent_id": _word(entry.get("agentId")),
        }

    def _assistant(self, entry: Entry, common: dict[str, Any]) -> Message:
        message = _body(entry)
        model = _word(message.get("model"))
        api_error = entry.get("isApiErrorMessage") is True
        return Message(
            **common,
            kind=self._kind("ai", entry),
            origin="synthetic" if model == SYNTHETIC else "reply",
            blocks=content_blocks(message.get("content")),
            model=intern(model) if model else None,
            usage=usage(message.get("usage")),
            reply_id=_word(message.get("id")) or _word(entry.get("requestId")),
            detail={"api_error": _word(entry.get("error")) or True} if api_error else None,
        )

    def _user(self, entry: Entry, common: dict[str, Any]) -> Message:
        content = _body(entry).get("content")
        return self._read_user(entry, "" if content is None else content, common)

    def _read_user(self, entry: Entry, given: Any, common: dict[str, Any]) -> Message:  # noqa: ANN401 - a JSON value
        blocks = content_blocks(given)
        content = _content(blocks, is_list=not isinstance(given, str))
        origin = entry.get("origin")
        reading = classify.read(
            content,
            is_meta=common["is_meta"],
            is_compact=entry.get("isCompactSummary") is True,
            notified=isinstance(origin, dict) and origin.get("kind") == "task-notification",
        )
        return Message(
            **common,
            kind=self._kind(reading.kind, entry),
            origin=reading.origin,
            blocks=blocks,
            text=reading.text,
            source_tool_use_id=_word(entry.get("sourceToolUseID")),
            command=reading.command,
            detail=_user_detail(entry, content, reading.origin),
        )

    def _system(self, entry: Entry, common: dict[str, Any]) -> Message:
        content = entry.get("content")
        if entry.get("subtype") == "local_command" and isinstance(content, str) and content:
            return self._read_user(entry, content, common)
        return self._quiet(entry, common)

    def _quiet(self, entry: Entry, common: dict[str, Any]) -> Message:
        content = entry.get("content")
        blocks = (Text(text=content),) if isinstance(content, str) and content else ()
        return Message(**common, kind=self._kind("hard_noise", entry), origin="system", blocks=blocks)

    def _kind(self, kind: Kind, entry: Entry) -> Kind:
        """Rule 0: a sidechain entry of a main log takes no part in chunking."""
        return "sidechain" if self._in_main and _truthy(entry.get("isSidechain")) else kind


def _body(entry: Entry) -> Mapping[str, Any]:
    message = entry.get("message")
    if not isinstance(message, dict):
        raise MalformedError(f"{entry['type']} entry without a message object")
    return message


def _content(blocks: tuple[Block, ...], *, is_list: bool) -> classify.Content:
    if len(blocks) == 1 and isinstance(blocks[0], ToolResult):
        return classify.Content(parts=(), is_list=True, results=1)
    parts = [block.text for block in blocks if isinstance(block, Text)]
    results = sum(1 for block in blocks if _block_type(block) == "tool_result")
    images = sum(1 for block in blocks if _block_type(block) == "image")
    return classify.Content(
        parts=parts, is_list=is_list, results=results, images=images, others=len(blocks) - len(parts) - results
    )


def _block_type(block: Block) -> str:
    if isinstance(block, Image):
        return "image"
    if isinstance(block, ToolResult):
        return "tool_result"
    return getattr(block, "type", "")


def _user_detail(entry: Entry, content: classify.Content, origin: str) -> Any:  # noqa: ANN401 - JSON values
    """Beside the trimmed toolUseResult: the teammate messages of the entry, and the form of injected text."""
    given = detail(entry["toolUseResult"]) if "toolUseResult" in entry else None
    more: dict[str, Any] = {}
    if origin == "teammate":
        more["teammates"] = [
            {"id": found.id, "summary": found.summary, "text": found.text}
            for part in content.parts
            for found in tags.teammates(part)
        ]
    if origin == "injected" and content.is_list:
        more["form"] = "blocks"
    if not more:
        return given
    return {**given, **more} if isinstance(given, dict) else more


def _label(kind: str, entry: Entry) -> str:
    """The type to count a record by: with its subtype where it has one."""
    if kind in _NESTED_TYPE:
        nested = entry.get(_NESTED_TYPE[kind])
        subtype = nested.get("type") if isinstance(nested, dict) else None
    else:
        subtype = entry.get(_SUBTYPE[kind]) if kind in _SUBTYPE else None
    return f"{kind}/{subtype}"[:_LABEL] if isinstance(subtype, str) else kind[:_LABEL]


def _truthy(value: Any) -> bool:  # noqa: ANN401 - a JSON value
    """As the agent program, which is JavaScript, takes it: an empty list or object counts."""
    return bool(value) or isinstance(value, (list, dict))


def _word(value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    return value if isinstance(value, str) and value else None
