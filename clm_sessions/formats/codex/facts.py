"""What a rollout says about its session: where and with what it ran, its name, whom it came from, whom it started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clm_sessions.formats.base import StreamContext
from clm_sessions.formats.codex.content import word
from clm_sessions.formats.codex.sniff import Origin
from clm_sessions.formats.numbers import count
from clm_sessions.frames import parse_args
from clm_sessions.model import Fact, Message, ToolResult

_META = {"cli_version": "version", "model_provider": "provider", "originator": "agent", "cwd": "cwd"}
_CONTEXT = {"model": "model", "effort": "effort", "cwd": "cwd"}
_THREADS = 50
_LONGEST = 64


class Facts:
    """Gives facts, each once. ``state``: what an earlier one of the same rollout left."""

    def __init__(self, context: StreamContext, state: Mapping[str, Any] | None = None) -> None:
        given = state or {}
        self._id = context.agent or context.session
        self._threads: list[str] = list(given.get("threads", ()))
        self._last: dict[str, str] = dict(given.get("last", {}))

    def state(self) -> Mapping[str, Any]:
        """Small JSON."""
        return {"threads": list(self._threads), "last": dict(self._last)}

    def of_meta(self, payload: Mapping[str, Any], origin: Origin) -> tuple[Fact, ...]:
        """The first one is the session's own. Later ones came with the history of another thread, or tell nothing new."""
        thread = (origin.id or "")[:_LONGEST]
        if thread in self._threads:
            return ()
        first = not self._threads
        if len(self._threads) < _THREADS:
            self._threads.append(thread)
        if not first:
            return (Fact(name="history_of", value=thread),)
        return tuple(self._own(payload, origin))

    def _own(self, payload: Mapping[str, Any], origin: Origin) -> Iterator[Fact]:
        for key, name in _META.items():
            yield from self._new(name, payload.get(key))
        git = payload.get("git")
        yield from self._new("git_branch", git.get("branch") if isinstance(git, dict) else None)
        source = payload.get("source")
        yield from self._new("source", source if isinstance(source, str) else origin.agent_type)
        if origin.parent is not None:
            yield Fact(name="parent_thread" if origin.agent else "forked_from", value=origin.parent)

    def of_context(self, payload: Mapping[str, Any]) -> tuple[Fact, ...]:
        """What has changed since the turn before."""
        return tuple(fact for key, name in _CONTEXT.items() for fact in self._new(name, payload.get(key)))

    def of_event(self, payload: Mapping[str, Any]) -> tuple[Fact, ...]:
        """The name of this thread; the thread that a call started; how many prompts a person took back."""
        kind = payload.get("type")
        if kind == "thread_name_updated" and payload.get("thread_id") in (None, self._id, *self._threads[:1]):
            return tuple(self._new("title.custom", payload.get("thread_name")))
        if kind == "collab_agent_spawn_end":
            return _hint(payload.get("new_thread_id"), payload.get("call_id"))
        turns = count(payload.get("num_turns")) if kind == "thread_rolled_back" else None
        return (Fact(name="rolled_back", value=turns),) if turns is not None and turns > 0 else ()

    def of_result(self, message: Message) -> tuple[Fact, ...]:
        """The thread that a call started, where its result names it."""
        for block in message.blocks:
            text = block.content if isinstance(block, ToolResult) else None
            if (
                isinstance(block, ToolResult)
                and isinstance(text, str)
                and text.startswith("{")
                and '"agent_id"' in text
            ):
                value = parse_args(text)
                return _hint(value.get("agent_id"), block.tool_use_id) if isinstance(value, dict) else ()
        return ()

    def _new(self, name: str, value: Any) -> Iterator[Fact]:  # noqa: ANN401 - a JSON value
        text = word(value)
        if text is not None and self._last.get(name) != text[:1000]:
            self._last[name] = text[:1000]
            yield Fact(name=name, value=text)


def _hint(thread: Any, call: Any) -> tuple[Fact, ...]:  # noqa: ANN401 - JSON values
    agent, use = word(thread), word(call)
    if agent is None or use is None:
        return ()
    return (Fact(name="agent_hint", value={"agent_id": agent, "tool_use_id": use, "evidence": "result"}),)
