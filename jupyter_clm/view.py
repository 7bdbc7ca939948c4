"""The live view: ipywidgets around one page of cards. A fixed set of widgets, however long the session is."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import traitlets as t

from clm_sessions.errors import UsageError
from clm_sessions.export import Start
from clm_sessions.model import CHUNK_KINDS, ChunkContent
from clm_sessions.render import Options, session_header_html
from jupyter_clm import nested, outline
from jupyter_clm.controls import Controls, State
from jupyter_clm.display import swap_style
from jupyter_clm.export import write_html
from jupyter_clm.find import Finder
from jupyter_clm.follow import Follower, source_of
from jupyter_clm.live import LiveView
from jupyter_clm.pane import pane_html, status_html
from jupyter_clm.rerun import begins
from jupyter_clm.session import NotebookSession
from jupyter_clm.snapshot import line, style_html

if TYPE_CHECKING:
    from clm_sessions.publish.options import Choices

MAX_PAGE_SIZE = 100
MAX_TOOLS = 100


class SessionView(LiveView):
    """A session to page through and search. Traits may be set, observed and linked; what is out of range is clamped.

    What is shown: ``kinds`` of chunks (of user, ai, system, compact); those with a call of one of the ``tools``;
    ``errors``: those with a call that failed, was interrupted or got no result. ``query``: words that a chunk must hold,
    all of them (``"quoted words"`` are one phrase); ``only_hits``: chunks that do not hold them are left out.
    Where: ``page`` from 1, of ``page_size`` (1 to 100) chunks; ``selected``: seq of the chunk that was jumped to, or None:
    its page is shown, and a filter that hid it is lifted. ``agent``: id of the subagent whose transcript is shown, at any
    depth; empty for the session itself. How: ``expanded``: all steps open (True), folded (False), or as the card has it.
    Read only: ``n_hits``, chunks that query and filters leave; ``following``, whether it grows with its log.
    """

    query = t.Unicode("", help="words that a chunk must hold")
    only_hits = t.Bool(True, help="leave out chunks that do not hold the words of the query")
    kinds = t.Tuple(default_value=CHUNK_KINDS, help="kinds of chunks shown")
    tools = t.Tuple(help="names of tools: only chunks that called one of them; empty: all chunks")
    errors = t.Bool(False, help="only chunks in which something failed, was interrupted or got no result")
    page = t.Int(1, help="page shown, from 1")
    page_size = t.Int(10, help="chunks on a page, 1 to 100")
    selected = t.Int(None, allow_none=True, help="seq of the chunk that was jumped to")
    expanded = t.Bool(None, allow_none=True, help="all steps open, or folded; None: as the card has them")
    agent = t.Unicode("", help="id of the subagent that is shown; empty: the session itself")
    n_hits = t.Int(0, read_only=True, help="chunks that query and filters leave")
    following = t.Bool(False, read_only=True, help="whether the view grows with its log")

    _settable = ("agent", "page_size", "kinds", "tools", "errors", "only_hits", "query", "expanded", "page", "selected")

    def __init__(self, session: NotebookSession, **traits: Any) -> None:  # noqa: ANN401 - see the class
        super().__init__(traits)
        self.session = session
        self._path = [session]
        self._follower: Follower | None = None
        self._controls = Controls(style_html(), self._status)
        self._turn = 0
        self._open()
        self.children = self._controls.rows
        self._begin(traits)
        self._listen()

    # -- what is shown, for Python ----------------------------------------------------------------------------------

    @property
    def shown(self) -> NotebookSession:
        """The session or subagent whose transcript is shown."""
        return self._path[-1]

    @property
    def hits(self) -> Sequence[int]:
        """Seqs of the chunks that query and filters leave, in order."""
        return self._hits

    @property
    def pages(self) -> int:
        """Number of pages, at least 1."""
        return max(1, -(-len(self._seqs) // self.page_size))

    @property
    def selected_chunk(self) -> ChunkContent | None:
        """The selected chunk with its messages, whole."""
        return None if self.selected is None else self.shown.contents(self.selected, self.selected + 1)[0]

    def next_hit(self) -> int | None:
        """Select the next hit after the selected one, or the first of this page; its seq, or None if there is none."""
        return self._step(self._behind())

    def previous_hit(self) -> int | None:
        """Select the hit before the selected one, or before this page; its seq, or None if there is none."""
        return self._step(self._before())

    def follow(self, every: float = 1.0) -> None:
        """Grow while the log is written, looking every so many seconds, until ``stop`` or ``close``; at the end, stay there.

        A cell that is run again stops what its last run made follow.

        UsageError if the session comes neither from one log nor from a database that may grow, or if the view was closed.
        """
        if self.closed:
            raise UsageError("this view was closed; session.follow() makes another")
        source = source_of(self.session)
        begins(self)
        self.stop()
        follower = Follower(source, every)
        with self._drawn_once():
            self._follower = follower
            self.set_trait("following", True)
        follower.start(partial(self._take, follower))

    def stop(self) -> None:
        """Follow no longer."""
        with self._drawn_once():
            if self._let_go():
                self._open()

    def close(self) -> None:
        """Remove the view, free all its models, and follow no longer."""
        if getattr(self, "_follower", None) is not None:  # none also if making the view failed
            with self._lock:
                self._let_go()
        super().close()

    def to_html(self, path: str | os.PathLike[str], *, redact: bool = True, choices: Choices | None = None) -> Path:
        """Write the session or subagent on show as ``NotebookSession.to_html`` does; the page begins with this view.

        Its query, kinds, errors and, if it is one, tool are set in it; the whole is there all the same.
        """
        tool = self.tools[0] if len(self.tools) == 1 else ""
        kinds = () if set(self.kinds) == set(CHUNK_KINDS) else self.kinds
        start = Start(query=self.query, kinds=kinds, tool=tool, errors=self.errors)
        return write_html(self.shown, path, redact=redact, choices=choices, start=start)

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

    @t.validate("tools")
    def _valid_tools(self, proposal: Any) -> tuple[str, ...]:  # noqa: ANN401
        wrong = [name for name in proposal["value"] if not isinstance(name, str)]
        if wrong:
            raise t.TraitError(f"the name of a tool is text, not {wrong[0]!r}")
        names = dict.fromkeys(name.encode("utf-8", "replace").decode() for name in proposal["value"])
        return tuple(names)[:MAX_TOOLS]

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

    @t.validate("agent")
    def _valid_agent(self, proposal: Any) -> str:  # noqa: ANN401
        asked: str = proposal["value"]
        if asked and not nested.trail(self.session, asked):
            raise t.TraitError(f"no subagent {asked!r} in {self.session.id}")
        return "" if asked == self.session.id else asked

    @t.observe("query", "kinds", "tools", "errors", "only_hits")
    def _on_filter(self, _change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            self._filter()

    @t.observe("page_size")
    def _on_page_size(self, change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            self.page = (self.page - 1) * change["old"] // self.page_size + 1

    @t.observe("page", "expanded")
    def _on_look(self, _change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            pass

    @t.observe("selected")
    def _on_selected(self, _change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            if self.selected is not None and _place(self._seqs, self.selected) is None:
                self.query, self.kinds, self.tools, self.errors = "", CHUNK_KINDS, (), False
            self._turn_to_selected()

    @t.observe("agent")
    def _on_agent(self, _change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            self.selected = None
            self._open()
            self._filter()

    # -- what is where ----------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        self._filter()

    def _open(self) -> None:
        """Turn to the transcript of ``agent``; to the session itself where that is gone."""
        self._path = nested.trail(self.session, self.agent or self.session.id) or [self.session]
        self._finder = Finder(self.shown.core)
        self._chunks = self._finder.count
        self._find()
        options = Options(id_prefix=self._prefix)
        head = session_header_html(self.shown.info, options=options, agent=self.shown.label, level=3)
        self._controls.know(head, self._finder.tools())
        self._agents = nested.offered(self._path)

    def _find(self) -> None:
        asked = (self.kinds, self.tools, self.errors)
        self._hits = self._finder.hits(self.query, *asked)
        self._seqs = self._hits if self.only_hits or not self.query.strip() else self._finder.hits("", *asked)
        self.set_trait("n_hits", len(self._hits))

    def _filter(self) -> None:
        self._find()
        self.page = 1
        self._turn_to_selected()

    def _turn_to_selected(self) -> None:
        place = None if self.selected is None else _place(self._seqs, self.selected)
        if place is not None:
            self.page = place // self.page_size + 1

    def _on_this_page(self) -> Sequence[int]:
        start = (self.page - 1) * self.page_size
        return self._seqs[start : start + self.page_size]

    def _here(self) -> tuple[int, int]:
        """What the next hit comes after, and what the previous one comes before."""
        seqs = self._on_this_page()
        if not seqs:
            return -1, 0
        selected = self.selected
        return (seqs[0] - 1, seqs[0]) if selected is None or selected not in seqs else (selected, selected)

    def _behind(self) -> int | None:
        place = bisect_right(self._hits, self._here()[0])
        return self._hits[place] if place < len(self._hits) else None

    def _before(self) -> int | None:
        place = bisect_left(self._hits, self._here()[1])
        return self._hits[place - 1] if place else None

    def _step(self, seq: int | None) -> int | None:
        if seq is not None:
            self.selected = seq
            self._turn_to_selected()
        return seq

    def _take(self, follower: Follower, session: NotebookSession) -> None:
        """The session as it is now; a reader at the end stays at the end."""
        with self._drawn_once():
            if self._follower is follower:
                at_end = self.page == self.pages
                self.session = session
                self._open()
                self.page = self.pages if at_end else self.page

    def _let_go(self) -> bool:
        """End the following, under the lock; whether there was any."""
        follower, self._follower = self._follower, None
        if follower is not None:
            self.session = follower.stop(self.session)
            self._path = [self.session]
            self.set_trait("following", False)
        return follower is not None

    # -- drawing ----------------------------------------------------------------------------------------------------

    @property
    def _prefix(self) -> str:
        return f"clm-{self._token}-live-"

    def _draw(self) -> None:
        seqs = self._on_this_page()
        self._say(status_html(self, self._chunks))
        options, entry = outline.entries(self._finder, self._here()[1])
        self._controls.show(
            State(
                query=self.query,
                only_hits=self.only_hits,
                kinds=self.kinds,
                tools=self.tools,
                errors=self.errors,
                page=self.page,
                pages=self.pages,
                chunks=self._chunks,
                before=self._before() is not None,
                behind=self._behind() is not None,
                outline=options,
                entry=entry,
                agents=self._agents,
                agent=self.shown.id,
                body=pane_html(self, seqs, self._chunks, self._prefix) + " " * (self._turn % 2),
            )
        )

    # -- what a person does -----------------------------------------------------------------------------------------

    def _listen(self) -> None:
        controls = self._controls
        controls.previous.on_click(lambda _button: self.set_trait("page", self.page - 1))
        controls.next.on_click(lambda _button: self.set_trait("page", self.page + 1))
        controls.previous_hit.on_click(lambda _button: self.previous_hit())
        controls.next_hit.on_click(lambda _button: self.next_hit())
        controls.expand.on_click(lambda _button: self._fold(expanded=True))
        controls.collapse.on_click(lambda _button: self._fold(expanded=False))
        for name, widget in (
            ("query", controls.search),
            ("only_hits", controls.only_hits),
            ("tools", controls.tools),
            ("errors", controls.errors),
            ("page", controls.page),
        ):
            widget.observe(self._by_hand(partial(self.set_trait, name)), "value")
        controls.jump.observe(self._by_hand(self._jump), "value")
        controls.outline.observe(self._by_hand(self._go), "value")
        controls.agent.observe(self._by_hand(lambda sid: self.set_trait("agent", sid or "")), "value")
        for box in controls.boxes.values():
            box.observe(self._by_hand(lambda _value: self._choose_kinds()), "value")

    def _choose_kinds(self) -> None:
        self.kinds = tuple(kind for kind, box in self._controls.boxes.items() if box.value)

    def _fold(self, *, expanded: bool) -> None:
        """All steps open or folded, also where a person has folded some since: the page is sent anew."""
        with self._drawn_once():
            self._turn += 1
            self.expanded = expanded

    def _jump(self, text: str) -> None:
        digits = text.strip().lstrip("#")
        if digits.isdecimal() and len(digits) < 10:
            self._go(int(digits) - 1)

    def _go(self, seq: int | None) -> None:
        if seq is not None:
            self.selected = seq
            self._turn_to_selected()

    # -- display ----------------------------------------------------------------------------------------------------

    def _snapshot(self) -> str:
        return self.session.snapshot(token=self._token, extra_style=swap_style(self._token))

    def __repr__(self) -> str:
        where = "closed" if self.closed else f"page {self.page} of {self.pages}"
        return f"<SessionView of {line(self.session.info)}, {where}>"


def _place(seqs: Sequence[int], seq: int) -> int | None:
    """Where a seq stands among ascending ones."""
    place = bisect_left(seqs, seq)
    return place if place < len(seqs) and seqs[place] == seq else None
