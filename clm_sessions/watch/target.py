"""The database that a watch keeps up to date: opened when it is needed, and again after an error."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from clm_sessions.errors import ClmError
from clm_sessions.ingest import Importer, Report
from clm_sessions.sources import identity

RETRY = 30.0
"""At most so many seconds until the database is tried again after an error."""


class Target:
    """Imports into one database as long as it is the same file. ``connect`` opens it.

    ``busy``: an import has begun and not ended.
    """

    def __init__(self, database: Path, connect: Callable[[], Importer], tell: Callable[[str], None]) -> None:
        self._database, self._connect, self._tell = database, connect, tell
        self._importer: Importer | None = None
        self._identity: tuple[int, int] | None = None
        self._pause = self._retry_at = 0.0
        self._failure = ""
        self.busy = False

    @property
    def resting(self) -> bool:
        """Whether it failed, and it is too early to try again."""
        return time.monotonic() < self._retry_at

    @property
    def strange(self) -> bool:
        """Whether only an import of everything makes sense: nothing was imported yet, or the file is another one."""
        return self._importer is None or identity(self._database) != self._identity

    def run(self, roots: Sequence[Path], paths: set[str] | None) -> Report | None:
        """Import everything, or what ``paths`` are part of. None: it failed, and that was told (once)."""
        self.busy = True
        try:
            importer = self._open() if self._importer is None or self.strange else self._importer
            report = importer.run(roots, paths=paths)
        except (ClmError, OSError, sqlite3.Error) as error:
            self.close()
            self._pause = min(RETRY, 2 * self._pause or 1.0)
            self._retry_at = time.monotonic() + self._pause
            if str(error) != self._failure:
                self._failure = str(error)
                self._tell(f"{error}; trying again until it works")
            return None
        self.busy = report.interrupted
        self._pause, self._failure = 0.0, ""
        return report

    def close(self) -> None:
        """Put all pages into the one file."""
        if self._importer is not None:
            self._importer.close()
            self._importer = None

    def _open(self) -> Importer:
        self.close()
        self._importer = self._connect()
        self._identity = identity(self._database)
        return self._importer
