"""A cell that is run again leaves its earlier views behind: ipywidgets keeps them, so they must be told to follow no longer."""

from __future__ import annotations

import sys
import weakref
from typing import Any, Protocol


class Follows(Protocol):
    """What may follow a log."""

    def stop(self) -> None:
        """Follow no longer."""


_LEFT: dict[str, tuple[str, list[weakref.ref[Follows]]]] = {}
"""By the id of a cell: the run of it that made views follow, and these views."""


def begins(view: Follows) -> None:
    """A view is about to follow. Those that an earlier run of the same cell made stop; outside of a cell none does."""
    message = _message()
    cell, run = (message.get("metadata") or {}).get("cellId"), (message.get("header") or {}).get("msg_id")
    if not isinstance(cell, str) or not isinstance(run, str):
        return
    before, views = _LEFT.get(cell, (run, []))
    if before != run:
        for left in views:
            if (old := left()) is not None:
                old.stop()
        views = []
    _LEFT[cell] = (run, [*views, weakref.ref(view)])


def _message() -> dict[str, Any]:
    """The request that the kernel is carrying out; empty where there is no kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    found: object = getattr(shell, "get_parent", dict)()
    return found if isinstance(found, dict) else {}
