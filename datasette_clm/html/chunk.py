"""One whole chunk, with the records behind it."""

from __future__ import annotations

from typing import Any

from clm_sessions import render
from clm_sessions.model import ChunkContent, SessionInfo
from clm_sessions.times import iso
from clm_sessions.view import ChunkView
from clm_sessions.view.words import one_line, size
from datasette_clm.html.setup import WHOLE_LIMIT, options
from datasette_clm.safe import safe
from datasette_clm.urls import Urls


def chunk_page(
    info: SessionInfo, content: ChunkContent, view: ChunkView, urls: Urls, tables: frozenset[str], *, raw_too: bool
) -> dict[str, Any]:
    """What the template of one whole chunk needs. Sections too long even for this page lead to their plain text."""
    how = options(
        urls,
        info.id,
        tables,
        heading=3,
        max_prose=WHOLE_LIMIT,
        max_output=WHOLE_LIMIT,
        max_rows=10_000,
        max_steps=None,
        budget=4 * WHOLE_LIMIT,
        more_href=lambda view, step, section: urls.text(info.id, view.seq, step, section or 0),
    )
    records = [
        {
            "seq": seq,
            "origin": m.origin,
            "line": m.place.line,
            "bytes": size(m.place.length),
            "at": iso(m.at),
            "raw": urls.raw(info.id, seq),
        }
        for seq, m in content.messages.items()
    ]
    return {
        "title": f"#{view.number} of {one_line(info.title or info.native_id, 100)}",
        "session": one_line(info.title or info.native_id, 120),
        "number": view.number,
        "back": urls.at(info.id, view.seq),
        "previous": urls.chunk(info.id, view.seq - 1) if view.seq else None,
        "next": urls.chunk(info.id, view.seq + 1) if view.seq + 1 < info.chunks else None,
        "card": safe(render.chunk_html(view, options=how)),
        "records": records,
        "raw": raw_too,
        "json": urls.chunk(info.id, view.seq, ".json"),
        "markdown": urls.chunk(info.id, view.seq, ".md"),
    }
