"""Whether records are those of a Codex rollout, and whose rollout it is, judged by any of the first ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from clm_sessions.formats.base import Confidence

Record = Mapping[str, Any]
LONGEST = 200
"""Characters that are kept of an id or a name of something; what is longer is none."""

ITEM_TYPES = frozenset(
    ("message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
     "local_shell_call", "web_search_call")
)  # fmt: skip
"""Types of the payload of a ``response_item``; the first versions wrote these without an envelope."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a ``session_meta`` says of where its thread came from.

    ``parent``: the thread it was forked from or started by. ``agent``: another thread started it, to work for it.
    """

    id: str | None = None
    parent: str | None = None
    agent: bool = False
    agent_type: str | None = None


def confidence(objects: Iterable[Record]) -> Confidence:
    """SIGNATURE for a record in Codex's envelope; SHAPE for the bare items of its first versions."""
    found = Confidence.NO
    for record in objects:
        payload = record.get("payload")
        if isinstance(payload, dict) and isinstance(record.get("timestamp"), str) and _own(record.get("type"), payload):
            return Confidence.SIGNATURE
        if record.get("record_type") == "state" or ("instructions" in record and _is_bare_meta(record)):
            found = Confidence.SHAPE
    return found


def _own(kind: object, payload: Record) -> bool:
    if kind == "session_meta":
        return isinstance(payload.get("id"), str)
    if kind == "turn_context":
        return "cwd" in payload and ("model" in payload or "turn_id" in payload)
    if kind == "compacted":
        return isinstance(payload.get("message"), str)
    return kind in ("response_item", "event_msg") and isinstance(payload.get("type"), str)


def _is_bare_meta(record: Record) -> bool:
    return isinstance(record.get("id"), str) and isinstance(record.get("timestamp"), str) and "type" not in record


def is_document(document: Any) -> TypeGuard[dict[str, Any]]:  # noqa: ANN401 - a JSON value
    """Whether a JSON document is a rollout of the first versions."""
    if not isinstance(document, dict):
        return False
    session, items = document.get("session"), document.get("items")
    return isinstance(session, dict) and isinstance(session.get("id"), str) and isinstance(items, list)


def meta(record: Any) -> Record | None:  # noqa: ANN401 - a JSON value
    """The payload of a ``session_meta``, also of one without an envelope; None for any other record."""
    if not isinstance(record, dict):
        return None
    payload = record.get("payload")
    if record.get("type") == "session_meta" and isinstance(payload, dict):
        return payload
    return record if payload is None and _is_bare_meta(record) else None


def origin(payload: Record) -> Origin:
    """What the payload of a ``session_meta`` says of the thread."""
    source = payload.get("source")
    started = source.get("subagent") if isinstance(source, dict) else None
    spawn = started.get("thread_spawn") if isinstance(started, dict) else None
    spawn = spawn if isinstance(spawn, dict) else {}
    parent = _word(spawn.get("parent_thread_id")) or _word(payload.get("parent_thread_id"))
    forked = _word(payload.get("forked_from_id"))
    named = started if isinstance(started, str) else None
    return Origin(
        id=_word(payload.get("id")),
        parent=parent or forked,
        agent=started is not None or payload.get("thread_source") == "subagent",
        agent_type=_word(spawn.get("agent_role")) or _word(payload.get("agent_role")) or named,
    )


def first_origin(records: Iterable[Any]) -> Origin:
    """That of the first ``session_meta``: later ones were copied with the history of another thread."""
    for record in records:
        payload = meta(record)
        if payload is not None:
            return origin(payload)
    return Origin()


def _word(value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    return value[:LONGEST] if isinstance(value, str) and value else None
