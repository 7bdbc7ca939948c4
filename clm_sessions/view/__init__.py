"""From the values of a chunk to its view model: plain data that ``render`` makes HTML or text of.

Nothing here is HTML; all strings are plain text as the log has them.
"""

from __future__ import annotations

from collections.abc import Callable

from clm_sessions.model import ChunkContent, ToolCall
from clm_sessions.view.blocks import content_sections, json_section
from clm_sessions.view.build import build
from clm_sessions.view.model import ChunkView, DiffLine, Section, SectionKind, Step, ToolView
from clm_sessions.view.words import one_line

__all__ = ["ChunkView", "DiffLine", "Section", "SectionKind", "Step", "ToolView", "chunk_view"]


def chunk_view(content: ChunkContent, describe: Callable[[ToolCall], ToolView | None]) -> ChunkView:
    """The card of a chunk. ``describe`` is asked about every tool call; None means: arguments and result as they are.

    All that the messages of the chunk hold is in the card, if only as a quiet line. Never raises on content.
    """
    return build(content, lambda call: describe(call) or _undescribed(call))


def _undescribed(call: ToolCall) -> ToolView:
    arguments = json_section(call.input, title="Arguments")
    results = content_sections(call.result, title="Result")
    return ToolView(title=one_line(call.name or "") or "Unnamed tool", sections=(arguments, *results))
