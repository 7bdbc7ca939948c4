"""The session logs of AI agents as first-class data: read, link, chunk, store, search, show."""

from importlib.metadata import PackageNotFoundError, version

from clm_sessions.errors import ClmError, DatabaseError, NoSessionError, NotALogError, UsageError
from clm_sessions.hookspecs import hookimpl
from clm_sessions.library import Database, StoredSession, load, load_all, open_db
from clm_sessions.model import Chunk, Message, Session, SessionInfo, ToolCall, Usage

try:
    __version__ = version("clm-sessions")
except PackageNotFoundError:  # a checkout that was not installed
    __version__ = "0"

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
    "UsageError",
    "Usage",
    "__version__",
    "hookimpl",
    "load",
    "load_all",
    "open_db",
]
