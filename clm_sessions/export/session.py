"""A whole session as one document, in pieces of text: memory holds a page of chunks, not the document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from clm_sessions.export.data import chunk_data, copied, info_data, relations_data
from clm_sessions.export.redacted import PRIVATE, AnySession
from clm_sessions.library import StoredSession
from clm_sessions.model import ChunkContent, Session, ToolCall
from clm_sessions.store import reader
from clm_sessions.store.relations import Relations, relations
from clm_sessions.view import ChunkView, ToolView, chunk_view

Describe = Callable[[ToolCall], ToolView | None]
PAGE = 50
_TABLES = frozenset(("tool_calls", "projects"))


def to_markdown(session: AnySession, describe: Describe, *, note: str = PRIVATE) -> Iterator[str]:
    """Markdown with no live HTML or image in it, texts whole, times in UTC. ``note``: what the file is (see ``redacted``)."""
    from clm_sessions.export import markdown

    place = f"chunks 1 to {session.info.chunks:,} of {session.info.chunks:,}"
    yield from (f"{line}\n" for line in markdown.lines(session.info, views(session, describe), place, None, note))


def to_json(session: AnySession, describe: Describe, *, note: str = PRIVATE, ascii_only: bool = False) -> Iterator[str]:
    """One JSON object: ``private`` or ``redacted`` (the note), ``session``, ``relations``, ``count``, ``chunks``; texts whole, images by their hash."""

    def dumps(value: object) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, default=str)

    head = {
        "private" if note == PRIVATE else "redacted": note,
        "session": info_data(session.info),
        "relations": relations_data(_relations(session)),
        "count": session.info.chunks,
    }
    yield f'{dumps(head)[:-1]}, "chunks": ['
    inherited = reader.inherited(session.db, session.id) if isinstance(session, StoredSession) else 0
    for number, content in enumerate(contents(session, images=False)):
        chunk = chunk_data(chunk_view(content, describe), session.id)
        chunk["inherited"] = copied(content.chunk, inherited)
        yield f"{',' if number else ''}\n{dumps(chunk)}"
    yield "\n]}\n"


def contents(session: AnySession, start: int = 0, stop: int | None = None, *, images: bool) -> Iterator[ChunkContent]:
    """Chunks ``start`` to ``stop`` one after the other, of a stored session read a page at a time."""
    if isinstance(session, Session):
        yield from session.contents(start, stop)
        return
    last = session.info.chunks if stop is None else min(stop, session.info.chunks)
    for first in range(start, last, PAGE):
        yield from session.contents(first, min(first + PAGE, last), images=images)


def views(session: AnySession, describe: Describe, start: int = 0, stop: int | None = None) -> Iterator[ChunkView]:
    """The cards of those chunks, without the bytes of images."""
    return (chunk_view(content, describe) for content in contents(session, start, stop, images=False))


def _relations(session: AnySession) -> Relations:
    if isinstance(session, StoredSession):
        return relations(session.db, _TABLES, session.info)
    return Relations(agents=[agent.info for agent in session.subagents])
