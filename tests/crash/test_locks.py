"""Imports beside readers and beside each other: nobody sees half of anything, and nobody is told "database is locked"."""

import json
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from clm_sessions import ingest, open_db, plugins
from clm_sessions.store.connect import open_writer
from clm_sessions.verify import verify
from support.logs import SESSION, check_search_index, dump, import_logs, query, turn, write_log

READERS = 4
SESSIONS = 60


@pytest.fixture
def logs(tmp_path):
    """Sixty sessions that share their beginning in pairs."""
    for number in range(1, SESSIONS + 1):
        sid = SESSION.format(number)
        shared = turn(1, "the same start", "yes", session=SESSION.format(number - 1 + number % 2))
        own = [e for n in range(2, 12) for e in turn(n, f"{sid} asks {n} " * 20, f"reply {n} " * 20, session=sid)]
        write_log(tmp_path / "logs" / f"p{number % 5}" / f"{sid}.jsonl", [*shared, *own])
    return tmp_path / "logs"


READ = """
import json, sqlite3, sys, time
from pathlib import Path
database, stop = Path(sys.argv[1]), Path(sys.argv[2])
seen, rounds, wrong = (0, 0, 0), 0, []
while not stop.exists():
    try:
        db = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)
        for _ in range(5):
            db.execute("BEGIN")
            now = tuple(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("sessions", "messages", "chunks"))
            orphans = db.execute("SELECT count(*) FROM messages m LEFT JOIN sessions s ON s.id = m.session_id WHERE s.id IS NULL").fetchone()[0]
            halves = db.execute("SELECT count(*) FROM sessions s WHERE messages <> (SELECT count(*) FROM messages m WHERE m.session_id = s.id)").fetchone()[0]
            found = db.execute("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'asks OR reply OR same OR yes'").fetchone()[0]
            db.execute("COMMIT")
            if orphans or halves or found != now[1] or any(a > b for a, b in zip(seen, now)):
                wrong.append([seen, now, orphans, halves, found])
            seen = now
            rounds += 1
        db.close()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error) or "unable to open" in str(error) and not database.exists():
            time.sleep(0.01)
            continue
        wrong.append(str(error))
print(json.dumps([rounds, seen, wrong]))
"""


@pytest.mark.slow
def test_readers_beside_an_import_see_whole_sessions_that_only_become_more(logs, tmp_path, monkeypatch):
    monkeypatch.setattr(ingest, "BATCH", 20_000)
    database, stop = tmp_path / "a.db", tmp_path / "stop"
    import_logs(database, next(logs.iterdir()))
    words = [sys.executable, "-c", READ, str(database), str(stop)]
    readers = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(READERS)]
    for _ in range(3):  # each import opens the file, changes its journal, and closes it as one file
        import_logs(database, logs)
        for path in logs.rglob("*.jsonl"):
            with path.open("a") as file:
                file.writelines(json.dumps(e) + "\n" for e in turn(99, "asks more", "reply", session=path.stem))
    import_logs(database, logs)
    stop.touch()
    told = [json.loads(reader.communicate(timeout=60)[0]) for reader in readers]
    assert [wrong for _rounds, _seen, wrong in told if wrong] == []
    assert min(rounds for rounds, _seen, _wrong in told) > 10
    fresh = tmp_path / "fresh.db"
    import_logs(fresh, logs)
    tables = {"messages", "chunks", "sessions", "requests", "facts"}
    assert {t: dump(database)[t] for t in tables} == {t: dump(fresh)[t] for t in tables}


def command(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "clm_sessions", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_imports_of_the_same_logs_at_once_give_what_one_gives(logs, tmp_path):
    import_logs(tmp_path / "one.db", logs)
    database = tmp_path / "many.db"
    running = [command("import", database, logs) for _ in range(4)]
    ended = [(*process.communicate(timeout=120), process.returncode) for process in running]
    assert [code for _out, _err, code in ended] == [0] * 4, ended
    assert not any("locked" in err or "Traceback" in err for _out, err, _code in ended)
    assert dump(database) == dump(tmp_path / "one.db")
    check_search_index(database)


def test_imports_of_different_copies_at_once_keep_both(logs, tmp_path, monkeypatch):
    """One looks at the database before the other has written: what it saw is looked at again before it writes."""
    sid = SESSION.format(1)
    other = tmp_path / "other" / "q" / f"{sid}.jsonl"
    write_log(other, turn(1, "something else", "entirely", session=sid))
    first = next(logs.rglob(f"{sid}.jsonl"))
    look, began = ingest._look, []

    def slow(work):
        look(work)
        if not began:
            began.append(1)
            import_logs(tmp_path / "a.db", first)

    monkeypatch.setattr(ingest, "_look", slow)
    import_logs(tmp_path / "a.db", other.parent)
    assert query(tmp_path / "a.db", "SELECT count(*) FROM sessions") == [(2,)]
    assert not verify(tmp_path / "a.db", plugins.build(entry_points=False)).total


def test_an_import_that_must_wait_says_so_and_then_goes_on(logs, tmp_path):
    database = tmp_path / "a.db"
    with closing(open_writer(database)) as other:
        other.execute("PRAGMA busy_timeout = 100")
        other.execute("BEGIN IMMEDIATE")
        waiting = command("import", database, logs)
        said = []
        listener = threading.Thread(target=lambda: said.append(waiting.stderr.readline()))
        listener.start()
        listener.join(timeout=60)
        assert said == ["waiting for another program to be done with the database …\n"]
        other.execute("ROLLBACK")
    out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, err) == (0, "")
    assert f"{SESSIONS} new" in out


def test_an_import_beside_a_long_reader_waits_no_longer_than_for_its_turn(logs, tmp_path):
    database = tmp_path / "a.db"
    import_logs(database, next(logs.iterdir()))
    with open_db(database) as reading:
        reading.db.execute("BEGIN")
        before = reading.db.execute("SELECT count(*) FROM sessions").fetchone()
        started = time.monotonic()
        importing = command("import", database, logs)
        time.sleep(2)
        reading.db.execute("COMMIT")  # until then the file cannot change its journal
        _out, err = importing.communicate(timeout=60)
        assert importing.returncode == 0, err
        assert time.monotonic() - started < 60
        reading.db.execute("BEGIN")
        assert reading.db.execute("SELECT count(*) FROM sessions").fetchone() > before
    with closing(sqlite3.connect(database)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
