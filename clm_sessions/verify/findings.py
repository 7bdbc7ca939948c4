"""What a check finds: where, what, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from sqlite3 import DatabaseError as SqliteError

from clm_sessions.errors import one_line

LIMIT = 200
"""Findings that are kept; the rest are counted."""

AGAIN = "make the rows anew: clm-sessions import DB --again (what is gone is read from the raw archive)"
BACKUP = "restore the database from a backup, or move it away and import again"
LOST = "restore the database from a backup: the log that held this is gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is not as it should be. ``where``: a table, or ``file``."""

    where: str
    what: str
    remedy: str


@dataclass(slots=True, kw_only=True)
class Result:
    """What was looked at, what was found, and what could not be looked at (``notes``)."""

    checked: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    total: int = 0

    def add(self, where: str, what: str, remedy: str) -> None:
        """Something is wrong."""
        self.total += 1
        if len(self.findings) < LIMIT:
            self.findings.append(Finding(where=where, what=_plain(what), remedy=remedy))

    def add_all(self, where: str, what: Iterable[str], remedy: str) -> None:
        """Each of these is wrong."""
        for one in what:
            self.add(where, one, remedy)

    def note(self, text: str) -> None:
        """Something could not be looked at, or is worth saying."""
        self.notes.append(_plain(text))

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """A step of the check: SQLite not being able to read the file is a finding too."""
        try:
            yield
        except SqliteError as error:
            self.add("file", f"{what}: {one_line(error)}", BACKUP)


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)[:500]
