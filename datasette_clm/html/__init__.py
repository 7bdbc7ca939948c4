"""Loaded pages as the pieces of HTML their templates put together. All log text goes through the core's renderer."""

from datasette_clm.html.cards import fragment, snippet_html
from datasette_clm.html.chunk import chunk_page, records_html, step_html
from datasette_clm.html.session import session_page
from datasette_clm.html.setup import options

__all__ = [
    "chunk_page",
    "fragment",
    "options",
    "records_html",
    "session_page",
    "snippet_html",
    "step_html",
]
