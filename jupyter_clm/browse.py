"""A list of sessions in a notebook: facets, search, and the session that is chosen below it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import ipywidgets as w  # type: ignore[import-untyped]
import traitlets as t

from clm_sessions.render.escape import visible
from clm_sessions.times import iso
from clm_sessions.view.words import count, one_line, plural
from jupyter_clm.display import swap_style
from jupyter_clm.facets import FACETS, Listed, counted, listed, matching
from jupyter_clm.live import LiveView
from jupyter_clm.session import NotebookSession
from jupyter_clm.snapshot import style_html
from jupyter_clm.view import SessionView

if TYPE_CHECKING:
    from jupyter_clm.collection import SessionList

LISTED = 200
"""Sessions and values of a facet that are listed at most; what is more is counted."""
ALL = ""
"""What the choice of everything stands for."""
_NARROW = {"description_width": "initial"}


class SessionsView(LiveView):
    """Sessions to narrow down and open. Traits may be set, observed and linked.

    ``query``: words in title, project, branch or id. ``project``, ``model``, ``format``, ``status``,
    ``interrupted``, ``compacted``, ``tools_failed`` (yes or no), ``git_branch``, ``day``: the value that a session must
    have, None for any. ``selected``: id of the session that is open below, or None; its
    beginning will do.
    ``n_hits``: number of sessions that all of these leave (read only). ``view``: the open ``SessionView``.
    """

    query = t.Unicode("", help="words in title, project, branch or id")
    project = t.Unicode(None, allow_none=True, help="name of the project, or None for all")
    model = t.Unicode(None, allow_none=True, help="first model that answered, or None for all")
    format = t.Unicode(None, allow_none=True, help="format of the log, or None for all")
    status = t.Unicode(None, allow_none=True, help="how it stands at its end, or None for all")
    interrupted = t.Unicode(None, allow_none=True, help="yes or no: whether a person interrupted it; None for all")
    compacted = t.Unicode(None, allow_none=True, help="yes or no: whether its context was compacted; None for all")
    tools_failed = t.Unicode(None, allow_none=True, help="yes or no: whether a tool call failed; None for all")
    git_branch = t.Unicode(None, allow_none=True, help="branch it began on, or None for all")
    day = t.Unicode(None, allow_none=True, help="UTC day it began, as 2026-03-02, or None for all")
    selected = t.Unicode(None, allow_none=True, help="id of the session that is open below")
    n_hits = t.Int(0, read_only=True, help="sessions that query and facets leave")

    _settable = ("query", *FACETS, "selected")

    def __init__(self, sessions: SessionList, **traits: Any) -> None:  # noqa: ANN401 - see the class
        super().__init__(traits)
        self._sessions = sessions
        self._rows = listed(sessions)
        self._by_id = {row.session.id: row.session for row in self._rows}
        self.view: SessionView | None = None
        self._search = w.Text(
            description="Search", placeholder="title, project, branch or id", style=_NARROW, layout={"flex": "1 1 14rem", "width": "auto"}
        )  # fmt: skip
        self._facets = {
            name: w.Dropdown(
                options=[("All", ALL)], description=words, style=_NARROW, layout={"flex": "1 1 11rem", "width": "auto"}
            )
            for name, words in FACETS.items()
        }
        self._previous = w.Button(description="Previous session", layout={"width": "auto"})
        self._next = w.Button(description="Next session", layout={"width": "auto"})
        self._list = w.Select(description="Sessions", rows=10, style=_NARROW, layout={"width": "auto"})
        self._list.add_class("clm-choices")
        self._place = w.VBox()
        self.children = self._made()
        self._begin(traits)
        self._listen()

    # -- what is shown, for Python ----------------------------------------------------------------------------------

    @property
    def hits(self) -> SessionList:
        """The sessions that query and facets leave, newest first."""
        from jupyter_clm.collection import SessionList

        return SessionList(row.session for row in self._matching())

    @property
    def selected_session(self) -> NotebookSession | None:
        """The session that is open below."""
        return None if self.selected is None else self._by_id[self.selected]

    def next_session(self) -> str | None:
        """Open the session listed after the selected one, or the first; its id, or None if there is none."""
        return self._step(1)

    def previous_session(self) -> str | None:
        """Open the session listed before the selected one; its id, or None if there is none."""
        return self._step(-1)

    def close(self) -> None:
        """Remove the list and the session below it, and free all their models."""
        view = getattr(self, "view", None)  # none if making it failed
        if view is not None:
            view.close()
        super().close()

    # -- traits -----------------------------------------------------------------------------------------------------

    @t.validate("query", *FACETS)
    def _valid_text(self, proposal: Any) -> str | None:  # noqa: ANN401 - a traitlets Bunch
        text: str | None = proposal["value"]
        clean = None if text is None else text.encode("utf-8", "replace").decode()
        return clean if clean or proposal["trait"].name == "query" else None

    @t.validate("selected")
    def _valid_selected(self, proposal: Any) -> str | None:  # noqa: ANN401
        asked: str | None = proposal["value"]
        if asked is None or asked in self._by_id:
            return asked
        found = self._sessions.named(asked)
        if len(found) != 1:
            raise t.TraitError(f"{len(found) or 'no'} session{'s' * (len(found) > 1)} {asked!r} in this list")
        return found[0].id

    @t.observe("query", *FACETS)
    def _on_filter(self, _change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            pass

    @t.observe("selected")
    def _on_selected(self, _change: Any) -> None:  # noqa: ANN401
        with self._drawn_once():
            old, session = self.view, self.selected_session
            self.view = None if session is None else session.view()
            self._place.children = () if self.view is None else (self.view,)
            if old is not None:
                old.close()

    def _step(self, by: int) -> str | None:
        sid = self._beside(by, self._matching())
        self.selected = sid or self.selected
        return sid

    def _beside(self, by: int, listed: list[Listed]) -> str | None:
        """The id of the session so many places after the selected one."""
        ids = [row.session.id for row in listed]
        place = ids.index(self.selected) + by if self.selected in ids else min(by, 0)
        return ids[place] if 0 <= place < len(ids) else None

    # -- drawing ----------------------------------------------------------------------------------------------------

    def _chosen(self) -> dict[str, str | None]:
        return {name: getattr(self, name) for name in FACETS}

    def _matching(self, *, but: str = "") -> list[Listed]:
        return matching(self._rows, self._chosen(), self.query, but=but)

    def _draw(self) -> None:
        found = self._matching()
        self.set_trait("n_hits", len(found))
        self._search.value = self.query
        for name, widget in self._facets.items():
            chosen = getattr(self, name)
            _choose(widget, _options(self._matching(but=name), name, chosen), chosen or ALL)
        options = [(_label(row.session), row.session.id) for row in found[:LISTED]]
        _choose(self._list, options, self.selected if any(sid == self.selected for _label, sid in options) else None)
        self._previous.disabled, self._next.disabled = (self._beside(by, found) is None for by in (-1, 1))
        of = f" of {len(self._rows):,}" if len(found) != len(self._rows) else ""
        words = f"{len(found):,}{of} {'session' if len(self._rows) == 1 else 'sessions'}"
        words += f" · the newest {LISTED} are listed: narrow them down" if len(found) > LISTED else ""
        self._say(words)

    def _made(self) -> tuple[Any, ...]:
        search, facets = w.HBox([self._search]), w.HBox(list(self._facets.values()))
        steps = w.HBox([self._previous, self._next, self._status])
        for bar in (search, facets, steps):
            bar.add_class("clm-bar-row")
        style = w.HTML(style_html(), layout={"display": "none"})
        return (style, search, facets, steps, self._list, self._place)

    def _listen(self) -> None:
        self._search.observe(self._by_hand(lambda value: self.set_trait("query", value)), "value")
        for name, widget in self._facets.items():
            widget.observe(self._by_hand(partial(self._narrow, name)), "value")
        self._previous.on_click(lambda _button: self.previous_session())
        self._next.on_click(lambda _button: self.next_session())
        self._list.observe(self._by_hand(self._choose), "value")

    def _narrow(self, name: str, value: str) -> None:
        self.set_trait(name, value or None)

    def _choose(self, sid: str | None) -> None:
        if sid is not None:
            self.selected = sid

    def _snapshot(self) -> str:
        token = self._token
        return (
            f'<div class="clm-snap clm-snap-{token}">{style_html(swap_style(token))}{self._sessions.table_html()}</div>'
        )

    def __repr__(self) -> str:
        return f"<SessionsView of {plural(len(self._rows), 'session')}>"


def _options(rows: Iterable[Listed], name: str, chosen: str | None) -> list[tuple[str, str]]:
    found = counted(rows, name)
    options = [("All", ALL)]
    options += [(f"{visible(one_line(value, 50))} · {n:,}", value) for value, n in found[:LISTED]]
    if chosen and chosen not in {value for _label, value in options}:
        options.append((f"{visible(one_line(chosen, 50))} · {dict(found).get(chosen, 0):,}", chosen))
    return options


def _label(session: NotebookSession) -> str:
    info = session.info
    day = (iso(info.started_at) or "no time")[:16].replace("T", " ") if info.started_at is not None else "no time"
    facts = [info.project_name or "", plural(info.prompts, "prompt"), plural(info.tool_calls, "tool call")]
    facts += [f"{info.tool_errors:,} failed"] if info.tool_errors else []
    facts += [f"{count(info.usage.output)} tokens out"] if info.usage.output is not None else []
    title = one_line(info.title or info.native_id, 70)
    return visible(f"{day}  {title} · {' · '.join(one_line(fact, 40) for fact in facts if fact)}")


def _choose(widget: Any, options: list[Any], value: object) -> None:  # noqa: ANN401 - ipywidgets has no types
    if tuple(widget.options) != tuple(options):
        widget.options = options
    if widget.value != value:
        widget.value = value
