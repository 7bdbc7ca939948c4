"""An import killed at any statement, then run again, leaves what one undisturbed import leaves."""

import os
import shutil
import signal
import sqlite3
from contextlib import closing

import pytest

from clm_sessions import plugins
from clm_sessions.verify import verify
from support import killed
from support.kept import change_logs, write_logs
from support.logs import check_search_index, dump, import_logs

POINTS = 1000 if os.environ.get("CLM_NIGHTLY") else 80
BATCH = 1
"""Bytes in a transaction: so few that every bundle is committed by itself."""


@pytest.fixture(scope="module", params=["first import", "second import"])
def scene(request, tmp_path_factory):
    """(logs, the database before or None, what it holds after an undisturbed import, the statements of that)."""
    folder = tmp_path_factory.mktemp("killed")
    logs = write_logs(folder / "logs", long=False)
    template = None
    if request.param == "second import":
        template = folder / "template.db"
        import_logs(template, logs)
        change_logs(logs)
    clean = folder / "clean.db"
    statements = killed.run(logs=logs, template=template, batch=BATCH, points={0: clean})["statements"]
    return logs, template, dump(clean), statements


def kill_points(statements):
    """Each COMMIT, the statement before and the one after it; the rest spread evenly over all other statements."""
    commits = [n for n, kind in enumerate(statements, 1) if kind == "COMMIT"]
    points = {n + d for n in commits for d in (-1, 0, 1)}
    others = [n for n in range(1, len(statements) + 1) if n not in points]
    wanted = min(len(others), max(0, POINTS - len(points)))
    points |= {others[n * len(others) // wanted] for n in range(wanted)}
    return commits, sorted(points)


@pytest.mark.slow
def test_an_import_killed_anywhere_and_run_again_equals_one_that_was_left_alone(scene, tmp_path, proved):
    logs, template, want, statements = scene
    commits, points = kill_points(statements)
    assert len(commits) >= (3 if template else 6)
    assert len(set(points)) >= min(POINTS, len(statements))
    assert all({n - 1, n, n + 1} <= set(points) for n in commits)
    databases = {n: tmp_path / f"{n}.db" for n in points}
    status = killed.run(logs=logs, template=template, batch=BATCH, points=databases)["status"]
    assert set(status.values()) == {-signal.SIGKILL}
    for point, database in databases.items():
        import_logs(database, logs)
        assert dump(database) == want, f"killed at statement {point} of {len(statements)}: {statements[point - 1]}"
        check_search_index(database)
        if point % 10 == 0:
            assert verify(database, plugins.build(entry_points=False)).findings == []
    proved("kill points of an import, all rows equal after the next one", len(points))
    proved("kill points around a COMMIT", 3 * len(commits))


@pytest.mark.slow
def test_a_journal_torn_at_any_byte_loses_at_most_the_last_transactions(scene, tmp_path, proved):
    """As after a power cut: of what was written last, only a part reached the disk."""
    logs, template, want, statements = scene
    last = max(n for n, kind in enumerate(statements, 1) if kind == "COMMIT")
    database = tmp_path / "torn.db"
    killed.run(logs=logs, template=template, batch=BATCH, points={last + 1: database})
    journal = tmp_path / "torn.db-wal"
    size = journal.stat().st_size
    assert size > 100_000
    for step in range(20):
        copy = tmp_path / f"copy{step}.db"
        shutil.copy(database, copy)
        (tmp_path / f"copy{step}.db-wal").write_bytes(journal.read_bytes()[: size * step // 20 + step])
        with closing(sqlite3.connect(copy)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        import_logs(copy, logs)
        assert dump(copy) == want
        check_search_index(copy)
        proved("torn journals, all rows equal after the next import")
