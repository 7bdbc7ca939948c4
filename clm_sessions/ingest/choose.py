"""Which sessions an import takes. A session is taken with all its files, or left out with all of them."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import BinaryIO

from clm_sessions.errors import ClmError
from clm_sessions.formats.base import StreamContext
from clm_sessions.frames import lines
from clm_sessions.ingest.discover import Discovery, Files, LogFile
from clm_sessions.ingest.keys import plain_key
from clm_sessions.ingest.ledger import Source
from clm_sessions.model import Fact, Place
from clm_sessions.sources import Found
from clm_sessions.store import forgotten
from clm_sessions.store.narrow import is_project

LOOK = 1 << 20
"""How many bytes of a log are looked through for the working directory it names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What to take; an empty field leaves nothing out.

    ``since``: sessions with a log that was written to at that time or later (milliseconds; the time of the file, for
    nothing is opened to learn it). ``exclude``: patterns in which ``*`` and ``?`` stand for anything, slashes too; a
    session is left out if one matches the name of its log, or of a folder above it, or its path so far below the root
    (of an absolute pattern: the whole path). Where the log of a session is missing, those of its agents count.
    ``projects``: as in ``store.narrow.Narrow``.
    """

    since: int | None = None
    exclude: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.since is not None or bool(self.exclude or self.projects)


class Excluded:
    """Tells whether one of the patterns of a choice matches a file or a folder above it."""

    def __init__(self, patterns: Iterable[str]) -> None:
        whole = [translate(p.rstrip("/")) for p in patterns if os.path.isabs(p)]
        below = [translate(p.rstrip("/")) for p in patterns if not os.path.isabs(p)]
        self._whole = re.compile("|".join(whole)) if whole else None
        self._below = re.compile("|".join(below)) if below else None

    def __call__(self, path: str, relative: str) -> bool:
        """``path`` is absolute, ``relative`` the same below its root."""
        whole, below = self._whole, self._below
        if whole is not None and any(whole.match(part) for part in _so_far(path)):
            return True
        return below is not None and any(below.match(part) for part in (*relative.split("/"), *_so_far(relative)))

    def below(self, path: str, roots: Iterable[Path]) -> bool:
        """The same for a path of which the root has to be found."""
        tops = [os.path.abspath(root) for root in roots]
        top = next((top for top in tops if path.startswith(os.path.join(top, ""))), os.path.dirname(path))
        return self(path, os.path.relpath(path, top))


def _so_far(path: str) -> Iterator[str]:
    """``a``, ``a/b``, ``a/b/c``."""
    at = path.find("/", 1)
    while at > 0:
        yield path[:at]
        at = path.find("/", at + 1)
    yield path


def leave_out(
    found: Discovery, choice: Choice, db: sqlite3.Connection, sources: Mapping[str, Source], *, again: bool
) -> tuple[int, int]:
    """Take out of ``found`` what is not chosen: how many sessions, and how many files, those that are no logs included.

    ``again``: everything is made anew, so what the database knows is taken in any case.
    """
    chooser = _Chooser(choice, db, sources, again)
    bundles, others, indexes = found.bundles, found.unrecognised, found.indexes
    found.bundles = []
    found.unrecognised = [file for file in others if chooser.takes_stray(file)]
    found.indexes = [log for log in indexes if chooser.takes_file(log.found)]
    sessions = 0
    files = len(others) - len(found.unrecognised) + len(indexes) - len(found.indexes)
    for bundle in bundles:
        if chooser.takes(bundle):
            found.bundles.append(bundle)
        else:
            sessions += 1
            files += len(bundle.logs()) + len(bundle.side) + len(bundle.copies)
    return sessions, files


def leave_forgotten(found: Discovery, db: sqlite3.Connection) -> int:
    """Take out of ``found`` the sessions that are to be forgotten: how many."""
    marks = forgotten.marks(db)
    if not marks:
        return 0
    bundles = found.bundles
    found.bundles = [bundle for bundle in bundles if forgotten.mark(plain_key(bundle.session)) not in marks]
    return len(bundles) - len(found.bundles)


class _Chooser:
    def __init__(self, choice: Choice, db: sqlite3.Connection, sources: Mapping[str, Source], again: bool) -> None:
        self._choice, self._db, self._sources, self._again = choice, db, sources, again
        self._excluded = Excluded(choice.exclude)

    def takes(self, bundle: Files) -> bool:
        """Whether a session is chosen."""
        logs = bundle.logs() or bundle.side or bundle.copies
        if self._again and any(log.found.path in self._sources for log in (*logs, *bundle.side)):
            return True
        if all(self._old(log.found) for log in logs):
            return False
        named = logs if bundle.main is None else [bundle.main]
        if any(self._excluded(log.found.path, log.found.relative) for log in named):
            return False
        if not self._choice.projects:
            return True
        name, path = _project(logs[0], self._db, self._sources)
        return any(is_project(wanted, name, path) for wanted in self._choice.projects)

    def takes_file(self, file: Found) -> bool:
        """Whether a file of no session is chosen, such as one that names many, whatever their projects."""
        if self._again and file.path in self._sources:
            return True
        return not (self._old(file) or self._excluded(file.path, file.relative))

    def takes_stray(self, file: Found) -> bool:
        """Whether a file that no format recognises is chosen: it has no project."""
        known = self._again and file.path in self._sources
        return known or (self.takes_file(file) and not self._choice.projects)

    def _old(self, file: Found) -> bool:
        since = self._choice.since
        return since is not None and file.stat.mtime_ns < since * 1_000_000


def _project(log: LogFile, db: sqlite3.Connection, sources: Mapping[str, Source]) -> tuple[str | None, str | None]:
    """Name and path of a log's project: as the database has it, else as the beginning of the log says."""
    known = sources.get(log.found.path)
    if known is not None and known["session_id"] is not None:
        row = db.execute(
            "SELECT s.project_name, p.path FROM sessions s LEFT JOIN projects p ON p.id = s.project_id WHERE s.id = ?",
            (known["session_id"],),
        ).fetchone()
        if row is not None:
            return row[0], row[1]
    from clm_sessions.derive.facts import project_name  # most imports choose nothing

    cwd = _working_directory(log)
    return project_name(cwd, log.folder, log.format.dialect), cwd


def _working_directory(log: LogFile) -> str | None:
    """The one that the beginning of a log names; None also if it cannot be read: the import itself will say so."""
    from clm_sessions.derive.facts import Said
    from clm_sessions.ingest.streams import border, open_log, read_log

    try:
        with closing(open_log(log)[0]) as file, border(log.format, "reader"):
            if log.format.framer != "jsonl":
                return Said(read_log(log, file)[0].facts).first("cwd")
            facts = _facts(log, file)
            return next((cwd for cwd in (Said(said).first("cwd") for said in facts) if cwd is not None), None)
    except (OSError, ClmError):
        return None


def _facts(log: LogFile, file: BinaryIO) -> Iterator[Sequence[Fact]]:
    """What each record in the beginning of a log says of its session."""
    context = StreamContext(role="agent" if log.role == "agent" else "main", session=log.session, agent=log.agent)
    reader = log.format.reader(context)
    for raw in lines(file, block=1 << 16, limit=LOOK):
        if raw.offset > LOOK:
            return
        place = Place(line=raw.number, offset=raw.offset, length=raw.length)
        for value in log.format.decode(raw.data, raw.number == 1).values:
            yield reader.feed(value, place).facts
