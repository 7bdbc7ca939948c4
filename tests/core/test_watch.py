"""What is written while a watch runs gets into the database, whatever happens to files, folders and the database."""

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from clm_sessions import plugins
from clm_sessions.store.connect import open_writer
from clm_sessions.verify import verify
from support.logs import dump, entry, import_logs, query, session_id, turn, write_log
from support.watching import Watching, command, until

SID, OTHER = session_id(1), session_id(2)
MESSAGES = "SELECT count(*) FROM messages"
STATES = "SELECT id, state FROM sources ORDER BY id"


@pytest.fixture
def log(tmp_path):
    return write_log(tmp_path / "logs" / "p" / f"{SID}.jsonl", turn(1, "plan the beds", "gladly"))


def append(path, number, end="\n"):
    line = json.dumps(entry("user", number, f"more {number}", session=path.stem)).encode()
    with path.open("ab") as file:
        file.write(line + end.encode())
    return len(line) + len(end)


def is_as_if_imported_once(database, folder):
    fresh = database.with_name("fresh.db")
    import_logs(fresh, folder)
    assert dump(database, sources=False) == dump(fresh, sources=False)
    assert verify(database, plugins.build(entry_points=False), full=True).findings == []


def test_lines_files_and_folders_get_in_as_they_are_written_and_only_they_are_read(tmp_path, log):
    logs = tmp_path / "logs"
    database = logs / "a.db"  # its own writing must not wake it
    with Watching(database, logs) as watching:
        watching.said("watching 1 files in 2 folders")
        first = len(watching.reports)
        size = append(log, 10)
        watching.has(MESSAGES, (3,))
        assert [r.bytes for r in watching.reports[first:]] == [size]
        with log.open("a") as file:
            file.write(json.dumps(entry("user", 11, "half a line", session=SID))[:60])
        with log.open("a") as file:
            file.write(json.dumps(entry("user", 11, "half a line", session=SID))[60:] + "\n")
        watching.has(MESSAGES, (4,))
        write_log(logs / "new" / "deep" / f"{OTHER}.jsonl", turn(1, "another garden", "yes", session=OTHER))
        watching.has(MESSAGES, (6,))
        append(logs / "new" / "deep" / f"{OTHER}.jsonl", 12)
        watching.has(MESSAGES, (7,))
        agent = log.with_suffix("") / "subagents" / "agent-a1.jsonl"
        write_log(agent, [e | {"isSidechain": True, "agentId": "a1"} for e in turn(30, "count", "three")])
        watching.has(MESSAGES, (9,))
        agent.with_suffix(".meta.json").write_text(json.dumps({"agentType": "counter"}))
        watching.has("SELECT agent_type FROM sessions WHERE role = 'subagent' OR role = 'orphan'", ("counter",))
    assert watching.tally.sessions["new"] == 2
    assert not watching.tally.interrupted
    database = database.rename(tmp_path / "a.db")
    is_as_if_imported_once(database, logs)


def test_moved_rotated_rewritten_and_deleted_logs_are_told_apart(tmp_path, log):
    with Watching(tmp_path / "a.db", tmp_path / "logs") as watching:
        watching.said("watching")
        moved = log.parent.parent / "moved" / log.name
        moved.parent.mkdir()
        log.rename(moved)
        watching.has("SELECT state, folder FROM sources", ("present", "moved"))
        moved.rename(moved.with_suffix(".1"))
        write_log(moved, turn(1, "rotated: all is new", "yes"))
        watching.has("SELECT count(*) FROM messages WHERE text LIKE 'rotated%'", (1,))
        append(moved, 20)
        watching.has(MESSAGES, (3,))
        shutil.rmtree(moved.parent)
        watching.has(STATES, (SID, "gone"))
    assert query(tmp_path / "a.db", MESSAGES) == [(3,)]
    assert query(tmp_path / "a.db", "SELECT DISTINCT generation FROM raw_blocks ORDER BY 1") == [(0,), (1,)]
    assert verify(tmp_path / "a.db", plugins.build(entry_points=False)).findings == []


def test_folders_may_come_later_vanish_and_come_back(tmp_path, log):
    late = tmp_path / "late" / "logs"
    with Watching(tmp_path / "a.db", tmp_path / "logs", late) as watching:
        watching.said("watching 1 files")
        write_log(late / f"{OTHER}.jsonl", turn(1, "late", "yes", session=OTHER))
        watching.has(MESSAGES, (4,))
        watching.said(f"{late}: there now")
        (tmp_path / "late").rename(tmp_path / "away")
        watching.said(f"{late}: gone")
        append(log, 10)
        watching.has(MESSAGES, (5,))
        append(tmp_path / "away" / "logs" / f"{OTHER}.jsonl", 11)
        (tmp_path / "away").rename(tmp_path / "late")
        watching.has(MESSAGES, (6,))
        append(late / f"{OTHER}.jsonl", 12)
        watching.has(MESSAGES, (7,))


def test_a_log_by_itself_is_watched_with_the_files_of_its_session(tmp_path, log):
    with Watching(tmp_path / "a.db", log) as watching:
        watching.said("watching")
        append(log, 10)
        watching.has(MESSAGES, (3,))
        agent = log.with_suffix("") / "subagents" / "agent-a1.jsonl"
        write_log(agent, [e | {"isSidechain": True, "agentId": "a1"} for e in turn(30, "count", "three")])
        watching.has(MESSAGES, (5,))
        write_log(log.with_name(f"{OTHER}.jsonl"), turn(1, "not asked for", "no", session=OTHER))
        append(log, 11)
        watching.has(MESSAGES, (6,))


def test_no_link_is_followed_and_names_that_are_no_text_disturb_nobody(tmp_path, log):
    outside = write_log(tmp_path / "outside" / f"{OTHER}.jsonl", turn(1, "outside", "yes", session=OTHER))
    (tmp_path / "logs" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "logs" / "loop").symlink_to(tmp_path / "logs")
    odd = os.fsencode(tmp_path / "logs") + b"/\xff"
    Path(os.fsdecode(odd)).mkdir()
    with Watching(tmp_path / "a.db", tmp_path / "logs") as watching:
        watching.said("watching 1 files in 2 folders")
        watching.said("name that folder to import it")
        append(outside, 10)
        shutil.copy(log, odd + b"/\xfe.jsonl")
        shutil.copy(log, os.fsencode(tmp_path / "logs") + b"/\xfd.jsonl")
        append(log, 11)
        watching.has(f"{MESSAGES} WHERE session_id = '{SID}'", (3,))
        append(log, 12)
        watching.has(f"{MESSAGES} WHERE session_id = '{SID}'", (4,))
    assert not query(tmp_path / "a.db", f"SELECT 1 FROM sessions WHERE id = '{OTHER}'")


def test_it_waits_for_another_writer_says_so_and_goes_on(tmp_path, log):
    with Watching(tmp_path / "a.db", tmp_path / "logs") as watching:
        watching.said("watching")
        with closing(open_writer(tmp_path / "a.db")) as other:
            other.execute("BEGIN IMMEDIATE")
            append(log, 10)
            watching.said("waiting for another program")
            append(log, 11)
            other.execute("ROLLBACK")
        watching.has(MESSAGES, (4,))
    assert not watching.tally.interrupted


def test_a_database_that_is_replaced_by_something_else_is_told_once_and_made_again_when_it_can_be(tmp_path, log):
    database = tmp_path / "a.db"
    with Watching(database, tmp_path / "logs") as watching:
        watching.said("watching")
        for end in ("", "-wal", "-shm"):
            database.with_name(f"a.db{end}").unlink(missing_ok=True)
        database.write_text("this is no database at all, " * 400)
        append(log, 10)
        watching.said("trying again until it works")
        database.unlink()
        watching.has(MESSAGES, (3,))
        append(log, 11)
        watching.has(MESSAGES, (4,))
    assert sum("trying again" in line for line in watching.lines) == 1


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_it_says_how_far_it_got(tmp_path, log, sign):
    database, said = tmp_path / "a.db", tmp_path / "said"
    with command(said, "watch", database, tmp_path / "logs") as process:
        until(lambda: "watching 1 files" in said.read_text(), said)
        append(log, 10)
        until(lambda: "1 changed" in said.read_text())
        process.send_signal(sign)
        assert process.wait(30) == 0
    assert said.read_text().splitlines()[-1] == (
        f"{database}: ended; imports since the first: 1, sessions: 0 new, 1 changed, 0 gone"
    )
    assert not database.with_name("a.db-wal").exists()
    assert verify(database, plugins.build(entry_points=False)).findings == []


def test_a_signal_in_the_midst_of_an_import_leaves_what_was_committed(tmp_path, log):
    database, said = tmp_path / "a.db", tmp_path / "said"
    with command(said, "watch", database, tmp_path / "logs") as process:
        until(lambda: "watching" in said.read_text(), said)
        many = [e for n in range(400) for e in turn(n, "word " * 60, "answer " * 60, session=OTHER)]
        write_log(tmp_path / "new.jsonl", many * 8)
        (tmp_path / "new.jsonl").rename(log.with_name(f"{OTHER}.jsonl"))
        wal = database.with_name("a.db-wal")
        until(lambda: wal.exists() and wal.stat().st_size > 500_000)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in {0, 130}  # it may have been done already
    assert "Traceback" not in said.read_text()
    assert verify(database, plugins.build(entry_points=False)).findings == []
    import_logs(database, tmp_path / "logs")
    is_as_if_imported_once(database, tmp_path / "logs")


LIMITS = {"max_inotify_watches": "1", "max_inotify_instances": "0"}


@pytest.mark.parametrize("limit", LIMITS)
def test_where_the_system_watches_no_more_it_says_so_and_looks_by_itself(tmp_path, log, limit):
    shell = f'echo {LIMITS[limit]} > /proc/sys/user/{limit} && exec "$@"'
    before = ("unshare", "--user", "--map-root-user", "sh", "-c", shell, "sh")
    if not shutil.which("unshare") or subprocess.run([*before, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no user namespaces here")
    database, said = tmp_path / "a.db", tmp_path / "said"
    with command(said, "watch", database, tmp_path / "logs", before=before) as process:
        until(lambda: "looking at 1 files again and again" in said.read_text(), said)
        assert f"sysctl fs.inotify.{limit.replace('inotify', 'user')}" in said.read_text()
        append(log, 10)
        until(lambda: query(database, MESSAGES) == [(3,)])
        write_log(tmp_path / "logs" / "q" / f"{OTHER}.jsonl", turn(1, "a new one", "yes", session=OTHER))
        until(lambda: query(database, MESSAGES) == [(5,)])
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in {0, 130}  # rows are there before an import has ended


def test_without_watchfiles_it_names_the_extra(tmp_path, log):
    block = "import sys; sys.modules['watchfiles'] = None\nfrom clm_sessions.cli import main\nmain()"
    for words in (["watch", tmp_path / "a.db", log.parent], ["serve", tmp_path / "a.db", log.parent, "--watch"]):
        done = subprocess.run(
            [sys.executable, "-c", block, *map(str, words)], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "clm-sessions: watching needs watchfiles: pip install 'clm-sessions[watch]'\n"
    assert not (tmp_path / "a.db").exists()
