"""Leaving sessions out of an import: whole ones only, accounted for, and back when they are not left out."""

import json
import os
import sqlite3

import pytest

from clm_sessions import plugins
from clm_sessions.ingest import Choice
from clm_sessions.verify import verify
from support import rollouts
from support.logs import dump, entry, import_logs, query, session_id, turn, write_log
from support.terminals import piped

GARDEN, HARBOUR, ATTIC = session_id(1), session_id(2), session_id(3)
DAY = 86_400


@pytest.fixture
def logs(tmp_path):
    """Three sessions in two folders, one with a subagent and its meta file, and a file that is no log."""
    top = tmp_path / "logs"
    write_log(top / "-home-dev-garden" / f"{GARDEN}.jsonl", turn(1, "Beds", "Yes"))
    agent = [
        entry("user", 1, "Dig", session=GARDEN, isSidechain=True, agentId="aa"),
        entry("assistant", 2, "Dug", session=GARDEN, isSidechain=True, agentId="aa"),
    ]
    below = top / "-home-dev-garden" / GARDEN / "subagents"
    write_log(below / "agent-aa.jsonl", agent)
    (below / "agent-aa.meta.json").write_text('{"agentType": "digger"}')
    write_log(
        top / "-home-dev-harbour" / f"{HARBOUR}.jsonl",
        turn(1, "Tides", "Yes", session=HARBOUR, cwd="/home/dev/harbour"),
    )
    write_log(top / "attic" / f"{ATTIC}.jsonl", turn(1, "Dust", "No", session=ATTIC, cwd="/home/dev/Café Ölbaum"))
    (top / "attic" / "broken.jsonl").write_text("no log\n")
    for number, path in enumerate([below / "agent-aa.jsonl", *top.glob("*/*.jsonl")]):
        os.utime(path, (1_700_000_000 + number, 1_700_000_000))
    return top


def sessions(database):
    return {row[0] for row in query(database, "SELECT id FROM sessions WHERE role = 'main'")}


@pytest.mark.parametrize(
    ("choice", "taken", "left"),
    [
        (Choice(), {GARDEN, HARBOUR, ATTIC}, (0, 0)),
        (Choice(exclude=("attic",)), {GARDEN, HARBOUR}, (1, 2)),
        (Choice(exclude=("*-garden",)), {HARBOUR, ATTIC}, (1, 3)),
        (Choice(exclude=(f"*/{HARBOUR}.jsonl", "attic/")), {GARDEN}, (2, 3)),
        (Choice(exclude=("subagents", "agent-*")), {GARDEN, HARBOUR, ATTIC}, (0, 0)),
        (Choice(exclude=("-HOME*",)), {GARDEN, HARBOUR, ATTIC}, (0, 0)),
        (Choice(projects=("garden",)), {GARDEN}, (2, 3)),
        (Choice(projects=("GARDEN", "/home/dev/harbour")), {GARDEN, HARBOUR}, (1, 2)),
        (Choice(projects=("café ölbaum",)), {ATTIC}, (2, 5)),
        (Choice(projects=("/HOME/dev/h*",)), {HARBOUR}, (2, 5)),
        (Choice(projects=("nothing",)), set(), (3, 6)),
        (Choice(since=1_700_000_001_000), set(), (3, 6)),
        (Choice(since=1_700_000_000_000), {GARDEN, HARBOUR, ATTIC}, (0, 0)),
    ],
)  # fmt: skip
def test_a_choice_takes_whole_sessions(logs, tmp_path, choice, taken, left):
    report = import_logs(tmp_path / "a.db", logs, choice=choice)
    assert sessions(tmp_path / "a.db") == taken
    assert (report.left_out, report.json()["left_out"]) == (left, {"sessions": left[0], "sources": left[1]})
    agents = query(tmp_path / "a.db", "SELECT agent_type FROM sessions WHERE role = 'subagent'")
    assert agents == ([("digger",)] if GARDEN in taken else [])


@pytest.mark.parametrize(
    "choice", [Choice(exclude=("*garden*",)), Choice(projects=("harbour",)), Choice(since=9_000_000_000_000)]
)
def test_a_later_import_brings_what_was_left_out_and_the_result_is_the_same(logs, tmp_path, choice):
    import_logs(tmp_path / "plain.db", logs)
    import_logs(tmp_path / "a.db", logs, choice=choice)
    assert import_logs(tmp_path / "a.db", logs).left_out == (0, 0)
    assert dump(tmp_path / "a.db") == dump(tmp_path / "plain.db")


def test_what_is_left_out_stays_as_it_is_and_is_not_gone(logs, tmp_path):
    import_logs(tmp_path / "a.db", logs)
    before = dump(tmp_path / "a.db")
    log = next(logs.rglob(f"{GARDEN}.jsonl"))
    with log.open("a") as file:
        file.write(json.dumps(entry("user", 50, "More")) + "\n")
    report = import_logs(tmp_path / "a.db", logs, choice=Choice(exclude=("*",)))
    assert dump(tmp_path / "a.db") == before
    assert (report.sources["gone"], report.sessions["unchanged"], report.left_out) == (0, 0, (3, 6))
    assert import_logs(tmp_path / "a.db", logs).sessions["changed"] == 1


def test_one_log_that_was_written_to_lately_brings_its_session_whole(logs, tmp_path):
    os.utime(next(logs.rglob("agent-aa.jsonl")), (1_800_000_000, 1_800_000_000))
    import_logs(tmp_path / "a.db", logs, choice=Choice(since=1_750_000_000_000))
    assert sessions(tmp_path / "a.db") == {GARDEN}


def test_importing_again_makes_anew_what_a_choice_leaves_out(logs, tmp_path):
    import_logs(tmp_path / "a.db", logs)
    before = dump(tmp_path / "a.db")
    with sqlite3.connect(tmp_path / "a.db") as db:
        db.execute("UPDATE messages SET text = 'spoilt'")
        db.execute("UPDATE sources SET size = 1")
    import_logs(tmp_path / "a.db", logs, choice=Choice(exclude=("*",)), again=True)
    assert dump(tmp_path / "a.db") == before


def test_a_fork_whose_original_was_left_out_gives_its_copies_back_when_that_comes(tmp_path):
    first = turn(1, "Plan", "Planned")
    write_log(tmp_path / "logs" / "a" / f"{GARDEN}.jsonl", first)
    write_log(
        tmp_path / "logs" / "b" / f"{HARBOUR}.jsonl",
        [*({**e, "sessionId": HARBOUR} for e in first), *turn(9, "On", "Yes", session=HARBOUR)],
    )
    import_logs(tmp_path / "plain.db", tmp_path / "logs")
    import_logs(tmp_path / "a.db", tmp_path / "logs", choice=Choice(exclude=("a",)))
    assert query(tmp_path / "a.db", "SELECT sum(own_output_tokens) FROM sessions") == query(
        tmp_path / "plain.db", "SELECT sum(own_output_tokens) FROM sessions"
    )
    import_logs(tmp_path / "a.db", tmp_path / "logs")
    assert dump(tmp_path / "a.db") == dump(tmp_path / "plain.db")


def test_the_command_says_what_it_left_out_and_takes_dates_and_folders(logs, tmp_path, monkeypatch):
    done = piped("import", tmp_path / "a.db", logs, "--exclude", "attic", "--exclude", "*-garden")
    assert "left out  2 sessions (5 files)" in done.output
    assert sessions(tmp_path / "a.db") == {HARBOUR}
    assert "left out" not in piped("import", tmp_path / "a.db", logs).output
    report = json.loads(piped("import", tmp_path / "b.db", logs, "--since", "1d", "--json").output)
    assert report["left_out"] == {"sessions": 3, "sources": 6}
    whole = piped(
        "import", tmp_path / "c.db", logs, "--exclude", str(logs / "attic"), "--project", "/home/dev/../dev/harbour"
    )
    assert whole.exit_code == 0
    assert piped("import", tmp_path / "d.db", logs, "--since", "soon").output.startswith("clm-sessions: --since 'soon'")
    one = next(logs.rglob(f"{ATTIC}.jsonl"))
    assert piped("import", tmp_path / "e.db", one, "--exclude", "*").exit_code == 0


def test_a_file_that_names_many_sessions_is_left_out_by_its_own_name_and_time(tmp_path):
    home = tmp_path / ".codex"
    rollouts.write(home, 1, [rollouts.meta(1), *rollouts.turn(1, "ask", "ok", rollouts.usage(1, 0, 1))])
    write_log(home / "session_index.jsonl", [{"id": rollouts.thread_id(1), "thread_name": "Beds"}])
    import_logs(tmp_path / "plain.db", home)
    for number, (choice, title) in enumerate(
        [(Choice(exclude=("session_index.jsonl",)), "ask"), (Choice(exclude=("x",)), "Beds")]
    ):
        database = tmp_path / f"{number}.db"
        import_logs(database, home, choice=choice)
        assert query(database, "SELECT title FROM sessions") == [(title,)]
        import_logs(database, home)
        assert dump(database) == dump(tmp_path / "plain.db")
        assert verify(database, plugins.build(entry_points=False)).findings == []
    cwd = query(tmp_path / "plain.db", "SELECT project_name FROM sessions")[0][0]
    import_logs(tmp_path / "p.db", home, choice=Choice(projects=(cwd,)))
    assert query(tmp_path / "p.db", "SELECT title FROM sessions") == [("Beds",)]
