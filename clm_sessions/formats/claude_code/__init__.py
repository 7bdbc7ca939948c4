"""Session logs of Claude Code, as spec claude-code says (its default profile)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from clm_sessions.formats.base import Claim, Head, Located, LogFormat, Reader, StreamContext
from clm_sessions.formats.claude_code import files, sniff
from clm_sessions.formats.claude_code.dialect import ClaudeDialect
from clm_sessions.frames import document
from clm_sessions.hookspecs import hookimpl
from clm_sessions.model import Fact

_META = {"agentType": "agent_type", "description": "description", "toolUseId": "tool_use_id"}


class ClaudeCode(LogFormat):
    """The format object."""

    name = "claude-code"
    label = "Claude Code"
    framer = "jsonl"
    dialect = ClaudeDialect()
    resume_command = "claude --resume {id}"

    def roots(self, home: Path, env: Mapping[str, str]) -> Iterable[Path]:
        """Below $CLAUDE_CONFIG_DIR (it may be a comma list), ~/.claude and ~/.config/claude."""
        return files.roots(home, env)

    def locate(self, path: PurePath) -> Located | None:
        """Main logs, agent logs in every layout seen, and the files beside them."""
        return files.locate(path)

    def sniff(self, located: Located, head: Head) -> Claim:
        """By any of the first records; they also name the session of an agent log at a project root."""
        session = sniff.first_session(head.records) if located.session is None else None
        if session is None and located.session is None and located.agent is not None:
            session = f"agent-{located.agent}"  # it names no session at all: a run of its own
        return Claim(confidence=sniff.confidence(head.records), session=session)

    def reader(self, context: StreamContext, state: Mapping[str, Any] | None = None) -> Reader:
        """A reader for one log, fresh or going on from ``state``."""
        from clm_sessions.formats.claude_code.records import ClaudeReader  # most runs open no log

        return ClaudeReader(context, state)

    def side(self, located: Located, name: str, data: bytes) -> Sequence[Fact]:
        """``agent_meta`` from a meta.json; ``full_result`` for the whole text of a result that was too large for the log."""
        if located.agent is None:
            call = name.partition(".")[0]
            return (Fact(name="full_result", value={"name": name, "tool_use_id": call}),) if call else ()
        values = document(data).values
        meta = values[0] if len(values) == 1 and isinstance(values[0], dict) else {}
        known = {ours: meta[key] for key, ours in _META.items() if isinstance(meta.get(key), str) and meta[key]}
        return (Fact(name="agent_meta", value={"agent_id": located.agent, **known}),) if known else ()


@hookimpl
def clm_register_formats() -> Iterable[LogFormat]:
    """Claude Code is built in."""
    return (ClaudeCode(),)
