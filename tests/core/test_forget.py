"""Forgetting: no byte of a session is left in the file, no import brings it back, and the rest is as it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from clm_sessions import plugins
from clm_sessions.cli import cli
from clm_sessions.ingest import Choice, Importer
from clm_sessions.verify import verify
from support.logs import check_search_index, dump, entry, import_logs, query, session_id, turn, write_log

WORD = "zebrafinch{}quux"
KANA = ("さよなら", "おはよう")  # has a search index of its own
FOLDER = "-home-dev-garden"


@pytest.fixture
def logs(tmp_path):
    """Two sessions, each with a subagent, and a word of its own in every text; the first in another project."""
    for number, project in ((1, "pond"), (2, "garden")):
        word, sid = WORD.format(number), session_id(number)
        about = {"session": sid, "cwd": f"/home/dev/{project}"}
        image = {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8" + "AB"[number - 1]},
        }
        write_log(
            tmp_path / "logs" / FOLDER / f"{sid}.jsonl",
            [
                *turn(1, word, f"{word} yes", **about),
                entry("user", 9, [{"type": "text", "text": word}, image], **about),
            ],
        )
        side = {"isSidechain": True, "agentId": f"a{number}"}
        write_log(
            tmp_path / "logs" / FOLDER / sid / "subagents" / f"agent-a{number}.jsonl",
            turn(20, word, word, **about, **side),
        )
    return tmp_path / "logs"


@pytest.fixture
def database(tmp_path, logs):
    import_logs(tmp_path / "a.db", logs)
    return tmp_path / "a.db"


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words], obj={"registry": plugins.build(entry_points=False)})


def held(database):
    """All bytes of the database and of what lies beside it."""
    return b"".join(path.read_bytes() for path in database.parent.glob(database.name + "*"))


def test_no_byte_of_a_forgotten_session_is_left_and_the_rest_is_as_if_it_had_never_been(database, logs, tmp_path):
    assert WORD.format(1).encode() in held(database)
    assert session_id(1).encode() in held(database)
    done = run("forget", database, session_id(1), "--yes")
    assert done.exit_code == 0, done.output
    assert "forgot 2 sessions" in done.output
    for gone in (WORD.format(1), session_id(1), "/home/dev/pond", KANA[0], KANA[0][:2]):
        for form in (gone.encode(), gone.encode("utf-16-le")):
            assert form not in held(database)
    assert WORD.format(2).encode() in held(database)
    check_search_index(database)
    only = tmp_path / "only"
    write_log(only / "empty", [])
    import_logs(only / "b.db", logs, choice=Choice(projects=("garden",)))
    mine, other = dump(database), dump(only / "b.db")
    assert len(mine.pop("_clm_meta")) == len(other.pop("_clm_meta")) + 1
    assert mine == other


def test_what_is_forgotten_stays_out_of_every_later_import_until_that_is_taken_back(database, logs):
    before = dump(database)
    run("forget", database, "--project", "pond", "--yes")
    for again in (False, True):
        assert import_logs(database, logs, again=again).forgotten == 1
        assert query(database, "SELECT count(*) FROM sessions") == [(2,)]
        assert WORD.format(1).encode() not in held(database)
    with closing_importer(database) as importer:
        importer.run([logs])
        log = logs / FOLDER / f"{session_id(1)}.jsonl"
        log.write_bytes(log.read_bytes() + b"\n")
        importer.run([logs], paths=[str(log)])
    assert query(database, "SELECT count(*) FROM sessions") == [(2,)]
    result = verify(database, plugins.build(entry_points=False))
    assert result.total == 0, result.findings
    assert "--undo takes whole ids" in run("forget", database, "--undo", session_id(1)[:-1]).output
    assert "1 session may come back" in run("forget", database, "--undo", session_id(1)).output
    import_logs(database, logs)
    after = dump(database)
    for table in ("_clm_meta", "messages", "sessions", "chunks", "attachments"):
        assert after[table] == before[table], table


def closing_importer(database):
    return closing(Importer(database, plugins.build(entry_points=False)))


def test_sessions_are_forgotten_by_when_they_ended(database):
    assert run("forget", database, "--before", "2026-03-02", "--utc", "--yes").exit_code == 1
    assert run("forget", database, "--before", "2026-03-03", "--utc", "--yes").exit_code == 0
    assert query(database, "SELECT count(*) FROM sessions") == [(0,)]


def test_forgetting_is_asked_for_twice_and_for_something(database):
    done = run("forget", database, session_id(1))
    assert done.exit_code == 1
    assert "--yes" in done.output
    assert run("forget", database, "--yes").exit_code == 1
    assert query(database, "SELECT count(*) FROM sessions") == [(4,)]


def test_a_copied_reply_belongs_to_the_copy_when_its_first_session_is_forgotten(tmp_path):
    logs = tmp_path / "logs"
    first = turn(1, "hello", "yes", session=session_id(1))
    copied = [{**one, "sessionId": session_id(2)} for one in first]
    write_log(logs / FOLDER / f"{session_id(1)}.jsonl", first)
    write_log(logs / FOLDER / f"{session_id(2)}.jsonl", [*copied, *turn(9, "more", "well", session=session_id(2))])
    import_logs(tmp_path / "a.db", logs)
    own = "SELECT own_chunks, inherited_messages FROM sessions WHERE id = ?"
    assert query(tmp_path / "a.db", own, session_id(2))[0][1] > 0
    done = run("forget", tmp_path / "a.db", session_id(1), "--yes")
    assert f"hold what they copied of them: {session_id(2)}" in done.output
    assert query(tmp_path / "a.db", own, session_id(2))[0][1] == 0
    assert verify(tmp_path / "a.db", plugins.build(entry_points=False)).total == 0


def test_while_another_program_has_the_file_open_nothing_is_forgotten(database):
    with closing(sqlite3.connect(database)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("SELECT count(*) FROM sessions").fetchone()
        done = run("forget", database, session_id(1), "--yes")
    assert done.exit_code == 1
    assert "stop it" in done.output
    assert query(database, "SELECT count(*) FROM sessions") == [(4,)]
