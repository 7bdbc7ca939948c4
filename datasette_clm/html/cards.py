"""Cards with what belongs to each: the places found in it, what a filter left out, the way to its records."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from clm_sessions import render
from clm_sessions.render import Options
from clm_sessions.render.escape import bdi, esc
from clm_sessions.store.search import pieces
from clm_sessions.view import ChunkView
from clm_sessions.view.words import one_line, plural
from datasette_clm.find import Found
from datasette_clm.html.notes import link_html
from datasette_clm.html.setup import CHUNK_BUDGET, PAGE_BUDGET
from datasette_clm.loader import Loaded
from datasette_clm.pages import Page
from datasette_clm.urls import Urls


def cards(loaded: Loaded, urls: Urls, how: Options) -> Iterator[str]:
    """The cards of the page; a run of copied ones is folded, unless the reader asked for something in it."""
    left = PAGE_BUDGET
    for copied, group in groupby(loaded.views, lambda view: loaded.copied(view.seq)):
        run = list(group)
        html = ""
        for view in run:
            html += _item(loaded, urls, view, replace(how, budget=max(0, min(CHUNK_BUDGET, left))))
            left -= _size(view)
        if not copied:
            yield html
            continue
        wanted = loaded.ask.narrows or loaded.ask.chunk in {view.seq for view in run} or len(run) == len(loaded.views)
        origin = loaded.relations.forked_from
        source = f" from {link_html(urls.session(origin.id), origin.title)}" if origin else ""
        yield (
            f'<details class="clm-inherited"{" open" if wanted else ""}><summary>{plural(len(run), "chunk")} copied{source}'
            f"</summary>{html}</details>"
        )


def _item(loaded: Loaded, urls: Urls, view: ChunkView, how: Options) -> str:
    found = loaded.found.get(view.seq, ())
    hits = "".join(f'<p class="clm-hit">{_what(place)}{snippet_html(place.snippet)}</p>' for place in found[:3])
    more = f'<p class="clm-hit">and {plural(len(found) - 3, "more place")}</p>' if len(found) > 3 else ""
    hidden = loaded.hidden.get(view.seq)
    note = f'<span class="clm-left-out">{plural(hidden, "step")} left out by the filter</span> · ' if hidden else ""
    link = f'<a href="{esc(urls.chunk(loaded.info.id, view.seq))}">Whole chunk and raw records<span class="clm-sr"> of #{view.number}</span></a>'
    return f'<div class="clm-item">{hits}{more}{render.chunk_html(view, options=how)}<p class="clm-foot">{note}{link}</p></div>\n'


def _what(place: Found) -> str:
    """The tool that a place belongs to."""
    return f"<b>{bdi(one_line(place.what, 40))}</b> " if place.tool else ""


def _size(view: ChunkView) -> int:
    """Log text in a card, up to what a card may show."""
    sections = [*view.sections, *(s for step in view.steps for s in step.sections)]
    return min(CHUNK_BUDGET, sum(min(len(s.text), 16_384) + 80 * len(s.diff) + 40 * len(s.rows) for s in sections))


def fragment(views: Iterable[ChunkView], page: Page, urls: Urls, sid: str, how: Options) -> str:
    """The cards of a session to be put below a step of another one. Ids carry a prefix that no other session has."""
    prefix = f"s{hashlib.sha256(sid.encode()).hexdigest()[:8]}-"
    left = PAGE_BUDGET
    html = []
    for view in views:
        html.append(
            render.chunk_html(view, options=replace(how, id_prefix=prefix, budget=max(0, min(CHUNK_BUDGET, left))))
        )
        left -= _size(view)
    if page.pages > 1:
        html.append(
            f'<p class="clm-cut">{page.total - page.last:,} more chunks: {link_html(urls.session(sid, query={"page": 2}), "go on reading")}</p>'
        )
    return "".join(html)


def snippet_html(snippet: str) -> str:
    """A search snippet, the words found in it marked."""
    return "".join(f"<mark>{esc(text)}</mark>" if marked else esc(text) for text, marked in pieces(snippet))
