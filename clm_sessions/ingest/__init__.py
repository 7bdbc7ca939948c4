"""The story of an import in one page: find, read, derive, write, report."""

from __future__ import annotations

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clm_sessions.errors import DatabaseError, UsageError
from clm_sessions.ingest import again as again_
from clm_sessions.ingest import indexes, ledger, report
from clm_sessions.ingest.bundle import BundleImport, Outcome
from clm_sessions.ingest.choose import Choice, Excluded, leave_out
from clm_sessions.ingest.discover import Discovery, Files, Known, discover
from clm_sessions.ingest.keys import Verdict, behind, session_key, sort_copies
from clm_sessions.ingest.rename import rename
from clm_sessions.ingest.report import Report
from clm_sessions.model import Issue
from clm_sessions.plugins import Registry
from clm_sessions.sources import Prints, path_of, unique
from clm_sessions.store.connect import begin, close_writer, open_writer, what_failed
from clm_sessions.store.writer import Writer

__all__ = ["Choice", "Files", "Progress", "Report", "default_roots", "ingest"]

BATCH = 64_000_000
"""Bytes of source in one transaction (decision 7)."""


@dataclass(slots=True, kw_only=True)
class Progress:
    """Where an import stands, for whoever shows it. ``show`` is called with (bytes done, bytes in all)."""

    show: Callable[[int, int], None] = lambda _done, _total: None
    waiting: Callable[[], None] = lambda: None
    done: int = 0
    total: int = 0

    def advance(self, size: int) -> None:
        """Some bytes more were read."""
        self.done += size
        self.show(self.done, max(self.total, self.done))


@dataclass(slots=True, kw_only=True)
class _Import:
    db: sqlite3.Connection
    writer: Writer
    progress: Progress
    keep_raw: bool
    again: bool
    sources: dict[str, ledger.Source] = field(default_factory=dict)
    taken: dict[str, tuple[str, Prints | None]] = field(default_factory=dict)
    seen: int | None = None
    done: set[str] = field(default_factory=set)
    told: indexes.Told = field(default_factory=dict)
    stale: dict[str, tuple[str, str]] = field(default_factory=dict)
    sound: bool = True
    report: Report = field(default_factory=Report)
    open_bytes: int = 0
    pending: list[Outcome] = field(default_factory=list)


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
) -> Report:
    """Import everything below ``roots`` into ``database`` (made if missing), reading only what changed.

    ``only``: the one format to read as. ``choice``: which sessions to take; the others are counted as left out, and
    what the database has of them stays as it is. ``again``: read and write everything anew, whether it changed or not;
    what is gone is read from the raw archive. Raises UsageError if a root is missing, DatabaseError if the database
    cannot be used. Interrupted by Ctrl-C it keeps what was committed and says so in the report.
    """
    for root in roots:
        if not root.exists():
            raise UsageError(f"{root}: no such file or folder")
    started = time.monotonic()
    progress = progress or Progress()
    db = open_writer(database, progress.waiting)
    work = _Import(db=db, writer=Writer(db, again=again), progress=progress, keep_raw=keep_raw, again=again)
    try:
        try:
            _run(work, roots, registry, only, choice or Choice())
        except KeyboardInterrupt:
            work.writer.rollback()
            work.report.interrupted = True
        work.report.totals, work.report.issues = report.totals(db), report.issues(db)
    except sqlite3.Error as error:
        raise DatabaseError(f"{database}: {what_failed(error)}; what was committed before is whole") from error
    finally:
        close_writer(db)
    work.report.seconds = time.monotonic() - started
    return work.report


def _run(work: _Import, roots: Sequence[Path], registry: Registry, only: str | None, choice: Choice) -> None:
    _look(work)
    found = discover(roots, registry, known=None if work.again else _known(work.sources), only=only)
    if choice:
        work.report.left_out = leave_out(found, choice, work.db, work.sources, again=work.again)
    _begin(work)
    if work.again:
        again_.prepare(work.db)
        work.seen = None
        _look(work)
    _take_indexes(work, found, registry)
    todo = [bundle for bundle in found.bundles if _touched(work, bundle)]
    work.progress.total = sum(log.found.stat.size for bundle in todo for log in bundle.logs())
    for bundle in todo:
        sort_copies(bundle)
        key, verdict = _key(work, bundle)
        if verdict == "copy":
            _leave_copies(work, bundle, key)
        elif verdict == "other" and key in work.taken:
            _make_room(work, bundle, key)
        _note_copies(work, bundle, key)
        if bundle.main is not None:
            work.taken[key] = (bundle.main.found.path, None)
        if bundle.logs() or bundle.side:
            _import(work, bundle, key)
    _import_left(work, registry)
    _note_unrecognised(work, found)
    _note_gone(work, roots, found)
    _commit(work)
    if work.again:
        _begin(work)
        if work.sound:
            again_.finish(work.db)
        work.writer.settle_all()
        _commit(work)
    unseen = Excluded(choice.exclude)
    told = [*found.issues, *found.problems.items()]
    work.report.notices += [(path, issue) for path, issue in told if not unseen.below(path, roots)]


def _take_indexes(work: _Import, found: Discovery, registry: Registry) -> None:
    """Take in what is said of many sessions at once, and see whose rows say something else."""
    for log in found.indexes:
        known = work.sources.get(log.found.path)
        change = indexes.take_in(work.db, log, known, work.progress.advance, again=work.again)
        work.report.sources[change] += 1
    work.told = indexes.told(work.db, registry)
    work.stale = indexes.stale(work.db, work.told)


def _import_left(work: _Import, registry: Registry) -> None:
    """Bring up to date the sessions that no file was found of: those that an index names anew, or all (again)."""
    for key, (fmt, session) in work.stale.items():
        if key not in work.done and fmt in registry.formats:
            _import(work, Files(format=registry.formats[fmt], session=session), key)
    if not work.again:
        return
    for key, fmt, session in again_.left(work.db, registry, work.done):
        _import(work, Files(format=registry.formats[fmt], session=session), key)
    work.sound &= again_.all_known(work.db, registry)


def _key(work: _Import, bundle: Files) -> tuple[str, Verdict]:
    """The key of a bundle: the one its log has, if it is known, whatever else claims the session."""
    known = work.sources.get(bundle.main.found.path) if bundle.main else None
    if (
        known is not None
        and known["role"] == "main"
        and known["native_id"] == bundle.session
        and known["state"] != "copy"
    ):
        return str(known["id"]), "same"
    return session_key(bundle, work.taken)


def _make_room(work: _Import, bundle: Files, key: str) -> None:
    """Number anew the sessions of the same id that come after this one."""
    for old, new in behind(key, bundle.session, work.taken):
        rename(work.db, old, new)
        rows = work.db.execute(
            "SELECT id FROM sessions WHERE id = ? OR (id > ? AND id < ?)", (new, f"{new}:", f"{new};")
        )
        work.writer.touch([old, *(sid for (sid,) in rows)])
        work.done |= {new} if old in work.done else set()
        work.taken[new] = work.taken.pop(old)
    work.seen = None
    _look(work)


def _leave_copies(work: _Import, bundle: Files, key: str) -> None:
    """Of a bundle whose log is a copy, keep only the files beside it that the session has nowhere else."""
    have = ledger.stored(work.db, key)
    spare = [log for log in (*bundle.logs(), *bundle.side) if log.role == "main" or ledger.source_id(key, log) in have]
    bundle.copies += spare
    bundle.main = None
    bundle.agents = {agent: log for agent, log in bundle.agents.items() if log not in spare}
    bundle.side = [log for log in bundle.side if log not in spare]


def _known(sources: dict[str, ledger.Source]) -> dict[str, Known]:
    return {
        path: Known(
            stat=ledger.stat_of(s),
            format=s["format"],
            role=s["role"],
            session=s["native_id"],
            agent=s["agent_id"],
            folder=s["folder"],
        )
        for path, s in sources.items()
        if s["state"] in ("present", "copy")
    }


def _taken(db: sqlite3.Connection) -> dict[str, tuple[str, Prints | None]]:
    rows = db.execute(
        "SELECT id, path, consumed, head_hash, tail_hash FROM sources WHERE role = 'main' AND state <> 'copy'"
    )
    return {
        sid: (path_of(path), None if consumed is None else Prints(consumed=consumed, head=head, tail=tail))
        for sid, path, consumed, head, tail in rows
    }


def _touched(work: _Import, bundle: Files) -> bool:
    """Whether a bundle needs a look; an untouched one is counted and left."""
    files = [*bundle.logs(), *bundle.side, *bundle.copies]
    known = [work.sources.get(log.found.path) for log in files]
    if work.again or not all(ledger.untouched(source, log) for source, log in zip(known, files, strict=True)):
        return True
    if any(_outlives_original(work, source) for source in known if source is not None):
        return True
    if any(source["id"] in work.stale for source in known if source is not None):
        return True
    work.report.sources["unchanged"] += len(files)
    sources = [work.sources[log.found.path] for log in files]
    work.report.sessions["unchanged"] += not all(s["state"] == "copy" or s["refused"] is not None for s in sources)
    return False


def _outlives_original(work: _Import, source: ledger.Source) -> bool:
    """Whether a file that is a copy of a log is all that is left of it."""
    if source["state"] != "copy" or source["role"] != "main":
        return False
    original = work.taken.get(source["id"].rpartition("@")[0])
    return original is None or not os.path.exists(original[0])


def _import(work: _Import, bundle: Files, key: str) -> None:
    before = work.progress.done
    for log in (*bundle.logs(), *bundle.side):
        known = work.sources.get(log.found.path)
        if known is not None and known["state"] in ("unrecognised", "copy"):
            ledger.forget(work.db, known["id"])
    outcome = BundleImport(
        work.db,
        work.writer,
        bundle,
        key,
        keep_raw=work.keep_raw,
        advance=work.progress.advance,
        again=work.again,
        told=work.told.get((bundle.format.name, bundle.session), ()),
        stale=key in work.stale,
    ).run()
    work.done.add(key)
    work.sound &= not outcome.doubtful
    work.pending.append(outcome)
    work.report.formats[bundle.format.name] += 1
    work.open_bytes += work.progress.done - before
    if work.open_bytes >= BATCH:
        _commit(work)
        _begin(work)


def _begin(work: _Import) -> None:
    begin(work.writer.begin, work.progress.waiting)
    work.open_bytes = 0
    _look(work)


def _look(work: _Import) -> None:
    """See what the database knows of files and keys, if another import wrote to it since the last look."""
    version = work.db.execute("PRAGMA data_version").fetchone()[0]
    if version != work.seen:
        work.seen, work.sources, work.taken = version, ledger.by_path(work.db), _taken(work.db)


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


def _note_copies(work: _Import, bundle: Files, key: str) -> None:
    for log in bundle.copies:
        sid = f"{ledger.source_id(key, log)}@{ledger.place_digest(log)}"
        reason = "the same log is imported from another place; this file adds nothing to it"
        ledger.put(
            work.db, {**ledger.row(log, sid, log.found.stat), "state": "copy"}, [Issue(kind="copy", reason=reason)]
        )
        work.report.sources["new"] += 1


def _note_unrecognised(work: _Import, found: Discovery) -> None:
    for file in found.unrecognised:
        before = work.sources.get(file.path)
        if before is not None and before["checkpoint"] is not None:
            reason = "it was a log, and no format recognises it now; its rows are kept"
            ledger.put_failed(work.db, before, Issue(kind="unrecognised", reason=reason))
        elif file.stat.size:
            reason = "no format recognises this file; name one with --format if you know it"
            issue = found.problems.get(file.path) or Issue(kind="unrecognised", reason=reason)
            ledger.put(work.db, ledger.unrecognised_row(file, f"unrecognised/{file.relative}"), [issue])


def _note_gone(work: _Import, roots: Iterable[Path], found: Discovery) -> None:
    """Mark the sources below the roots that are no longer there; their rows stay."""
    blind = tuple(path + os.sep for path, issue in found.issues if issue.kind == "unreadable")
    for root in roots:
        if not root.is_dir():
            continue
        top = os.path.join(os.path.abspath(root), "")
        rows = work.db.execute(
            "SELECT id, path, role, session_id FROM sources WHERE state IN ('present', 'unreadable') ORDER BY id"
        ).fetchall()
        for sid, text, role, session in rows:
            path = path_of(text)
            if not path.startswith(top) or path in found.paths or path.startswith(blind) or os.path.exists(path):
                continue
            ledger.set_state(work.db, sid, "gone")
            work.report.sources["gone"] += 1
            if role in ("main", "agent") and session is not None:
                work.db.execute("UPDATE sessions SET source_state = 'gone' WHERE id = ?", (session,))
                work.report.sessions["gone"] += role == "main"
