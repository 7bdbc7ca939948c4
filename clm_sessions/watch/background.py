"""A watch in a thread of its own, inside a server. ``serve --watch`` orders it; the server starts and stops it."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import MutableMapping, Sequence
from dataclasses import asdict
from pathlib import Path

from clm_sessions import plugins
from clm_sessions.errors import plain
from clm_sessions.ingest import Choice
from clm_sessions.prices import Book, Price
from clm_sessions.watch import watch

VARIABLE = "CLM_SESSIONS_WATCH"
"""The environment variable that holds the order: it outlives the exec by which the command becomes the server."""
PATIENCE = 10.0
"""Seconds to wait for the end of an import. It can be cut at any place without harm."""


def order(
    environ: MutableMapping[str, str],
    database: Path,
    roots: Sequence[Path],
    choice: Choice,
    prices: Sequence[Price] = (),
) -> None:
    """Order a watch from the server that this process will become."""
    places = [str(path.absolute()) for path in (database, *roots)]
    environ[VARIABLE] = json.dumps(
        {"places": places, "choice": asdict(choice), "prices": [asdict(price) for price in prices]}
    )


def ordered(environ: MutableMapping[str, str]) -> Background | None:
    """The watch that was ordered, not begun yet; None if none was. It is ordered once: children do not inherit it."""
    text = environ.pop(VARIABLE, None)
    if text is None:
        return None
    order = json.loads(text)
    database, *roots = map(Path, order["places"])
    since, exclude, projects = (order["choice"][name] for name in ("since", "exclude", "projects"))
    choice = Choice(since=since, exclude=tuple(exclude), projects=tuple(projects))
    return Background(database, roots, choice, Book(own=tuple(Price(**price) for price in order["prices"])))


class Background:
    """Imports what changes below ``roots`` into ``database``, in a thread. What there is to say goes to stderr."""

    def __init__(self, database: Path, roots: Sequence[Path], choice: Choice, book: Book | None = None) -> None:
        self._database, self._roots, self._choice, self._book = database, roots, choice, book
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="clm-sessions watch", daemon=True)

    def start(self) -> None:
        """Begin; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait until the database is put away."""
        self._stop.set()
        self._thread.join(PATIENCE)

    def _run(self) -> None:
        registry = plugins.from_environment()
        watch(self._database, self._roots, registry, stop=self._stop, tell=_tell, choice=self._choice, book=self._book)


def _tell(line: str) -> None:
    sys.stderr.write(f"clm-sessions: {plain(line)}\n")
