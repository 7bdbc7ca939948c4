"""A loaded page as plain data for JSON. It is made of the same values as the HTML; long texts are cut and say so."""

from __future__ import annotations

from typing import Any

from clm_sessions.export import data as export
from datasette_clm.loader import Loaded
from datasette_clm.pages import Page
from datasette_clm.urls import Urls

TEXT_LIMIT = 65_536


def session_json(loaded: Loaded, urls: Urls) -> dict[str, Any]:
    """Facts of a session, its relations, and one page of its chunks with their steps."""
    ask, sid = loaded.ask, loaded.info.id
    return {
        "ok": True,
        "session": export.info_data(loaded.info, urls),
        "relations": export.relations_data(loaded.relations, urls),
        "filter": {"show": list(ask.show), "tool": list(ask.tools), "q": ask.q, "only": ask.only},
        "hits": [
            {"chunk": place.chunk, "message": place.message, "what": place.what, "url": urls.at(sid, place.chunk)}
            for place in loaded.hits.places
        ],
        "count": loaded.page.total,
        **paging(loaded.page, lambda page: urls.session(sid, ".json", query=ask.query(page=page))),
        "html": urls.session(sid, query=ask.query(page=loaded.page.number)),
        "chunks": [
            {
                **export.chunk_data(view, sid, urls, images="attachments" in loaded.tables, limit=TEXT_LIMIT),
                "inherited": view.seq in loaded.copied,
                "hidden_steps": loaded.hidden.get(view.seq, 0),
            }
            for view in loaded.views
        ],
    }


def paging(page: Page, href: Any) -> dict[str, Any]:  # noqa: ANN401 - a function from page number to address
    """Where the page stands, and the addresses of the others; null where there is none."""
    return {
        "page": page.number,
        "pages": page.pages,
        "first_chunk": page.first,
        "last_chunk": page.last,
        "first_url": href(1),
        "previous_url": href(page.number - 1) if page.number > 1 else None,
        "next_url": href(page.number + 1) if page.number < page.pages else None,
        "last_url": href(page.pages),
    }
