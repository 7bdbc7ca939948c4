"""What all live views have in common: a fixed set of widgets, drawn once per change, shown beside a snapshot, freed at the end."""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import ipywidgets as w  # type: ignore[import-untyped]

from jupyter_clm.display import publish, widget_bundle


def models(root: Any) -> Iterator[Any]:  # noqa: ANN401 - ipywidgets has no types
    """A widget, those in it, and the models of their layout and style."""
    todo = [root]
    while todo:
        widget = todo.pop()
        todo += getattr(widget, "children", ())
        yield from (m for m in (widget, widget.layout, getattr(widget, "style", None)) if isinstance(m, w.Widget))


class LiveView(w.VBox):  # type: ignore[misc] # ipywidgets has no types
    """The base of the live views. A view says how it is drawn (``_draw``) and what stands for it (``_snapshot``).

    Nothing is drawn while ``_busy``; a view begins so, and ends it when it is made (``_begin``).
    """

    _settable: ClassVar[tuple[str, ...]] = ()
    """The traits that may be given when a view is made, in the order in which they are set."""

    def __init__(self, traits: Collection[str] = ()) -> None:
        """``traits``: the names of those that are given. TypeError if the view has no such trait."""
        unknown = sorted(set(traits) - set(self._settable))
        if unknown:
            known = ", ".join(sorted(self._settable))
            raise TypeError(f"{type(self).__name__} has no trait {', '.join(unknown)}; it has {known}")
        self._token = secrets.token_hex(4)
        self._busy = True
        self._lock = threading.RLock()  # JupyterLab answers controls on another thread than the one that runs cells
        super().__init__()
        self._status = w.HTML()
        for name in ("clm-root", "clm-view", f"clm-live-{self._token}"):
            self.add_class(name)

    @property
    def closed(self) -> bool:
        """Whether the view was closed: it has no models any more, and can only be read about."""
        return self.comm is None

    def close(self) -> None:
        """Remove the view and free all its models."""
        if hasattr(self, "_lock") and not self.closed:  # made, and not closed yet
            with self._lock:
                self._busy = True  # a thread that still draws finds nothing to draw on
                for model in list(models(self)):
                    if model is not self:
                        model.close()
        super().close()

    def _begin(self, traits: Mapping[str, Any]) -> None:
        """Draw for the first time, with these traits; nothing is left of a view that cannot have one of them."""
        self._busy = False
        try:
            with self._drawn_once():
                self._prepare()
                for name in self._settable:
                    if name in traits:
                        setattr(self, name, traits[name])
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """What must be worked out before the first traits are set."""

    def _draw(self) -> None:
        """Bring every control to the state of the traits."""
        raise NotImplementedError

    def _say(self, words: str) -> None:
        """Show this in the line that counts, which is read out when it changes. ``words`` are HTML."""
        self._status.value = f'<div class="clm-status" role="status" aria-live="polite">{words}</div>'

    def _snapshot(self) -> str:
        """The static HTML that hosts without a kernel show, hidden while this view is in the page."""
        raise NotImplementedError

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
            except sqlite3.ProgrammingError:  # a person who clicks sees no traceback
                self._say("The database was closed: nothing more is read. Open it again and make the view anew.")
                raise
            finally:
                self._busy = False

    def _by_hand(self, act: Callable[[Any], None]) -> Callable[[Any], None]:
        """An observer that acts on what a person did, not on what drawing set."""

        def answer(change: Any) -> None:  # noqa: ANN401 - a traitlets Bunch
            with self._lock:
                if not self._busy:
                    act(change["new"])

        return answer

    def _ipython_display_(self, **_options: object) -> None:
        publish(self._snapshot(), repr(self), None if self.closed else self.model_id)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None, **_options: object
    ) -> dict[str, Any]:
        bundle = {**widget_bundle(self.model_id), "text/plain": repr(self), "text/html": self._snapshot()}
        return {
            mime: data
            for mime, data in bundle.items()
            if (not include or mime in include) and (not exclude or mime not in exclude)
        }
