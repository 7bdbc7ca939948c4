"""Which files a session read and changed, what rows are about in a few words, and what projects are called."""

import json

import pytest

from clm_sessions import load
from clm_sessions.model import Message, Place, Text, ToolCall, ToolResult, ToolUse
from clm_sessions.store import brief, touched
from clm_sessions.store.projects import labels
from support.logs import entry, import_logs, query, session_id, turn, write_log

PATCH = "*** Begin Patch\n*** Add File: new.md\n+one\n+two\n*** Update File: old.py\n@@\n-a\n+b\n c\n*** End Patch"


def call(name, given, *, status="ok", detail=None, chunk=1):
    return ToolCall(id="t", name=name, input=given, status=status, message=1, chunk=chunk, detail=detail)


def use(number, name, given, result="done", *, error=False, patch=None):
    """Two entries: a call and its result."""
    block = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
    answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": result, "is_error": error}
    more = {"toolUseResult": {"structuredPatch": [{"lines": patch}]}} if patch else {}
    return [entry("assistant", number, [block]), entry("user", number + 1, [answer], **more)]


def write(path, *parts, session):
    return write_log(
        path / f"{session}.jsonl", [e | {"sessionId": session, "cwd": "/home/dev/garden"} for p in parts for e in p]
    )


def files(database, where="1"):
    return query(
        database,
        f"SELECT file, access, reads, edits, writes, lines_added, lines_removed FROM session_files WHERE {where} ORDER BY file",
    )


def test_reads_edits_and_writes_of_a_file_are_counted_with_the_lines_the_log_tells(tmp_path):
    beds, notes = "/home/dev/garden/beds.csv", "/home/dev/notes.md"
    logs = write(
        tmp_path / "logs",
        turn(1, "plan the beds", "I will."),
        use(10, "Read", {"file_path": beds}),
        use(12, "Edit", {"file_path": beds}, patch=["-a", "+b", "+c", " d"]),
        use(14, "Edit", {"file_path": beds}, error=True, patch=["+never"]),
        use(16, "Write", {"file_path": notes, "content": "x"}),
        use(18, "Read", {"file_path": "/home/dev/garden"}),
        session=session_id(1),
    )  # fmt: skip
    import_logs(tmp_path / "a.db", logs.parent)
    assert files(tmp_path / "a.db") == [
        ("/home/dev/garden", "read", 1, 0, 0, None, None),
        ("/home/dev/notes.md", "changed", 0, 0, 1, None, None),
        ("beds.csv", "changed", 1, 1, 0, 2, 1),
    ]
    first, last, read_by, changed_by = query(
        tmp_path / "a.db",
        "SELECT first_chunk, last_chunk, read_by, changed_by FROM session_files WHERE file = 'beds.csv'",
    )[0]
    assert (first, last) == (1, 1)
    seqs = {seq: call.name for seq, call in enumerate(load(logs).tool_calls)}
    assert [seqs[n] for n in json.loads(read_by)] == ["Read"]
    assert [seqs[n] for n in json.loads(changed_by)] == ["Edit"]


def test_what_a_fork_copied_is_told_from_what_it_did_itself(tmp_path):
    """Whichever of the two is imported first."""
    shared = [
        *turn(1, "plan", "ok"),
        *use(10, "Edit", {"file_path": "/a.py"}),
        *use(12, "Edit", {"file_path": "/b.py"}),
    ]
    old = write(tmp_path / "old", shared, turn(11, "go", "on"), session=session_id(1))
    new = write(tmp_path / "new", shared, use(30, "Edit", {"file_path": "/b.py"}), session=session_id(2))
    for name, order in (("one", (old, new)), ("two", (new, old))):
        database = tmp_path / f"{name}.db"
        for log in order:
            import_logs(database, log.parent)
        rows = query(
            database, "SELECT session_id, path, edits, own_changes, inherited FROM session_files ORDER BY 1, 2"
        )
        assert rows == [
            (session_id(1), "/a.py", 1, 1, 0),
            (session_id(1), "/b.py", 1, 1, 0),
            (session_id(2), "/a.py", 1, 0, 1),
            (session_id(2), "/b.py", 2, 1, 0),
        ]


def test_a_patch_touches_each_of_its_files():
    found = list(touched.touches(call("apply_patch", PATCH)))
    assert [(t.path, t.action, t.added, t.removed) for t in found] == [
        ("new.md", "write", 2, 0),
        ("old.py", "edit", 1, 1),
    ]
    assert list(touched.touches(call("apply_patch", {"input": PATCH}))) == found
    assert list(touched.touches(call("apply_patch", PATCH, status="error"))) == []


@pytest.mark.parametrize("given", [None, 3, "text", [], {}, {"file_path": 4}, {"file_path": ""}, {"path": ["x"]}])
@pytest.mark.parametrize("name", ["Edit", "Read", "apply_patch", None])
def test_odd_arguments_touch_nothing_and_break_nothing(name, given):
    odd = call(name, given, detail={"structuredPatch": [None, {"lines": 3}, {"lines": [4]}]})
    assert list(touched.touches(odd)) == []
    assert brief.subject(odd) is None or isinstance(brief.subject(odd), str)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"file_path": "/home/dev/garden/beds.csv", "old_string": "x"}, "beds.csv"),
        ({"command": "ls\n  -l", "description": "look"}, "ls -l"),
        ({"command": ["bash", "-lc", "ls"]}, "bash -lc ls"),
        ({"description": "Count", "prompt": "count the beds"}, "Count"),
        ({"other": 3, "deep": {"a": 1}, "words": "kale"}, "kale"),
        (PATCH, "new.md"),
        ("plain words", "plain words"),
        ({"n": 1}, None),
    ],
)  # fmt: skip
def test_the_subject_of_a_call_is_what_it_works_on(given, said):
    assert brief.subject(call("Any", given), "/home/dev/garden") == said


def message(*blocks, text=None):
    return Message(
        place=Place(line=1, offset=0, length=1), role="assistant", kind="ai", origin="reply", blocks=blocks, text=text
    )


def test_the_preview_of_a_message_is_its_text_else_its_tools_else_its_thinking():
    reads = ToolUse(id="1", name="Read", input={"path": "a.md"})
    looks = ToolUse(id="2", name="Bash", input={"command": "ls"})
    assert brief.preview(message(Text(text="x")), "Well\n then", None) == "Well then"
    assert brief.preview(message(Text(text="raw"), text="shown"), "raw", None) == "shown"
    assert brief.preview(message(reads, looks), None, "hm") == "Read a.md · Bash ls"
    assert brief.preview(message(ToolResult(tool_use_id="1", content="kale\n2")), None, None) == "kale 2"
    assert brief.preview(message(), None, "let me think") == "let me think"
    assert brief.preview(message(), None, None) is None
    long = brief.preview(message(), "word " * 1000, None)
    assert len(long) <= brief.LIMIT
    assert long.endswith("…")


def test_projects_of_one_name_are_told_apart_by_their_paths():
    assert labels([("1", "site", "/a/x/site"), ("2", "site", "/a/y/site"), ("3", "garden", "/a/garden")]) == {
        "1": "x/site", "2": "y/site", "3": "garden",
    }  # fmt: skip
    assert labels([("1", "src", "/a/x/src"), ("2", "src", "/b/x/src"), ("3", "src", "C:\\src")]) == {
        "1": "a/x/src", "2": "b/x/src", "3": "C:/src",
    }  # fmt: skip
    assert labels([("1", "s", "/s"), ("2", "s", "s")]) == {"1": "/s", "2": "s"}


def test_a_label_gets_short_again_when_the_other_project_is_gone(tmp_path):
    for number, folder in enumerate(("/home/a/site", "/home/b/site")):
        entries = [e | {"cwd": folder} for e in turn(1 + number, "hello", "hi", session=session_id(number + 1))]
        write_log(tmp_path / folder[-6:-5] / f"{session_id(number + 1)}.jsonl", entries)
    database = tmp_path / "a.db"
    import_logs(database, tmp_path / "a")
    assert query(database, "SELECT label FROM projects") == [("site",)]
    import_logs(database, tmp_path / "b")
    assert query(database, "SELECT label FROM projects ORDER BY label") == [("a/site",), ("b/site",)]
