"""What a live view says: the line that counts, and one page of cards with what is loaded and what is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clm_sessions.render.escape import esc
from clm_sessions.view.words import one_line, plural
from jupyter_clm import cards
from jupyter_clm.find import words
from jupyter_clm.session import registry

if TYPE_CHECKING:
    from jupyter_clm.view import SessionView

_BOUNDS = cards.Bounds(total=500_000, chunk=60_000, prose=20_000, output=8_000, steps=60, images=2_000_000)


def status_html(view: SessionView, chunks: int) -> str:
    """How many chunks query and filters leave, the page, and which hit is selected."""
    noun = "chunk" if chunks == 1 else "chunks"
    hits = view.n_hits
    if view.only_hits or hits == chunks or not view.query.strip():
        found = f"{hits:,} of {chunks:,} {noun}" if hits != chunks else f"{chunks:,} {noun}"
    else:
        found = f"{plural(hits, 'hit')} in {chunks:,} {noun}"
    parts = [found, f"page {view.page:,} of {view.pages:,}"]
    if view.query.strip() and view.selected is not None and view.selected in view.hits:
        parts.append(f"hit {view.hits.index(view.selected) + 1:,} of {hits:,}")
    parts += ["following the log"] if view.following else []
    return " · ".join(parts)


def pane_html(view: SessionView, seqs: Sequence[int], chunks: int, prefix: str) -> str:
    """The cards of these chunks; a foot says how much of the session they are and what is cut in them."""
    shown = view.shown.core
    renderer = cards.Cards(_BOUNDS, registry().describe, prefix, agents=lambda: shown.subagents)
    looked_for = words(view.query)
    inner = "".join(
        renderer.html(content, looked_for, selected=content.chunk.seq == view.selected, expanded=view.expanded)
        for content in cards.contents(shown, seqs)
    )
    foot = _loaded(inner, seqs, chunks) if inner else _nothing(view, chunks)
    info = view.shown.info
    label = f"Transcript of {one_line(info.title or info.native_id, 80)}, page {view.page} of {view.pages}"
    return (
        f'<div class="clm-pane tex2jax_ignore mathjax_ignore" role="region" aria-label="{esc(label)}" tabindex="0">'
        f'{inner}<p class="clm-more">{foot}</p></div>'
    )


def _loaded(inner: str, seqs: Sequence[int], chunks: int) -> str:
    cut = inner.count('class="clm-cut"')
    if len(seqs) == chunks and not cut:
        return f"All {plural(chunks, 'chunk')} are here, whole." if chunks > 1 else "That is all of it, whole."
    said = (
        f"{len(seqs):,} of {plural(chunks, 'chunk')} are loaded here" if len(seqs) < chunks else "All chunks are here"
    )
    if not cut:
        return f"{said}, whole."
    return (
        f"{said}, with {plural(cut, 'cut')}. In Python all is whole: <code>session.contents(0, 1)</code> is chunk #1."
    )


def _nothing(view: SessionView, chunks: int) -> str:
    if not chunks:
        return "This session has no chunks."
    what = "No chunk of these kinds"
    return f"{what} holds {esc(one_line(view.query, 80))}." if view.query.strip() else f"{what}."
