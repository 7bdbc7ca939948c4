"""Tools that search files."""

from __future__ import annotations

from clm_sessions.model import ToolCall
from clm_sessions.tools.parts import arg, details, failed, fitting, number, output, rest, result
from clm_sessions.view import ToolView
from clm_sessions.view.words import lines, one_line, plural


def grep(call: ToolCall) -> ToolView:
    """Grep, Glob, search: what was sought where, and what was found."""
    pattern, place = arg(call, "pattern", "query"), arg(call, "path", "glob")
    quoted = f'"{pattern}"' if call.name != "Glob" else pattern
    return ToolView(
        title=call.name or "Grep",
        subtitle=one_line(f"{quoted} {place}".strip()),
        badges=found(call),
        sections=rest(call, *fitting(call, "pattern", "query"), *fitting(call, "path", "glob"))
        + result(call, title="Found"),
        family="search",
    )


def found(call: ToolCall) -> tuple[str, ...]:
    """How much was found: files and lines where the log counts them, else lines of the result."""
    facts = details(call)
    files, rows = number(facts, "numFiles"), number(facts, "numLines")
    badges = [plural(files, "file")] if files else []
    badges += [plural(rows, "line")] if rows else []
    if not badges and output(call) and not failed(call):
        badges.append(plural(lines(output(call)), "line"))
    if facts.get("truncated") is True:
        badges.append("cut by the tool")
    return tuple(badges)


def lookup(call: ToolCall) -> ToolView:
    """ToolSearch, LSP: a question to an index."""
    about = " ".join(word for word in (arg(call, "operation"), arg(call, "query", "filePath", "symbol")) if word)
    return ToolView(
        title=call.name or "Search",
        subtitle=one_line(about),
        sections=rest(call, *fitting(call, "query", "filePath", "symbol"), *fitting(call, "operation")) + result(call),
        family="search",
    )


TABLE = {"Grep": grep, "Glob": grep, "search": grep, "ToolSearch": lookup, "LSP": lookup}
