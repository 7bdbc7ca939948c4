"""Tools that run commands."""

from __future__ import annotations

import re

from clm_sessions.model import ToolCall
from clm_sessions.tools.parts import Sections, arg, details, inputs, number, output, rest, result, text_section
from clm_sessions.view import ToolView
from clm_sessions.views.words import duration, one_line

COMMANDS = ("command", "cmd")
_EXIT = re.compile(r"(?:<tool_use_error>)?(?:Error: )?Exit code (\d{1,10})\b")
_EXIT_END = re.compile(r"\((?:exit status (\d{1,10})|killed by signal (\d{1,4})[^)]{0,60})\)\s*\Z")
_TIMEOUT = re.compile(r"timed out after (\d{1,12}) ?ms\b")


def bash(call: ToolCall) -> ToolView:
    """Bash, shell_exec, bg_exec: the command, how it ended, what it printed."""
    command = arg(call, *COMMANDS)
    about = arg(call, "description", "label")
    return ToolView(
        title=call.name or "Bash",
        subtitle=one_line(command),
        badges=endings(call),
        sections=text_section("note", about)
        + text_section("code", command, language="bash")
        + rest(call, *COMMANDS, "description", "label", "run_in_background")
        + result(call, title="Output"),
        family="shell",
    )


def endings(call: ToolCall) -> tuple[str, ...]:
    """How a command ended and in what way it ran: ``exit 1``, ``signal 9``, ``timed out``, ``background``."""
    text = output(call)
    badges = []
    if inputs(call).get("run_in_background") is True or call.name == "bg_exec":
        badges.append("background")
    code = number(details(call), "exitCode", "exit_code", "code")
    start, end, late = _EXIT.match(text), _EXIT_END.search(text[-200:]), _TIMEOUT.search(text[-400:])
    if code is None and (start or (end and end[1])):
        code = int(start[1] if start else end[1])  # type: ignore[index]
    if code is not None:
        badges.append(f"exit {code}")
    if end and end[2]:
        badges.append(f"signal {end[2]}")
    if late and call.status != "ok":
        badges.append(f"timed out after {duration(int(late[1]))}")
    return tuple(badges)


def later(call: ToolCall) -> ToolView:
    """BashOutput, KillBash and their like: more of a command in the background."""
    job = arg(call, "bash_id", "shell_id", "task_id", "id", "job")
    about: Sections = rest(call, "bash_id", "shell_id", "task_id", "id", "job")
    return ToolView(
        title=call.name or "BashOutput",
        subtitle=one_line(job),
        badges=endings(call),
        sections=about + result(call, title="Output"),
        family="shell",
    )


TABLE = {
    "Bash": bash,
    "shell_exec": bash,
    "bg_exec": bash,
    "BashOutput": later,
    "KillBash": later,
    "KillShell": later,
    "Monitor": later,
}
