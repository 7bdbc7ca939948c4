"""Publishing: what goes into the new file, what never does, and what a person is told."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from clm_sessions.errors import UsageError
from clm_sessions.publish import Choices, publish
from clm_sessions.redact import Secrets
from clm_sessions.store.connect import open_reader
from support.logs import import_logs, session_id, turn, write_log

TOKEN = "ghp_" + "Zq7" * 12
PASSWORD = "t0p-Sh3lf!"


@pytest.fixture
def private(tmp_path):
    """A database with two sessions: one holds a token and a password, the other the password alone, without its name."""
    logs = tmp_path / "logs"
    home = {"cwd": "/home/ada/garden"}
    first = turn(1, f"use {TOKEN}", f"DB_PASSWORD={PASSWORD}\nsaved", session=session_id(1), **home)
    write_log(logs / "-home-ada-garden" / f"{session_id(1)}.jsonl", first)
    second = turn(1, "and now?", f"it says {PASSWORD} again", session=session_id(2), **home)
    write_log(logs / "-home-ada-garden" / f"{session_id(2)}.jsonl", second)
    import_logs(tmp_path / "a.db", logs)
    with closing(open_reader(tmp_path / "a.db")) as db:
        yield db


def sessions(db):
    return [row[0] for row in db.execute("SELECT id FROM sessions ORDER BY id")]


def test_a_secret_that_shows_itself_once_is_hidden_everywhere(private, tmp_path):
    done = publish(private, tmp_path / "out.db", sessions(private), [Secrets()])
    held = (tmp_path / "out.db").read_bytes()
    assert TOKEN.encode() not in held
    assert PASSWORD.encode() not in held
    assert b"/home/ada" not in held
    assert done.sessions == 2
    assert done.tally.places["github-token"] >= 1
    with closing(sqlite3.connect(tmp_path / "out.db")) as db:
        assert db.execute("SELECT count(*) FROM messages WHERE text LIKE '%[redacted password %'").fetchone()[0] == 2
        assert db.execute("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'redacted'").fetchone()[0] >= 2


def test_the_file_is_private_whole_and_says_that_it_was_published(private, tmp_path):
    out = tmp_path / "out.db"
    publish(private, out, sessions(private), [Secrets()])
    assert out.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.glob(".out.db*")) == []
    with closing(sqlite3.connect(f"file:{out}?mode=ro&immutable=1", uri=True)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        told = json.loads(db.execute("SELECT value FROM _clm_meta WHERE key = 'published'").fetchone()[0])
        assert told["left_out"] == ["images"]
        for table in ("sources", "raw_blocks", "source_lines", "record_types", "ingest_issues"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0
        assert db.execute("SELECT count(*) FROM pragma_foreign_key_check").fetchone()[0] == 0


def test_a_file_that_is_there_is_never_written_over(private, tmp_path):
    (tmp_path / "out.db").write_text("mine")
    with pytest.raises(UsageError, match="there is such a file"):
        publish(private, tmp_path / "out.db", sessions(private), [Secrets()])
    assert (tmp_path / "out.db").read_text() == "mine"


def test_an_interrupted_publication_leaves_no_file(private, tmp_path):
    def stop(what, done, _all):
        if what == "writing" and done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish(private, tmp_path / "out.db", sessions(private), [Secrets()], progress=stop)
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == []


def test_only_what_was_chosen_is_in_it_and_a_dry_run_writes_nothing(private, tmp_path):
    done = publish(private, None, sessions(private)[:1], [Secrets()])
    assert (done.sessions, done.left_behind) == (1, 1)
    assert not (tmp_path / "out.db").exists()
    with pytest.raises(UsageError, match="nothing to publish"):
        publish(private, None, [], [Secrets()])


def test_what_a_person_keeps_stays_and_what_they_hide_goes(private, tmp_path):
    choices = Choices(keep=frozenset({PASSWORD}), hide=("again",))
    publish(private, tmp_path / "out.db", sessions(private), [Secrets()], choices)
    held = (tmp_path / "out.db").read_bytes()
    assert PASSWORD.encode() in held
    assert b" again" not in held


def test_a_preview_and_a_title_are_cut_after_redacting_so_no_half_of_a_secret_is_left(tmp_path):
    long = f"Please look at the log of the last night, it goes on and on: {'word ' * 24}pass {TOKEN[:20]}\n{TOKEN[20:]} end"
    write_log(
        tmp_path / "logs" / "-home-ada-garden" / f"{session_id(1)}.jsonl", turn(1, long, "done", session=session_id(1))
    )
    import_logs(tmp_path / "a.db", tmp_path / "logs")
    with closing(open_reader(tmp_path / "a.db")) as db:
        publish(db, tmp_path / "out.db", sessions(db), [Secrets()])
        before = db.execute("SELECT preview FROM chunks WHERE seq = 0").fetchone()[0]
    assert TOKEN[:10] in before
    assert before.endswith("…")
    with closing(sqlite3.connect(tmp_path / "out.db")) as db:
        after = db.execute("SELECT preview FROM chunks WHERE seq = 0").fetchone()[0]
    assert after.startswith(before[:150])
    assert TOKEN[:5] not in after
    assert "pass [redacted git" in after
