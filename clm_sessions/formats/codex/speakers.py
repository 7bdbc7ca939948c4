"""Who said a message of the user role: a person, the program, or another agent (census, "Roles")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from clm_sessions.text import trim

Who = Literal["person", "program", "unsure", "aborted", "agent", "shell", "nobody"]

# What a part begins with that no person typed.
_PROGRAM = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<INSTRUCTIONS>", "<permissions",
    "<skills_instructions>", "<skill>", "<recommended_plugins>", "<user_action>", "<collaboration_mode>",
    "<apps_instructions>", "<plugins_instructions>", "<app-context>", "<personality_spec>", "<model_switch>",
    "<realtime_conversation>", "<hook_prompt", "<goal_context>",
)  # fmt: skip
_IMAGE = re.compile(r"</?image\b[^>]{0,400}>")
_WRAPPED = re.compile(r"<([A-Za-z][\w-]{0,60})(?:\s[^>]{0,400})?>")
_SHELL = "<user_shell_command>"
_ABORTED = "<turn_aborted>"
_NOTIFICATION = "<subagent_notification>"
_EDITOR = "# Context from my IDE setup:"
_REQUEST = "## My request for Codex:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """``who`` said it, and the ``text`` a person should read of it.

    unsure: all of it stands in a tag nobody has told us about. nobody: nothing is said.
    """

    who: Who
    text: str


def read(texts: Sequence[str], *, others: bool) -> Reading:
    """Who said a message made of these text parts (``others``: it has images or more beside them)."""
    left = [text for text in texts if not _IMAGE.fullmatch(trim(text))]
    typed = [text for text in left if not trim(text).startswith(_PROGRAM)]
    if left and not typed and not others:
        return Reading(who="program", text="".join(left))
    text = "".join(typed)
    start = trim(text)
    if not start:
        return Reading(who="person" if others else "nobody", text=text)
    for tag, who in _TAGS:
        if start.startswith(tag):
            return Reading(who=who, text=_inner(start))
    if start.startswith(_EDITOR) and _REQUEST in text:
        return Reading(who="person", text=trim(text.rpartition(_REQUEST)[2]))
    return Reading(who="unsure" if _is_wrapped(start) else "person", text=text)


_TAGS: tuple[tuple[str, Who], ...] = ((_ABORTED, "aborted"), (_NOTIFICATION, "agent"), (_SHELL, "shell"))


def _is_wrapped(text: str) -> bool:
    """Whether a text is one tag from its first to its last character."""
    opened = _WRAPPED.match(text)
    return opened is not None and text.endswith(f"</{opened[1]}>")


def _inner(text: str) -> str:
    """What stands in the tag a text begins with."""
    opened = _WRAPPED.match(text)
    if opened is None:
        return text
    return trim(text[opened.end() :].rpartition(f"</{opened[1]}>")[0]) or text
