"""The command as a process: what it prints, to which stream, and its exit code."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from support.logs import entry, query, session_id, turn, write_log

SID = session_id()


def run(*words, home=None, check=None, **more):
    """One run of the command with a home of its own."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("CLM_", "XDG_", "CLAUDE_"))}
    if home is not None:
        env |= {"HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", "clm_sessions", *map(str, words)],
        capture_output=True,
        text=True,
        env=env,
        timeout=120,
        check=False,
        **more,
    )
    if check is not None:
        assert done.returncode == check, done.stderr
    return done


@pytest.fixture
def logs(tmp_path):
    calls = [
        entry("assistant", 21, [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls beds"}}]),
        entry("user", 22, [{"type": "tool_result", "tool_use_id": "t1", "content": "kale.csv\n\x1b[31mred\x1b[0m"}]),
    ]
    write_log(tmp_path / "logs" / "p" / f"{SID}.jsonl", [*turn(1, "Plan the beds", "Gladly."), *calls, b"broken"])
    return tmp_path / "logs"


def test_import_prints_a_summary_and_names_the_issues(logs, tmp_path):
    done = run("import", tmp_path / "a.db", logs, check=0)
    assert "1 new, 0 changed, 0 unchanged, 0 gone" in done.stdout
    assert "1 bad_line" in done.stdout
    assert done.stderr == ""


def test_import_json_is_one_object_of_the_documented_shape(logs, tmp_path):
    done = run("import", tmp_path / "a.db", logs, "--json", check=0)
    report = json.loads(done.stdout)
    assert set(report) == {"sources", "sessions", "left_out", "forgotten", "totals", "issues", "seconds"}
    assert report["sources"] == report["sessions"] == {"new": 1, "changed": 0, "unchanged": 0, "gone": 0}
    assert report["issues"] == {"bad_line": 1}
    assert report["totals"] == {
        "sessions": 1, "messages": 4, "tool_calls": 1, "chunks": 2,
        "tokens": {"input": 20, "output": 24, "cache_read": None, "cache_creation": None},
    }  # fmt: skip
    again = json.loads(run("import", tmp_path / "a.db", logs, "--json", check=0).stdout)
    assert again["sources"]["unchanged"] == again["sessions"]["unchanged"] == 1


def test_import_without_a_path_reads_the_default_folders_of_known_agents(logs, tmp_path):
    home = tmp_path / "home"
    write_log(home / ".claude" / "projects" / "p" / f"{SID}.jsonl", turn(1, "a", "b"))
    (home / ".local" / "state" / "clm").mkdir(parents=True)
    meta = {"type": "meta", "v": 1, "id": "20260302-090000-0a1b2c3d", "created": 1772442000}
    clm = [meta, {"type": "msg", "role": "user", "content": "hello"}]
    write_log(home / ".local" / "state" / "clm" / "20260302-090000-0a1b2c3d.jsonl", clm)
    run("import", tmp_path / "a.db", home=home, check=0)
    assert query(tmp_path / "a.db", "SELECT format FROM sessions ORDER BY format") == [("claude-code",), ("clm",)]


def test_import_with_nothing_to_read_says_where_it_looked(tmp_path):
    done = run("import", tmp_path / "a.db", home=tmp_path, check=1)
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert ".claude" in done.stderr


def test_a_folder_in_the_place_of_the_database_means_the_default_database(logs, tmp_path):
    run("import", logs, home=tmp_path / "home", check=0)
    assert query(
        tmp_path / "home" / ".local" / "share" / "clm-sessions" / "sessions.db", "SELECT id FROM sessions"
    ) == [(SID,)]
    log = next(logs.rglob("*.jsonl"))
    before = log.read_bytes()
    run("import", log, home=tmp_path / "home", check=0)
    assert log.read_bytes() == before


def test_a_file_that_is_no_log_is_an_error_of_one_line(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing\n")
    done = run("import", tmp_path / "a.db", tmp_path / "notes.txt", check=1)
    assert len(done.stderr.splitlines()) == 1
    assert "no format recognises it" in done.stderr
    assert "Traceback" in run("--debug", "import", tmp_path / "a.db", tmp_path / "notes.txt").stderr


def test_list_shows_sessions_newest_first(logs, tmp_path):
    other = session_id(2)
    later = entry("user", 3, "Later", session=other) | {"timestamp": "2026-03-05T09:00:00.000Z"}
    write_log(logs / "p" / f"{other}.jsonl", [later])
    run("import", tmp_path / "a.db", logs, check=0)
    lines = run("list", tmp_path / "a.db", check=0).stdout.splitlines()
    assert ["Later" in lines[0], "Plan the beds" in lines[1]] == [True, True]
    facts = [json.loads(line) for line in run("list", tmp_path / "a.db", "--json", check=0).stdout.splitlines()]
    assert [f["id"] for f in facts] == [other, SID]
    assert facts[1]["tokens"]["cache_read"] is None


def test_show_draws_the_same_chunks_from_a_database_and_from_a_log(logs, tmp_path):
    run("import", tmp_path / "a.db", logs, check=0)
    stored = run("show", SID[:30], tmp_path / "a.db", check=0).stdout
    assert stored == run("show", next(logs.rglob("*.jsonl")), check=0).stdout
    assert "Plan the beds" in stored
    assert "ls beds" in stored
    assert "\x1b" not in run("show", SID, tmp_path / "a.db", "--full", check=0).stdout
    assert "kale.csv" in run("show", SID, tmp_path / "a.db", "--full", check=0).stdout


def test_show_of_an_unknown_session_says_so(logs, tmp_path):
    run("import", tmp_path / "a.db", logs, check=0)
    done = run("show", "nowhere", tmp_path / "a.db", check=1)
    assert "no session" in done.stderr


def test_plugins_lists_formats_hooks_and_origins():
    listed = json.loads(run("plugins", "--json", check=0).stdout)
    assert {f["name"] for f in listed["formats"]} >= {"clm", "claude-code"}
    assert {p["name"]: p["failure"] for p in listed["plugins"] if p["origin"] == "built-in"} == {
        "clm": None, "claude-code": None, "codex": None, "tools": None,
    }  # fmt: skip


def test_check_log_reports_and_exits_1(tmp_path):
    good = write_log(tmp_path / "good.jsonl", [{"type": "meta", "v": 1, "id": "good", "created": 1}])
    bad = write_log(tmp_path / "bad.jsonl", [{"type": "meta", "v": 1, "id": "good"}, {"type": "msg", "role": "tool"}])
    assert run("check-log", good, check=0).stdout == ""
    lines = run("check-log", bad, check=1).stdout.splitlines()
    assert [line.split(":")[1] for line in lines] == ["1", "2"]


def test_an_interrupted_import_leaves_a_good_database_and_goes_on_later(tmp_path):
    for number in range(1, 40):
        sid = session_id(number)
        entries = [e for n in range(300) for e in turn(n, "word " * 60, "answer " * 60, session=sid)]
        write_log(tmp_path / "logs" / f"{sid}.jsonl", entries)
    db = tmp_path / "a.db"
    process = subprocess.Popen(
        [sys.executable, "-m", "clm_sessions", "import", db, tmp_path / "logs"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not db.exists() or db.stat().st_size < 10_000:
        time.sleep(0.01)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _out, errors = process.communicate(timeout=60)
    assert process.returncode in (0, 130, -signal.SIGINT), errors  # it may have ended before the signal came
    assert "Traceback" not in errors
    with sqlite3.connect(db) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    run("import", db, tmp_path / "logs", check=0)
    assert query(db, "SELECT count(*) FROM sessions") == [(39,)]


def test_two_imports_at_once_wait_for_each_other(logs, tmp_path):
    for number in range(2, 12):
        write_log(
            logs / "p" / f"{session_id(number)}.jsonl", [*turn(1, "x " * 5000, "y " * 5000, session=session_id(number))]
        )
    words = [sys.executable, "-m", "clm_sessions", "import", tmp_path / "a.db", logs]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    ended = [(p.communicate(timeout=120), p.returncode) for p in running]
    assert [code for _out, code in ended] == [0, 0, 0], ended
    assert query(tmp_path / "a.db", "SELECT count(*) FROM sessions") == [(11,)]


def test_without_datasette_serve_names_the_extra(tmp_path):
    block = "import sys; sys.modules['datasette'] = None\nfrom clm_sessions.cli import main\nsys.argv = ['clm-sessions', 'serve']\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", block],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    assert done.returncode == 1
    assert "pip install 'clm-sessions[datasette]'" in done.stderr


def test_the_base_install_needs_neither_datasette_nor_ipywidgets(logs, tmp_path):
    block = (
        "import sys\nfor name in ('datasette', 'ipywidgets', 'IPython', 'pandas', 'orjson', 'zstandard'):\n    sys.modules[name] = None\n"
        "from clm_sessions.cli import main\nsys.argv = ['clm-sessions', 'import', sys.argv[1], sys.argv[2]]\nmain()"
    )
    subprocess.run([sys.executable, "-c", block, tmp_path / "a.db", logs], check=True, capture_output=True)
    assert query(tmp_path / "a.db", "SELECT DISTINCT codec FROM raw_blocks") == [("zlib",)]


def test_the_commands_are_mounted_in_datasette_too(logs, tmp_path):
    words = [sys.executable, "-m", "datasette", "clm"]
    env = {**os.environ, "HOME": str(tmp_path)}

    def run_(*more):
        return subprocess.run([*words, *map(str, more)], capture_output=True, text=True, check=False, env=env)

    assert run_("import", tmp_path / "a.db", logs).returncode == 0
    assert "Plan the beds" in run_("list", tmp_path / "a.db").stdout
    failed = run_("show", "nowhere", tmp_path / "a.db")
    assert failed.returncode == 1
    assert failed.stderr.startswith("clm-sessions: no session")
    assert len(failed.stderr.splitlines()) == 1


@pytest.mark.parametrize("delay", [0.03, 0.06, 0.1, 0.15, 0.25])
def test_ctrl_c_while_a_command_starts_is_no_traceback(tmp_path, delay):
    process = subprocess.Popen(
        [sys.executable, "-m", "clm_sessions", "list", str(tmp_path / "none.db")], stderr=subprocess.PIPE, text=True
    )
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    errors = process.communicate(timeout=30)[1]
    assert "clm_sessions/cli" not in errors  # before that, Python itself is not up yet
