"""The session page: its head, what stands beside the cards, and the cards."""

from __future__ import annotations

import shlex
from typing import Any

from clm_sessions import render
from clm_sessions.formats.base import LogFormat
from clm_sessions.view.words import one_line
from datasette_clm.html.cards import cards, hit_html
from datasette_clm.html.chips import chips
from datasette_clm.html.notes import agent_html, agents_words, notes
from datasette_clm.html.outline import outline
from datasette_clm.html.setup import options
from datasette_clm.loader import Loaded
from datasette_clm.pages import links
from datasette_clm.safe import safe
from datasette_clm.urls import Urls
from datasette_clm.within import LIMIT


def session_page(loaded: Loaded, urls: Urls, agent: LogFormat | None, views: dict[str, Any]) -> dict[str, Any]:
    """What the template of a session page needs. ``agent``: the format of its log, if it is installed; ``views``: the tabs."""
    info, ask, sid = loaded.info, loaded.ask, loaded.info.id
    how = options(urls, sid, loaded.tables)
    here = set(loaded.page.seqs)

    def at(seq: int) -> str:
        return f"#c{seq}" if seq in here else urls.at(sid, seq)

    bars = render.bars(loaded.chunks, loaded.sizes)
    head = render.session_header_html(
        info,
        options=how,
        agent=agent.label if agent else None,
        bars=bars if len(bars) > 1 else (),
        href=at,
        level=1,
    )
    return {
        "title": one_line(info.title or info.native_id, 120),
        "head": safe(head),
        "notes": [safe(note) for note in notes(loaded, urls)],
        "agents": [safe(agent_html(a, urls)) for a in loaded.relations.agents],
        "agents_words": agents_words(loaded.relations.agents),
        "chips": list(chips(loaded, urls)),
        "ask": ask,
        "kept": [
            *(("show", part) for part in ask.show),
            *(("tool", tool) for tool in ask.tools),
            *([("only", "1")] if ask.only else []),
        ],
        "action": urls.session(sid),
        "unfiltered": urls.session(sid),
        "outline": safe(outline(loaded, urls, at)),
        "cards": safe("".join(cards(loaded, urls, how))),
        "pager": links(
            loaded.page, lambda page: urls.session(sid, query=ask.query(page=page if page > 1 else None)), "Chunks"
        ),
        "found": _found(loaded, urls) if ask.q else None,
        "narrowed": loaded.page.total if ask.narrows else None,
        "total": len(loaded.chunks),
        "tabs": views,
        "resume": agent.resume_command.format(id=shlex.quote(info.native_id))
        if agent and agent.resume_command and info.role == "main"
        else None,
        "json": urls.session(
            sid, ".json", query=ask.query(page=loaded.page.number if loaded.page.number > 1 else None)
        ),
        "markdown": urls.session(
            sid, ".md", query=ask.query(page=loaded.page.number if loaded.page.number > 1 else None)
        ),
    }


def _found(loaded: Loaded, urls: Urls) -> dict[str, Any]:
    """The bar of a search in the session: where the reader stands in what was found, and the ways from there."""
    hits, ask, sid = loaded.hits, loaded.ask, loaded.info.id
    here = hits.here

    def at(number: int) -> str:
        chunk = hits.chunks[number - 1]
        return urls.session(sid, query=ask.query(hit=number)) + f"#c{chunk}"

    first = loaded.page.seqs[0] if loaded.page.seqs else 0
    return {
        "count": len(hits.places),
        "more": len(hits.places) >= LIMIT,
        "number": here + 1 if here is not None else None,
        "chunk": hits.chunks[here] if here is not None else None,
        "words": safe(hit_html(loaded, here)) if here is not None and not ask.only else None,
        "previous": at(here) if here else None,
        "next": at(here + 2) if here is not None and here + 1 < len(hits.places) else None,
        "only": urls.session(sid, query=ask.query(only=1)),
        "all": urls.session(sid, query=ask.query(only=0, chunk=first)),
        "end": urls.session(sid, query=ask.query(q="", only=0, chunk=first)),
    }
