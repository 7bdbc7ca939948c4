"""Faults and oddities of real logs, each by itself, all the way into the database."""

import pytest

from clm_sessions import plugins
from clm_sessions.verify import verify
from support.logs import entry, import_logs, query, session_id, text, turn, write_log

A, B = session_id(1), session_id(2)


def imported(tmp_path, logs):
    """A database of logs by session id (or by folder and session id), found sound."""
    for place, log in logs.items():
        write_log(tmp_path / "projects" / (place if "/" in place else f"-p/{place}.jsonl"), log)
    db = tmp_path / "x.db"
    import_logs(db, tmp_path / "projects")
    assert verify(db, plugins.build(entry_points=False)).findings == []
    return db


def without(entries, *keys):
    return [{k: v for k, v in e.items() if k not in keys} for e in entries]


def later(entries, hour):
    return [e | {"timestamp": e["timestamp"].replace("T09", f"T{hour}")} for e in entries]


def test_a_file_of_several_session_ids_is_one_session_and_says_which(tmp_path):
    db = imported(tmp_path, {B: [*turn(1, "a", "b"), *turn(3, "c", "d", session=B), *turn(5, "e", "f", session="x")]})
    rows = "SELECT id, messages, inherited_messages, forked_from, own_output_tokens FROM sessions"
    assert query(db, rows) == [(B, 6, 0, None, 3 + 7 + 11)]
    assert query(db, "SELECT value FROM facts WHERE name = 'session_id'") == [(f'"{A}"',), (f'"{B}"',), ('"x"',)]
    write_log(tmp_path / "projects" / "-p" / f"{A}.jsonl", [*turn(1, "a", "b"), *later(turn(7, "on", "g"), 23)])
    import_logs(db, tmp_path / "projects")
    assert query(db, rows + " ORDER BY id") == [(A, 4, 0, None, 3 + 15), (B, 6, 2, A, 7 + 11)]


def test_a_summary_names_only_the_session_its_last_message_stands_in(tmp_path):
    def summary(words, log):
        return {"type": "summary", "summary": words, "leafUuid": log[-1]["uuid"]}

    one, two = turn(1, "first prompt", "b"), turn(3, "second prompt", "d", session=B)
    logs = {A: [summary("Of two", two), *one], B: [summary("Of one", one), summary("Of two", two), *two]}
    db = imported(tmp_path, logs)
    assert query(db, "SELECT id, title FROM sessions ORDER BY id") == [(A, "first prompt"), (B, "Of two")]


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("C:\\Work\\my-app", "my-app"),
        ("c:/Work/my app/", "my app"),
        ("\\\\server\\share\\leeks", "leeks"),
        ("C:\\", "C:"),
        ("/", "/"),
        ("/home/dev/garten süd", "garten süd"),
    ],
)
def test_a_project_is_the_working_directory_on_any_platform(tmp_path, cwd, name):
    other = turn(3, "c", "d", session=B, cwd="/home/dev/my/app")
    db = imported(tmp_path, {A: [*turn(1, "a", "b", cwd=cwd), *turn(5, "x", "y", cwd="/elsewhere")], B: other})
    rows = "SELECT p.path, p.name, s.project_name FROM sessions s JOIN projects p ON p.id = s.project_id ORDER BY s.id"
    assert query(db, rows) == [(cwd, name, name), ("/home/dev/my/app", "app", "app")]


def test_times_that_are_missing_unreadable_or_run_backwards_are_neither_made_up_nor_sorted_by(tmp_path):
    odd = [*turn(1, "a", "b"), *turn(3, "c", "d"), *turn(5, "e", "f")]
    for number, at in ((0, None), (1, "soon"), (2, "2026-03-02T09:00:50Z"), (3, "2026-03-02T09:00:20.000Z"), (5, [])):
        odd[number]["timestamp"] = at
    db = imported(tmp_path, {A: odd, B: without(turn(7, "g", "h", session=B), "timestamp")})
    assert query(db, "SELECT at FROM messages WHERE session_id = ? ORDER BY seq", A) == [
        (None,), (None,), ("2026-03-02T09:00:50.000Z",), ("2026-03-02T09:00:20.000Z",), ("2026-03-02T09:00:10.000Z",), (None,)
    ]  # fmt: skip
    facts = "SELECT started_at, ended_at, duration_ms, day FROM sessions ORDER BY id"
    first, last = "2026-03-02T09:00:50.000Z", "2026-03-02T09:00:50.000Z"
    assert query(db, facts) == [(first, last, 0, "2026-03-02"), (None, None, None, None)]
    assert [t for (t,) in query(db, "SELECT preview FROM chunks WHERE session_id = ? ORDER BY seq", A)] == list(
        "abcdef"
    )
    assert query(db, "SELECT started_at, duration_ms FROM chunks WHERE session_id = ?", B) == [(None, None)] * 2


def test_entries_without_ids_are_kept_and_counted_each_once(tmp_path):
    use = [
        {"type": "tool_use", "name": "Bash", "input": {}},
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}},
    ]
    log = [
        *without(turn(1, "no session", "b"), "sessionId", "parentUuid", "cwd", "version"),
        *without(turn(3, "no uuid", "c"), "uuid"),
        entry("assistant", 9, use),
        entry("user", 10, [{"type": "tool_result", "content": "whose?"}, {"type": "tool_result", "tool_use_id": "t9"}]),
    ]
    replies = [
        entry("assistant", n, text(f"say {n}"), **more) for n, more in ((11, {}), (12, {"requestId": "r1"}), (13, {}))
    ]
    for reply in replies:
        del reply["message"]["id"]
    db = imported(tmp_path, {A: [*log, *replies, {**replies[1], "uuid": "again"}]})
    lines = dict(query(db, "SELECT disposition, lines FROM source_lines"))
    assert lines == {"message": 8, "raw": 2}
    assert query(db, "SELECT reply_id, output_tokens FROM requests ORDER BY seq") == [
        ("msg_0001_3", 3), ("msg_0001_9", 9), (None, 11), ("r1", 12), (None, 13)
    ]  # fmt: skip
    assert query(db, "SELECT tool_use_id, status FROM tool_calls") == [("t1", "unanswered")]
    assert query(db, "SELECT own_output_tokens FROM sessions") == [(3 + 9 + 11 + 12 + 13,)]


def test_prompts_that_were_taken_back_stay_in_file_order_and_are_marked(tmp_path):
    def said(number, parent, words, kind="user"):
        return entry(kind, number, words if kind == "user" else text(words), parentUuid=parent and f"0001-{parent}")

    log = [
        said(1, None, "begin"), said(2, 1, "ok", "assistant"),
        said(3, 2, "wrong"), said(4, 3, "hm", "assistant"), said(5, 4, "more of it"), said(6, 5, "hm", "assistant"),
        said(7, 4, "rather this"), said(8, 7, "hm", "assistant"),
        said(9, 2, "right"), said(10, 9, "yes", "assistant"),
    ]  # fmt: skip
    db = imported(tmp_path, {A: log})
    assert query(db, "SELECT preview, status FROM chunks WHERE kind = 'user' ORDER BY seq") == [
        ("begin", None), ("wrong", "abandoned"), ("more of it", "abandoned"), ("rather this", "abandoned"), ("right", None)
    ]  # fmt: skip


@pytest.mark.parametrize("renamed", [False, True], ids=["same ids", "new ids"])
def test_a_fork_that_took_its_subagents_along_counts_them_once(tmp_path, renamed):
    def copy(entries):
        return [e | {"uuid": f"{e['uuid']}-b", "sessionId": B} for e in entries] if renamed else entries

    use = [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "count", "description": "Counts"}}]
    gives = [{"type": "tool_result", "tool_use_id": "t1", "content": "7"}]
    spawned = {"agentId": "a1", "totalTokens": 999, "usage": {"output_tokens": 500}}
    main = [*turn(1, "hello", "hi"), entry("assistant", 5, use), entry("user", 6, gives, toolUseResult=spawned)]
    agent = [e | {"agentId": "a1", "isSidechain": True} for e in turn(20, "count", "seven")]
    more = [e | {"agentId": "a1"} for e in later(turn(25, "more", "eight", session=B), 12)]
    logs = {
        A: [*main, *turn(9, "on", "A")],
        f"-p/{A}/subagents/agent-a1.jsonl": agent,
        B: [*copy(main), *later(turn(15, "fork", "B", session=B), 11)],
        f"-p/{B}/subagents/agent-a1.jsonl": [*copy(agent), *more],
    }
    rows = "SELECT id, forked_from, inherited_messages, own_output_tokens, own_tool_calls FROM sessions ORDER BY id"
    assert query(imported(tmp_path, logs), rows) == [
        (A, None, 0, 3 + 5 + 19, 1), (f"{A}:a1", None, 0, 41, 0), (B, A, 4, 31, 0), (f"{B}:a1", f"{A}:a1", 2, 51, 0)
    ]  # fmt: skip
