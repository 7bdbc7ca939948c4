"""Where files lie and what they are by path and by head (spec claude-code 1 and 9.1)."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from clm_sessions.formats.base import Confidence, Head, Located
from support.claude_entries import FORMAT, entry, reply, user

SESSION = "5e550000-0000-4000-8000-0000000000aa"
PROJECT = "/home/dev/.claude/projects/-home-dev-app"
FOLDER = "-home-dev-app"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"{SESSION}.jsonl", ("main", SESSION, None)),
        ("exported log.jsonl", ("main", "exported log", None)),
        (f"{SESSION}/subagents/agent-a1.jsonl", ("agent", SESSION, "a1")),
        (f"{SESSION}/subagents/workflows/wf_1/agent-a1.jsonl", ("agent", SESSION, "a1")),
        (f"{SESSION}/agent_a1.jsonl", ("agent", SESSION, "a1")),
        (f"{SESSION}/deeper/agent-a1.jsonl", ("agent", SESSION, "a1")),
        ("no-uuid/subagents/agent-a1.jsonl", ("agent", "no-uuid", "a1")),
        ("agent-a1.jsonl", ("agent", None, "a1")),
        ("agent_a1.jsonl", ("agent", None, "a1")),
        (f"{SESSION}/subagents/agent-a1.meta.json", ("side", SESSION, "a1")),
        ("agent-a1.meta.json", ("side", None, "a1")),
        (f"{SESSION}/tool-results/toolu_1.txt", ("side", SESSION, None)),
        (f"{SESSION}/tool-results/toolu_1.json", ("side", SESSION, None)),
        (f"{SESSION}/subagents/notes.jsonl", None),
        (f"{SESSION}/subagents/workflows/wf_1/journal.jsonl", ("known", None, None)),
        (f"{SESSION}/other.jsonl", None),
        ("sessions-index.json", None),
        ("notes.txt", None),
        ("history.jsonl", ("known", None, None)),
        (".jsonl", None),
    ],
)
def test_a_file_is_located_by_its_path(path, expected):
    located = FORMAT.locate(PurePath(PROJECT) / path)
    if expected is None:
        assert located is None
    else:
        role, session, agent = expected
        assert located == Located(role=role, session=session, agent=agent, folder=FOLDER)


def test_a_folder_above_the_projects_that_looks_like_a_session_is_none():
    located = FORMAT.locate(PurePath(f"/tmp/{SESSION}/projects/-home/agent-x.jsonl"))
    assert located == Located(role="agent", session=None, agent="x", folder="-home")


def test_the_default_roots_honour_a_list_of_configuration_folders():
    home = Path("/home/dev")
    assert list(FORMAT.roots(home, {})) == [home / ".claude/projects", home / ".config/claude/projects"]
    named = {"CLAUDE_CONFIG_DIR": "/a, /b,,/home/dev/.claude"}
    assert list(FORMAT.roots(home, named)) == [
        Path("/a/projects"), Path("/b/projects"), home / ".claude/projects", home / ".config/claude/projects",
    ]  # fmt: skip


def sniff(*records, session="x"):
    return FORMAT.sniff(Located(role="main", session=session), Head(records=records, data=b""))


@pytest.mark.parametrize(
    "record",
    [
        user("u", "x", parentUuid=None, sessionId="s"),
        {**user("u", "x"), "parentUuid": None},
        entry("summary", None, summary="x", leafUuid="y"),
        entry("file-history-snapshot", None, snapshot={}),
        entry("queue-operation", None, operation="enqueue"),
        entry("permission-mode", None, permissionMode="x"),
        entry("last-prompt", None, leafUuid="x"),
        entry("mode", None, mode="x", sessionId="s"),
        entry("progress", "p", parentToolUseID="t"),
        entry("attachment", "p", sessionId="s"),
    ],
)
def test_one_record_of_its_own_kind_among_others_is_a_signature(record):
    assert sniff(None, 5, {"type": "other"}, record).confidence is Confidence.SIGNATURE


def test_bare_chat_entries_only_have_the_shape():
    assert sniff({}, reply("a", "x")).confidence is Confidence.SHAPE


@pytest.mark.parametrize(
    "records",
    [
        (),
        ({"type": "session_meta", "payload": {}},),
        ({"type": "meta", "v": 1}, {"type": "msg", "role": "user"}),
        ({"role": "user", "message": {"content": []}},),
        ({"type": "message", "id": "x", "parentId": None, "message": {}},),
        ({"type": "user", "content": "x"},),
    ],
)
def test_other_logs_are_not_claimed(records):
    assert sniff(*records).confidence is Confidence.NO


def test_an_agent_log_at_a_project_root_is_named_by_its_first_entry_with_a_session():
    records = ({"type": "summary", "leafUuid": "x"}, user("u", "x", sessionId="s1"), user("v", "x", sessionId="s2"))
    assert sniff(*records, session=None).session == "s1"
    assert sniff(*records, session="path").session is None


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (
            b'{\n"agentType": "Explore",\n"description": "d", "toolUseId": "t", "more": 1}',
            {"agent_type": "Explore", "description": "d", "tool_use_id": "t"},
        ),
        (b'\xef\xbb\xbf{"agentType": "Plan", "description": 5}', {"agent_type": "Plan"}),
        (b"{}", None),
        (b"[]", None),
        (b"torn", None),
    ],
)
def test_a_meta_file_tells_what_it_knows_of_its_agent(data, value):
    located = Located(role="side", session="s", agent="a")
    facts = FORMAT.side(located, "agent-a.meta.json", data)
    assert [f.value for f in facts] == ([] if value is None else [{"agent_id": "a", **value}])


def test_a_stored_tool_result_says_whose_it_is():
    facts = FORMAT.side(Located(role="side", session="s"), "toolu_1.txt", b"x")
    assert [(f.name, f.value) for f in facts] == [("full_result", {"name": "toolu_1.txt", "tool_use_id": "toolu_1"})]


@pytest.mark.parametrize(
    ("folder", "name"),
    [("-home-dev-nocwd", "nocwd"), ("C--Work-app", "app"), ("c--", "C:/"), ("logs", "logs"), ("-", "-")],
)
def test_a_project_folder_suggests_a_name(folder, name):
    assert FORMAT.dialect.folder_name(folder) == name
