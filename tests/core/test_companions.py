"""Files beside the logs of Claude Code and Codex are used for what they are; what logs name elsewhere is never opened."""

import itertools
import json
import sys

import pytest

import clm_sessions
from clm_sessions import plugins
from clm_sessions.ingest import default_roots
from clm_sessions.verify import verify
from support import rollouts as r
from support.logs import dump, entry, import_logs, query, session_id, text, turn, write_log

A = session_id(1)
OPENED: list[str] = []


def hear(event, arguments):
    if event in ("open", "os.listdir", "os.scandir"):
        OPENED.append(str(arguments[0]))


@pytest.fixture(scope="module", autouse=True)
def _listening():
    sys.addaudithook(hear)


def result(call, content, number, **more):
    return entry("user", number, [{"type": "tool_result", "tool_use_id": call, "content": content}], **more)


def test_all_that_lies_in_the_folder_of_claude_code_is_taken_for_what_it_is(tmp_path):
    home = tmp_path / ".claude"
    project, own = home / "projects" / "-home-dev-garden", home / "projects" / "-home-dev-garden" / A
    use = [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}]
    write_log(
        project / f"{A}.jsonl", [*turn(1, "hello", "hi"), entry("assistant", 5, use), result("toolu_1", "cut", 6)]
    )
    files = {
        home / "history.jsonl": '{"display": "hello", "timestamp": 1772442000000, "project": "/home/dev/garden"}\n',
        home / "todos" / f"{A}-agent-{A}.json": "[]",
        home / "file-history" / A / "0a@v1": "old",
        home / "plans" / "plan.md": "# Plan",
        project / "sessions-index.json": '{"version": 1, "entries": []}',
        own / "tool-results" / "toolu_1.txt": "all of it",
        own / "subagents" / "agent-b.meta.json": '{"agentType": "counter"}',
        own / "subagents" / "workflows" / "wf_1" / "journal.jsonl": '{"step": 1}\n',
    }
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    db = tmp_path / "x.db"
    report = import_logs(db, home)
    assert not report.issues
    assert not report.notices
    assert query(db, "SELECT substr(id, 38), role FROM sources ORDER BY id") == [
        ("", "main"), ("subagents/agent-b.meta.json", "side"), ("tool-results/toolu_1.txt", "side")
    ]  # fmt: skip
    full = query(db, "SELECT value FROM facts WHERE name = 'full_result'")
    assert full == [('{"name":"toolu_1.txt","tool_use_id":"toolu_1"}',)]
    assert verify(db, plugins.build(entry_points=False), full=True).findings == []


def test_an_agent_log_that_names_no_session_is_a_run_of_its_own(tmp_path):
    log = [{k: v for k, v in e.items() if k != "sessionId"} | {"agentId": "zz"} for e in turn(3, "help", "ok")]
    write_log(tmp_path / "projects" / "-p" / "agent-zz.jsonl", log)
    db = tmp_path / "x.db"
    assert not import_logs(db, tmp_path).issues
    assert query(db, "SELECT role, native_id, agent_id, messages FROM sessions") == [("orphan", "agent-zz", "zz", 2)]


def index_line(number, name, **more):
    return {"id": r.thread_id(number), "thread_name": name, "updated_at": "2026-03-02T10:00:00Z", **more}


def names(db):
    return query(db, "SELECT title FROM sessions ORDER BY id")


def test_threads_of_codex_have_the_names_of_their_index_whatever_is_imported_first(tmp_path):
    home = tmp_path / ".codex"
    logs = [
        r.write(home, n, [r.meta(n), *r.turn(n, f"ask {n}", "ok", r.usage(1, 0, 1)), *more])
        for n, more in ((1, []), (2, []), (3, [r.event("thread_name_updated", 9, thread_name="From its log")]))
    ]
    index = write_log(
        home / "session_index.jsonl",
        [index_line(1, "Old"), index_line(3, "x"), index_line(1, "Beds"), b"[1]", {"id": 7}, index_line(2, " "), b"no"],
    )
    (home / "history.jsonl").write_text('{"session_id": "x", "ts": 1, "text": "ask"}\n')
    (home / "other.jsonl").write_text('{"ours": false}\n')
    registry = plugins.build(entry_points=False)
    found = default_roots(registry, tmp_path, {})
    assert found == [home / "sessions", index]
    want = [("Beds",), ("ask 2",), ("From its log",)]
    import_logs(tmp_path / "once.db", *found, keep_raw=False)
    assert names(tmp_path / "once.db") == want
    assert query(tmp_path / "once.db", "SELECT count(*) FROM ingest_issues") == [(0,)]
    for number, order in enumerate(itertools.permutations([index, *logs[:2]])):
        db = tmp_path / f"{number}.db"
        for path in (*order, logs[2]):
            import_logs(db, path)
        assert dump(db, sources=False) == dump(tmp_path / "once.db", sources=False)
    with clm_sessions.open_db(db) as stored:
        loaded = {s.id: s for s in clm_sessions.load_all(home)}
        assert [s.info.title for s in stored] == [loaded[s.id].info.title for s in stored]
    with index.open("ab") as file:
        file.write(json.dumps(index_line(2, "Leeks")).encode() + b"\n")
    import_logs(db, index)
    assert names(db) == [("Beds",), ("Leeks",), ("From its log",)]
    before = dump(db)
    import_logs(db, home / "sessions")
    assert dump(db) == before
    assert verify(db, registry, full=True).findings == []
    index.unlink()
    logs[0].unlink()
    import_logs(db, home)
    import_logs(db, home, again=True)
    assert names(db) == [("Beds",), ("Leeks",), ("From its log",)]
    assert verify(db, registry, full=True).findings == []


def test_paths_that_logs_name_are_never_opened(tmp_path):
    outside = tmp_path / "outside"
    for name in ("secret.txt", "agent-b.jsonl", "tool-results/toolu_1.txt", f"{A}.spool/out.txt", "p.png"):
        path = outside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(turn(1, "secret", "secret")[0]) + "\n")
    secret, logs = f"{outside}/secret.txt", tmp_path / "logs"
    stub = f"<persisted-output>\nFull output saved to: {outside}/tool-results/toolu_1.txt\n</persisted-output>"
    note = (
        f"<task-notification><task-id>b</task-id><output-file>{outside}/agent-b.jsonl</output-file></task-notification>"
    )
    use = [{"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "x", "file_path": secret}}]
    ran = {"agentId": "b", "outputFile": f"{outside}/agent-b.jsonl", "isAsync": True, "transcriptDir": str(outside)}
    write_log(
        logs / "projects" / "-p" / f"{A}.jsonl",
        [
            *turn(1, f"@{secret} file://{secret}", f"![x]({secret})", cwd=str(outside), transcriptPath=secret),
            entry("assistant", 5, use),
            result("toolu_1", stub, 6, toolUseResult=ran),
            entry(
                "user", 7, [{"type": "image", "source": {"type": "file", "path": secret, "url": f"file://{secret}"}}]
            ),
            entry("user", 8, note),
            entry("assistant", 9, text(f" Read the output file to retrieve the result: {secret}")),
        ],
    )
    image = [{"type": "image", "sha256": "../../outside/p", "path": secret, "media_type": secret}]
    write_log(
        logs / "clm" / "20260302-090000-0a1b2c3d.jsonl",
        [
            {"type": "meta", "v": 1, "id": f"../../outside/{A}", "created": 1, "spool": str(outside)},
            {"type": "msg", "role": "user", "content": f"see {outside}/{A}.spool/out.txt", "attachments": image},
        ],
    )
    r.write(
        logs,
        1,
        [
            r.meta(1, cwd=str(outside), rollout_path=secret),
            *r.turn(1, f"see {secret}", "ok", r.usage(1, 0, 1), 1),
            r.item("message", 9, role="user", content=[{"type": "input_image", "image_url": f"file://{secret}"}]),
            r.event("user_message", 10, message="look", images=[f"file://{secret}"], local_images=[f"{outside}/p.png"]),
            r.event(
                "collab_agent_spawn_end", 11, call_id="c", new_thread_id="t", rollout_path=f"{outside}/agent-b.jsonl"
            ),
        ],
    )
    OPENED.clear()
    import_logs(tmp_path / "x.db", logs)
    verify(tmp_path / "x.db", plugins.build(entry_points=False), full=True)
    heard = list(OPENED)
    assert any(f"{A}.jsonl" in path for path in heard), "the test hears what is opened"
    assert [path for path in heard if "outside" in path] == []
    assert query(tmp_path / "x.db", "SELECT count(*) FROM sessions") == [(3,)]
