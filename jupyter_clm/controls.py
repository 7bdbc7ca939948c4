"""The widgets of a live view: about a dozen, made once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ipywidgets as w  # type: ignore[import-untyped]

KINDS = {"user": "Prompts", "ai": "Replies", "system": "Command output", "compact": "Compactions"}
_NARROW = {"description_width": "initial"}


class Controls:
    """Head, search and kinds, paging, status and body. ``kinds``: those that the session has, each gets a box."""

    def __init__(self, kinds: Sequence[str], chunks: int, head: str) -> None:
        self.head = w.HTML(head)
        self.search = w.Text(
            description="Search",
            placeholder='words, or "a phrase"',
            style=_NARROW,
            layout={"flex": "1 1 14rem", "width": "auto"},
        )
        self.boxes = {
            kind: w.Checkbox(True, description=KINDS[kind], indent=False, layout={"width": "auto"}) for kind in kinds
        }
        button = {"width": "auto"}
        self.previous = w.Button(description="Previous", tooltip="Previous page", layout=button)
        self.next = w.Button(description="Next", tooltip="Next page", layout=button)
        self.page = w.BoundedIntText(1, min=1, max=1, description="Page", style=_NARROW, layout={"width": "7.5rem"})
        self.jump = w.Text(
            description="Go to #",
            placeholder=f"1 to {chunks}" if chunks else "",
            continuous_update=False,
            style=_NARROW,
            layout={"width": "9.5rem"},
        )
        self.status = w.HTML()
        self.body = w.HTML()
        self.rows = (
            self.head,
            _bar(self.search, *(self.boxes.values() if len(kinds) > 1 else ())),
            _bar(self.previous, self.page, self.next, self.jump, self.status),
            self.body,
        )

    def show(self, *, query: str, kinds: Sequence[str], page: int, pages: int, status: str, body: str) -> None:
        """Bring every control to this state."""
        self.search.value = query
        for kind, box in self.boxes.items():
            box.value = kind in kinds
        self.page.max = max(pages, self.page.value)
        self.page.value = page
        self.page.max = pages
        self.previous.disabled = page <= 1
        self.next.disabled = page >= pages
        self.status.value = f'<div class="clm-status" role="status" aria-live="polite">{status}</div>'
        self.body.value = body

    def everything(self) -> Iterator[Any]:
        """All widgets, the models of their layout and style among them."""
        todo: list[Any] = list(self.rows)
        while todo:
            widget = todo.pop()
            todo += getattr(widget, "children", ())
            yield from (
                model
                for model in (widget, widget.layout, getattr(widget, "style", None))
                if isinstance(model, w.Widget)
            )


def _bar(*widgets: Any) -> Any:  # noqa: ANN401 - ipywidgets has no types
    bar = w.HBox(widgets)
    bar.add_class("clm-bar-row")
    return bar
