"""``clm-sessions publish``: what is chosen, what is said, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from clm_sessions import plugins
from clm_sessions.cli import cli
from clm_sessions.publish.rules import Rules
from support.logs import import_logs, query, session_id, turn, write_log

ROOT = Path(__file__).parents[2]
TOKEN = "ghp_" + "Zq7" * 12
PASSWORD = "t0p-Sh3lf!"


@pytest.fixture
def private(tmp_path):
    logs = tmp_path / "logs"
    for number, (folder, prompt) in enumerate((("garden", f"use {TOKEN}"), ("pond", f"DB_PASSWORD={PASSWORD}"))):
        sid, cwd = session_id(number), f"/home/ada/{folder}"
        write_log(
            logs / f"-home-ada-{folder}" / f"{sid}.jsonl",
            turn(1, prompt, "mail ada@lovelace.org", session=sid, cwd=cwd),
        )
    import_logs(tmp_path / "a.db", logs)
    return tmp_path / "a.db"


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words], obj={"registry": plugins.build(entry_points=False)})


def published(private, *words):
    """The keys of the sessions that these words choose."""
    out = private.with_name("out.db")
    out.unlink(missing_ok=True)
    done = run("publish", private, out, *words)
    assert done.exit_code == 0, done.output
    return [row[0] for row in query(out, "SELECT id FROM sessions ORDER BY id")]


def test_sessions_are_chosen_by_what_they_are(private):
    both = [session_id(0), session_id(1)]
    assert published(private, "--all") == both
    assert published(private, "--project", "garden") == both[:1]
    assert published(private, "--session", both[1]) == both[1:]
    assert published(private, "--where", "project_name = 'pond' -- the other one") == both[1:]
    assert published(private, "--day", "2026-03-02", "--utc", "--where", "title LIKE '%use%'") == both[:1]


def test_publishing_everything_must_be_said(private):
    done = run("publish", private, private.with_name("out.db"))
    assert done.exit_code == 1
    assert "--all" in done.output
    assert not private.with_name("out.db").exists()


@pytest.mark.parametrize(
    "where",
    ["1); DELETE FROM sessions; --", "nonsense(", "id = load_extension('x')", "id IN (SELECT value FROM pragma_x)", "1; SELECT 1"],
)  # fmt: skip
def test_a_filter_can_only_ask(private, where):
    done = run("publish", private, private.with_name("out.db"), "--where", where)
    assert done.exit_code == 1
    assert "--where" in done.output
    assert done.output.count("\n") == 1
    assert query(private, "SELECT count(*) FROM sessions") == [(2,)]


def test_a_dry_run_says_what_would_be_published_and_shows_no_secret(private):
    done = run("publish", private, "--all", "--dry-run")
    assert done.exit_code == 0
    assert "github-token" in done.output
    assert "withheld" not in done.output
    for secret in (TOKEN, PASSWORD, "lovelace"):
        assert secret not in done.output
    assert sorted(path.name for path in private.parent.iterdir()) == ["a.db", "logs"]


def test_the_report_is_json_for_programs_and_lies_beside_the_file_for_people(private):
    out = private.with_name("out.db")
    done = run("publish", private, out, "--all", "--json", "--report")
    told = json.loads(done.stdout)
    assert told["redacted"]["github-token"]["values"] == 1
    assert told["bytes"] == out.stat().st_size
    assert told["left_out"] == ["images"]
    assert "| github-token |" in private.with_name("out.db.report.md").read_text()


def test_the_settings_for_datasette_close_what_it_leaves_open(private):
    done = run("publish", private, private.with_name("out.db"), "--all", "--with-datasette-config")
    for setting in ("allow_download off", "default_allow_sql off", "suggest_facets off"):
        assert f"--setting {setting}" in done.stderr
    told = json.loads(private.with_name("out.metadata.json").read_text())
    assert told["databases"]["out"]["allow_sql"] is False


def test_a_rules_file_keeps_and_hides_without_holding_what_it_is_about(private):
    salt = b"0123456789abcdef"
    blank = Rules(salt=salt)
    rules = Rules(salt=salt, keep={blank.digest("ada@lovelace.org")}, hide={blank.digest(PASSWORD)})
    path = private.with_name("rules.json")
    path.write_text(rules.text())
    assert PASSWORD not in rules.text()
    published(private, "--all", "--rules", path)
    held = private.with_name("out.db").read_bytes()
    assert b"ada@lovelace.org" in held
    assert PASSWORD.encode() not in held
    path.write_text("{}")
    done = run("publish", private, private.with_name("more.db"), "--all", "--rules", path)
    assert done.exit_code == 1
    assert "no rules file" in done.output


def test_what_a_person_wants_hidden_or_shown_is(private, tmp_path):
    (tmp_path / "words").write_text("mail\n\n")
    published(
        private, "--all", "--hide", "garden", "--hide-file", tmp_path / "words", "--keep-personal", "emails,users"
    )
    held = private.with_name("out.db").read_bytes()
    assert b"ada@lovelace.org" in held
    assert b"/home/ada/" in held
    assert b"garden" not in held
    for wrong in (("--keep-personal", "names"), ("--leave-out", "prompts")):
        assert run("publish", private, tmp_path / "x.db", "--all", *wrong).exit_code == 1


def test_a_file_of_words_is_read_as_it_was_meant_or_not_at_all(private, tmp_path):
    (tmp_path / "words").write_bytes("\ufeffgarden\r\nmail\r\n".encode())
    published(private, "--all", "--hide-file", tmp_path / "words")
    assert b"garden" not in private.with_name("out.db").read_bytes()
    (tmp_path / "words").write_bytes("Jörg\n".encode("latin-1"))
    done = run("publish", private, tmp_path / "x.db", "--all", "--hide-file", tmp_path / "words")
    assert done.exit_code == 1
    assert "not UTF-8; save the words as UTF-8" in done.output


@pytest.mark.parametrize(
    ("command", "told"), [("publish", signal.SIGTERM), ("site", signal.SIGHUP)], ids=["publish", "site"]
)
def test_a_command_that_is_told_to_end_takes_away_what_it_has_begun(command, told, private, tmp_path):
    published(private, "--all")
    source = private if command == "publish" else private.with_name("out.db")
    there = sorted(path.name for path in tmp_path.iterdir())
    words = ["publish", str(source), "x.db", "--all"] if command == "publish" else ["site", str(source), "x"]
    # it is told when it opens the first file of what it makes
    script = f"""
import os, signal, sys
from clm_sessions.cli import cli
def tell(event, arguments, done=[]):
    if event == "open" and ".part" in str(arguments[0]) or event == "sqlite3.connect" and ".part" in str(arguments[0]):
        if not done: done.append(1); os.kill(os.getpid(), {int(told)})
sys.addaudithook(tell)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal({int(told)}, signal.SIG_DFL)  # whoever runs the tests may ignore it
cli({words!r})
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode != 0, done.stdout
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == there


def test_parts_are_left_out_whole(private):
    published(private, "--all", "--leave-out", "thinking,outputs,subagents,system")
    with closing(sqlite3.connect(private.with_name("out.db"))) as db:
        told = json.loads(db.execute("SELECT value FROM _clm_meta WHERE key = 'published'").fetchone()[0])
    assert told["left_out"] == ["images", "outputs", "subagents", "system", "thinking"]


def test_a_published_copy_cannot_be_verified_and_that_is_said_in_one_line(private):
    published(private, "--all")
    done = run("verify", private.with_name("out.db"))
    assert done.exit_code == 1
    assert "verify the private database" in done.output
