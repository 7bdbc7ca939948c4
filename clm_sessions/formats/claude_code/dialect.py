"""Tools of Claude Code by name: what starts agents, ends plans, writes to teammates (spec claude-code 7, 8, 9, 11)."""

from __future__ import annotations

from typing import Any

from clm_sessions.formats.base import Dialect
from clm_sessions.formats.claude_code import files, tags
from clm_sessions.formats.claude_code.classify import is_marker
from clm_sessions.model import Message, Spawn, ToolUse

SPAWNING = frozenset(("Task", "Agent"))
PLANNING = "ExitPlanMode"
WRITING = "SendMessage"
WARMUP = "Warmup"
_INTERNAL = ("acompact", "aprompt_suggestion", "aside_question")


class ClaudeDialect(Dialect):
    """The answers for Claude Code."""

    def spawn(self, call: ToolUse) -> Spawn | None:
        """``Task`` (to 2.1.62) and ``Agent`` start subagents."""
        if call.name not in SPAWNING:
            return None
        given = _object(call)
        return Spawn(
            prompt=_text(given.get("prompt")),
            description=_text(given.get("description")),
            agent_type=_text(given.get("subagent_type")),
            team=_text(given.get("team_name")),
            member=_text(given.get("name")),
        )

    def plan(self, call: ToolUse) -> str | None:
        """The plan of an ``ExitPlanMode`` call; empty where it stands in a file."""
        return _text(_object(call).get("plan")) or "" if call.name == PLANNING else None

    def ends_work(self, call: ToolUse) -> bool:
        """A plan waits for a person; an approved shutdown is the end."""
        return call.name == PLANNING or self.ends_session(call)

    def ends_session(self, call: ToolUse) -> bool:
        """An approved shutdown: its result is an ending too."""
        if call.name != WRITING:
            return False
        given = _object(call)
        return given.get("type") == "shutdown_response" and given.get("approve") is True

    def recipient(self, call: ToolUse) -> str | None:
        """The teammate a ``SendMessage`` goes to; ``*`` for a broadcast."""
        if call.name != WRITING:
            return None
        given = _object(call)
        if given.get("type") == "broadcast":
            return "*"
        return _text(given.get("recipient")) if given.get("type") == "message" else None

    def gist(self, message: Message) -> str:
        """A ``!`` command as it was typed, memory without its tag."""
        shown = message.display
        if message.origin == "bash_command":
            return f"! {_without(shown, tags.BASH_OPEN)}"
        return _without(shown, tags.MEMORY_OPEN)

    def interrupts(self, text: str) -> bool:
        """The note that a person interrupted the agent."""
        return is_marker(text)

    def internal_agent(self, agent_id: str, prompt: str | None) -> bool:
        """Warm-up, compaction, prompt suggestion and side question runs (spec 9.2, D23)."""
        return agent_id.startswith(_INTERNAL) or prompt == WARMUP

    def folder_name(self, folder: str) -> str:
        """Project folders are working directories with punctuation turned into hyphens."""
        return files.folder_name(folder)


def _object(call: ToolUse) -> dict[str, Any]:
    return call.input if isinstance(call.input, dict) else {}


def _text(value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    return value if isinstance(value, str) and value else None


def _without(text: str, tag: str) -> str:
    """The text inside a tag that it begins with; other text as it is."""
    inner = text.strip()
    return inner[len(tag) :].replace(f"</{tag[1:]}", "").strip() if inner.startswith(tag) else text
