"""``clm-sessions check``: every secret is found wherever it was put, none is shown, and a published file passes."""

from __future__ import annotations

import base64
import gzip
import json
import sqlite3
import threading
from contextlib import closing, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from click.testing import CliRunner

from clm_sessions import plugins
from clm_sessions.cli import cli
from support.logs import import_logs, turn, write_log

TOKEN = "ghp_" + "Zq7" * 12


def run(*words):
    done = CliRunner().invoke(cli, ["check", *map(str, words)], obj={"registry": plugins.build(entry_points=False)})
    assert TOKEN not in done.output
    assert TOKEN[8:20] not in done.output
    return done


FILES = {
    "page.html": f"<p>use <span>{TOKEN[:9]}</span><span>{TOKEN[9:]}</span>",
    "attribute.html": f'<p title="{TOKEN}">hello',
    "entities.html": f"<pre>password=&quot;{'hunter2!x'}&quot;</pre>",
    "book.ipynb": json.dumps({"cells": [{"source": [f"x = '{TOKEN[:5]}", f"{TOKEN[5:]}'"], "outputs": []}]}),
    "named.json": json.dumps({"deep": [{"db_password": "hunter2!x"}]}),
    "lines.ndjson": json.dumps({"a": 1}) + "\n" + json.dumps({"b": f"\u00e9\n{TOKEN}"}),
    "table.csv": f"a,b\n1,{TOKEN}\n",
    "notes.md": f"It says `{TOKEN}`.",
    "wide.txt": f"use {TOKEN} now".encode("utf-16"),
    "coded.txt": base64.b64encode(f"user:{TOKEN}".encode()),
    "packed.json.gz": gzip.compress(json.dumps({"t": TOKEN}).encode()),
}


@pytest.mark.parametrize("name", FILES)
def test_a_secret_is_found_in_any_kind_of_file_and_not_shown(name, tmp_path):
    held = FILES[name]
    (tmp_path / name).write_bytes(held if isinstance(held, bytes) else held.encode())
    done = run(tmp_path)
    assert done.exit_code == 1
    assert name in done.stdout
    assert "github-token" in done.stdout or "password" in done.stdout
    assert "hunter2" not in done.output


def test_a_harmless_folder_passes_and_what_was_not_looked_into_is_said(tmp_path):
    (tmp_path / "a.md").write_text("nothing here, commit 3f786850e387550fdab836ed7e6dc881de23001b")
    assert run(tmp_path).exit_code == 0
    (tmp_path / "link").symlink_to(tmp_path / "a.md")
    done = run(tmp_path)
    assert done.exit_code == 1
    assert "what it leads to was not checked" in done.stdout
    assert run(tmp_path / "nothing").exit_code == 1


@pytest.fixture
def private(tmp_path):
    write_log(tmp_path / "logs" / "-home-dev-garden" / "a.jsonl", turn(1, f"use {TOKEN}", "yes"))
    import_logs(tmp_path / "a.db", tmp_path / "logs")
    return tmp_path / "a.db"


def test_a_private_database_is_told_from_a_published_one(private, tmp_path):
    registry = {"registry": plugins.build(entry_points=False)}
    assert (
        CliRunner().invoke(cli, ["publish", str(private), str(tmp_path / "b.db"), "--all"], obj=registry).exit_code == 0
    )
    assert run(tmp_path / "b.db").exit_code == 0
    private.chmod(0o644)
    done = run(private)
    assert done.exit_code == 1
    for sign in (
        "a private database",
        "raw archive",
        "paths of the logs",
        "chmod 600",
        "messages.text, row 1: github-token",
    ):
        assert sign in done.stdout
    rows = [json.loads(row) for row in run("--json", private).stdout.splitlines()]
    assert {"place", "kind", "what"} == set(rows[0])


def test_what_a_database_leaves_behind_is_told(private, tmp_path):
    with closing(sqlite3.connect(tmp_path / "c.db")) as db:
        db.execute("CREATE TABLE words (word TEXT)")
        db.execute("INSERT INTO words VALUES (?)", (f"x{TOKEN} " * 2_000,))
        db.commit()
        db.execute("DELETE FROM words")
        db.commit()
        assert "free pages" in run(tmp_path / "c.db").stdout
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("INSERT INTO words VALUES ('late')")
        db.commit()
        assert "c.db-wal: private" in run(tmp_path).stdout


@contextmanager
def serving(folder):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_words):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_the_pages_of_a_site_on_this_machine_are_followed(tmp_path):
    (tmp_path / "index.html").write_text("<a href='deep/b.html'>b</a> <a href='http://example.com/'>away</a>")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.html").write_text(f"<p>{TOKEN}")
    with serving(tmp_path) as address:
        done = run(address)
    assert done.exit_code == 1
    assert f"{address}deep/b.html: github-token" in done.stdout
    assert "on this machine" in run("http://example.com/").output
