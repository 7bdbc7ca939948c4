"""Folders that were not made for us: loops, FIFOs, sockets, names of any bytes, files that vanish or may not be read."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from clm_sessions import plugins
from clm_sessions.giveback import find, read
from clm_sessions.prices import Book
from clm_sessions.store.connect import open_reader
from clm_sessions.verify import verify
from support.logs import SESSION, dump, import_logs, query, turn, write_log

ODD = [
    b"new\nline", b"bad\xff\xfeutf8", b"-rf", b"%41", b"a:b", b"a", b"a@b~c", b"\xf0\x9f\x8c\xb1", b"\xe2\x80\xaegnp", b"'; --",
    b" ", b"tab\tand\x1b[31m", b"x" * 249, b"\xc3\xa9" * 124, b"\xc3" * 200, b"unrecognised", b"con.", b"*?[",
]  # fmt: skip


def command(*words):
    """The command as a process: (exit code, what it said on each stream)."""
    done = subprocess.run(
        [sys.executable, "-m", "clm_sessions", *map(os.fspath, words)], capture_output=True, timeout=60, check=False
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def is_whole(database):
    return verify(database, plugins.build(entry_points=False)).findings == []


@pytest.fixture
def good(tmp_path):
    """Two good logs, one first and one last in name order."""
    for number, folder in ((1, "-a"), (2, "zz")):
        write_log(
            tmp_path / "logs" / folder / f"{SESSION.format(number)}.jsonl",
            turn(1, "hello", "hi", session=SESSION.format(number)),
        )
    return tmp_path / "logs"


def test_links_fifos_and_sockets_are_named_and_everything_else_is_read(good, tmp_path):
    folder = good / "m"
    folder.mkdir()
    (folder / "loop").symlink_to(good)
    (folder / "self.jsonl").symlink_to(folder / "self.jsonl")
    (folder / "nowhere.jsonl").symlink_to(folder / "gone.jsonl")
    os.mkfifo(folder / "fifo.jsonl")
    with socket.socket(socket.AF_UNIX) as listening:
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket must be short
        listening.bind("socket.jsonl")
        os.chdir(here)
        started = time.monotonic()
        code, out, _err = command("import", tmp_path / "a.db", good)
    assert code == 0
    assert (
        time.monotonic() - started < 20
    )  # nothing was waited for; most of it is the start of Python on a busy machine
    notes = [line for line in out.splitlines() if line.startswith("note")]
    assert [
        name
        for name in ("loop", "self.jsonl", "nowhere.jsonl", "fifo.jsonl", "socket.jsonl")
        if name not in "".join(notes)
    ] == []
    assert query(tmp_path / "a.db", "SELECT count(*) FROM sessions") == [(2,)]


def test_a_fifo_that_takes_the_place_of_a_log_is_not_waited_for(good, tmp_path, monkeypatch):
    from clm_sessions.ingest import bundle, streams

    victim = next(good.rglob("*.jsonl"))

    def swapped(log):
        if log.found.path == str(victim) and victim.is_file():
            victim.unlink()
            os.mkfifo(victim)
        return streams.open_log(log)

    monkeypatch.setattr(bundle, "open_log", swapped)
    report = import_logs(tmp_path / "a.db", good)
    assert report.sources["unreadable"] == 1
    assert query(tmp_path / "a.db", "SELECT count(*) FROM sessions") == [(1,)]


def test_names_of_any_bytes_are_imported_once_and_given_back(tmp_path):
    logs, want = tmp_path / "logs", {}
    for number, name in enumerate(map(os.fsdecode, ODD)):
        path = logs / (name if number % 2 else f"plain{number}") / f"{name}.jsonl"
        want[f"prompt {number}"] = write_log(
            path, turn(1, f"prompt {number}", "answer", session=SESSION.format(number))
        ).read_bytes()
    database = tmp_path / "a.db"
    assert import_logs(database, tmp_path / "logs").json()["sources"]["new"] == len(ODD)
    before = dump(database)
    again = import_logs(database, tmp_path / "logs")
    assert again.json()["sources"] == {"new": 0, "changed": 0, "unchanged": len(ODD), "gone": 0}
    assert dump(database) == before
    assert is_whole(database)
    db = open_reader(database)
    found = {title: b"".join(read(db, find(db, sid)[0])) for sid, title in db.execute("SELECT id, title FROM sessions")}
    db.close()
    assert found == want
    code, _out, err = command("import", tmp_path / "b.db", logs)
    assert (code, err) == (0, "")
    shutil.rmtree(logs)
    logs.mkdir()
    assert import_logs(database, tmp_path / "logs").json()["sources"]["gone"] == len(ODD)


def test_an_error_about_an_odd_name_is_one_line(tmp_path):
    (tmp_path / "a\nb").mkdir()
    (tmp_path / "a\nb" / "x.txt").write_text("no log")
    _code, _out, err = command("import", tmp_path / "a.db", tmp_path / "a\nb" / "x.txt")
    assert len(err.splitlines()) == 1
    os.mkfifo(tmp_path / "a\nb" / "f.jsonl")
    _code, out, _err = command("import", tmp_path / "a.db", tmp_path / "a\nb")
    assert sum(line.startswith("note") for line in out.splitlines()) == 1
    assert "\nb" not in out


def test_files_that_vanish_while_they_are_imported_leave_a_good_database(tmp_path):
    logs = tmp_path / "logs"
    paths = [
        write_log(
            logs / f"p{n % 7}" / f"{SESSION.format(n)}.jsonl",
            [e for k in range(20) for e in turn(k, "word " * 50, "x", session=SESSION.format(n))],
        )
        for n in range(120)
    ]
    stop = threading.Event()

    def vanish():
        for path in paths[::2]:
            if stop.wait(0.005):
                break
            path.unlink()

    thread = threading.Thread(target=vanish)
    thread.start()
    import_logs(tmp_path / "a.db", logs)
    stop.set()
    thread.join()
    import_logs(tmp_path / "a.db", logs)
    assert is_whole(tmp_path / "a.db")
    left = {path.stem for path in paths if path.exists()}
    assert left <= {
        sid for (sid,) in query(tmp_path / "a.db", "SELECT id FROM sessions WHERE source_state = 'present'")
    }
    assert not query(tmp_path / "a.db", "SELECT path FROM sources WHERE state = 'present'")[len(left) :]


CHILD = """
import contextlib, io, json, os, sys
from clm_sessions.cli import main
words, warm, log = json.loads(sys.argv[1])
for run in (["import", warm, log], ["verify", warm]):  # all that is imported lazily; Python itself may be out of reach later
    sys.argv = ["clm-sessions", *run]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main()
os.setgroups([]); os.setgid(65534); os.setuid(65534)
sys.argv = ["clm-sessions", *words]
main()
"""


@pytest.fixture
def as_nobody(tmp_path):
    """Run the command as another user, who may enter the folder of this test."""
    for path in (tmp_path, *tmp_path.parents):
        if "pytest" in str(path):
            path.chmod(0o755)
    log = write_log(tmp_path / "warm" / f"{SESSION.format(9)}.jsonl", turn(1, "warm", "up", session=SESSION.format(9)))

    def run(*words):
        order = json.dumps([[str(w) for w in words], str(tmp_path / "warm.db"), str(log)])
        done = subprocess.run(
            [sys.executable, "-c", CHILD, order], capture_output=True, text=True, timeout=60, check=False
        )
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.mark.skipif(os.getuid() != 0, reason="another user can only be played by root")
def test_what_may_not_be_read_is_named_and_the_rest_is_complete(good, tmp_path, as_nobody):
    """Root reads everything, so the import runs as another user."""
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o777)
    shared.chmod(0o777)
    locked = write_log(
        good / "locked" / f"{SESSION.format(3)}.jsonl", turn(1, "secret", "s", session=SESSION.format(3))
    )
    locked.chmod(0)
    closed = write_log(
        good / "closed" / f"{SESSION.format(4)}.jsonl", turn(1, "secret", "s", session=SESSION.format(4))
    )
    closed.parent.chmod(0)
    code, out, err = as_nobody("import", shared / "a.db", good)
    assert (code, err) == (0, "")
    assert "closed: cannot list folder: Permission denied" in out
    assert f"{locked.name}: cannot read: Permission denied" in out
    assert query(shared / "a.db", "SELECT count(*) FROM sessions") == [(2,)]
    (shared / "a.db").chmod(0o444)
    shared.chmod(0o555)
    code, out, err = as_nobody("verify", shared / "a.db")
    assert (code, out) == (0, ""), err
    assert "search indexes" in err
    shared.chmod(0o777)
    locked.chmod(0o644)
    closed.parent.chmod(0o755)
    (shared / "a.db").chmod(0o666)
    assert as_nobody("import", shared / "a.db", good)[0] == 0
    assert query(shared / "a.db", "SELECT count(*) FROM sessions") == [(4,)]


@pytest.mark.skipif(os.getuid() != 0, reason="another user can only be played by root")
def test_a_database_that_may_not_be_written_is_one_line(good, tmp_path, as_nobody):
    import_logs(tmp_path / "a.db", good / "zz", book=Book())
    (tmp_path / "a.db").chmod(0o444)
    assert as_nobody("import", tmp_path / "a.db", good / "zz")[0] == 0, "there is nothing to write"
    code, _out, err = as_nobody("import", tmp_path / "a.db", good)
    assert code == 1
    assert len(err.splitlines()) == 1
    assert "a.db" in err
