"""The reader: one record of a rollout in, one ``Parsed`` out (spec other-formats 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clm_sessions import times
from clm_sessions.formats.base import Parsed, StreamContext
from clm_sessions.formats.codex import sniff
from clm_sessions.formats.codex.content import word
from clm_sessions.formats.codex.facts import Facts
from clm_sessions.formats.codex.talk import Talk
from clm_sessions.model import Disposition, Fact, Message, Place

Payload = Mapping[str, Any]

_LABEL = 80
_NESTED = frozenset(("response_item", "event_msg"))
# Events whose content stands in the items too, or that only say how far the work has got.
_SAID = frozenset(
    ("task_started", "task_complete", "exec_command_end", "patch_apply_end", "mcp_tool_call_end",
     "collab_agent_spawn_end", "thread_name_updated", "turn_started", "turn_complete")
)  # fmt: skip


class CodexReader:
    """Reads the records of one rollout. ``state``: what an earlier reader of the same rollout left."""

    def __init__(self, context: StreamContext, state: Mapping[str, Any] | None = None) -> None:
        given = state or {}
        self._facts = Facts(context, given.get("facts"))
        self._talk = Talk(given.get("talk"))
        self._items: dict[str, Callable[[Payload, Place, int | None], Message | Disposition]] = {
            "message": self._talk.message,
            "agent_message": self._talk.agent_message,
            "reasoning": self._talk.reasoning,
        }
        for kind in ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
                     "image_generation_call"):  # fmt: skip
            self._items[kind] = self._talk.call
        for kind in ("function_call_output", "custom_tool_call_output", "tool_search_output"):
            self._items[kind] = self._talk.result
        self._events: dict[str, Callable[[Payload, Place, int | None], Message | Disposition]] = {
            "user_message": self._talk.prompt_event,
            "agent_message": self._talk.reply_event,
            "agent_reasoning": self._talk.thought_event,
            "turn_aborted": self._talk.aborted,
            "token_count": self._talk.count,
            "error": self._talk.error,
            "context_compacted": self._talk.compacted_event,
        }

    def state(self) -> Mapping[str, Any]:
        """Small JSON: the turn, the totals, what waits for its other half."""
        return {"facts": self._facts.state(), "talk": self._talk.state()}

    def feed(self, record: Any, place: Place) -> Parsed:  # noqa: ANN401 - a JSON value
        """Say what a JSON value is. Never raises on content."""
        if not isinstance(record, dict):
            return Parsed(disposition="issue", issue="JSON, but no object", issue_kind="not_object")
        kind, payload = record.get("type"), record.get("payload")
        at = times.parse(record.get("timestamp"))
        if not isinstance(payload, dict):
            return self._bare(record, place, at)
        label = _label(kind, payload)
        if kind == "session_meta":
            return self._meta(payload, at)
        if kind == "turn_context":
            return self._context(payload, at)
        if kind == "compacted":
            return _told(self._talk.compacted(payload, place, at), label, at)
        if kind == "response_item":
            return self._item(payload, place, at, label)
        if kind == "event_msg":
            return self._event(payload, place, at, label)
        return Parsed(disposition="raw", type=label, at=at)

    def _bare(self, record: Payload, place: Place, at: int | None) -> Parsed:
        """A record of the first versions, which had no envelope."""
        meta = sniff.meta(record)
        if meta is not None:
            return self._meta(meta, at)
        kind = record.get("type")
        if isinstance(kind, str) and kind in self._items:
            return self._item(record, place, at, _label("response_item", record))
        return Parsed(disposition="raw", type=_label(kind, {}), at=at)

    def _meta(self, payload: Payload, at: int | None) -> Parsed:
        origin = sniff.origin(payload)
        if origin.id is not None:
            self._talk.thread(origin)
        facts = self._facts.of_meta(payload, origin)
        return Parsed(disposition="fact" if facts else "duplicate", type="session_meta", at=at, facts=facts)

    def _context(self, payload: Payload, at: int | None) -> Parsed:
        self._talk.turn(word(payload.get("turn_id")))
        self._talk.model = word(payload.get("model")) or self._talk.model
        return Parsed(disposition="fact", type="turn_context", at=at, facts=self._facts.of_context(payload))

    def _item(self, payload: Payload, place: Place, at: int | None, label: str) -> Parsed:
        read = self._items.get(str(payload.get("type")))
        if read is None:
            return Parsed(disposition="raw", type=label, at=at)
        told = read(payload, place, at)
        return _told(told, label, at, () if isinstance(told, str) else self._facts.of_result(told))

    def _event(self, payload: Payload, place: Place, at: int | None, label: str) -> Parsed:
        kind = str(payload.get("type"))
        if kind in _SAID:
            self._talk.heard(kind, payload)
            return Parsed(disposition="fact", type=label, at=at, facts=self._facts.of_event(kind, payload))
        read = self._events.get(kind)
        if read is None:
            return Parsed(disposition="raw", type=label, at=at)
        return _told(read(payload, place, at), label, at)


def _told(told: Message | Disposition, label: str, at: int | None, facts: tuple[Fact, ...] = ()) -> Parsed:
    if isinstance(told, str):
        return Parsed(disposition=told, type=label, at=at)
    disposition: Disposition = "noise" if told.kind == "hard_noise" else "message"
    return Parsed(disposition=disposition, type=label, at=at, message=told, facts=facts)


def _label(kind: object, payload: Payload) -> str:
    """The type to count a record by: with that of its payload where it has one."""
    if not isinstance(kind, str):
        return "(no type)"
    inner = payload.get("type")
    if kind in _NESTED and isinstance(inner, str):
        return f"{kind}/{inner}"[:_LABEL]
    return kind[:_LABEL]
