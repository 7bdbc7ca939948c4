"""A whole session as one document, in pieces of text: memory holds a page of chunks, not the document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timezone, tzinfo

from clm_sessions import render
from clm_sessions.export.data import chunk_data, copied, info_data, relations_data
from clm_sessions.library import StoredSession
from clm_sessions.model import ChunkContent, Session, ToolCall
from clm_sessions.render import Options
from clm_sessions.render.escape import esc
from clm_sessions.store import reader
from clm_sessions.store.relations import Relations, relations
from clm_sessions.view import ChunkView, ToolView, chunk_view
from clm_sessions.view.words import one_line

Describe = Callable[[ToolCall], ToolView | None]
AnySession = Session | StoredSession
PRIVATE = "Private: what the log says stands here as it was written, secrets included; nothing was redacted"
PAGE = 50
_WHOLE = 1_000_000
_TABLES = frozenset(("tool_calls", "projects"))


def to_markdown(session: AnySession, describe: Describe) -> Iterator[str]:
    """Markdown with no live HTML or image in it, texts whole, times in UTC."""
    from clm_sessions.export import markdown

    place = f"chunks 1 to {session.info.chunks:,} of {session.info.chunks:,}"
    yield from (f"{line}\n" for line in markdown.lines(session.info, views(session, describe), place, None, PRIVATE))


def to_json(session: AnySession, describe: Describe, *, ascii_only: bool = False) -> Iterator[str]:
    """One JSON object: ``session``, ``relations``, ``count``, ``chunks``; texts whole, images by their hash."""

    def dumps(value: object) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, default=str)

    head = {
        "private": PRIVATE,
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


def to_html(
    session: AnySession, describe: Describe, *, agent: str | None = None, tz: tzinfo = timezone.utc
) -> Iterator[str]:
    """One self-contained page: our stylesheet inline, images as data, subagents inside the steps that started them.

    Its policy lets nothing run and nothing be loaded. ``agent``: the label of the format. Texts over a million
    characters are cut, and say so.
    """
    info = session.info
    options = Options(
        tz=tz, heading=2, max_prose=_WHOLE, max_output=_WHOLE, max_rows=10_000, max_steps=None, budget=None
    )
    start, end = render.page_parts(one_line(info.title or info.native_id, 120))
    chunks = session.chunks
    bars = render.bars(chunks, render.context_sizes(session.requests))
    yield f'{start}<p class="clm-private" role="note">{esc(PRIVATE)}</p>\n'
    yield render.session_header_html(info, options=options, agent=agent, bars=bars, level=1)
    outline = render.outline_html(render.outline(chunks), lambda seq: f"#c{seq}")
    yield f'<div class="{"clm-layout" if outline else "clm-alone"}">{outline}<div>\n'
    yield from _Cards(describe).of(session, options)
    yield f"</div></div>\n{end}"


class _Cards:
    """Writes the cards of a session, each subagent once, below the step that started it."""

    def __init__(self, describe: Describe) -> None:
        self._describe = describe
        self._done: set[str] = set()

    def of(self, session: AnySession, options: Options) -> Iterator[str]:
        """The cards of a session, one after the other."""
        self._done.add(session.id)
        agents: dict[str, AnySession] = {agent.id: agent for agent in session.subagents}

        def nested(key: str) -> str | None:
            agent = agents.get(key)
            if agent is None or key in self._done:
                return None
            inner = replace(options, id_prefix=f"a{len(self._done)}-", heading=min(options.heading + 1, 5))
            return "".join(self.of(agent, inner))

        with_agents = replace(options, subagent_html=nested)
        for content in contents(session, images=True):
            yield render.chunk_html(chunk_view(content, self._describe), options=with_agents)


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
