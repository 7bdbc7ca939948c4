"""What the reader makes of entries: dispositions, messages, facts, state (spec claude-code 2, 3 and 9.4)."""

from __future__ import annotations

import base64
import json

import pytest

from clm_sessions import times
from clm_sessions.formats.base import StreamContext
from clm_sessions.formats.claude_code.clock import Clock
from clm_sessions.model import Image, Place, Text, Thinking, ToolResult, ToolUse, Unknown, Usage
from support import claude_vectors
from support.claude_entries import FORMAT, call, clock, entry, reply, result, stream, text, user

PLACE = Place(line=1, offset=0, length=0)


def reader(state=None, role="main"):
    return FORMAT.reader(StreamContext(role=role, session="s"), state)


def feed(record, role="main"):
    return reader(role=role).feed(record, PLACE)


def facts(*entries):
    return [(f.name, f.value) for f in stream(*entries).facts]


@pytest.mark.parametrize(
    ("record", "disposition", "kind"),
    [
        (user("u", "hi"), "message", "user"),
        (reply("a", "hi"), "message", "assistant"),
        (user("u", "<system-reminder>x</system-reminder>"), "noise", "user"),
        (entry("system", "s", subtype="turn_duration"), "noise", "system/turn_duration"),
        (entry("summary", "s", summary="x"), "noise", "summary"),
        (entry("queue-operation", "q", operation="dequeue"), "noise", "queue-operation/dequeue"),
        (entry("summary", None, summary="x"), "fact", "summary"),
        (entry("queue-operation", None, operation="enqueue"), "fact", "queue-operation/enqueue"),
        (entry("file-history-snapshot", None, snapshot={}), "fact", "file-history-snapshot"),
        (entry("file-history-delta", None), "fact", "file-history-delta"),
        (entry("mode", None, mode="plan"), "fact", "mode"),
        (entry("custom-title", "c", customTitle="x"), "fact", "custom-title"),
        (entry("progress", "p", data={"type": "hook_progress"}), "raw", "progress/hook_progress"),
        (entry("attachment", "p", attachment={"type": "file"}), "raw", "attachment/file"),
        (entry("attachment", "p", attachment=None), "raw", "attachment"),
        (entry("brand-new", "n"), "raw", "brand-new"),
        (user("", "no uuid"), "raw", "user"),
        ({"type": "user", "message": None}, "raw", "user"),
        ({"type": "user", "uuid": 7, "message": {"content": "x"}}, "raw", "user"),
        ({"uuid": "x"}, "raw", "(no type)"),
        ({"type": ["user"], "uuid": "x"}, "raw", "(no type)"),
    ],
)
def test_a_record_has_a_disposition_and_a_type_to_count_it_by(record, disposition, kind):
    parsed = feed(record)
    assert (parsed.disposition, parsed.type) == (disposition, kind)
    assert (parsed.message is not None) == (disposition in ("message", "noise"))


@pytest.mark.parametrize(
    "record",
    [
        None,
        {"type": "user", "uuid": "u"},
        {"type": "user", "uuid": "u", "message": "text"},
        {"type": "user", "uuid": "u", "message": {"content": {"type": "text"}}},
        {"type": "user", "uuid": "u", "message": {"content": [None]}},
        {"type": "assistant", "uuid": "u", "message": {}},
        {"type": "assistant", "uuid": "u", "message": {"content": 5}},
    ],
)
def test_a_record_of_the_wrong_shape_is_a_bad_line(record):
    parsed = feed(record)
    assert (parsed.disposition, parsed.issue_kind) == ("issue", "bad_line")
    assert parsed.issue


@pytest.mark.parametrize("record", [42, "text", True, [], [{"type": "user"}]])
def test_json_that_is_no_object_is_a_note_of_its_own(record):
    parsed = feed(record)
    assert (parsed.disposition, parsed.issue_kind) == ("issue", "not_object")


def test_known_and_unknown_blocks_are_read_side_by_side():
    image = {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"abc").decode()},
    }
    blocks = [
        {"type": "thinking", "thinking": "t", "signature": "secret"},
        {"type": "thinking"},
        {"type": "text", "text": "x", "citations": [1]},
        {"type": "text", "text": 5},
        "bare",
        call("c", x=1),
        {"type": "tool_use", "id": "c", "name": "N", "input": None},
        {"type": "tool_use", "name": "no id"},
        image,
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "%%%"}},
        {"type": "brand_new", "x": 1},
        {"no": "type"},
        7,
    ]
    found = stream(reply("a", blocks)).messages[0].blocks
    assert found[:7] == (
        Thinking(text="t"),
        Thinking(text=""),
        Text(text="x", extra={"citations": [1]}),
        Text(text="", extra={"text": 5}),
        Text(text="bare"),
        ToolUse(id="c", name="Bash", input={"x": 1}),
        ToolUse(id="c", name="N", input={}),
    )
    assert isinstance(found[8], Image)
    assert (found[8].data, found[8].size, found[8].media_type) == (b"abc", 3, "image/png")
    assert [b.type for b in (found[7], *found[9:])] == ["tool_use", "image", "brand_new", "untyped", "int"]
    assert all(isinstance(b, Unknown) for b in (found[7], *found[9:]))


def test_a_result_is_a_string_or_the_blocks_it_was_made_of():
    blocks = [result("a"), result("b", None), {"type": "tool_result", "tool_use_id": "c", "is_error": "yes"}]
    inner = [text("x"), "y", {"type": "tool_reference", "n": 1}, None, call("nested")]
    found = stream(user("u", [*blocks, result("d", inner, is_error=True), {"type": "tool_result"}])).messages[0].blocks
    assert found[:3] == (
        ToolResult(tool_use_id="a", content="done"),
        ToolResult(tool_use_id="b", content=""),
        ToolResult(tool_use_id="c", content=""),
    )
    assert found[3].is_error is True
    assert found[3].content[:2] == (Text(text="x"), Text(text="y"))
    assert [b.type for b in found[3].content[2:]] == ["tool_reference", "null", "tool_use"]
    assert isinstance(found[4], Unknown)


@pytest.mark.parametrize(
    ("given", "usage"),
    [
        (None, None),
        ({}, None),
        ({"input_tokens": None}, None),
        ({"input_tokens": 0}, Usage(input=0)),
        ({"output_tokens": 3, "input_tokens": "7", "cache_read_input_tokens": True}, Usage(output=3)),
        ({"cache_creation_input_tokens": 9.0, "output_tokens": 1.5}, Usage(cache_creation=9)),
    ],
)
def test_a_count_that_was_not_recorded_is_none_and_zero_is_zero(given, usage):
    assert stream(reply("a", "x", usage=given)).messages[0].usage == usage


def test_a_reply_is_known_by_message_id_else_by_request_id():
    entries = [
        reply("a", "x", reply_id="msg"),
        {**reply("b", "x"), "message": {"content": "x"}, "requestId": "req"},
        {**reply("c", "x"), "message": {"content": "x", "id": ""}},
    ]
    assert [m.reply_id for m in stream(*entries).messages] == ["msg", "req", None]


def test_the_sidechain_flag_counts_in_a_main_log_only():
    entries = [user("u", "x", isSidechain=True), reply("a", "x", isSidechain=1), entry("system", "s", isSidechain=True)]
    assert [m.kind for m in stream(*entries).messages] == ["sidechain"] * 3
    assert [m.kind for m in stream(*entries, agent="x").messages] == ["user", "ai", "hard_noise"]


def test_a_local_command_of_the_system_reads_like_a_user_string():
    def local(uuid, content, **more):
        return entry("system", uuid, subtype="local_command", content=content, **more)

    messages = stream(
        local("a", "<command-name>/mcp</command-name>"),
        local("b", "<local-command-stdout>x</local-command-stdout>"),
        local("c", ""),
        entry("system", "d", subtype="informational", content="note"),
    ).messages
    assert [(m.role, m.kind, m.display) for m in messages] == [
        ("system", "user", "/mcp"),
        ("system", "system", "x"),
        ("system", "hard_noise", ""),
        ("system", "hard_noise", "note"),
    ]


def test_synthetic_replies_and_api_errors_are_told_apart_from_real_ones():
    messages = stream(
        reply("a", "x", model="<synthetic>", isApiErrorMessage=True, error="rate_limit"), reply("b", "x")
    ).messages
    assert [(m.kind, m.origin) for m in messages] == [("ai", "synthetic"), ("ai", "reply")]
    assert messages[0].detail == {"api_error": "rate_limit"}


def test_the_detail_keeps_small_facts_and_drops_what_repeats_the_result():
    given = {
        "stdout": "x", "content": "x", "originalFile": "x", "usage": {"input_tokens": 5}, "interrupted": True,
        "exitCode": 2, "long": "x" * 2001, "file": {"content": "x", "numLines": 3}, "filenames": ["a"] * 101,
        "structuredPatch": [{"lines": ["+x" * 2000]}], "rejected": True, "none": None,
    }  # fmt: skip
    message = stream(user("u", [result("t")], toolUseResult=given)).messages[0]
    assert message.detail == {
        "interrupted": True,
        "exitCode": 2,
        "file": {"numLines": 3},
        "structuredPatch": given["structuredPatch"],
    }


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Error: no", "Error: no"),
        ("x" * 2001, None),
        ("User rejected tool use", {"rejected": True}),
        ([text("x")], None),
        (None, None),
        ({}, None),
        ({"rejected": True}, None),
    ],
)
def test_a_detail_that_is_no_object_is_kept_when_short(given, kept):
    assert stream(user("u", [result("t")], toolUseResult=given)).messages[0].detail == kept


def test_facts_of_any_entry_are_told_when_they_change():
    entries = [
        user("u", "x", cwd="/a", gitBranch="main", version="1", sessionId="s1", slug="q"),
        user("v", "x", cwd="/a", gitBranch="main", version="1", sessionId="s1", slug="q"),
        entry("progress", "p", cwd="/b", sessionId="s2"),
        user("w", "x", cwd="/a", gitBranch=5, sessionId="s1"),
    ]
    assert facts(*entries) == [
        ("cwd", "/a"), ("git_branch", "main"), ("version", "1"), ("slug", "q"), ("session_id", "s1"), ("cwd", "/b"),
        ("session_id", "s2"), ("cwd", "/a"),
    ]  # fmt: skip


def test_bookkeeping_entries_become_facts():
    entries = [
        entry("custom-title", None, customTitle="mine"),
        entry("ai-title", None, aiTitle="its"),
        entry("summary", None, summary="sum", leafUuid="u"),
        entry("agent-name", None, agentName="bob"),
        entry("agent-setting", None, agentSetting="reviewer"),
        entry("tag", None, tag="wip"),
        entry("last-prompt", None, lastPrompt="p"),
        entry("last-prompt", None, leafUuid="u"),
        entry("mode", None, mode="normal"),
        entry("permission-mode", None, permissionMode="plan"),
        entry("permission-mode", None, permissionMode="plan"),
        entry("bridge-session", None, bridgeSessionId="b"),
        entry("pr-link", None, prNumber=7, prUrl="u", prRepository="r"),
        entry("system", "s", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 5}),
        entry("attachment", "q", 1, attachment={"type": "queued_command", "prompt": [text("typed "), text("late")]}),
    ]
    assert facts(*entries) == [
        ("title.custom", "mine"), ("title.ai", "its"), ("title.summary", {"summary": "sum", "leaf": "u"}),
        ("agent_name", "bob"), ("agent_setting", "reviewer"), ("tag", "wip"), ("last_prompt", "p"), ("mode", "normal"),
        ("permission_mode", "plan"), ("bridge_session", "b"), ("pr", {"number": 7, "url": "u", "repository": "r"}),
        ("compact_boundary", {"trigger": "auto", "pre_tokens": 5}),
        ("queued_command", {"text": "typed late", "at": 1772442001000}),
    ]  # fmt: skip


def test_every_kind_of_evidence_for_an_agent_is_told_once():
    note = "<task-notification><task-id>n</task-id>\n<tool-use-id> tn </tool-use-id></task-notification>"
    entries = [
        user("a", [result("t1"), result("t2")], toolUseResult={"agentId": "r"}),
        user("b", "x", toolUseResult={"agent_id": "r2"}, sourceToolUseID="t3"),
        user("c", "x", toolUseResult={"agentId": "nowhere"}),
        entry("progress", "d", data={"agentId": "p"}, parentToolUseID="tp"),
        entry("progress", "e", data={"agentId": "p"}, parentToolUseID="tp"),
        entry("queue-operation", None, content='{"task_id": "q", "tool_use_id": "tq"}'),
        entry("queue-operation", None, content='{"task_id": "q", "tool_use_id": 5}'),
        entry("queue-operation", None, content='{"tool_use_id": torn'),
        entry("queue-operation", None, content=[text(note), {"type": "image"}]),
        user("f", note),
        user(
            "g",
            [text(f"{note}<task-notification><task-id>only</task-id></task-notification>{note.replace('>n<', '>m<')}")],
        ),
        user("h", [result("t9")], toolUseResult={"status": "teammate_spawned", "agent_id": "x@y", "color": "green"}),
    ]
    hint = {"result": "result"}
    expected = [
        ("r", "t1", "result"), ("r2", "t3", "result"), ("p", "tp", "hint"), ("q", "tq", "hint"), ("n", "tn", "hint"),
        ("m", "tn", "hint"), ("x@y", "t9", "result"),
    ]  # fmt: skip
    told = facts(*entries)
    assert [
        (v["agent_id"], v["tool_use_id"], hint.get(v["evidence"], v["evidence"])) for n, v in told if n == "agent_hint"
    ] == expected
    assert ("teammate_color", {"tool_use_id": "t9", "color": "green"}) in told


def test_times_are_read_from_any_record_and_unreadable_ones_are_unknown():
    assert feed(entry("progress", "p", 1)).at == 1772442001000
    assert feed({**user("u", "x"), "timestamp": "soon"}).message.at is None
    assert feed({**user("u", "x"), "timestamp": 1772442001}).message.at == 1772442001000
    assert clock(1) == "2026-03-02T09:00:01.000Z"


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-02T09:00:01.123Z", "2026-03-02T09:00:59.999Z", "2026-03-02T09:00:60.000Z", "2026-13-02T09:00:01.123Z",
        "2026-03-02T09:01:00.000Z", "2026-03-02T09:00:01.1234Z", "2026-03-02T09:00:01Z", "2026-03-02T09:00:01.123+02:00",
        "0001-01-01T00:00:00.000Z", "٢026-03-02T09:00:01.123Z", "", None, 5, 1e300, True, [],
    ],
)  # fmt: skip
def test_the_quick_way_to_read_times_gives_what_the_slow_one_gives(value):
    clock_ = Clock()
    for each in ("2026-03-02T09:00:00.000Z", value, value):
        assert clock_.read(each) == times.parse(each)


def test_a_reader_that_goes_on_from_its_state_equals_one_that_never_stopped():
    logs = sorted(claude_vectors.FOLDER.rglob("*.jsonl"))
    assert logs
    for log in logs:
        records = []
        for line in log.read_bytes().split(b"\n"):
            try:
                records.append(json.loads(line))
            except ValueError:
                continue
        whole, cut = reader(), reader()
        for record in records:
            cut = reader(json.loads(json.dumps(cut.state())))
            assert cut.feed(record, PLACE) == whole.feed(record, PLACE)


def test_a_state_that_was_taken_does_not_change_as_the_reader_goes_on():
    going = reader()
    going.feed(user("u", "x", cwd="/a", sessionId="s"), PLACE)
    taken = going.state()
    before = json.dumps(taken)
    going.feed(user("v", "x", cwd="/b", sessionId="t"), PLACE)
    assert json.dumps(taken) == before
