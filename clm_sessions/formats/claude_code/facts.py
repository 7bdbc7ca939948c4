"""What the entries of a log say about their session, each thing told once (spec claude-code 3 and 9.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from clm_sessions.formats.claude_code import tags
from clm_sessions.frames import decode_strict
from clm_sessions.model import Fact

Entry = Mapping[str, Any]

# Keys of any entry, told when they change.
_FOLLOWED = (("cwd", "cwd"), ("gitBranch", "git_branch"), ("version", "version"), ("slug", "slug"))
# Types that say one thing: the fact, and the key that holds it.
_SIMPLE = {
    "custom-title": ("title.custom", "customTitle"),
    "ai-title": ("title.ai", "aiTitle"),
    "agent-name": ("agent_name", "agentName"),
    "agent-setting": ("agent_setting", "agentSetting"),
    "agent-color": ("agent_color", "agentColor"),
    "tag": ("tag", "tag"),
    "last-prompt": ("last_prompt", "lastPrompt"),
    "mode": ("mode", "mode"),
    "permission-mode": ("permission_mode", "permissionMode"),
    "bridge-session": ("bridge_session", "bridgeSessionId"),
}
FACT_TYPES = frozenset(
    (*_SIMPLE, "pr-link", "summary", "file-history-snapshot", "file-history-delta", "queue-operation")
)
"""Types that are facts about the session where they are no messages."""


class Facts:
    """Collects facts entry by entry. ``state``: what an earlier one had told."""

    def __init__(self, state: Mapping[str, Any] | None) -> None:
        state = state or {}
        self._last: dict[str, str] = dict(state.get("last", {}))
        self._sessions: dict[str, None] = dict.fromkeys(state.get("sessions", ()))
        self._hints: dict[tuple[str, ...], None] = dict.fromkeys(tuple(hint) for hint in state.get("hints", ()))
        self._own: dict[str, Callable[[Entry, int | None], Iterable[Fact]]] = {
            "user": self._user,
            "system": self._system,
            "summary": self._summary,
            "queue-operation": self._queue,
            "progress": self._progress,
            "attachment": self._attachment,
            "pr-link": self._pull_request,
        }

    def state(self) -> Mapping[str, Any]:
        """What has been told, as JSON."""
        return {
            "last": dict(self._last),
            "sessions": list(self._sessions),
            "hints": [list(hint) for hint in self._hints],
        }

    def of(self, kind: str, entry: Entry, at: int | None) -> tuple[Fact, ...]:
        """The facts an entry adds to those told before."""
        told: list[Fact] = []
        for key, name in _FOLLOWED:
            value = entry.get(key)
            if value is not None and self._last.get(name) != value:
                self._follow(name, value, told)
        session = entry.get("sessionId")
        if session is not None and isinstance(session, str) and session not in self._sessions:
            self._sessions[session] = None
            told.append(Fact(name="session_id", value=session))
        own = self._own.get(kind)
        if own is not None:
            told.extend(own(entry, at))
        elif kind in _SIMPLE:
            name, key = _SIMPLE[kind]
            self._follow(name, entry.get(key), told)
        return tuple(told)

    def _follow(self, name: str, value: Any, told: list[Fact]) -> None:  # noqa: ANN401 - a JSON value
        if isinstance(value, str) and self._last.get(name) != value:
            self._last[name] = value
            told.append(Fact(name=name, value=value))

    def _user(self, entry: Entry, _at: int | None) -> Iterable[Fact]:
        result = entry.get("toolUseResult")
        message = entry.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(result, dict):
            yield from self._result(entry, result, content)
        if isinstance(content, str):
            yield from self._notified(content)
        elif isinstance(content, list):
            for block in content:
                text = block.get("text") if isinstance(block, dict) and block.get("type") == "text" else block
                if isinstance(text, str):
                    yield from self._notified(text)

    def _result(self, entry: Entry, result: Entry, content: Any) -> Iterable[Fact]:  # noqa: ANN401 - a JSON value
        agent = result.get("agentId") or result.get("agent_id")
        spawned = result.get("status") == "teammate_spawned"
        if not (agent or spawned):
            return
        call = _first_result(content) or entry.get("sourceToolUseID")
        if agent:
            yield from self._hint(agent, call, "result")
        color = result.get("color")
        if spawned and isinstance(color, str) and isinstance(call, str) and call:
            yield Fact(name="teammate_color", value={"tool_use_id": call, "color": color})

    def _notified(self, text: str) -> Iterable[Fact]:
        if tags.NOTIFICATION_OPEN in text:
            for task, call in tags.notifications(text):
                yield from self._hint(task, call, "hint")

    def _hint(self, agent: Any, call: Any, evidence: str) -> Iterable[Fact]:  # noqa: ANN401 - JSON values
        if not (isinstance(agent, str) and agent and isinstance(call, str) and call):
            return
        hint = (agent, call, evidence)
        if hint not in self._hints:
            self._hints[hint] = None
            yield Fact(name="agent_hint", value={"agent_id": agent, "tool_use_id": call, "evidence": evidence})

    def _system(self, entry: Entry, _at: int | None) -> Iterable[Fact]:
        if entry.get("subtype") == "compact_boundary":
            found = entry.get("compactMetadata")
            metadata = found if isinstance(found, dict) else {}
            yield Fact(
                name="compact_boundary",
                value={"trigger": metadata.get("trigger"), "pre_tokens": metadata.get("preTokens")},
            )

    def _summary(self, entry: Entry, _at: int | None) -> Iterable[Fact]:
        summary, leaf = entry.get("summary"), entry.get("leafUuid")
        if isinstance(summary, str):
            yield Fact(
                name="title.summary", value={"summary": summary, "leaf": leaf if isinstance(leaf, str) else None}
            )

    def _queue(self, entry: Entry, _at: int | None) -> Iterable[Fact]:
        content = entry.get("content")
        texts = content if isinstance(content, list) else [content]
        for item in texts:
            text = item.get("text") if isinstance(item, dict) else item
            if not isinstance(text, str):
                continue
            yield from self._notified(text)
            if "tool_use_id" in text:
                found = _json_object(text)
                yield from self._hint(found.get("task_id"), found.get("tool_use_id"), "hint")

    def _progress(self, entry: Entry, _at: int | None) -> Iterable[Fact]:
        data = entry.get("data")
        if isinstance(data, dict) and "agentId" in data:
            yield from self._hint(data["agentId"], entry.get("parentToolUseID"), "hint")

    def _attachment(self, entry: Entry, at: int | None) -> Iterable[Fact]:
        attachment = entry.get("attachment")
        if isinstance(attachment, dict) and attachment.get("type") == "queued_command":
            prompt = attachment.get("prompt")
            if isinstance(prompt, list):
                prompt = "".join(b["text"] for b in prompt if isinstance(b, dict) and isinstance(b.get("text"), str))
            if isinstance(prompt, str):
                yield Fact(name="queued_command", value={"text": prompt, "at": at})

    def _pull_request(self, entry: Entry, _at: int | None) -> Iterable[Fact]:
        number, url, repository = entry.get("prNumber"), entry.get("prUrl"), entry.get("prRepository")
        yield Fact(name="pr", value={"number": number, "url": url, "repository": repository})


def _first_result(content: Any) -> str | None:  # noqa: ANN401 - a JSON value
    if isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and block.get("type") == "tool_result":
                call = block.get("tool_use_id")
                return call if isinstance(call, str) else None
    return None


def _json_object(text: str) -> Mapping[str, Any]:
    values = decode_strict(text.encode(), first=False).values
    return values[0] if values and isinstance(values[0], dict) else {}
