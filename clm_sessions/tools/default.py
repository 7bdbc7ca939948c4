"""Tools nobody has described: readable all the same."""

from __future__ import annotations

import json

from clm_sessions.model import ToolCall
from clm_sessions.tools.parts import Sections, arg, default_input, failed, first_text, inputs, output, result
from clm_sessions.view import ToolView
from clm_sessions.view.blocks import json_section
from clm_sessions.view.words import one_line

_JSON_LIMIT = 20_000
_TELLING = ("file_path", "path", "command", "cmd", "query", "url", "pattern", "name", "title", "label", "description")


def describe(call: ToolCall) -> ToolView:
    """Arguments as key and value or JSON, the result as text or, if it is JSON, as JSON."""
    server, tool = _mcp(call.name or "")
    return ToolView(
        title=one_line(tool) or "Unnamed tool",
        subtitle=_subtitle(call),
        badges=(one_line(server, 40),) if server else (),
        sections=default_input(call) + outcome(call),
    )


def outcome(call: ToolCall) -> Sections:
    """The result; text that is a JSON object or list is laid out as such."""
    text = output(call)
    if (
        isinstance(call.result, str)
        and not failed(call)
        and len(text) <= _JSON_LIMIT
        and text.lstrip()[:1] in {"{", "["}
    ):
        try:
            return (json_section(json.loads(text), title="Result"),)
        except (ValueError, RecursionError):
            pass
    return result(call)


def _mcp(name: str) -> tuple[str, str]:
    """Server and tool of ``mcp__server__tool``; no server for other names."""
    parts = name.split("__", 2)
    if len(parts) == 3 and parts[0] == "mcp" and parts[1] and parts[2]:
        return parts[1], parts[2]
    return "", name


def _subtitle(call: ToolCall) -> str:
    telling = one_line(arg(call, *_TELLING))
    if telling:
        return telling
    return one_line(call.input) if isinstance(call.input, str) else first_text(inputs(call).values())
