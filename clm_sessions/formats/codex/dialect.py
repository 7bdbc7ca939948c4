"""Tools of Codex by name: what starts agents, and what the provider runs by itself."""

from __future__ import annotations

from typing import Any

from clm_sessions.formats.base import Dialect
from clm_sessions.formats.codex.content import word
from clm_sessions.model import Spawn, Status, ToolUse

SPAWNING = "spawn_agent"
PROVIDED = frozenset(("web_search", "image_generation"))
"""Tools the provider runs: the call is logged when it is done, and there is no result."""


class CodexDialect(Dialect):
    """The answers for Codex."""

    def spawn(self, call: ToolUse) -> Spawn | None:
        """``spawn_agent`` starts a thread of its own."""
        if call.name != SPAWNING:
            return None
        given: dict[str, Any] = call.input if isinstance(call.input, dict) else {}
        return Spawn(prompt=word(given.get("message")), agent_type=word(given.get("agent_type")))

    def settled(self, call: ToolUse) -> Status | None:
        """A call of the provider's own tools is done when it is logged."""
        return "ok" if call.name in PROVIDED else None

    def opens(self, origin: str) -> bool:
        """The prompt: instructions and the state of the machine come before it."""
        return origin == "prompt"
