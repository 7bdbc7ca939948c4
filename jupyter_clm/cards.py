"""The cards of some chunks as HTML of a bounded size, by the one renderer; the words of a search marked in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

from clm_sessions.library import StoredSession
from clm_sessions.model import ChunkContent, Image, Session, ToolCall
from clm_sessions.render import Options, chunk_html, data_url
from clm_sessions.view import ChunkView, Section, ToolView, chunk_view
from clm_sessions.view.words import plural
from jupyter_clm.find import fold

Describe = Callable[[ToolCall], ToolView | None]
Agents = Callable[[], Sequence[Session | StoredSession]]
NESTED = 10
"""Chunks of a subagent inside the card of its parent at most."""
DEEPEST = 6
"""Heading level at which subagents of subagents end."""
_HEADING = re.compile(r'<(h[1-6])(?: class="([^"]*)")?')
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
    """Renders cards one after another within bounds. ``prefix`` keeps their ids apart from those of other outputs.

    ``agents`` gives the subagents of the session: the first chunks of one stand inside the step that started it.
    """

    def __init__(
        self, bounds: Bounds, describe: Describe, prefix: str, *, agents: Agents = tuple, heading: int = 4
    ) -> None:
        self.used = 0
        self._bounds, self._describe, self._prefix, self._heading = bounds, describe, prefix, heading
        self._agents, self._nested = agents, 0
        self._images = bounds.images

    def html(
        self,
        content: ChunkContent,
        words: Collection[str] = (),
        *,
        selected: bool = False,
        expanded: bool | None = None,
    ) -> str:
        """One card. Steps that hold one of the words are open and the words marked.

        ``expanded``: all that can be folded is open, or nothing is; None leaves it to the card.
        """
        view = chunk_view(content, self._describe)
        if words:
            view = _opened(view, words)
        if expanded is not None:
            view = _all(view, expanded)
        self._nested = 0
        card = chunk_html(view, options=self._options())
        if words:
            card = mark(card, words)
        if expanded or (expanded is None and words and view.kind == "compact" and _held(view.sections, words)):
            card = card.replace(_SUMMARY, f"{_SUMMARY} open", 1)
        if selected:
            card = card.replace(
                _ARTICLE, f'<article aria-current="true" class="clm-chunk clm-selected{_ARTICLE[26:]}', 1
            )
        self.used += len(card)
        return card

    @property
    def _left(self) -> int:
        return max(0, self._bounds.total - self.used - self._nested)

    def _options(self) -> Options:
        bounds, left = self._bounds, self._left
        return Options(
            image_src=self._image,
            subagent_html=self._agent,
            id_prefix=self._prefix,
            heading=self._heading,
            max_prose=bounds.prose,
            max_output=bounds.output,
            max_rows=60,
            max_steps=bounds.steps if left else max(1, bounds.steps // 4),
            budget=min(bounds.chunk, left),
            floor=400 if left else 160,
        )

    def _agent(self, key: str) -> str | None:
        agents = {agent.id: (number, agent) for number, agent in enumerate(self._agents())}
        if key not in agents or self._heading >= DEEPEST:
            return None
        number, agent = agents[key]
        bounds = replace(self._bounds, total=self._left // 3, chunk=self._bounds.chunk // 4, images=self._images)
        inner = Cards(
            bounds,
            self._describe,
            f"{self._prefix}a{number}-",
            agents=lambda: agent.subagents,
            heading=self._heading + 1,
        )
        cards = "".join(inner.html(content) for content in agent.contents(0, NESTED))
        self._nested, self._images = self._nested + inner.used, inner._images
        left = agent.info.chunks - NESTED
        where = f"choose it under Transcript, or <code>.subagents[{number}].view()</code>"
        return cards + (f'<p class="clm-more">{plural(left, "more chunk")}: {where}</p>' if left > 0 else "")

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
    """Rendered HTML with the words set in ``<mark>``, never inside a tag or a character reference.

    What is put in has no quotation mark: even where an attribute holds a ``>`` it cannot end that attribute.
    """
    longest = sorted((re.escape(escape(word)) for word in words if word), key=len, reverse=True)
    if not longest:
        return html
    pattern = re.compile(f"(?P<hit>{'|'.join(longest)})|&[#\\w]+;|<[^>]*>", re.IGNORECASE)
    return pattern.sub(lambda m: f"<mark class=clm-hit>{m[0]}</mark>" if m["hit"] else m[0], html)


def _opened(view: ChunkView, words: Collection[str]) -> ChunkView:
    """The card with all that is folded around a word unfolded."""
    steps = tuple(
        replace(step, open=True, sections=_unfolded(step.sections, words)) if _held(step.sections, words) else step
        for step in view.steps
    )
    return replace(view, steps=steps, sections=_unfolded(view.sections, words))


def _all(view: ChunkView, is_open: bool) -> ChunkView:
    """The card with all steps open and nothing folded in them, or with all steps folded."""

    def each(sections: Sequence[Section]) -> tuple[Section, ...]:
        return tuple(replace(s, folded=False) if is_open and s.folded else s for s in sections)

    steps = tuple(replace(step, open=is_open, sections=each(step.sections)) for step in view.steps)
    return replace(view, steps=steps, sections=each(view.sections))


def _unfolded(sections: Sequence[Section], words: Collection[str]) -> tuple[Section, ...]:
    return tuple(replace(s, folded=False) if s.folded and _held((s,), words) else s for s in sections)


def _held(sections: Iterable[Section], words: Collection[str]) -> bool:
    return any(word in fold(text) for section in sections for text in _texts(section) for word in words)


def _texts(section: Section) -> Iterator[str]:
    yield section.text
    yield from (line.text for line in section.diff)
    yield from (cell for row in section.rows for cell in row)
