"""Tools of Codex: commands, patches in its own notation, plans, and agents."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from clm_sessions.model import ToolCall
from clm_sessions.tools import agents, patch
from clm_sessions.tools.parts import (
    Sections,
    arg,
    details,
    fitting,
    inputs,
    items,
    number,
    rest,
    result,
    text_of,
    text_section,
    used,
)
from clm_sessions.tools.plans import MARKS
from clm_sessions.view import DiffLine, Section, ToolView
from clm_sessions.view.words import one_line, plural

_SHELLS = frozenset(("-c", "-lc", "/c", "-Command"))
_FILE = {"*** Add File: ": "new", "*** Update File: ": "", "*** Delete File: ": "deleted"}
_MOVE = "*** Move to: "
_OPEN_UP_TO = 60


def run(call: ToolCall) -> ToolView:
    """exec_command, shell and their like: the command, how it ended, what it printed."""
    name = next((key for key in ("cmd", "command") if command(inputs(call).get(key))), "")
    text = command(inputs(call).get(name))
    return ToolView(
        title=call.name or "shell",
        subtitle=one_line(text),
        badges=_endings(call),
        sections=text_section("code", text, language="bash") + rest(call, name) + result(call, title="Output"),
        family="shell",
    )


def command(given: Any) -> str:  # noqa: ANN401 - any JSON value
    """A command as a person would type it; what a shell is told to run, without the shell."""
    if isinstance(given, str):
        return given
    words = items(given)
    if not all(isinstance(word, str) for word in words):
        return ""
    if len(words) == 3 and words[1] in _SHELLS:
        return str(words[2])
    return shlex.join(words)


def _endings(call: ToolCall) -> tuple[str, ...]:
    code = number(details(call), "exit_code")
    if code:
        return (f"exit {code}",)
    return ("still running",) if details(call).get("running") is True else ()


def typed(call: ToolCall) -> ToolView:
    """write_stdin: what was typed into a running command, or that its output was waited for."""
    text = arg(call, "chars")
    return ToolView(
        title=call.name or "write_stdin",
        subtitle=one_line(repr(text)[1:-1] if text else "waits for output"),
        badges=_endings(call),
        sections=text_section("code", text) + rest(call, *used(call, "chars")) + result(call, title="Output"),
        family="shell",
    )


def patched(call: ToolCall) -> ToolView:
    """apply_patch: one diff a file."""
    text = call.input if isinstance(call.input, str) else arg(call, "input", "patch")
    files = list(_files(text))
    lines = tuple(line for _path, diff in files for line in diff)
    body: Sections = tuple(Section(kind="diff", diff=diff, title=path) for path, diff in files)
    return ToolView(
        title=call.name or "apply_patch",
        subtitle=one_line(", ".join(path for path, _diff in files) or text),
        badges=(patch.badge(lines),) if files else (),
        sections=(body or text_section("code", text, "Patch"))
        + (() if isinstance(call.input, str) else rest(call, *used(call, "input", "patch")))
        + result(call, "text"),
        open=0 < len(lines) <= _OPEN_UP_TO,
        family="edit",
    )


def _files(text: str) -> Iterator[tuple[str, tuple[DiffLine, ...]]]:
    """(path with what becomes of it, lines) of each file in a patch."""
    path: str | None = None
    diff: list[DiffLine] = []
    for line in text.split("\n"):
        start = next((mark for mark in _FILE if line.startswith(mark)), None)
        if start is not None or line.startswith("*** End Patch"):
            if path is not None:
                yield path, tuple(diff)
            path, diff = (None, []) if start is None else (_titled(line[len(start) :], _FILE[start]), [])
        elif path is not None and line.startswith(_MOVE):
            path = f"{path} → {line[len(_MOVE) :]}"
        elif path is not None and not line.startswith("*** "):
            sign = line[:1] if line[:1] in {"+", "-", "@"} else " "
            diff.append(DiffLine(sign=sign, text=line if sign == "@" else line[1:]))
    if path is not None:
        yield path, tuple(diff)


def _titled(path: str, what: str) -> str:
    return f"{path} ({what})" if what else path


def plan(call: ToolCall) -> ToolView:
    """update_plan: the steps as a table, with what is done counted."""
    steps = [one for one in items(inputs(call).get("plan")) if isinstance(one, Mapping)]
    now = next((text_of(one, "step") for one in steps if one.get("status") == "in_progress"), "")
    done = sum(one.get("status") == "completed" for one in steps)
    rows = tuple((MARKS.get(text_of(one, "status"), text_of(one, "status")), text_of(one, "step")) for one in steps)
    table: Sections = (Section(kind="table", header=("Status", "Step"), rows=rows),) if rows else ()
    return ToolView(
        title=call.name or "update_plan",
        subtitle=one_line(now or arg(call, "explanation")),
        badges=(f"{done} of {len(steps)} done",) if steps else (),
        sections=text_section("text", arg(call, "explanation"))
        + table
        + rest(call, *used(call, "explanation"), *(["plan"] if rows else []))
        + result(call, "text"),
        family="plan",
    )


def search(call: ToolCall) -> ToolView:
    """web_search: the words, or the page that was opened; what came back is not in the log."""
    queries = [query for query in items(inputs(call).get("queries")) if isinstance(query, str)]
    about = arg(call, "query", "url") or next(iter(queries), "")
    return ToolView(
        title=call.name or "web_search",
        subtitle=one_line(" ".join(word for word in (about, arg(call, "pattern")) if word)),
        badges=(plural(len(queries), "question"),) if len(queries) > 1 else (),
        sections=rest(call, *fitting(call, "query", "url"), *fitting(call, "pattern"), "type") + result(call),
        family="web",
    )


def spawn(call: ToolCall) -> ToolView:
    """spawn_agent: what it was told."""
    return ToolView(
        title=call.name or "spawn_agent",
        subtitle=one_line(arg(call, "message")),
        badges=used_value(call, "agent_type"),
        sections=text_section("markdown", arg(call, "message"), "Prompt")
        + rest(call, *used(call, "message"), *fitting(call, "agent_type"))
        + result(call, "text"),
        family="agent",
    )


def used_value(call: ToolCall, name: str) -> tuple[str, ...]:
    """An argument as a badge, if there is one that fits."""
    return tuple(arg(call, key) for key in fitting(call, name))


TABLE = {
    "exec_command": run,
    "shell": run,
    "shell_command": run,
    "local_shell": run,
    "container.exec": run,
    "write_stdin": typed,
    "apply_patch": patched,
    "update_plan": plan,
    "web_search": search,
    "spawn_agent": spawn,
    "send_input": agents.message,
    "send_message": agents.message,
    "wait_agent": agents.job,
    "close_agent": agents.job,
}
