"""A full disk: one line that says so, exit code 1, a database that is whole; with more space the import goes on."""

import os
import resource
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from clm_sessions import ingest, plugins
from clm_sessions.errors import DatabaseError
from clm_sessions.store import connect
from clm_sessions.verify import verify
from support.logs import SESSION, check_search_index, dump, import_logs, turn, write_log

SMALL = """
import sys
from clm_sessions import ingest
ingest.BATCH = 20_000
from clm_sessions.cli import main
main()
"""


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Some 400 KB in 20 sessions."""
    folder = tmp_path_factory.mktemp("full") / "logs"
    for number in range(1, 21):
        sid = SESSION.format(number)
        entries = [e for n in range(20) for e in turn(n, f"{sid} word {n} " * 12, f"{n} answer " * 20, session=sid)]
        write_log(folder / "p" / f"{sid}.jsonl", entries)
    return folder


@pytest.fixture(scope="module")
def want(logs, tmp_path_factory):
    database = tmp_path_factory.mktemp("clean") / "clean.db"
    import_logs(database, logs)
    return dump(database), database.stat().st_size


def command(database, logs, **options):
    return subprocess.run(
        [sys.executable, "-c", SMALL, "import", str(database), str(logs)],
        capture_output=True, text=True, timeout=120, check=False, **options,
    )  # fmt: skip


def is_whole(database):
    with closing(sqlite3.connect(database)) as db:
        return db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def said_so(done):
    lines = done.stderr.splitlines()
    return done.returncode == 1 and len(lines) == 1 and "free some space" in lines[0]


@pytest.mark.parametrize("part", [0.05, 0.2, 0.5, 0.9])
def test_a_limit_on_the_size_of_files_is_told_and_the_import_goes_on_later(logs, want, tmp_path, part):
    database = tmp_path / "a.db"
    limit = int(want[1] * part)
    done = command(database, logs, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert said_so(done), done.stderr
    assert is_whole(database)
    import_logs(database, logs)
    assert dump(database) == want[0]
    check_search_index(database)
    assert not verify(database, plugins.build(entry_points=False)).total


@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
def test_a_database_that_may_not_grow_is_told_and_the_import_goes_on_later(logs, want, tmp_path, part, monkeypatch):
    database = tmp_path / "a.db"
    pages = int(want[1] / connect.PAGE_SIZE * part)
    open_ = sqlite3.connect

    def limited(*arguments, **options):
        db = open_(*arguments, **options)
        db.execute(f"PRAGMA max_page_count = {pages}")
        return db

    monkeypatch.setattr(ingest, "BATCH", 20_000)
    with monkeypatch.context() as patch:
        patch.setattr(connect.sqlite3, "connect", limited)
        with pytest.raises(DatabaseError, match="free some space"):
            import_logs(database, logs)
    assert is_whole(database)
    import_logs(database, logs)
    assert dump(database) == want[0]
    check_search_index(database)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount")
def test_a_full_file_system_is_told_and_the_import_goes_on_later(logs, want, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False
    ).returncode:
        pytest.skip("mount is not allowed here")
    try:
        database = disk / "a.db"
        assert said_so(command(database, logs))
        assert is_whole(database)
        assert said_so(command(database, logs))
        subprocess.run(["mount", "-o", "remount,size=100m", disk], check=True)
        import_logs(database, logs)
        assert dump(database) == want[0]
        check_search_index(database)
        assert [p.name for p in disk.iterdir()] == ["a.db"]
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def test_export_log_on_a_full_disk_leaves_no_half_file(logs, tmp_path):
    import_logs(tmp_path / "a.db", logs)
    target = tmp_path / "log.jsonl"
    done = subprocess.run(
        [sys.executable, "-m", "clm_sessions", "export-log", SESSION.format(1), tmp_path / "a.db", "-o", target],
        capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000)),
    )  # fmt: skip
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert not target.exists()
    assert Path(done.stderr.split(": ")[1]) == target


def test_no_room_for_the_texts_of_a_large_log_is_told_with_its_folder(tmp_path):
    write_log(tmp_path / "logs" / "p" / f"{SESSION.format(1)}.jsonl", turn(1, "long " * 300_000, "yes"))
    large = "from clm_sessions.ingest import bundle\nbundle.SPOOLED = 0\n" + SMALL
    done = subprocess.run(
        [sys.executable, "-c", large, "import", str(tmp_path / "a.db"), str(tmp_path / "logs")],
        capture_output=True, text=True, timeout=120, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000)),
    )  # fmt: skip
    assert said_so(done), done.stderr
    assert str(tmp_path) in done.stderr
