"""A log that is still being written: look again and again, in a thread that ends with its view."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import clm_sessions
from clm_sessions.errors import ClmError, UsageError
from clm_sessions.library import StoredSession
from clm_sessions.store import reader
from jupyter_clm.session import NotebookSession, registry

LEAST = 0.05
SHARE = 5
"""Seconds between two looks at least; a look that takes long is followed by a rest this many times as long."""


class Source(Protocol):
    """Where a session grows."""

    def newer(self) -> NotebookSession | None:
        """The session as it is now; None if nothing has changed since it was asked last."""
        ...

    def kept(self, session: NotebookSession) -> NotebookSession:
        """What it gave, good for use when it has been closed."""
        ...

    def close(self) -> None:
        """Nothing more will be asked."""
        ...


class Log:
    """A log file or folder; it is read anew when a file of it has changed."""

    def __init__(self, session: NotebookSession, path: Path) -> None:
        self._session, self._path = session, path
        self._seen: object = None  # what was written between loading and following is not missed

    def newer(self) -> NotebookSession | None:
        """See ``Source``. ClmError, OSError if the log cannot be read just now."""
        seen = sorted(_stats(self._path))
        if seen == self._seen:
            return None
        found = clm_sessions.load(self._path, format=self._session.read_as, registry=registry())
        self._seen = seen
        if not found.messages and len(self._session.core.messages):
            return None  # it is being written anew: what was there is shown until there is something else
        return NotebookSession(found, path=self._path, read_as=self._session.read_as)

    def kept(self, session: NotebookSession) -> NotebookSession:
        """See ``Source``."""
        return session

    def close(self) -> None:
        """See ``Source``."""


class Stored:
    """A session in a database that someone else writes.

    Over a connection of its own: a thread must not use one that another may close at any moment.
    """

    def __init__(self, core: StoredSession) -> None:
        self._core = core
        (path,) = [row[2] for row in core.db.execute("PRAGMA database_list") if row[1] == "main"]
        self._db = sqlite3.connect(
            f"{Path(path).as_uri()}?mode=ro", uri=True, timeout=30, isolation_level=None, check_same_thread=False
        )
        self._seen: int | None = None

    def newer(self) -> NotebookSession | None:
        """See ``Source``."""
        (version,) = self._db.execute("PRAGMA data_version").fetchone()
        if version == self._seen:
            return None
        found = reader.session_infos(self._db, "s.id = ?", (self._core.id,))
        self._seen = version
        return NotebookSession(StoredSession(found[0], self._db)) if found else None

    def kept(self, session: NotebookSession) -> NotebookSession:
        """See ``Source``."""
        return NotebookSession(StoredSession(session.info, self._core.db))

    def close(self) -> None:
        """See ``Source``."""
        self._db.close()


def source_of(session: NotebookSession) -> Source:
    """Where to look for more of a session. UsageError if it is known of neither a log nor a database that may grow."""
    if not session.grows:
        raise UsageError(
            f"{session.id}: nothing is written to the private database of logs that were opened; jupyter_clm.load(PATH).follow()"
        )
    if isinstance(session.core, StoredSession):
        return Stored(session.core)
    if session.path is None:
        raise UsageError(f"{session.id}: no log to follow is known; load it alone, with jupyter_clm.load(PATH)")
    return Log(session, session.path)


class Follower:
    """Asks a source every so many seconds and hands on what is newer, in a thread, until told to stop."""

    def __init__(self, source: Source, every: float) -> None:
        self._source, self._every = source, max(every, LEAST)
        self._stop = threading.Event()

    def start(self, take: Callable[[NotebookSession], None]) -> None:
        """Begin; returns at once."""
        threading.Thread(target=self._run, args=(take,), name="clm-sessions follow", daemon=True).start()

    def stop(self, session: NotebookSession) -> NotebookSession:
        """End; gives what it handed on last, good for use from now on. A look that is under way is not waited for."""
        self._stop.set()
        return self._source.kept(session)

    def _run(self, take: Callable[[NotebookSession], None]) -> None:
        pause = 0.0
        while not self._stop.wait(pause):
            began = time.monotonic()
            with suppress(ClmError, OSError, sqlite3.Error):  # half written, moved, or locked: it is looked at again
                found = self._source.newer()
                if found is not None:
                    take(found)
            pause = max(self._every, SHARE * (time.monotonic() - began))
        self._source.close()


def _stats(path: Path) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of the files of a log: itself, and those of its subagents in the folder of its name."""
    if path.is_dir():
        folder = path
    else:
        folder, found = path.with_suffix(""), path.stat()
        yield path.name, found.st_size, found.st_mtime_ns
    for place, _folders, files in os.walk(folder):
        for name in files:
            found = (inside := Path(place, name)).lstat()
            yield str(inside), found.st_size, found.st_mtime_ns
