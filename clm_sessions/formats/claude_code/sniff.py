"""Whether records are Claude Code's, judged by any of the first ones (census: 596 of 660 logs do not begin with a turn)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clm_sessions.formats.base import Confidence

# Types nobody else writes, with the keys that go with them (uuid or not).
_OWN = {
    "user": ("parentUuid", "isSidechain", "sessionId"),
    "assistant": ("parentUuid", "isSidechain", "sessionId"),
    "system": ("parentUuid", "isSidechain", "sessionId"),
    "progress": ("parentUuid", "isSidechain", "sessionId", "parentToolUseID"),
    "attachment": ("parentUuid", "isSidechain", "sessionId"),
    "summary": ("leafUuid",),
    "file-history-snapshot": ("snapshot",),
    "file-history-delta": ("snapshotMessageId",),
    "queue-operation": ("operation",),
    "custom-title": ("customTitle",),
    "ai-title": ("aiTitle",),
    "agent-name": ("agentName",),
    "agent-setting": ("agentSetting",),
    "last-prompt": ("lastPrompt", "leafUuid"),
    "mode": ("sessionId",),
    "permission-mode": ("permissionMode",),
    "pr-link": ("prNumber",),
    "bridge-session": ("bridgeSessionId",),
}
_CHAT = frozenset(("user", "assistant"))


def confidence(records: Iterable[Any]) -> Confidence:
    """SIGNATURE for a record only Claude Code writes, SHAPE for bare user or assistant entries with a uuid."""
    found = Confidence.NO
    for record in records:
        if not isinstance(record, dict):
            continue
        kind = record.get("type")
        if not isinstance(kind, str):
            continue
        if kind in _OWN and any(key in record for key in _OWN[kind]):
            return Confidence.SIGNATURE
        if kind in _CHAT and isinstance(record.get("uuid"), str) and isinstance(record.get("message"), dict):
            found = Confidence.SHAPE
    return found


def first_session(records: Iterable[Any]) -> str | None:
    """The sessionId of the first record that has one."""
    for record in records:
        if isinstance(record, dict):
            session = record.get("sessionId")
            if isinstance(session, str) and session:
                return session
    return None
