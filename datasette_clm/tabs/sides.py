"""One side of a comparison as HTML: the cards of a turn, short enough to stand beside another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clm_sessions import render
from clm_sessions.render.escape import esc
from clm_sessions.view import ChunkView
from clm_sessions.view.timeline import Turn
from clm_sessions.view.words import plural
from datasette_clm.html import options
from datasette_clm.visit import Visit

_BUDGET, _PROSE, _OUTPUT, _STEPS = 16_000, 6_000, 3_000, 40
"""Characters of log text of a turn, of one of its texts and of one of its outputs; steps of a chunk."""


def turn_side(views: Sequence[ChunkView], turn: Turn, visit: Visit, sid: str, prefix: str) -> str:
    """The cards of a turn with all steps folded; what is left out is said, with a link to its place."""
    how = options(
        visit.urls,
        sid,
        visit.tables,
        heading=4,
        id_prefix=prefix,
        max_prose=_PROSE,
        max_output=_OUTPUT,
        max_steps=_STEPS,
        budget=_BUDGET,
    )
    html = "".join(render.chunk_html(_folded(view), options=how) for view in views)
    left = turn.last + 1 - turn.first - len(views)
    if left > 0:
        link = visit.urls.at(sid, turn.first + len(views))
        html += f'<p class="clm-cut"><a href="{esc(link)}">{plural(left, "more chunk")} of this turn</a></p>'
    return html


def _folded(view: ChunkView) -> ChunkView:
    return replace(view, steps=tuple(replace(step, open=False) for step in view.steps))
