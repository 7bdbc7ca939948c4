"""The reader: one record of a rollout in, one ``Parsed`` out (spec other-formats 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clm_sessions import times
from clm_sessions.formats.base import Parsed, StreamContext
from clm_sessions.formats.codex import events, items, sniff
from clm_sessions.formats.codex.content import word
from clm_sessions.formats.codex.facts import Facts
from clm_sessions.formats.codex.thread import Thread, Told
from clm_sessions.model import Disposition, Fact, Place

Payload = Mapping[str, Any]

_LABEL = 80
_NESTED = frozenset(("response_item", "event_msg"))


class CodexReader:
    """Reads the records of one rollout. ``state``: what an earlier reader of the same rollout left."""

    def __init__(self, context: StreamContext, state: Mapping[str, Any] | None = None) -> None:
        given = state or {}
        self._facts = Facts(context, given.get("facts"))
        self._thread = Thread(given.get("thread"))

    def state(self) -> Mapping[str, Any]:
        """Small JSON: the turn, the totals, what waits for its other half, the facts already told."""
        return {"facts": self._facts.state(), "thread": self._thread.state()}

    def feed(self, record: Any, place: Place) -> Parsed:  # noqa: ANN401 - a JSON value
        """Say what a JSON value is. Never raises on content."""
        if not isinstance(record, dict):
            return Parsed(disposition="issue", issue="JSON, but no object", issue_kind="not_object")
        kind, payload = record.get("type"), record.get("payload")
        at = times.parse(record.get("timestamp"))
        if not isinstance(payload, dict):
            return self._bare(record, place, at)
        if kind == "session_meta":
            return self._meta(payload, at)
        if kind == "turn_context":
            return self._context(payload, at)
        if kind == "response_item":
            return self._item(payload, place, at)
        label = _label(kind, payload)
        if kind == "event_msg":
            facts = self._facts.of_event(payload)
            return _parsed(events.read(self._thread, payload, place, at), label, at, facts)
        if kind == "compacted":
            return _parsed(self._compacted(payload, place, at), label, at)
        return Parsed(disposition="raw", type=label, at=at)

    def _bare(self, record: Payload, place: Place, at: int | None) -> Parsed:
        """A record of the first versions, which had no envelope."""
        meta = sniff.meta(record)
        if meta is not None:
            return self._meta(meta, at)
        if word(record.get("type")) in sniff.ITEM_TYPES:
            return self._item(record, place, at)
        return Parsed(disposition="raw", type=_label(record.get("type"), {}), at=at)

    def _meta(self, payload: Payload, at: int | None) -> Parsed:
        origin = sniff.origin(payload)
        if origin.id is not None:
            self._thread.begins(origin)
        facts = self._facts.of_meta(payload, origin)
        return Parsed(disposition="fact" if facts else "duplicate", type="session_meta", at=at, facts=facts)

    def _context(self, payload: Payload, at: int | None) -> Parsed:
        self._thread.turn(word(payload.get("turn_id")))
        self._thread.model = (word(payload.get("model")) or "")[: sniff.LONGEST] or self._thread.model
        return Parsed(disposition="fact", type="turn_context", at=at, facts=self._facts.of_context(payload))

    def _item(self, payload: Payload, place: Place, at: int | None) -> Parsed:
        told = items.read(self._thread, payload, place, at)
        facts = () if isinstance(told, str) else self._facts.of_result(told)
        return _parsed(told, _label("response_item", payload), at, facts)

    def _compacted(self, payload: Payload, place: Place, at: int | None) -> Told:
        self._thread.compacted = True
        kept = payload.get("replacement_history")
        return self._thread.cut(
            payload.get("message"), {"records": len(kept)} if isinstance(kept, list) else None, place, at
        )


def _parsed(told: Told, label: str, at: int | None, facts: tuple[Fact, ...] = ()) -> Parsed:
    if isinstance(told, str):
        return Parsed(disposition=told, type=label, at=at, facts=facts)
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
