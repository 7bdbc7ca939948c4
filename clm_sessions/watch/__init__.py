"""Keep a database up to date while agents write: import what changed, as soon as it changed, until told to stop."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clm_sessions.ingest import Choice, Importer, Progress, Report
from clm_sessions.model import Issue
from clm_sessions.plugins import Registry
from clm_sessions.prices import Book
from clm_sessions.watch.changes import Changes, require
from clm_sessions.watch.target import Target
from clm_sessions.watch.tree import Tree

__all__ = ["Tally", "require", "watch"]

LOOK, LOOK_SHARE = 60.0, 300
"""All files are looked at after so many seconds, whether the system told of a change or not (it may lose some), and
seldom enough that it costs one part of so many of the time."""
POLL, POLL_SHARE = 1.0, 20
"""The same where the system tells nothing."""
REST = 5.0
"""An import is followed by a rest half as long as it took, but no longer than these seconds."""
_MODES = {
    "watching": "watching {files:,} files in {folders:,} folders",
    "looking": "looking at {files:,} files again and again",
    "waiting": "waiting for something to watch",
}


@dataclass(slots=True, kw_only=True)
class Tally:
    """What a watch did: imports that changed something, sessions by what happened to them in each (new, changed, gone).

    ``interrupted``: the last import was cut short or failed; not all that it was about is read.
    """

    imports: int = 0
    sessions: Counter[str] = field(default_factory=Counter)
    interrupted: bool = False


def watch(
    database: Path,
    roots: Sequence[Path],
    registry: Registry,
    *,
    stop: threading.Event,
    tell: Callable[[str], None],
    imported: Callable[[Report], None] = lambda _report: None,
    told: Iterable[tuple[str, Issue]] = (),
    only: str | None = None,
    choice: Choice | None = None,
    keep_raw: bool = True,
    book: Book | None = None,
) -> Tally:
    """Import what is below ``roots`` and then whatever changes there, until ``stop`` is set or Ctrl-C.

    Roots may be missing, vanish and come back. ``tell`` gets a line for a person, which may hold anything a path may
    hold; ``imported`` the report of each import that changed something; ``told``: notices that need no telling.
    An error of the database is told, and tried again. UsageError without watchfiles.
    """
    require()

    def go_on(_done: int, _total: int) -> None:
        if stop.is_set():
            raise KeyboardInterrupt  # an import goes back to its last commit

    def connect() -> Importer:
        progress = Progress(
            show=go_on, waiting=lambda: tell("waiting for another program to be done with the database …")
        )
        return Importer(database, registry, only=only, choice=choice, keep_raw=keep_raw, progress=progress, book=book)

    target = Target(database, connect, tell)
    work = _Watch(target, Changes(roots, stop, tell), stop, tell, imported)
    work.own = {os.path.abspath(database) + end for end in ("", "-wal", "-shm", "-journal")}
    work.told |= set(told)
    try:
        work.run()
    except KeyboardInterrupt:
        pass
    finally:
        work.changes.close()
        target.close()
    work.tally.interrupted = target.busy
    return work.tally


class _Watch:
    """``own``: paths whose changes are our own doing. ``told``: notices that were told."""

    def __init__(
        self,
        target: Target,
        changes: Changes,
        stop: threading.Event,
        tell: Callable[[str], None],
        imported: Callable[[Report], None],
    ) -> None:
        self._target, self._stop, self._tell, self._imported = target, stop, tell, imported
        self._tree = Tree()
        self._look_at = 0.0
        self.changes = changes
        self.own: set[str] = set()
        self.told: set[tuple[str, Issue]] = set()
        self.tally = Tally()

    def run(self) -> None:
        """Go on until told to stop, or an import was interrupted."""
        mode = ""
        for told in self.changes:
            if self._target.resting:
                continue
            anew = self._target.strange
            changed = self._look() if told is None or anew or time.monotonic() >= self._look_at else told
            if anew or not changed <= self.own:
                report = self._target.run(self.changes.present, None if anew else changed - self.own)
                if report is None:
                    continue
                self._note(report)
                if report.interrupted:
                    return
                self._stop.wait(min(report.seconds / 2, REST))
            if mode != self.changes.mode:
                mode = self.changes.mode
                self._tell(_MODES[mode].format(files=len(self._tree), folders=self.changes.watched))

    def _look(self) -> set[str]:
        """Look at all files: the paths that changed since the last look."""
        started = time.monotonic()
        changed = self._tree.changed(self.changes.present)
        now = time.monotonic()
        every, share = (POLL, POLL_SHARE) if self.changes.polling else (LOOK, LOOK_SHARE)
        self._look_at = now + max(every, (now - started) * share)
        return changed

    def _note(self, report: Report) -> None:
        for path, issue in report.notices:
            if (path, issue) not in self.told:
                self.told.add((path, issue))
                self._tell(f"{path}: {issue.reason}")
        did = Counter({change: report.sessions[change] for change in ("new", "changed", "gone")})
        if any(did.values()):
            self.tally.imports += 1
            self.tally.sessions += did
            self._imported(report)
