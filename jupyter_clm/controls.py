"""The widgets of a live view: about two dozen, made once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ipywidgets as w  # type: ignore[import-untyped]

from clm_sessions.errors import plain
from clm_sessions.model import CHUNK_KINDS

KINDS = {"user": "Prompts", "ai": "Replies", "system": "Command output", "compact": "Compactions"}
ALL_TOOLS = "All tools"
_NARROW = {"description_width": "initial"}
_AS_WIDE_AS_IT_IS = {"width": "auto"}
Options = Sequence[tuple[str, Any]]
"""Labels with what they stand for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that a view shows. ``outline`` and ``agents``: labels with seq or id; ``body`` is HTML."""

    query: str
    only_hits: bool
    kinds: Sequence[str]
    tools: tuple[str, ...]
    errors: bool
    page: int
    pages: int
    chunks: int
    before: bool
    behind: bool
    outline: Options
    entry: int | None
    agents: Options
    agent: str
    body: str


class Controls:
    """Head, search, filters, paging, outline and body."""

    def __init__(self, style: str, status: Any) -> None:  # noqa: ANN401 - ipywidgets has no types
        """``status``: the widget of the line that counts, which the view itself fills."""
        self.style, self.status = w.HTML(style, layout={"display": "none"}), status
        self.head = w.HTML()
        self.search = w.Text(
            description="Search",
            placeholder='words, or "a phrase"',
            style=_NARROW,
            layout={"flex": "1 1 14rem", "width": "auto"},
        )
        self.previous_hit = _button("Previous hit", "Select the hit before this one")
        self.next_hit = _button("Next hit", "Select the hit after this one")
        self.only_hits = _box("Only hits")
        self.boxes = {kind: _box(KINDS[kind]) for kind in CHUNK_KINDS}
        self.tools = w.Dropdown(options=[(ALL_TOOLS, ())], description="Tool", style=_NARROW, layout={"width": "13rem"})
        self.errors = _box("Only failures")
        self.previous = _button("Previous", "Previous page")
        self.next = _button("Next", "Next page")
        self.page = w.BoundedIntText(1, min=1, max=1, description="Page", style=_NARROW, layout={"width": "7.5rem"})
        self.jump = w.Text(description="Go to #", continuous_update=False, style=_NARROW, layout={"width": "9.5rem"})
        self.expand = _button("Expand all", "Open every step of this page")
        self.collapse = _button("Collapse all", "Fold every step of this page")
        self.agent = w.Dropdown(description="Transcript", style=_NARROW, layout={"flex": "1 1 14rem", "width": "auto"})
        self.outline = w.Select(description="Outline", style=_NARROW, layout={"width": "auto", "height": "auto"})
        self.body = w.HTML()
        sides = w.HBox([self.outline, self.body])
        sides.add_class("clm-sides")
        self.rows = (
            self.style,
            self.head,
            _bar(self.search, self.previous_hit, self.next_hit, self.only_hits),
            _bar(*self.boxes.values(), self.tools, self.errors),
            _bar(self.previous, self.page, self.next, self.jump, self.expand, self.collapse, self.agent),
            status,
            sides,
        )

    def know(self, head: str, tools: Sequence[tuple[str, int, int]]) -> None:
        """Take the head of a session and the tools it called (name, calls, failed)."""
        self.head.value = head
        self._tools: list[tuple[str, tuple[str, ...]]] = [(ALL_TOOLS, ()), *((_tool(*row), (row[0],)) for row in tools)]
        self.tools.layout.display = "" if tools else "none"

    def show(self, state: State) -> None:
        """Bring every control to this state; the cards first, for each change is a message of its own."""
        self.body.value = state.body
        self.search.value = state.query
        self.only_hits.value = state.only_hits
        for kind, box in self.boxes.items():
            box.value = kind in state.kinds
        known = any(names == state.tools for _label, names in self._tools)
        _choose(self.tools, [*self._tools, *([] if known else [(", ".join(state.tools), state.tools)])], state.tools)
        self.errors.value = state.errors
        self.page.max = max(state.pages, self.page.value)
        self.page.value = state.page
        self.page.max = state.pages
        self.jump.placeholder = f"1 to {state.chunks}" if state.chunks else ""
        self.previous.disabled, self.next.disabled = state.page <= 1, state.page >= state.pages
        self.previous_hit.disabled, self.next_hit.disabled = not state.before, not state.behind
        _choose(self.outline, state.outline, state.entry)
        self.outline.layout.display = "" if state.outline else "none"
        _choose(self.agent, state.agents, state.agent)
        self.agent.layout.display = "" if len(state.agents) > 1 else "none"


def _choose(widget: Any, options: Options, value: object) -> None:  # noqa: ANN401 - ipywidgets has no types
    if tuple(widget.options) != tuple(options):
        widget.options = options
    if widget.value != value:
        widget.value = value


def _tool(name: str, calls: int, failed: int) -> str:
    return f"{plain(name)[:40]} · {calls:,}" + (f", {failed:,} failed" if failed else "")


def _button(words: str, tooltip: str) -> Any:  # noqa: ANN401
    return w.Button(description=words, tooltip=tooltip, layout=_AS_WIDE_AS_IT_IS)


def _box(words: str) -> Any:  # noqa: ANN401
    return w.Checkbox(True, description=words, indent=False, layout=_AS_WIDE_AS_IT_IS)


def _bar(*widgets: Any) -> Any:  # noqa: ANN401
    bar = w.HBox(widgets)
    bar.add_class("clm-bar-row")
    return bar
