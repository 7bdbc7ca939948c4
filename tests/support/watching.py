"""A watch that runs beside a test: in a thread, or as the command."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from clm_sessions import plugins
from clm_sessions.ingest import Report
from clm_sessions.watch import Tally, watch

PATIENCE = 30.0


class Watching:
    """``lines``: what it said; ``reports``: of imports that changed something; ``tally``: when it has ended."""

    def __init__(self, database: Path, *roots: Path) -> None:
        self.database = database
        self.lines: list[str] = []
        self.reports: list[Report] = []
        self.tally: Tally | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(roots,))

    def _run(self, roots: tuple[Path, ...]) -> None:
        registry = plugins.build(entry_points=False)
        self.tally = watch(
            self.database, roots, registry, stop=self._stop, tell=self.lines.append, imported=self.reports.append
        )

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()

    def said(self, words: str) -> None:
        """Wait until it says something with these words in it."""
        until(lambda: any(words in line for line in self.lines), self.lines)

    def has(self, sql: str, *rows: tuple[Any, ...]) -> float:
        """Wait until a query gives these rows; the seconds that took."""
        began = time.monotonic()
        until(lambda: _rows(self.database, sql) == list(rows), (sql, self.lines))
        return time.monotonic() - began


def _rows(database: Path, sql: str) -> list[tuple[Any, ...]] | None:
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as db:
        return db.execute(sql).fetchall()
    return None


def until(there: Callable[[], Any], about: object = "") -> None:
    """Wait until something is so. AssertionError with what it is ``about`` if that takes too long."""
    end = time.monotonic() + PATIENCE
    while not there():
        assert time.monotonic() < end, about
        time.sleep(0.01)


@contextmanager
def command(said: Path, *words: object, before: tuple[str, ...] = ()) -> Iterator[subprocess.Popen[bytes]]:
    """A command of ours as a process; what it says goes to the file ``said``."""
    line = [*before, sys.executable, "-m", "clm_sessions", *map(str, words)]
    with said.open("w") as file:
        process = subprocess.Popen(line, stdout=file, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)
