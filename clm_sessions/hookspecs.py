"""The hooks of the pluggy project ``clm``: names, arguments, promises.

A hook registers a thing or decides once per file or tool call; the hot loop calls methods of what was registered.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    import click

    from clm_sessions.formats.base import LogFormat
    from clm_sessions.model import ToolCall
    from clm_sessions.redact import Redactor
    from clm_sessions.view import ToolView

PROJECT = "clm"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def clm_register_formats() -> Iterable[LogFormat]:  # type: ignore[empty-body]
    """Formats this plugin reads. All plugins are asked; a second format of the same name is refused and listed."""


@hookspec
def clm_register_redactors() -> Iterable[Redactor]:  # type: ignore[empty-body]
    """Redactors this plugin adds to our own. All plugins are asked, when something is published; none can take a span away."""


@hookspec(firstresult=True)
def clm_describe_tool(call: ToolCall) -> ToolView | None:
    """How to show a tool call: plain data, never HTML. None: not mine. Foreign plugins are asked before built-ins."""


@hookspec
def clm_register_commands(cli: click.Group) -> None:
    """Add commands to the ``clm-sessions`` command group."""
