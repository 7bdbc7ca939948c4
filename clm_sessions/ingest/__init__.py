"""The story of an import in one page: find, read, derive, write, report."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from clm_sessions.errors import DatabaseError, UsageError
from clm_sessions.ingest import absent, ledger, report
from clm_sessions.ingest.choose import Choice, Excluded, leave_forgotten, leave_out
from clm_sessions.ingest.discover import Discovery, Files, LogFile, discover, discover_at
from clm_sessions.ingest.keys import plain_key
from clm_sessions.ingest.report import Progress, Report
from clm_sessions.plugins import Registry
from clm_sessions.prices import Book
from clm_sessions.sources import unique
from clm_sessions.store import costs, planner
from clm_sessions.store.connect import begin, close_writer, open_writer, what_failed, write_ahead

if TYPE_CHECKING:  # most imports find nothing new: what reads and writes is loaded by those that do
    from clm_sessions.ingest.bundle import Outcome
    from clm_sessions.ingest.indexes import Told
    from clm_sessions.ingest.recent import Recent
    from clm_sessions.store.writer import Writer

__all__ = ["Choice", "Files", "Importer", "Progress", "Report", "default_roots", "ingest"]

MANY = 1000  # of more paths than these it is cheaper to look at everything
BATCH = 64_000_000
"""Bytes of source in one transaction (decision 7)."""


@dataclass(slots=True, kw_only=True)
class _Import:
    """One run. ``paths``: all that it looks at; None: everything."""

    db: sqlite3.Connection
    progress: Progress
    keep_raw: bool
    again: bool
    book: Book
    paths: set[str] | None = None
    made: Writer | None = None
    sources: dict[str, ledger.Source] = field(default_factory=dict)
    seen: int | None = None
    recent: Recent | None = None
    done: set[str] = field(default_factory=set)
    told: Told = field(default_factory=dict)
    stale: dict[str, tuple[str, str]] = field(default_factory=dict)
    sound: bool = True
    report: Report = field(default_factory=Report)
    open_bytes: int = 0
    pending: list[Outcome] = field(default_factory=list)

    @property
    def writer(self) -> Writer:
        """Made for the first transaction, in which the database goes over to WAL."""
        if self.made is None:
            from clm_sessions.store.writer import Writer

            write_ahead(self.db, self.progress.waiting)
            self.made = Writer(self.db, again=self.again, book=self.book)
        return self.made


def default_roots(registry: Registry, home: Path, env: dict[str, str]) -> list[Path]:
    """The folders (and indexes) in which known agents keep their logs, those that exist."""
    return unique(root for root in registry.roots(home, env) if root.exists())


def ingest(
    database: Path,
    roots: Sequence[Path],
    registry: Registry,
    *,
    only: str | None = None,
    choice: Choice | None = None,
    keep_raw: bool = True,
    again: bool = False,
    progress: Progress | None = None,
    book: Book | None = None,
) -> Report:
    """Import everything below ``roots`` into ``database`` (made if missing), reading only what changed.

    ``only``: the one format to read as. ``choice``: which sessions to take; the others are counted as left out, and
    what the database has of them stays as it is. ``again``: read and write everything anew, whether it changed or not;
    what is gone is read from the raw archive. ``book``: prices of models that have none yet. Raises UsageError if a root is missing, DatabaseError if the database
    cannot be used. Interrupted by Ctrl-C it keeps what was committed and says so in the report.
    """
    for root in roots:
        if not root.exists():
            raise UsageError(f"{root}: no such file or folder")
    importer = Importer(database, registry, only=only, choice=choice, keep_raw=keep_raw, progress=progress, book=book)
    try:
        return importer.run(roots, again=again)
    finally:
        importer.close()


class Importer:
    """Imports into one database again and again over one connection, and remembers what it found. For one thread.

    Raises DatabaseError if the database cannot be used; after one, only ``close`` makes sense.
    """

    def __init__(
        self,
        database: Path,
        registry: Registry,
        *,
        only: str | None = None,
        choice: Choice | None = None,
        keep_raw: bool = True,
        progress: Progress | None = None,
        book: Book | None = None,
    ) -> None:
        self._book = book or Book()
        self._database, self._registry, self._only, self._keep_raw = database, registry, only, keep_raw
        self._choice, self._progress = choice or Choice(), progress or Progress()
        self._logs: dict[str, LogFile] | None = None
        self._recent: Recent | None = None
        self._db = open_writer(database, self._progress.waiting)

    def run(self, roots: Sequence[Path], *, paths: Iterable[str] | None = None, again: bool = False) -> Report:
        """Import what changed below ``roots``, as ``ingest`` does.

        ``paths``: absolute; nothing else changed since the last run of the same roots. That costs a look at their
        sessions alone; the report is about them, without totals.
        """
        started, self._progress.done, self._progress.total = time.monotonic(), 0, 0
        work = _Import(db=self._db, progress=self._progress, keep_raw=self._keep_raw, again=again, book=self._book)
        touched = None if paths is None or self._logs is None else {*paths}
        if touched is not None and len(touched) <= MANY:
            from clm_sessions.ingest.recent import Recent

            work.paths = touched
            work.recent = self._recent = self._recent or Recent()
        try:
            try:
                self._run(work, roots)
            except KeyboardInterrupt:
                if work.made is not None:
                    work.made.rollback()
                work.report.interrupted = True
            if work.paths is None:
                work.report.totals, work.report.issues = report.totals(self._db), report.issues(self._db)
        except sqlite3.Error as error:
            reason = f"{what_failed(error)}; what was committed before is whole"
            raise DatabaseError(f"{self._database}: {reason}") from error
        work.report.seconds = time.monotonic() - started
        return work.report

    def close(self) -> None:
        """Put all pages into the one file and close it."""
        close_writer(self._db)

    def _run(self, work: _Import, roots: Sequence[Path]) -> None:
        begin(lambda: _look(work), work.progress.waiting)
        known = None if work.again else ledger.known(work.sources)
        if self._logs is None or work.paths is None:
            found = discover(roots, self._registry, known=known, only=self._only)
            self._logs = found.logs
        else:
            found = discover_at(work.paths, self._logs, roots, self._registry, known=known, only=self._only)
            _narrow(work, found)
        work.report.forgotten = leave_forgotten(found, work.db)
        if self._choice:
            work.report.left_out = leave_out(found, self._choice, work.db, work.sources, again=work.again)
        if _idle(work, roots, self._registry, found):
            work.report.sources["unchanged"] += len(found.indexes)
            for bundle in found.bundles:
                _leave(work, bundle)
        else:
            _write(work, roots, self._registry, found)
        unseen = Excluded(self._choice.exclude)
        told = [*found.issues, *found.problems.items()]
        work.report.notices += [(path, issue) for path, issue in told if not unseen.below(path, roots)]


def _narrow(work: _Import, found: Discovery) -> None:
    """Look in the database at the files of these sessions, and at nothing else."""
    files = [*found.indexes, *(log for bundle in found.bundles for log in _files(bundle))]
    if files:
        work.paths = {*(work.paths or ()), *(file.found.path for file in files)}
        work.seen = None
        _look(work)


def _idle(work: _Import, roots: Sequence[Path], registry: Registry, found: Discovery) -> bool:
    """Whether there is nothing to write: all is as it was, and the sessions say what the indexes say."""
    if work.again or not all(ledger.untouched(work.sources.get(log.found.path), log) for log in found.indexes):
        return False
    _listen(work, registry, found)
    return not (
        work.stale
        or any(_touched(work, log) for bundle in found.bundles for log in _files(bundle))
        or absent.news(work.sources, found)
        or absent.gone(work.db, roots, found, work.paths)
        or costs.news(work.db, work.book)
    )


def _write(work: _Import, roots: Sequence[Path], registry: Registry, found: Discovery) -> None:
    _begin(work)
    if work.again:
        from clm_sessions.ingest import again

        again.prepare(work.db)
        work.seen = None
        _look(work)
    _take_indexes(work, found, registry)
    groups = _groups(work, found)
    work.progress.total = sum(log.found.stat.size for logs in groups.values() for log in logs)
    for key, logs in groups.items():
        _import_all(work, key, logs, registry)
    _import_left(work, registry)
    absent.note_unrecognised(work.db, work.sources, found)
    absent.note_gone(work.db, absent.gone(work.db, roots, found, work.paths), work.report)
    _commit(work)
    if work.again:
        _finish_again(work)
    if work.paths is None:
        planner.analyse(work.db)


def _groups(work: _Import, found: Discovery) -> dict[str, list[LogFile]]:
    """The files to look at, by the key of the session id that they claim. Those of other sessions are counted."""
    groups: dict[str, list[Files]] = {}
    for bundle in found.bundles:
        groups.setdefault(plain_key(bundle.session), []).append(bundle)
    todo = {}
    for key, bundles in groups.items():
        logs = [log for bundle in bundles for log in _files(bundle)]
        if any(_touched(work, log) for log in logs):
            todo[key] = logs
        else:
            for bundle in bundles:
                _leave(work, bundle)
    return todo


def _import_all(work: _Import, plain: str, logs: Sequence[LogFile], registry: Registry) -> None:
    """Import what claims one session id, in this transaction."""
    from clm_sessions.ingest.placing import place_all

    placed = place_all(work.db, plain, logs, registry.formats, again=work.again)
    for log, error in placed.put_off:
        work.report.notices.append((log.found.path, absent.put_off(work.db, log, error)))
    work.report.sources.update(placed.copies)
    work.writer.touch(placed.moved)
    before = work.progress.done
    for key, files in placed.sessions:
        if not (files.logs() or files.side or key in placed.moved):
            continue
        _import(work, files, key, stale=key in placed.moved)
    work.open_bytes += work.progress.done - before
    if work.open_bytes >= BATCH:
        _commit(work)
        _begin(work)


def _finish_again(work: _Import) -> None:
    from clm_sessions.ingest import again

    _begin(work)
    if work.sound:
        again.finish(work.db)
    work.writer.settle_all()
    _commit(work)


def _take_indexes(work: _Import, found: Discovery, registry: Registry) -> None:
    """Take in what is said of many sessions at once."""
    for log in found.indexes:
        from clm_sessions.ingest import indexes

        known = work.sources.get(log.found.path)
        change = indexes.take_in(work.db, log, known, work.progress.advance, again=work.again)
        work.report.sources[change] += 1
    _listen(work, registry, found)


def _listen(work: _Import, registry: Registry, found: Discovery) -> None:
    """What the indexes say of sessions, and whose rows say something else."""
    work.told, work.stale = {}, {}
    if work.db.execute("SELECT 1 FROM sources WHERE role = 'index' LIMIT 1").fetchone():
        from clm_sessions.ingest import indexes

        work.told = indexes.told(work.db, registry)
        work.stale = indexes.stale(work.db, work.told) if work.paths is None or found.indexes else {}


def _import_left(work: _Import, registry: Registry) -> None:
    """Bring up to date the sessions that no file was found of: those that an index names anew, or all (again)."""
    for key, (fmt, session) in work.stale.items():
        if key not in work.done and fmt in registry.formats:
            _import(work, Files(format=registry.formats[fmt], session=session), key, stale=True)
    if not work.again:
        return
    from clm_sessions.ingest import again

    for key, fmt, session in again.left(work.db, registry, work.done):
        _import(work, Files(format=registry.formats[fmt], session=session), key, stale=False)
    work.sound &= again.all_known(work.db, registry)


def _touched(work: _Import, log: LogFile) -> bool:
    """Whether a file needs a look."""
    source = work.sources.get(log.found.path)
    if work.again or source is None or not ledger.untouched(source, log):
        return True
    if source["id"] in work.stale:
        return True
    return source["state"] == "copy" and ledger.outlives(work.db, source)


def _leave(work: _Import, bundle: Files) -> None:
    """Count a bundle that needs no look."""
    sources = [work.sources[log.found.path] for log in _files(bundle)]
    work.report.sources["unchanged"] += len(sources)
    work.report.sessions["unchanged"] += not all(s["state"] == "copy" or s["refused"] is not None for s in sources)


def _files(bundle: Files) -> list[LogFile]:
    return [*bundle.logs(), *bundle.side, *bundle.copies]


def _import(work: _Import, bundle: Files, key: str, *, stale: bool) -> None:
    """Import a session. ``stale``: its rows say something else, though its files may not have changed."""
    from clm_sessions.ingest.bundle import BundleImport

    for log in (*bundle.logs(), *bundle.side):
        ledger.forget_unrecognised(work.db, log.found.path)
    told = work.told.get((bundle.format.name, bundle.session), ())
    how = {"keep_raw": work.keep_raw, "again": work.again, "stale": stale or key in work.stale}
    one = BundleImport(
        work.db, work.writer, bundle, key, advance=work.progress.advance, told=told, recent=work.recent, **how
    )
    outcome = one.run()
    work.done.add(key)
    work.sound &= not outcome.doubtful
    work.pending.append(outcome)
    work.report.formats[bundle.format.name] += 1


def _begin(work: _Import) -> None:
    begin(work.writer.begin, work.progress.waiting)
    work.open_bytes = 0
    _look(work)


def _look(work: _Import) -> None:
    """See what the database knows of files, if another import wrote to it since the last look."""
    version = work.db.execute("PRAGMA data_version").fetchone()[0]
    if version != work.seen:
        work.sources = ledger.by_path(work.db, work.paths)
        work.seen = version


def _commit(work: _Import) -> None:
    """Commit, and only then count what the transaction held."""
    work.writer.commit()
    for outcome in work.pending:
        work.report.sources.update(Counter(outcome.sources.values()))
        work.report.notices += outcome.notices
        if not outcome.empty:
            work.report.sessions["new" if outcome.new else "changed" if outcome.changed else "unchanged"] += 1
    work.report.bytes += work.open_bytes
    work.pending = []
