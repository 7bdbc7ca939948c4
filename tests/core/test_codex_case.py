"""The sentences of codex-two-voices that are no number of its expect.json. tests/CASES.md says which test holds which."""

import pytest

import clm_sessions
from support import cases
from support.logs import import_logs, query

SESSION = "01980000-0000-7000-8000-000000000001"


@pytest.fixture
def db(tmp_path):
    """The database of the case."""
    import_logs(tmp_path / "case.db", cases.HERE / "codex-two-voices" / "input")
    return tmp_path / "case.db"


def said(db, where):
    """Texts of the messages that a condition picks, in order."""
    return [row[0] for row in query(db, f"SELECT coalesce(display, text) FROM messages WHERE {where} ORDER BY seq")]


def test_what_is_said_twice_is_told_once_and_equal_answers_of_two_turns_both_stay(db):
    assert said(db, "origin = 'prompt'") == ["Sort the seeds.", "Same again: Sorted."]
    assert said(db, "origin = 'reply' AND text IS NOT NULL") == ["Sorted.", "Sorted."]
    assert query(db, "SELECT thinking FROM messages WHERE thinking IS NOT NULL") == [("**Look first**",)]
    calls = query(db, "SELECT name, status, result FROM tool_calls ORDER BY seq")
    assert calls == [("exec_command", "ok", "Exit code: 0\nOutput:\npea\nbean\n"), ("apply_patch", "ok", "ok")]
    spoken = ("user_message", "agent_message", "agent_reasoning")
    repeats = query(db, "SELECT type, disposition FROM record_types WHERE type LIKE 'event_msg/%' ORDER BY type")
    assert {kind.removeprefix("event_msg/"): how for kind, how in repeats if kind[10:] in spoken} == dict.fromkeys(
        spoken, "duplicate"
    )


def test_text_of_the_program_is_context_and_the_aborted_turn_is_interrupted(db):
    hidden = query(db, "SELECT role, origin FROM messages WHERE kind = 'hard_noise' AND text IS NOT NULL ORDER BY seq")
    assert hidden == [("developer", "system"), ("user", "context"), ("user", "context")]
    assert query(db, "SELECT kind, status FROM chunks ORDER BY seq") == [
        ("user", None),
        ("ai", "complete"),
        ("user", None),
        ("ai", "interrupted"),
    ]
    assert query(db, "SELECT status, interruptions FROM sessions") == [("interrupted", 1)]


def test_each_count_of_tokens_is_a_reply_once_and_null_is_no_error(db):
    sql = "SELECT input_tokens, cache_read_tokens, output_tokens, reasoning_tokens FROM requests ORDER BY seq"
    assert query(db, sql) == [(400, 500, 100, 20), (200, 900, 60, 10), (None, None, None, None)]
    assert query(db, "SELECT count(*) FROM ingest_issues") == [(0,)]
    assert query(db, "SELECT own_input_tokens + own_cache_read_tokens, own_output_tokens FROM sessions") == [
        (2000, 160)
    ]


def test_model_id_project_and_exit_code_are_known(db):
    with clm_sessions.open_db(db) as opened:
        session = opened.session(SESSION)
        info = session.info
        assert (info.models, info.project, info.git_branch) == (("gpt-test-1",), "/home/dev/code/garden", "main")
        assert (info.version, info.provider, info.agent) == ("0.140.0", "openai", "codex_cli_rs")
        assert [call.detail for call in session.tool_calls] == [{"exit_code": 0}, {"exit_code": 0}]
