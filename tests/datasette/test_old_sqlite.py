"""A published file opens on SQLite 3.34, as Debian 11 and the images that Datasette makes have it: the real one is tried."""

from __future__ import annotations

import json
import os
import platform
import re
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing

import httpx
import pytest

from clm_sessions.publish import publish
from clm_sessions.store import schema
from clm_sessions.store.connect import open_reader
from support.addresses import addresses
from support.site import served

WHEEL = "pysqlite3-binary==0.4.5"
"""Its library is SQLite 3.34.0 and has all functions of a shared one, so any Python can be started with it."""
PIP = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--implementation=cp", "--python-version=3.9", "--abi=cp39", "--platform=manylinux1_x86_64"]  # fmt: skip
NEWER = re.compile(
    r"(?i)\bSTRICT\b|\bRETURNING\b|->|contentless_delete|contentless_unindexed|\bUNIXEPOCH\b|\btrigram\b"
)
LOOK = """
import json, sqlite3, sys
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro&immutable=1", uri=True)
names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
found = {
    "version": sqlite3.sqlite_version,
    "rows": {name: len(db.execute(f"SELECT * FROM [{name}]").fetchall()) for name in names},
    "matches": {
        name: db.execute(f"SELECT count(*) FROM [{name}] WHERE [{name}] MATCH ?", (sys.argv[2],)).fetchone()[0]
        for name, in db.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%USING fts5%'")
    },
    "integrity": db.execute("PRAGMA integrity_check").fetchone()[0],
}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The library, out of an old wheel."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("the wheel with SQLite 3.34 is for Linux on x86-64")
    folder = tmp_path_factory.mktemp("sqlite")
    done = subprocess.run([*PIP, "-d", str(folder), WHEEL], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no wheel with SQLite 3.34 to be had: {done.stderr.strip()[-200:]}")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        name = next(one for one in wheel.namelist() if one.startswith("pysqlite3/_sqlite3."))
        return wheel.extract(name, folder)


@pytest.fixture(scope="module")
def public(demo, tmp_path_factory):
    """The demo logs, published; and the session with the most chunks."""
    out = tmp_path_factory.mktemp("old") / "public.db"
    with closing(open_reader(demo)) as db:
        found = [row[0] for row in db.execute("SELECT id FROM sessions ORDER BY chunks DESC")]
        publish(db, out, found, [])
    return out, found[0]


def test_every_table_is_read_every_index_searched_and_the_file_is_whole(public, library):
    path, _sid = public
    words = [sys.executable, "-c", LOOK, str(path), "the OR plan OR garden"]
    looked = [
        json.loads(subprocess.run(words, env={**os.environ, **more}, capture_output=True, check=True).stdout)
        for more in ({}, {"LD_PRELOAD": library})
    ]
    assert looked[1].pop("version") == "3.34.0" != looked[0].pop("version")
    assert looked[1] == looked[0]
    assert looked[1]["integrity"] == "ok"
    assert looked[1]["rows"]["messages"] > 100
    assert looked[1]["matches"]["messages_fts"] > 10


def test_datasette_shows_it_on_the_old_library(public, library, monkeypatch):
    path, sid = public
    monkeypatch.setenv("LD_PRELOAD", library)
    wanted = addresses({"database": "public", "session": sid, "chunk": "0", "message": "0"})
    with served("--immutable", path) as base, httpx.Client(base_url=base, timeout=60) as client:
        assert client.get("/-/versions.json").json()["sqlite"]["version"] == "3.34.0"
        seen = {address: client.get(address).status_code for address in [*wanted, "/public", "/public/messages"]}
    # A published copy has no raw archive, and nothing to review.
    assert {address for address, status in seen.items() if status != 200 and "/raw" not in address} <= {
        address for address in wanted if "/review" in address or address.endswith("/chunk/0/text")
    }, seen


def test_the_tables_use_nothing_that_came_later(public):
    with closing(sqlite3.connect(public[0])) as db:
        made = [sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")]
    assert len(made) > len(schema.TABLES)
    assert [sql for sql in made if NEWER.search(sql)] == []
