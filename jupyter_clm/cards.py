"""The cards of some chunks as HTML of a bounded size, by the one renderer; the words of a search marked in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from clm_sessions.library import StoredSession
from clm_sessions.model import ChunkContent, Image, Session, ToolCall
from clm_sessions.render import Options, chunk_html, data_url
from clm_sessions.view import ChunkView, Section, ToolView, chunk_view
from jupyter_clm.find import fold

Describe = Callable[[ToolCall], ToolView | None]
_HEADING = re.compile(r'<(h[1-6])(?: class="([^"]*)")?')
_TAG = re.compile(r"(<[^>]*>)")
_SUMMARY = '<details class="clm-summary"'
_ARTICLE = '<article class="clm-chunk'


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How much a run of cards may take.

    ``total`` in characters of HTML, past it cards get short; ``chunk``, ``prose`` and ``output`` in characters of log
    text; ``steps`` shown per chunk; ``images`` in bytes, all together.
    """

    total: int
    chunk: int
    prose: int
    output: int
    steps: int
    images: int


class Cards:
    """Renders cards one after another within bounds. ``prefix`` keeps their ids apart from those of other outputs."""

    def __init__(self, bounds: Bounds, describe: Describe, prefix: str) -> None:
        self.used = 0
        self._bounds, self._describe, self._prefix = bounds, describe, prefix
        self._images = bounds.images

    def html(self, content: ChunkContent, words: Collection[str] = (), *, selected: bool = False) -> str:
        """One card. Steps that hold one of the words are open and the words marked."""
        view = chunk_view(content, self._describe)
        if words:
            view = _opened(view, words)
        card = chunk_html(view, options=self._options())
        if words:
            card = mark(card, words)
            if view.kind == "compact" and _held(view.sections, words):
                card = card.replace(_SUMMARY, f"{_SUMMARY} open", 1)
        if selected:
            card = card.replace(
                _ARTICLE, f'<article aria-current="true" class="clm-chunk clm-selected{_ARTICLE[26:]}', 1
            )
        self.used += len(card)
        return card

    def _options(self) -> Options:
        bounds = self._bounds
        left = max(0, bounds.total - self.used)
        return Options(
            image_src=self._image,
            id_prefix=self._prefix,
            heading=4,
            max_prose=bounds.prose,
            max_output=bounds.output,
            max_rows=60,
            max_steps=bounds.steps if left else max(1, bounds.steps // 4),
            budget=min(bounds.chunk, left),
            floor=400 if left else 160,
        )

    def _image(self, image: Image) -> str | None:
        if image.size > self._images:
            return None
        url = data_url(image)
        if url is not None:
            self._images -= image.size
        return url


def contents(session: Session | StoredSession, seqs: Sequence[int]) -> Iterator[ChunkContent]:
    """The chunks of these seqs (ascending), each unbroken run read at once."""
    start = 0
    for end in range(1, len(seqs) + 1):
        if end == len(seqs) or seqs[end] != seqs[end - 1] + 1:
            yield from session.contents(seqs[start], seqs[end - 1] + 1)
            start = end


def outside_contents(html: str) -> str:
    """HTML whose headings stay out of JupyterLab's table of contents: they are not the notebook's own."""
    return _HEADING.sub(lambda m: f'<{m[1]} class="{m[2] + " " if m[2] else ""}jp-toc-ignore"', html)


def mark(html: str, words: Collection[str]) -> str:
    """Rendered HTML with the words set in ``<mark>``, between tags only.

    What is put in has no quotation mark: even where an attribute holds a ``>`` it cannot end that attribute.
    """
    longest = sorted((re.escape(escaped) for word in words if (escaped := _escaped(word))), key=len, reverse=True)
    if not longest:
        return html
    pattern = re.compile("|".join(longest), re.IGNORECASE)
    pieces = _TAG.split(html)
    pieces[::2] = [pattern.sub(r"<mark class=clm-hit>\g<0></mark>", text) for text in pieces[::2]]
    return "".join(pieces)


def _escaped(word: str) -> str:
    """A word as it stands in HTML text; empty if it is short and could hit the inside of a character reference."""
    escaped = (
        word.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace('"', "&quot;")
        .replace("'", "&#x27;")
    )
    inside = any(escaped in reference for reference in ("&amp;", "&lt;", "&gt;", "&quot;", "&#x27;"))
    return "" if inside and escaped == word else escaped


def _opened(view: ChunkView, words: Collection[str]) -> ChunkView:
    """The card with all that is folded around a word unfolded."""
    steps = tuple(
        replace(step, open=True, sections=_unfolded(step.sections, words)) if _held(step.sections, words) else step
        for step in view.steps
    )
    return replace(view, steps=steps, sections=_unfolded(view.sections, words))


def _unfolded(sections: Sequence[Section], words: Collection[str]) -> tuple[Section, ...]:
    return tuple(replace(s, folded=False) if s.folded and _held((s,), words) else s for s in sections)


def _held(sections: Iterable[Section], words: Collection[str]) -> bool:
    return any(word in fold(text) for section in sections for text in _texts(section) for word in words)


def _texts(section: Section) -> Iterator[str]:
    yield section.text
    yield from (line.text for line in section.diff)
    yield from (cell for row in section.rows for cell in row)
