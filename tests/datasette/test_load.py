"""Readers walk all pages while an import writes: nobody is turned away, no count falls, nothing hangs in the air."""

from __future__ import annotations

import http.client
import json
import os
import sqlite3
import threading
import time
from contextlib import closing
from itertools import cycle, islice
from urllib.parse import urlsplit

import pytest

from clm_sessions import plugins
from clm_sessions.store.schema import TABLES
from clm_sessions.verify import verify
from support.addresses import addresses
from support.logs import import_logs, session_id, turn, write_log
from support.site import MODERN, served, tool_turn

READERS, REQUESTS, SESSIONS = 4, 2_000, 6
BOUND = 3_600 if os.environ.get("CLM_NIGHTLY") else 25
"""Seconds after which readers stop: a busy machine proves less, and says how much."""


def lines(number, turns):
    sid = session_id(number)
    for n in range(turns):
        yield from turn(2 * n, f"Question {n} about the beds", f"Answer {n}", session=sid)
        yield from tool_turn(4 * n + 2, "Bash", {"command": f"water bed {n}"}, "done", session=sid)


class Writer(threading.Thread):
    """An agent that works in one session after another, and the import that follows it."""

    def __init__(self, folder):
        super().__init__()
        self.database, self.logs = folder / "a.db", folder / "logs"
        self.done, self.imports, self.wrong = threading.Event(), 0, []
        self.turns = dict.fromkeys(range(1, SESSIONS + 1), 3)
        for number in self.turns:
            self.write(number)

    def write(self, number):
        sid = session_id(number)
        write_log(self.logs / "p" / f"{sid}.jsonl", lines(number, self.turns[number]))
        import_logs(self.database, self.logs)
        self.imports += 1

    def run(self):
        for number in cycle(self.turns):
            if self.done.wait(0.1):
                return
            self.turns[number] += 1
            self.write(number)
            self.wrong += orphans(self.database)


def orphans(database):
    """Rows that refer to others which are not there."""
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as db:
        return db.execute("PRAGMA foreign_key_check").fetchall()


class Reader(threading.Thread):
    """One of those who look at everything."""

    def __init__(self, base, paths):
        super().__init__()
        self.place, self.paths = urlsplit(base).netloc, paths
        self.wrong, self.counts, self.asked, self.slowest = [], {}, 0, 0.0

    def run(self):
        connection, end = http.client.HTTPConnection(self.place, timeout=30), time.monotonic() + BOUND
        for path in self.paths:
            began = time.monotonic()
            if began > end:
                break
            self.asked += 1
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            self.slowest = max(self.slowest, time.monotonic() - began)
            if answer.status != 200:
                self.wrong.append((path, answer.status, body[-300:]))
            elif path.endswith((".json", "/since")) and "/session/" in path:
                self.counts.setdefault(path, []).append(json.loads(body).get("count", json.loads(body).get("total")))
        connection.close()


def walk(number):
    """What a reader asks for, on and on: our pages of all sessions, and the tables, each from another place on."""
    ours = [
        path
        for sid in map(session_id, range(1, SESSIONS + 1))
        for path in addresses({"database": "a", "session": sid, "chunk": "0", "message": "0"})
        if not path.endswith(".css")
    ]
    tables = [f"/a/{table}.json?_size=5&_nofacet=1" for table in TABLES if not table.startswith("_")]
    every = [*ours, *tables, "/", "/a", "/a/-/search?q=bed"]
    return islice(cycle(every), number * 17, number * 17 + REQUESTS // READERS)


@pytest.mark.slow
@pytest.mark.skipif(not MODERN and not os.environ.get("CLM_NIGHTLY"), reason="on 0.65 by night: CI has 30 minutes")
def test_readers_of_all_pages_and_an_import_do_not_disturb_each_other(tmp_path, proved):
    writer = Writer(tmp_path)
    before = writer.imports
    with served(tmp_path / "a.db", "--setting", "suggest_facets", "off") as base:
        readers = [Reader(base, walk(number)) for number in range(READERS)]
        writer.start()
        began = time.monotonic()
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        took = time.monotonic() - began
        writer.done.set()
        writer.join()
    assert [one for reader in readers for one in reader.wrong] == []
    for reader in readers:
        for path, counts in reader.counts.items():
            numbers = [count for count in counts if count is not None]
            assert numbers == sorted(numbers), path
    assert writer.wrong == []
    assert writer.imports > before + 3
    assert max(counts[-1] or 0 for reader in readers for counts in reader.counts.values()) > 12
    assert not verify(writer.database, plugins.build(entry_points=False)).total
    proved("requests answered while imports wrote", sum(reader.asked for reader in readers))
    proved("imports meanwhile", writer.imports - before)
    proved("seconds that took", round(took))
    proved("milliseconds of the slowest answer", round(1000 * max(reader.slowest for reader in readers)))
