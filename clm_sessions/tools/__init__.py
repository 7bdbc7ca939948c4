"""How tool calls are shown: a table of describers by tool name, the readable default last. Data only, never HTML."""

from __future__ import annotations

from clm_sessions.hookspecs import hookimpl
from clm_sessions.model import ToolCall
from clm_sessions.tools import agents, codex, default, files, plans, search, shell, web
from clm_sessions.view import ToolView

TABLE = {**files.TABLE, **shell.TABLE, **search.TABLE, **web.TABLE, **agents.TABLE, **plans.TABLE, **codex.TABLE}


def describe(call: ToolCall) -> ToolView:
    """A tool call for a reader, whatever tool it is. Never raises on content."""
    return TABLE.get(call.name or "", default.describe)(call)


@hookimpl
def clm_describe_tool(call: ToolCall) -> ToolView:
    """The built-in describers. They know every tool, so they are asked last."""
    return describe(call)
