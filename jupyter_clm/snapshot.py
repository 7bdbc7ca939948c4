"""The static form of a session: bounded HTML that reads well without its style, without a kernel, without trust."""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from importlib import resources

from clm_sessions.library import StoredSession
from clm_sessions.model import Session, SessionInfo
from clm_sessions.render import Options, css, session_header_html
from clm_sessions.render.escape import esc, visible
from clm_sessions.view.words import one_line, plural
from jupyter_clm.cards import Bounds, Cards, Describe, outside_contents

LIMIT = 100_000
"""Bytes of a snapshot at most, its stylesheet included."""
CHUNKS = 20
"""Chunks in a snapshot at most."""
CLOSED = '<p class="clm-more">Its database was closed: open it again to read its chunks.</p>'
_BOUNDS = Bounds(total=40_000, chunk=8_000, prose=4_000, output=1_500, steps=25, images=16_000)
_TIGHT = Bounds(total=0, chunk=0, prose=400, output=200, steps=6, images=0)


@cache
def style() -> str:
    """The one stylesheet and what only the notebook has, without comments and indentation.

    Every rule hangs below ``.clm-root``. An id in its place makes all of them outweigh the rules that notebook
    programs have for lists, tables and code in outputs.
    """
    own = resources.files("jupyter_clm").joinpath("notebook.css").read_text("utf-8")
    text = re.sub(r"/\*.*?\*/", "", css() + own, flags=re.DOTALL)
    return re.sub(r"\s*\n\s*", "\n", text.replace(".clm-root", ":is(.clm-root,#clm-root)")).strip()


def style_html(extra: str = "") -> str:
    """The style as an element. To a sanitiser that removes the element alone its content is a comment, not text."""
    return f"<style><!--\n{style()}{extra}\n--></style>"


def snapshot_html(
    session: Session | StoredSession, describe: Describe, *, token: str, extra_style: str = "", label: str | None = None
) -> str:
    """A session's head and its first chunks, at most ``LIMIT`` bytes. ``token`` makes its ids unique in the notebook.

    Of a session whose database was closed the head alone, and that it was closed.
    """
    info = session.info
    prefix = f"clm-{token}-"
    head = session_header_html(info, options=Options(id_prefix=prefix), agent=label, level=3)
    start = (
        f'<div class="clm-snap clm-snap-{token}">{style_html(extra_style)}'
        f'<div class="clm-root clm-snap-body tex2jax_ignore mathjax_ignore" role="region" aria-label="{_name(info)}">\n{head}'
        '<div class="clm-pane" role="region" aria-label="The first chunks" tabindex="0">'
    )
    room = LIMIT - _size(start) - 1_000
    cards: list[str] = []
    used = 0
    normal, tight = Cards(_BOUNDS, describe, prefix), Cards(_TIGHT, describe, prefix)
    try:
        first, more = session.contents(0, CHUNKS), None
    except sqlite3.ProgrammingError:
        first, more = [], CLOSED
    for content in first:
        card = normal.html(content)
        if used + _size(card) > room and not cards:
            card = tight.html(content)
        used += _size(card)
        if used > room or (cards and used > _BOUNDS.total):
            break
        cards.append(card)
    return outside_contents(f"{start}{''.join(cards)}{more or _more(len(cards), info.chunks)}</div></div></div>")


def line(info: SessionInfo) -> str:
    """A session in one line of plain text."""
    title = visible(one_line(info.title or info.native_id, 120))
    when = f", {visible(one_line(info.project_name, 60))}" if info.project_name else ""
    return f"{title} ({info.format}{when}, {plural(info.chunks, 'chunk')}, {plural(info.tool_calls, 'tool call')})"


def _name(info: SessionInfo) -> str:
    return esc(f"Session: {one_line(info.title or info.native_id, 120)}")


def _more(shown: int, chunks: int) -> str:
    if shown >= chunks:
        return "" if chunks else '<p class="clm-more">This session has no chunks.</p>'
    return (
        f'<p class="clm-more">The first {shown} of {plural(chunks, "chunk")}, long texts cut. '
        "<code>session.view()</code> pages and searches through all of them.</p>"
    )


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
