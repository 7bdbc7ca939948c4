"""How tool calls are shown: a table of describers by tool name, the readable default last. Data only, never HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clm_sessions.hookspecs import hookimpl

if TYPE_CHECKING:
    from clm_sessions.model import ToolCall
    from clm_sessions.view import ToolView


def describe(call: ToolCall) -> ToolView:
    """A tool call for a reader, whatever tool it is. Never raises on content."""
    from clm_sessions.tools import table

    return table.describe(call)


@hookimpl
def clm_describe_tool(call: ToolCall) -> ToolView:
    """The built-in describers. They know every tool, so they are asked last."""
    return describe(call)
