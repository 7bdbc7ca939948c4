"""Describers by tool name. A module of its own, because an import of logs knows tools and never shows them."""

from __future__ import annotations

from clm_sessions.model import ToolCall
from clm_sessions.tools import agents, codex, default, files, plans, search, shell, web
from clm_sessions.view import ToolView

TABLE = {**files.TABLE, **shell.TABLE, **search.TABLE, **web.TABLE, **agents.TABLE, **plans.TABLE, **codex.TABLE}


def describe(call: ToolCall) -> ToolView:
    """A tool call for a reader, whatever tool it is. Never raises on content."""
    return TABLE.get(call.name or "", default.describe)(call)
