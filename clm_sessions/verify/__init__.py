"""Does the database still say what the logs said? Everything in it is held against the raw archive, or a checksum.

Nothing is written. Rows are derived again from the archived bytes by the code that made them, one bundle at a time in
memory; what bytes cannot tell (the stat of a file, issues of files nobody reads) carries a checksum.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

from clm_sessions.ingest import ledger
from clm_sessions.ingest.archived import archived
from clm_sessions.ingest.ledger import Source
from clm_sessions.plugins import Registry
from clm_sessions.sources import bundle_key, readable
from clm_sessions.store import costs
from clm_sessions.verify.archive import check_archive, check_strays
from clm_sessions.verify.bundles import Checker
from clm_sessions.verify.findings import AGAIN, Finding, Result
from clm_sessions.verify.lineage import check_lineage
from clm_sessions.verify.present import check_present
from clm_sessions.verify.storage import check_file, check_search, open_snapshot

__all__ = ["Finding", "Result", "verify"]


def verify(
    database: Path,
    registry: Registry,
    *,
    full: bool = False,
    show: Callable[[int, int], None] = lambda _done, _total: None,
) -> Result:
    """Check a database. ``full`` also reads the source files that are still there.

    ``show`` is called with (sources done, sources in all). DatabaseError if it is no database of ours, or of another
    schema.
    """
    result = Result()
    with closing(open_snapshot(database)) as db:
        check_file(db, result)
        with result.step("search indexes"):
            check_search(database, db, result)
        with result.step("sources"):
            _check_sources(db, registry, full, result, show)
        with result.step("what crosses sessions"):
            check_lineage(db, result)
        with result.step("what it cost"):
            _check_costs(db, result)
    return result


def _check_costs(db: sqlite3.Connection, result: Result) -> None:
    """The prices by their checksum, the costs by the prices that are there: no library is asked."""
    if not costs.sound(db):
        result.add("prices", "they are not those that were put there", AGAIN)
    for table, what in costs.wrong(db):
        result.add(table, what, AGAIN)


def _check_sources(
    db: sqlite3.Connection, registry: Registry, full: bool, result: Result, show: Callable[[int, int], None]
) -> None:
    total = db.execute("SELECT count(*) FROM sources").fetchone()[0]
    checker = Checker(db, registry, result)
    generations: dict[str, int] = {}
    for key, members in groupby(_sources(db, result), key=lambda source: bundle_key(source["id"])):
        usable = True
        bundle = []
        for source in members:
            result.checked["sources"] += 1
            generations[source["id"]] = len(archived(source))
            usable &= _check_source(db, source, full, result)
            if source["state"] not in ("copy", "unrecognised"):
                bundle.append(source)
        if bundle:
            checker.check(key, bundle, usable=usable)
        show(result.checked["sources"], total)
    checker.finish()
    check_strays(db, generations, result)


def _sources(db: sqlite3.Connection, result: Result) -> Iterator[Source]:
    """All source rows, those of a bundle one after the other."""
    ids = [sid for (sid,) in db.execute("SELECT id FROM sources")]
    for sid in ids:
        if not isinstance(sid, str) or readable(sid) != sid:
            result.add("sources", f"no source is named {sid!r:.80}", AGAIN)
    for _key, sid in sorted((bundle_key(sid), sid) for sid in ids if isinstance(sid, str) and readable(sid) == sid):
        yield ledger.one(db, sid)


def _check_source(db: sqlite3.Connection, source: Source, full: bool, result: Result) -> bool:
    """The checksum, the archive, and the file if asked to; whether the row and the archive are sound."""
    sid = source["id"]
    if ledger.checksum(db, sid) != source["checksum"]:
        result.add("sources", f"{sid}: its row, lines, record types or issues have changed", AGAIN)
        return False
    sound = check_archive(db, source, result)
    if full and sound and source["state"] in ("present", "unreadable"):
        check_present(db, source, result)
    return sound
