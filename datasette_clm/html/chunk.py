"""One whole chunk, with the records behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clm_sessions import render
from clm_sessions.model import ChunkContent, SessionInfo
from clm_sessions.render import Options
from clm_sessions.render.escape import bdi, esc
from clm_sessions.times import iso
from clm_sessions.view import ChunkView
from clm_sessions.view.words import one_line, size
from datasette_clm.html.setup import CHUNK_BUDGET, WHOLE_LIMIT, options
from datasette_clm.safe import safe
from datasette_clm.urls import Urls


def chunk_page(
    info: SessionInfo,
    content: ChunkContent,
    view: ChunkView,
    urls: Urls,
    tables: frozenset[str],
    *,
    raw_too: bool,
    step: int | None = None,
) -> dict[str, Any]:
    """What the template of one whole chunk needs; ``step`` is open. Sections too long even here lead to their plain text."""
    return {
        "title": f"#{view.number} of {one_line(info.title or info.native_id, 100)}",
        "session": one_line(info.title or info.native_id, 120),
        "number": view.number,
        "back": urls.at(info.id, view.seq),
        "previous": urls.chunk(info.id, view.seq - 1) if view.seq else None,
        "next": urls.chunk(info.id, view.seq + 1) if view.seq + 1 < info.chunks else None,
        "card": safe(render.chunk_html(_opened(view, step), options=_whole(info, urls, tables))),
        "records": safe(records_html(info, content, urls, raw_too=raw_too)),
        "json": urls.chunk(info.id, view.seq, ".json"),
        "markdown": urls.chunk(info.id, view.seq, ".md"),
    }


def _whole(info: SessionInfo, urls: Urls, tables: frozenset[str]) -> Options:
    return options(
        urls,
        info.id,
        tables,
        heading=3,
        later=None,
        max_prose=WHOLE_LIMIT,
        max_output=WHOLE_LIMIT,
        max_rows=10_000,
        max_steps=None,
        budget=4 * WHOLE_LIMIT,
        more_href=lambda view, step, section: urls.text(info.id, view.seq, step, section or 0),
    )


def _opened(view: ChunkView, step: int | None) -> ChunkView:
    if step is None:
        return view
    steps = tuple(replace(one, open=True) if index == step else one for index, one in enumerate(view.steps))
    return replace(view, steps=steps)


def step_html(view: ChunkView, step: int, info: SessionInfo, urls: Urls, tables: frozenset[str]) -> str | None:
    """What a step holds, to be put into it when it is opened; None if there is no such step."""
    if step >= len(view.steps):
        return None
    how = options(urls, info.id, tables, later=None, budget=CHUNK_BUDGET)
    return render.step_body_html(view, step, options=how)


def records_html(info: SessionInfo, content: ChunkContent, urls: Urls, *, raw_too: bool) -> str:
    """The lines of the log that a chunk was made of, each with the way to its bytes if they may be read."""
    rows = ""
    for seq, message in content.messages.items():
        at = iso(message.at)
        when = f'<time datetime="{at}">{at}</time>' if at else ""
        cells = [str(seq), bdi(message.origin), f"{message.place.line:,}", size(message.place.length), when]
        if raw_too:
            whose = f'<span class="clm-sr"> record of message {seq}</span>'
            cells.append(f'<a href="{esc(urls.raw(info.id, seq))}">raw{whose}</a>')
        rows += f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    names = ["Message", "What", "Line", "Size", "Time", *(["Record"] if raw_too else [])]
    head = "".join(f"<th>{name}</th>" for name in names)
    return (
        f'<div class="clm-scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )
