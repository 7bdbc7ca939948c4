"""The session logs of AI agents as first-class data: read, link, chunk, store, search, show.

The public names are loaded when they are first used, so that importing one room does not import them all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clm_sessions.errors import ClmError, DatabaseError, NoSessionError, NotALogError, UsageError
    from clm_sessions.hookspecs import hookimpl
    from clm_sessions.library import Database, StoredSession, load, load_all, open_db
    from clm_sessions.model import Chunk, Message, Session, SessionInfo, ToolCall, Usage

__version__ = "0.1.0"

_HOMES = {
    **dict.fromkeys(("ClmError", "DatabaseError", "NoSessionError", "NotALogError", "UsageError"), "errors"),
    **dict.fromkeys(("Database", "StoredSession", "load", "load_all", "open_db"), "library"),
    **dict.fromkeys(("Chunk", "Message", "Session", "SessionInfo", "ToolCall", "Usage"), "model"),
    "hookimpl": "hookspecs",
}

__all__ = [
    "Chunk",
    "ClmError",
    "Database",
    "DatabaseError",
    "Message",
    "NoSessionError",
    "NotALogError",
    "Session",
    "SessionInfo",
    "StoredSession",
    "ToolCall",
    "Usage",
    "UsageError",
    "__version__",
    "hookimpl",
    "load",
    "load_all",
    "open_db",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a public name of any kind
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
