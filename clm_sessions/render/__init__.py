"""View models as HTML that is safe anywhere, its one stylesheet, and text for terminals.

``chunk_html`` and ``session_header_html`` make fragments, ``root_html`` the element they stand in, ``page_html`` a whole
document; ``css`` is the stylesheet for all of them.
"""

from clm_sessions.render.cards import chunk_html, step_body_html
from clm_sessions.render.header import (
    Bar,
    bars,
    context_sizes,
    facts,
    session_header_html,
    strip_html,
)
from clm_sessions.render.images import data_url
from clm_sessions.render.options import Options
from clm_sessions.render.outline import Entry, outline, outline_html
from clm_sessions.render.page import css, page_html, page_parts, root_html
from clm_sessions.render.sections import Place, section_html
from clm_sessions.render.terminal import line, text

__all__ = [
    "Bar",
    "Entry",
    "Options",
    "Place",
    "bars",
    "chunk_html",
    "context_sizes",
    "css",
    "data_url",
    "facts",
    "line",
    "outline",
    "outline_html",
    "page_html",
    "page_parts",
    "root_html",
    "section_html",
    "session_header_html",
    "step_body_html",
    "strip_html",
    "text",
]
