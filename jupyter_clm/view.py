"""The live view: ipywidgets around one page of cards. A fixed handful of widgets, however long the session is."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ipywidgets as w  # type: ignore[import-untyped]
import traitlets as t

from clm_sessions.model import CHUNK_KINDS, ChunkContent
from clm_sessions.render import Options, session_header_html
from clm_sessions.render.escape import esc
from clm_sessions.view.words import one_line
from jupyter_clm import cards
from jupyter_clm.controls import Controls
from jupyter_clm.display import publish, swap_style, widget_bundle
from jupyter_clm.find import Finder, words
from jupyter_clm.session import NotebookSession, registry
from jupyter_clm.snapshot import line, style_html

MAX_PAGE_SIZE = 100
_BOUNDS = cards.Bounds(total=500_000, chunk=60_000, prose=20_000, output=8_000, steps=60, images=2_000_000)
_SETTABLE = ("page_size", "kinds", "query", "page", "selected")


class SessionView(w.VBox):  # type: ignore[misc] # ipywidgets has no types
    """A session to page through and search. Traits may be set, observed and linked; what is out of range is clamped.

    ``query``: words that a chunk must hold, all of them (``"quoted words"`` are one phrase).
    ``kinds``: kinds of chunks shown, of user, ai, system, compact. ``page``: from 1. ``page_size``: 1 to 100 chunks.
    ``selected``: seq of the chunk that was jumped to, or None; its page is shown, and a filter that hid it is lifted.
    ``n_hits``: number of chunks that query and kinds leave (read only).
    """

    query = t.Unicode("", help="words that a chunk must hold")
    kinds = t.Tuple(default_value=CHUNK_KINDS, help="kinds of chunks shown")
    page = t.Int(1, help="page shown, from 1")
    page_size = t.Int(10, help="chunks on a page, 1 to 100")
    selected = t.Int(None, allow_none=True, help="seq of the chunk that was jumped to")
    n_hits = t.Int(0, read_only=True, help="chunks that query and kinds leave")

    def __init__(self, session: NotebookSession, **traits: Any) -> None:  # noqa: ANN401 - see the class
        unknown = sorted(set(traits) - set(_SETTABLE))
        if unknown:
            raise TypeError(f"SessionView has no trait {', '.join(unknown)}; it has {', '.join(sorted(_SETTABLE))}")
        self.session = session
        self._token = secrets.token_hex(4)
        self._finder = Finder(session.core)
        self._chunks = len(self._finder.kinds)
        self._hits: Sequence[int] = range(self._chunks)
        self._busy = True
        self._lock = threading.RLock()  # JupyterLab answers controls on another thread than the one that runs cells
        self._controls = Controls([k for k in CHUNK_KINDS if k in self._finder.kinds], self._chunks, self._head())
        super().__init__(self._controls.rows)
        for name in ("clm-root", "clm-view", f"clm-live-{self._token}"):
            self.add_class(name)
        self._busy = False
        with self._drawn_once():
            self._filter()
            for name in _SETTABLE:
                if name in traits:
                    setattr(self, name, traits[name])
        self._listen()

    # -- what is shown, for Python ----------------------------------------------------------------------------------

    @property
    def hits(self) -> Sequence[int]:
        """Seqs of the chunks that query and kinds leave, in order."""
        return self._hits

    @property
    def pages(self) -> int:
        """Number of pages, at least 1."""
        return max(1, -(-len(self._hits) // self.page_size))

    @property
    def selected_chunk(self) -> ChunkContent | None:
        """The selected chunk with its messages, whole."""
        return None if self.selected is None else self.session.contents(self.selected, self.selected + 1)[0]

    def close(self) -> None:
        """Remove the view and free all its models."""
        controls: Controls | None = getattr(self, "_controls", None)  # none if making the view failed
        if controls is not None:
            for widget in controls.everything():
                widget.close()
            self.layout.close()
        super().close()

    # -- traits -----------------------------------------------------------------------------------------------------

    @t.validate("query")
    def _valid_query(self, proposal: Any) -> str:  # noqa: ANN401 - a traitlets Bunch
        query: str = proposal["value"]
        return query.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be sent to the page

    @t.validate("kinds")
    def _valid_kinds(self, proposal: Any) -> tuple[str, ...]:  # noqa: ANN401
        wrong = [kind for kind in proposal["value"] if kind not in CHUNK_KINDS]
        if wrong:
            raise t.TraitError(f"no kind {wrong[0]!r}; there are: {', '.join(CHUNK_KINDS)}")
        return tuple(kind for kind in CHUNK_KINDS if kind in proposal["value"])

    @t.validate("page")
    def _valid_page(self, proposal: Any) -> int:  # noqa: ANN401
        page: int = proposal["value"]
        return min(max(1, page), self.pages)

    @t.validate("page_size")
    def _valid_page_size(self, proposal: Any) -> int:  # noqa: ANN401
        size: int = proposal["value"]
        return min(max(1, size), MAX_PAGE_SIZE)

    @t.validate("selected")
    def _valid_selected(self, proposal: Any) -> int | None:  # noqa: ANN401
        seq: int | None = proposal["value"]
        return None if seq is None or not self._chunks else min(max(0, seq), self._chunks - 1)

    @t.observe("query", "kinds")
    def _on_filter(self, _change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            self._filter()

    @t.observe("page_size")
    def _on_page_size(self, change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            self.page = (self.page - 1) * change["old"] // self.page_size + 1

    @t.observe("page")
    def _on_page(self, _change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            pass

    @t.observe("selected")
    def _on_selected(self, _change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            if self.selected is not None and self.selected not in self._hits:
                self.query, self.kinds = "", CHUNK_KINDS
            self._turn_to_selected()

    def _filter(self) -> None:
        self._hits = self._finder.hits(self.query, self.kinds)
        self.set_trait("n_hits", len(self._hits))
        self.page = 1
        self._turn_to_selected()

    def _turn_to_selected(self) -> None:
        if self.selected is not None and self.selected in self._hits:
            self.page = self._hits.index(self.selected) // self.page_size + 1

    # -- drawing ----------------------------------------------------------------------------------------------------

    @contextmanager
    def _drawn_once(self) -> Iterator[None]:
        """Draw when all changes inside have been made; changes that the drawing makes to controls are not changes."""
        with self._lock:
            if self._busy:
                yield
                return
            self._busy = True
            try:
                yield
                self._draw()
            finally:
                self._busy = False

    def _draw(self) -> None:
        start = (self.page - 1) * self.page_size
        self._controls.show(
            query=self.query,
            kinds=self.kinds,
            page=self.page,
            pages=self.pages,
            status=self._status(),
            body=self._body(self._hits[start : start + self.page_size]),
        )

    def _head(self) -> str:
        options = Options(id_prefix=f"clm-{self._token}-live-")
        head = session_header_html(self.session.info, options=options, agent=self.session.label, level=3)
        return f"{style_html()}{head}"

    def _status(self) -> str:
        of = f" of {self._chunks:,}" if len(self._hits) != self._chunks else ""
        noun = "chunk" if self._chunks == 1 else "chunks"
        return f"{len(self._hits):,}{of} {noun} · page {self.page:,} of {self.pages:,}"

    def _body(self, seqs: Sequence[int]) -> str:
        prefix = f"clm-{self._token}-live-"
        renderer = cards.Cards(_BOUNDS, registry().describe, prefix, agents=lambda: self.session.core.subagents)
        looked_for = words(self.query)
        inner = "".join(
            renderer.html(content, looked_for, selected=content.chunk.seq == self.selected)
            for content in cards.contents(self.session.core, seqs)
        )
        if not inner:
            inner = f'<p class="clm-more">{self._nothing()}</p>'
        elif 'class="clm-cut"' in inner:
            inner += '<p class="clm-more">What is cut here is whole in Python: <code>session.contents(0, 1)</code> is chunk #1.</p>'
        label = f"Transcript, page {self.page} of {self.pages}"
        return f'<div class="clm-pane tex2jax_ignore mathjax_ignore" role="region" aria-label="{label}" tabindex="0">{inner}</div>'

    def _nothing(self) -> str:
        if not self._chunks:
            return "This session has no chunks."
        return (
            f"No chunk of these kinds holds {esc(one_line(self.query, 80))}."
            if self.query.strip()
            else "No chunk of these kinds."
        )

    # -- what a person does -----------------------------------------------------------------------------------------

    def _listen(self) -> None:
        controls = self._controls
        controls.previous.on_click(lambda _button: self.set_trait("page", self.page - 1))
        controls.next.on_click(lambda _button: self.set_trait("page", self.page + 1))
        controls.search.observe(self._by_hand(lambda value: self.set_trait("query", value)), "value")
        controls.page.observe(self._by_hand(lambda value: self.set_trait("page", value)), "value")
        controls.jump.observe(self._by_hand(self._jump), "value")
        for box in controls.boxes.values():
            box.observe(self._by_hand(lambda _value: self._choose_kinds()), "value")

    def _by_hand(self, act: Callable[[Any], None]) -> Callable[[Any], None]:
        """An observer that acts on what a person did, not on what drawing set."""

        def answer(change: Any) -> None:  # noqa: ANN401 - a traitlets Bunch
            with self._lock:
                if not self._busy:
                    act(change["new"])

        return answer

    def _choose_kinds(self) -> None:
        boxes = self._controls.boxes
        self.kinds = tuple(kind for kind in CHUNK_KINDS if (boxes[kind].value if kind in boxes else kind in self.kinds))

    def _jump(self, text: str) -> None:
        digits = text.strip().lstrip("#")
        if digits.isdecimal() and len(digits) < 10:
            self.selected = int(digits) - 1
            self._turn_to_selected()

    # -- display ----------------------------------------------------------------------------------------------------

    def _ipython_display_(self, **_options: object) -> None:
        publish(self._snapshot(), repr(self), self.model_id)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None, **_options: object
    ) -> dict[str, Any]:
        bundle = {**widget_bundle(self.model_id), "text/plain": repr(self), "text/html": self._snapshot()}
        return {
            mime: data
            for mime, data in bundle.items()
            if (not include or mime in include) and (not exclude or mime not in exclude)
        }

    def _snapshot(self) -> str:
        return self.session.snapshot(token=self._token, extra_style=swap_style(self._token))

    def __repr__(self) -> str:
        return f"<SessionView of {line(self.session.info)}, page {self.page} of {self.pages}>"
