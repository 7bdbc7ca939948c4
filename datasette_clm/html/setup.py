"""How cards are rendered on Datasette's pages: where images and links lead, and how much of a log a page may hold."""

from __future__ import annotations

from typing import Any

from clm_sessions.model import Image
from clm_sessions.render import Options
from datasette_clm.urls import Urls

PAGE_BUDGET, CHUNK_BUDGET, WHOLE_LIMIT = 300_000, 60_000, 1_000_000
"""Characters of log text on a page, in one of its chunks, and in one section of a chunk that stands alone."""
_IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}


def options(urls: Urls, sid: str, tables: frozenset[str], **more: Any) -> Options:  # noqa: ANN401 - fields of Options
    """How cards of a session are rendered here: images by Datasette, links to our own pages."""

    def image(image: Image) -> str | None:
        return urls.image(image.sha256) if "attachments" in tables and image.media_type in _IMAGES else None

    given: dict[str, Any] = {
        "image_src": image,
        "permalink": lambda view: urls.at(sid, view.seq),
        "subagent_href": urls.session,
        "more_href": lambda view, _step, _section: urls.chunk(sid, view.seq),
        "later": lambda view, step: urls.step(sid, view.seq, step),
        "heading": 3,
        **more,
    }
    return Options(**given)
