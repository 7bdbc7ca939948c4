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
from datasette_clm.html.notes import link_html
from datasette_clm.html.setup import CHUNK_BUDGET, PAGE_BUDGET
from datasette_clm.loader import Loaded
from datasette_clm.pages import Page
from datasette_clm.urls import Urls

_SNIPPETS = 3


def cards(loaded: Loaded, urls: Urls, how: Options) -> Iterator[str]:
    """The cards of the page; a run of copied ones is folded, unless the reader asked for something in it."""
    budget = Budget(how)
    asked = {loaded.ask.chunk} | ({loaded.hits.chunks[loaded.hits.here]} if loaded.hits.here is not None else set())
    for copied, group in groupby(loaded.views, lambda view: view.seq in loaded.copied):
        run = list(group)
        html = "".join(_item(loaded, urls, view, budget.card(view)) for view in run)
        if not copied:
            yield html
            continue
        wanted = loaded.ask.narrows or asked & {view.seq for view in run} or len(run) == len(loaded.views)
        origin = loaded.relations.forked_from
        source = f" from {link_html(urls.session(origin.id), origin.title)}" if origin else ""
        yield (
            f'<details class="clm-inherited"{" open" if wanted else ""}><summary>{plural(len(run), "chunk")} copied{source}'
            f"</summary>{html}</details>"
        )


def fragment(views: Iterable[ChunkView], page: Page, urls: Urls, sid: str, how: Options) -> str:
    """The cards of a session to be put below a step of another one. Ids carry a prefix that no other session has."""
    budget = Budget(replace(how, id_prefix=f"s{hashlib.sha256(sid.encode()).hexdigest()[:8]}-"))
    html = [budget.card(view) for view in views]
    if page.number < page.pages:
        words = f"Show the next of {plural(page.total - page.last, 'more chunk')}"
        html.append(f'<p class="clm-more">{link_html(urls.session(sid, query={"page": page.number + 1}), words)}</p>')
    return "".join(html)


class Budget:
    """Renders cards one after another until the page holds enough; those that follow show the beginnings of texts."""

    def __init__(self, how: Options) -> None:
        self._how, self._left = how, PAGE_BUDGET

    def card(self, view: ChunkView) -> str:
        """One card, within what is left."""
        room = max(0, min(CHUNK_BUDGET, self._left))
        self._left -= _shown(view)
        return render.chunk_html(view, options=replace(self._how, budget=room))


def _shown(view: ChunkView) -> int:
    """About how much log text a card shows at once: closed steps are fetched when they are opened."""
    sections = [*view.sections, *(section for step in view.steps if step.open for section in step.sections)]
    sections += [section for step in view.steps if step.kind == "text" for section in step.sections]
    return min(CHUNK_BUDGET, sum(min(section.length, 16_384) for section in sections))


def _item(loaded: Loaded, urls: Urls, view: ChunkView, card: str) -> str:
    hidden = loaded.hidden.get(view.seq)
    note = f'<span class="clm-left-out">{plural(hidden, "step")} left out by the filter</span>' if hidden else ""
    whose = f'<span class="clm-sr"> of chunk {view.number}</span>'
    whole = f'<a class="clm-whole" href="{esc(urls.chunk(loaded.info.id, view.seq))}">Whole{whose}</a>'
    records = (
        f'<details class="clm-records"><summary>Raw records{whose}</summary>'
        f'<p class="clm-goto clm-later"><a href="{esc(urls.records(loaded.info.id, view.seq))}">Show them</a></p></details>'
    )
    return f'<div class="clm-item">{"".join(_found(loaded, view))}{card}<div class="clm-foot">{note}{whole}{records}</div></div>\n'


def _found(loaded: Loaded, view: ChunkView) -> Iterator[str]:
    """What was found in a chunk, where only such chunks are shown."""
    if not loaded.ask.only:
        return
    inside = loaded.hits.within(view.seq)
    for index in inside[:_SNIPPETS]:
        yield f'<p class="clm-hit">{hit_html(loaded, index)}</p>'
    if len(inside) > _SNIPPETS:
        yield f'<p class="clm-hit">and {plural(len(inside) - _SNIPPETS, "more place")}</p>'


def hit_html(loaded: Loaded, index: int) -> str:
    """A place found: the tool it belongs to, and the words around."""
    place = loaded.hits.places[index]
    what = f"<b>{bdi(one_line(place.what, 40))}</b> " if place.tool else ""
    return what + snippet_html(loaded.hits.snippets.get(index, ""))


def snippet_html(snippet: str) -> str:
    """A search snippet, the words found in it marked."""
    return "".join(f"<mark>{esc(text)}</mark>" if marked else esc(text) for text, marked in pieces(snippet))
