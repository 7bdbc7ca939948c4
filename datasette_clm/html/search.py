"""The search page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clm_sessions.view.words import one_line
from datasette_clm.find import Found
from datasette_clm.html.cards import snippet_html
from datasette_clm.safe import safe
from datasette_clm.urls import Urls


def search_page(
    q: str, only: str | None, places: Sequence[Found], titles: Sequence[tuple[str, str]], urls: Urls
) -> dict[str, Any]:
    """What the template of the search page needs."""
    hits = [
        {
            "what": place.what,
            "tool": place.tool,
            "title": one_line(place.title or place.session, 100),
            "href": urls.at(place.session, place.chunk or 0),
            "number": (place.chunk or 0) + 1,
            "at": place.at,
            "snippet": safe(snippet_html(place.snippet)),
        }
        for place in places
    ]
    return {
        "title": f"Search: {one_line(q, 60)}" if q else "Search",
        "q": q,
        "only": only,
        "action": urls.search(),
        "hits": hits,
        "titles": [(urls.session(sid), one_line(title, 120)) for sid, title in titles],
        "sessions": len({place.session for place in places}),
        "json": urls.search(q, only or "").replace("/-/search", "/-/search.json", 1),
    }
