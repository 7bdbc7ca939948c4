"""The values every room shares. They are frozen and know nothing of files, SQL or HTML.

Conventions: ``None`` means "not recorded", 0 means "recorded as zero". Times are whole milliseconds since
the epoch, UTC. A message is named by its session and its index in ``Session.messages`` ("seq"); chunks and
tool calls refer to messages by that index.
"""

from clm_sessions.model.log import (
    CHUNK_KINDS,
    DISPOSITIONS,
    Block,
    Command,
    Disposition,
    Fact,
    Image,
    Issue,
    Kind,
    Message,
    Place,
    Spawn,
    Status,
    Stream,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolUse,
    Unknown,
    Usage,
)
from clm_sessions.model.session import Chunk, ChunkContent, ChunkLine, Context, Phase, Request, Session, SessionInfo

__all__ = [
    "CHUNK_KINDS",
    "DISPOSITIONS",
    "Block",
    "Chunk",
    "ChunkContent",
    "ChunkLine",
    "Command",
    "Context",
    "Disposition",
    "Fact",
    "Image",
    "Issue",
    "Kind",
    "Message",
    "Phase",
    "Place",
    "Request",
    "Session",
    "SessionInfo",
    "Spawn",
    "Status",
    "Stream",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "ToolUse",
    "Unknown",
    "Usage",
]
