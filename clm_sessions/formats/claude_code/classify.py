"""What a user entry is: its kind, its origin, what a person should read of it (spec claude-code 4 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clm_sessions.formats.claude_code import tags
from clm_sessions.model import Command, Kind
from clm_sessions.text import trim

INTERRUPTED = "[Request interrupted by user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The content of a user entry as the rules see it.

    ``parts``: the string, or the text of each text block. ``is_list``: it was an array. ``others``: how many blocks
    are neither text nor tool result.
    """

    parts: Sequence[str]
    is_list: bool
    results: int = 0
    images: int = 0
    others: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The outcome. ``text`` is None where it does not differ from the joined text blocks."""

    kind: Kind
    origin: str
    text: str | None = None
    command: Command | None = None


def is_marker(text: str) -> bool:
    """Whether a text is the note that a person interrupted the agent."""
    return INTERRUPTED in text and trim(text).startswith(INTERRUPTED)


def read(content: Content, *, is_meta: bool, is_compact: bool, notified: bool) -> Reading:
    """The category of a user entry, rules 3 to 12 of spec 4, with its origin and display text."""
    if not content.parts and not content.images:
        return _without_text(content, is_meta=is_meta, is_compact=is_compact, notified=notified)
    parts = content.parts
    alone = len(parts) == 1 and not content.others
    if alone and is_marker(parts[0]):
        return Reading(kind="ai", origin="interruption")
    stripped = [trim(tags.without_noise(part)) for part in parts]
    if _only_noise(content, stripped):
        return Reading(kind="hard_noise", origin="context")
    if is_compact:
        return Reading(kind="compact", origin="compact_summary")
    if any(part.startswith(tags.OUTPUT_OPEN) for part in stripped):
        joined = "".join(parts)
        return Reading(kind="system", origin="command_output", text=_unless_same(tags.command_output(joined), joined))
    if is_meta:
        return Reading(kind="ai", origin="injected" if parts or not content.results else "tool_result")
    if any(tags.is_teammate(part) for part in stripped):
        return Reading(kind="ai", origin="teammate")
    if notified or (stripped and stripped[0].startswith(tags.NOTIFICATION_OPEN)):
        return Reading(kind="ai", origin="notification", text=tags.inner("".join(parts), "summary"))
    if any(part.startswith(tags.NOISE_OPEN) for part in stripped):
        return Reading(kind="ai", origin="context")
    return _typed(content, stripped)


def _without_text(content: Content, *, is_meta: bool, is_compact: bool, notified: bool) -> Reading:
    if is_compact:
        return Reading(kind="compact", origin="compact_summary")
    if content.results:
        return Reading(kind="ai", origin="tool_result")
    if is_meta:
        return Reading(kind="ai", origin="injected")
    return Reading(kind="ai", origin="notification" if notified else "context")


def _only_noise(content: Content, stripped: Sequence[str]) -> bool:
    return (
        not content.results
        and not content.others
        and not any(stripped)
        and any(trim(part).startswith(tags.NOISE_OPEN) for part in content.parts)
    )


def _typed(content: Content, stripped: Sequence[str]) -> Reading:
    if not content.is_list:
        typed = any(stripped)
    else:
        # A blank block counts as typed; one made of noise blocks alone does not.
        typed = bool(content.images) or any(
            left or not trim(part).startswith(tags.NOISE_OPEN)
            for left, part in zip(stripped, content.parts, strict=True)
        )
    if not typed:
        return Reading(kind="ai", origin="tool_result" if content.results else "context")
    joined = "".join(content.parts)
    text = trim(tags.without_noise(joined))
    if text.startswith(tags.COMMAND_OPEN):
        command = tags.command(text)
        if command is not None:
            line = f"/{command.name} {command.args}" if command.args else f"/{command.name}"
            return Reading(kind="user", origin="command", command=command, text=line)
    origin = "bash_command" if text.startswith(tags.BASH_OPEN) else "prompt"
    return Reading(kind="user", origin=origin, text=_unless_same(tags.shown(joined), joined))


def _unless_same(text: str, joined: str) -> str | None:
    return None if text == joined else text
