"""The tags Claude Code writes into texts: taking blocks out, reading what is inside (spec claude-code 4 and 5).

Everything here is linear in the text, whatever it holds: a closing tag that is missing once is not looked for again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from clm_sessions.model import Command
from clm_sessions.text import trim

NOISE_OPEN = ("<local-command-caveat>", "<system-reminder>")
OUTPUT_OPEN = ("<local-command-stdout>", "<local-command-stderr>", "<bash-stdout>", "<bash-stderr>")
COMMAND_OPEN = ("<command-name>", "<command-message>")
BASH_OPEN = "<bash-input>"
MEMORY_OPEN = "<user-memory-input>"
NOTIFICATION_OPEN = "<task-notification>"
TEAMMATE_OPEN = "<teammate-message"

_NOISE = re.compile(r"<(/?)(local-command-caveat|system-reminder)>")
# For display the same tags count in any letter case.
_SHOWN_AWAY = (
    re.compile(r"<(/?)(local-command-caveat|system-reminder)>", re.IGNORECASE | re.ASCII),
    re.compile(r"<(/?)(task-notification)>", re.IGNORECASE | re.ASCII),
    re.compile(r"<(/?)(command-name|command-message|command-args)>", re.IGNORECASE | re.ASCII),
)
_RESULT_FILE = re.compile(r" Read the output file to retrieve the result: \S+", re.IGNORECASE | re.ASCII)
_NAME = re.compile(r"<command-name>/([^<]+)</command-name>")
_TEAMMATE = re.compile(r'<teammate-message(\s[^"<>]*(?:"[^"]*"[^"<>]*)*)>')
_ATTRIBUTE = re.compile(r'(?<=\s)([\w:.-]+)="([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Teammate:
    """A message from a teammate: who wrote it, its summary (empty if the log gives none), its text."""

    id: str
    summary: str
    text: str


def without_noise(text: str) -> str:
    """The text without caveat and reminder blocks, shortest match, not trimmed."""
    if NOISE_OPEN[0] in text or NOISE_OPEN[1] in text:
        return _without(text, _NOISE)
    return text


def shown(text: str) -> str:
    """The text a person should read: noise, notification and command blocks taken out, trimmed (spec 5)."""
    if "<" in text:
        for pattern in _SHOWN_AWAY:
            text = _without(text, pattern)
    return trim(_RESULT_FILE.sub("", text))


def _without(text: str, pattern: re.Pattern[str]) -> str:
    tags = [(found.start(), found.end(), found[1] == "", found[2].lower()) for found in pattern.finditer(text)]
    closing: dict[str, list[tuple[int, int]]] = {}
    for start, end, opens, name in reversed(tags):
        if not opens:
            closing.setdefault(name, []).append((start, end))
    kept: list[str] = []
    at = 0
    for start, end, opens, name in tags:
        if not opens or start < at:
            continue
        waiting = closing.get(name, [])
        while waiting and waiting[-1][0] < end:
            waiting.pop()
        if waiting:
            kept.append(text[at:start])
            at = waiting[-1][1]
    kept.append(text[at:])
    return "".join(kept)


def inner(text: str, tag: str) -> str | None:
    """What stands between the first ``<tag>`` and the next ``</tag>``, untrimmed; None if there is no such pair."""
    start = text.find(f"<{tag}>")
    if start < 0:
        return None
    start += len(tag) + 2
    end = text.find(f"</{tag}>", start)
    return None if end < 0 else text[start:end]


def command(text: str) -> Command | None:
    """The slash command in a text that begins with a command tag; None without a ``/name``."""
    found = _NAME.search(text)
    if found is None:
        return None
    message, args = inner(text, "command-message"), inner(text, "command-args")
    return Command(
        name=trim(found[1]),
        message=None if message is None else trim(message),
        args=None if args is None else trim(args),
    )


def command_output(text: str) -> str:
    """What a command or ``!`` line printed: stdout, else stderr, else both of bash, else the whole text (spec 5)."""
    for tag in ("local-command-stdout", "local-command-stderr"):
        found = inner(text, tag)
        if found is not None:
            return found
    bodies = [inner(text, "bash-stdout"), inner(text, "bash-stderr")]
    if any(body is not None for body in bodies):
        return "\n".join(body for body in bodies if body)
    return trim(text)


def is_teammate(text: str) -> bool:
    """Whether a text begins with a teammate message that names who wrote it."""
    if not text.startswith(TEAMMATE_OPEN):
        return False
    found = _TEAMMATE.match(text)
    return found is not None and "teammate_id" in dict(_ATTRIBUTE.findall(found[1]))


def teammates(text: str) -> list[Teammate]:
    """Each whole teammate message in a text."""
    return [
        Teammate(id=attributes["teammate_id"], summary=attributes.get("summary", ""), text=trim(body))
        for attributes, body in _teammates(text)
        if "teammate_id" in attributes
    ]


def _teammates(text: str) -> Iterator[tuple[dict[str, str], str]]:
    at = text.find(TEAMMATE_OPEN)
    while at >= 0:
        found = _TEAMMATE.match(text, at)
        end = at + len(TEAMMATE_OPEN)
        if found is not None:
            close = text.find("</teammate-message>", found.end())
            if close < 0:
                return
            yield dict(_ATTRIBUTE.findall(found[1])), text[found.end() : close]
            end = close
        at = text.find(TEAMMATE_OPEN, end)


def notifications(text: str) -> Iterator[tuple[str, str]]:
    """(task id, tool use id) of each notification in a text that has both."""
    for part in text.split(NOTIFICATION_OPEN)[1:]:
        body = part.partition("</task-notification>")[0]
        task, use = inner(body, "task-id"), inner(body, "tool-use-id")
        if task and use and trim(task) and trim(use):
            yield trim(task), trim(use)
