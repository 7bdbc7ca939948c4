"""Two sessions side by side in a notebook: what differs in figures, and both transcripts turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as w  # type: ignore[import-untyped]
import traitlets as t

from clm_sessions.model import Chunk
from clm_sessions.render.escape import bdi, esc
from clm_sessions.view.align import Pair, align
from clm_sessions.view.differences import Difference, of_figures, of_tools, told
from clm_sessions.view.timeline import Turn, turns
from clm_sessions.view.words import one_line, plural
from jupyter_clm import cards
from jupyter_clm.display import swap_style
from jupyter_clm.find import Finder
from jupyter_clm.live import LiveView
from jupyter_clm.session import NotebookSession, registry
from jupyter_clm.snapshot import line, style_html

MAX_PAGE_SIZE = 20
IN_TURN = 12
"""Chunks of a turn that are shown at most."""
_BOUNDS = cards.Bounds(total=60_000, chunk=16_000, prose=6_000, output=3_000, steps=40, images=500_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two sessions with its turns. ``chunks`` do not say which messages they hold."""

    session: NotebookSession
    chunks: Sequence[Chunk]
    turns: Sequence[Turn]
    tools: dict[str, tuple[int, int]]

    @classmethod
    def of(cls, session: NotebookSession) -> Side:
        """Reads the rows of the chunks, and none of their content."""
        finder = Finder(session.core)
        chunks = finder.window(0, finder.count)
        tools = {name: (calls, failed) for name, calls, failed in finder.tools()}
        return cls(session=session, chunks=chunks, turns=turns(chunks), tools=tools)

    def key(self, n: int) -> tuple[Any, ...]:
        """What a turn is told by: two turns of one key are copies of each other."""
        turn = self.turns[n]
        return tuple((chunk.kind, chunk.key) for chunk in self.chunks[turn.first : turn.last + 1])


class CompareView(LiveView):
    """Two sessions side by side, aligned by turn. ``page`` from 1, of ``page_size`` (1 to 20) pairs; both are clamped.

    ``differences`` is the table above as values, ``pairs`` the turns that stand beside each other: positions, None where
    the other has nothing beside it. Turns that are copies of each other are shown once, folded.
    """

    _settable = ("page_size", "page")
    page = t.Int(1, help="page shown, from 1")
    page_size = t.Int(5, help="pairs of turns on a page, 1 to 20")
    n_pairs = t.Int(0, read_only=True, help="pairs of turns")

    def __init__(self, a: NotebookSession, b: NotebookSession, **traits: Any) -> None:  # noqa: ANN401 - see the class
        super().__init__(traits)
        self.sides = (Side.of(a), Side.of(b))
        self.pairs: list[Pair] = align(*([turn.text for turn in side.turns] for side in self.sides))
        self.set_trait("n_pairs", len(self.pairs))
        self._previous = w.Button(description="Previous", tooltip="Previous turns", layout={"width": "auto"})
        self._next = w.Button(description="Next", tooltip="Next turns", layout={"width": "auto"})
        self._body = w.HTML()
        bar = w.HBox([self._previous, self._next, self._status])
        bar.add_class("clm-bar-row")
        style = w.HTML(style_html(), layout={"display": "none"})
        self.children = (style, w.HTML(table_html(self.sides, self.differences)), bar, self._body)
        self._begin(traits)
        self._previous.on_click(lambda _button: self.set_trait("page", self.page - 1))
        self._next.on_click(lambda _button: self.set_trait("page", self.page + 1))

    @property
    def differences(self) -> list[Difference]:
        """Figure by figure how both are; what is nothing in both is left out."""
        a, b = self.sides
        named = Difference(what="Agent", a=_agent(a.session), b=_agent(b.session))
        return told([named, *of_figures(a.session.info, b.session.info), *of_tools(a.tools, b.tools)])

    @property
    def pages(self) -> int:
        """Number of pages, at least 1."""
        return max(1, -(-len(self.pairs) // self.page_size))

    @t.validate("page")
    def _valid_page(self, proposal: Any) -> int:  # noqa: ANN401 - a traitlets Bunch
        page: int = proposal["value"]
        return min(max(1, page), self.pages)

    @t.validate("page_size")
    def _valid_page_size(self, proposal: Any) -> int:  # noqa: ANN401
        size: int = proposal["value"]
        return min(max(1, size), MAX_PAGE_SIZE)

    @t.observe("page")
    def _on_page(self, _change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            pass

    @t.observe("page_size")
    def _on_page_size(self, change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            self.page = (self.page - 1) * change["old"] // self.page_size + 1

    def _draw(self) -> None:
        start = (self.page - 1) * self.page_size
        pairs = self.pairs[start : start + self.page_size]
        self._previous.disabled, self._next.disabled = self.page <= 1, self.page >= self.pages
        words = f"{plural(len(self.pairs), 'pair')} of turns · page {self.page:,} of {self.pages:,}"
        self._say(words)
        titles = " and ".join(_title(side.session) for side in self.sides)
        label = f"Turns of {titles}, page {self.page} of {self.pages}"
        inner = "".join(self._pair(pair) for pair in pairs) or '<p class="clm-more">Neither session has a turn.</p>'
        self._body.value = _region("clm-pane", label, inner)

    def _pair(self, pair: Pair) -> str:
        a, b = self.sides
        if pair[0] is not None and pair[1] is not None and a.key(pair[0]) == b.key(pair[1]):
            text = bdi(one_line(a.turns[pair[0]].text, 120))
            words = f"Turn {pair[0] + 1:,} and {pair[1] + 1:,} are the same: {text}"
            inner = self._turn(a, pair[0], "a-")
            return f'<details class="clm-same"><summary>{words}</summary>{inner}</details>'
        left, right = self._turn(a, pair[0], "a-"), self._turn(b, pair[1], "b-")
        return f'<div class="clm-pair"><div class="clm-side">{left}</div><div class="clm-side">{right}</div></div>'

    def _turn(self, side: Side, n: int | None, prefix: str) -> str:
        if n is None:
            return '<p class="clm-more">Nothing beside it.</p>'
        turn, core = side.turns[n], side.session.core
        renderer = cards.Cards(_BOUNDS, registry().describe, f"clm-{self._token}-{prefix}", heading=5)
        shown = core.contents(turn.first, min(turn.last + 1, turn.first + IN_TURN))
        html = "".join(renderer.html(content, expanded=False) for content in shown)
        left = turn.last + 1 - turn.first - len(shown)
        more = (
            f'<p class="clm-more">{plural(left, "more chunk")} of this turn, in the view of the session.</p>'
            if left > 0
            else ""
        )
        return f'<h4 class="clm-turn jp-toc-ignore">Turn {n + 1:,}</h4>{html}{more}'

    def _snapshot(self) -> str:
        token = self._token
        table = table_html(self.sides, self.differences)
        note = '<p class="clm-more"><code>jupyter_clm.compare(a, b)</code> shows their turns side by side.</p>'
        return (
            f'<div class="clm-snap clm-snap-{token}">{style_html(swap_style(token))}'
            f'<div class="clm-root clm-snap-body tex2jax_ignore mathjax_ignore">{table}{note}</div></div>'
        )

    def __repr__(self) -> str:
        a, b = (line(side.session.info) for side in self.sides)
        return f"<CompareView of {a} and {b}>"


def table_html(sides: Sequence[Side], rows: Sequence[Difference]) -> str:
    """The figures of two sessions as a table; a row in which they differ is marked, by a sign too."""
    head = "".join(f'<th scope="col">{bdi(_title(side.session))}</th>' for side in sides)
    body = "".join(
        f'<tr class="{"clm-alike" if row.same else "clm-differs"}"><th scope="row">{bdi(one_line(row.what, 60))}</th>'
        f'<td>{_cell(row.a)}</td><td>{_cell(row.b)}</td><td class="clm-short">{"" if row.same else "≠"}</td></tr>'
        for row in rows
    )
    table = f'<table class="clm-compare"><thead><tr><td></td>{head}<td></td></tr></thead><tbody>{body}</tbody></table>'
    title = '<h3 class="clm-title jp-toc-ignore">Two sessions side by side</h3>'
    return title + _region("clm-scroll", f"What differs: {' and '.join(_title(side.session) for side in sides)}", table)


def _title(session: NotebookSession) -> str:
    return one_line(session.title or session.info.native_id, 80)


def _cell(text: str) -> str:
    return bdi(one_line(text, 300)) if text else '<span class="clm-unknown">not recorded</span>'


def _region(cls: str, label: str, inner: str) -> str:
    start = f'<div class="{cls} tex2jax_ignore mathjax_ignore" role="region" aria-label="{esc(label)}" tabindex="0">'
    return f"{start}{inner}</div>"


def _agent(session: NotebookSession) -> str:
    return " ".join(word for word in (session.label or session.info.format, session.info.version) if word)
