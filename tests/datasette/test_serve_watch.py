"""``clm-sessions serve --watch``: a real server over real HTTP shows what is written while it runs."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from clm_sessions import plugins
from clm_sessions.verify import verify
from support.logs import query, session_id, turn, write_log
from support.site import ROOT

LINES = 20
SID = session_id()


@contextmanager
def serving(database, *words):
    """A server as a person starts it: (process, its address, the file of what it says)."""
    said = database.with_suffix(".said")
    command = [sys.executable, "-m", "clm_sessions", "serve", str(database), *map(str, words), "--port", "0", "--watch"]
    with said.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, cwd=ROOT)
    try:
        until(lambda: "watching" in said.read_text(), said)
        yield process, re.search(r"http://[\d.:]+", said.read_text())[0], said
    finally:
        process.kill()
        process.wait(10)


def until(there, said, patience=30):
    end = time.monotonic() + patience
    while not there():
        assert time.monotonic() < end, said.read_text()
        time.sleep(0.02)


def get(address):
    with urlopen(address, timeout=20) as answer:
        return answer.status, answer.read()


@pytest.fixture
def log(tmp_path):
    return write_log(tmp_path / "logs" / "p" / f"{SID}.jsonl", turn(0, "the first bed", "done"))


def test_pages_show_new_lines_while_a_reader_fetches_all_the_time(tmp_path, log):
    database = tmp_path / "a.db"
    with serving(database, tmp_path / "logs", "--exclude", "secret") as (_process, base, said):
        page = f"{base}/a/-/session/{SID}.json"
        counts, wrong, end = [], [], threading.Event()

        def read():
            while not end.is_set():
                try:
                    status, body = get(page)
                    counts.append(json.loads(body)["count"])
                    status, _body = get(f"{base}/a/-/session/{SID}")
                    if status != 200:
                        wrong.append(status)
                except Exception as error:  # noqa: BLE001 - whatever it is, the reader was disturbed
                    wrong.append(repr(error))

        reader = threading.Thread(target=read)
        reader.start()
        try:
            for number in range(1, LINES + 1):
                with log.open("a") as file:
                    file.writelines(json.dumps(e) + "\n" for e in turn(number, f"bed {number}", "done", session=SID))
                time.sleep(0.05)
            until(lambda: counts and counts[-1] == 2 * (LINES + 1), said)
        finally:
            end.set()
            reader.join()
        assert wrong == []
        assert counts == sorted(counts)
        other = turn(1, "a secret garden", "yes", session=session_id(3))
        write_log(tmp_path / "logs" / "secret" / f"{session_id(3)}.jsonl", other)
        write_log(
            tmp_path / "logs" / "q" / f"{session_id(2)}.jsonl", turn(1, "a new garden", "yes", session=session_id(2))
        )
        until(lambda: b"a new garden" in get(f"{base}/a/sessions.json?_shape=array")[1], said)
        assert b"a secret garden" not in get(f"{base}/a/sessions.json?_shape=array")[1]


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_the_watch_ends_with_the_server_and_leaves_a_whole_database(tmp_path, log, sign):
    database = tmp_path / "a.db"
    with serving(database, tmp_path / "logs") as (process, _base, said):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        assert not children.exists() or not children.read_text()
        process.send_signal(sign)
        process.wait(15)
        with log.open("a") as file:
            file.writelines(json.dumps(e) + "\n" for e in turn(9, "nobody hears this", "indeed", session=SID))
        time.sleep(0.5)
    assert query(database, "SELECT count(*) FROM messages") == [(2,)]
    assert not verify(database, plugins.build(entry_points=False)).total
    assert "Traceback" not in said.read_text()
