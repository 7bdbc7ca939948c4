"""Tools that run commands."""

from __future__ import annotations

import re

from clm_sessions.model import ToolCall
from clm_sessions.tools.parts import (
    Sections,
    arg,
    details,
    fitting,
    inputs,
    number,
    output,
    rest,
    result,
    text_section,
    used,
)
from clm_sessions.view import ToolView
from clm_sessions.view.words import duration, one_line

COMMANDS = ("command", "cmd")
_JOBS = ("bash_id", "shell_id", "task_id", "id", "job")
_FLAG = ("run_in_background",)
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
        + rest(call, *used(call, *COMMANDS), *used(call, "description", "label"), *_FLAG)
        + result(call, title="Output"),
        family="shell",
    )


def endings(call: ToolCall) -> tuple[str, ...]:
    """How a command ran and ended: ``background``, ``exit 1``, ``signal 9``, ``timed out after 2 min``."""
    facts = details(call)
    text_code, text_signal, text_late = _said(output(call))
    code = number(facts, "exitCode", "exit_code", "exit_status")
    signal = number(facts, "signal")
    late = number(facts, "timed_out_ms")
    code, signal = text_code if code is None else code, text_signal if signal is None else signal
    late = text_late if late is None and call.status != "ok" else late
    badges = [
        "background" if inputs(call).get("run_in_background") is True or call.name == "bg_exec" else "",
        f"exit {code}" if code is not None else "",
        f"signal {signal}" if signal is not None else "",
        f"timed out after {duration(late)}" if late is not None else "",
    ]
    return tuple(badge for badge in badges if badge)


def _said(text: str) -> tuple[int | None, int | None, int | None]:
    """Exit code, signal and time limit (ms) as the text of a result tells them."""
    start, end, late = _EXIT.match(text), _EXIT_END.search(text[-200:]), _TIMEOUT.search(text[-400:])
    code = start[1] if start else end[1] if end else None
    signal = end[2] if end else None
    return int(code) if code else None, int(signal) if signal else None, int(late[1]) if late else None


def later(call: ToolCall) -> ToolView:
    """BashOutput, KillBash and their like: more of a command in the background."""
    job = arg(call, *_JOBS)
    about: Sections = rest(call, *fitting(call, *_JOBS))
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
