"""What single records of a Codex rollout become."""

import base64
import json

import pytest

from clm_sessions.derive import Bundle, derive
from clm_sessions.formats.codex import Codex
from clm_sessions.model import Image, Text, Thinking, ToolResult, ToolUse, Unknown
from support import rollouts as r
from support.logs import import_logs, query

PNG = base64.b64encode(b"\x89PNG a small picture").decode()


def messages(*records):
    """(kind, origin, what a person reads) of each message with content."""
    return [(m.kind, m.origin, m.display) for m in r.stream(*records).messages if m.blocks]


def shown(*records):
    """The same without what is part of no chunk."""
    return [m for m in messages(*records) if m[0] != "hard_noise"]


def session(*records):
    """The session these records make."""
    bundle = Bundle(format="codex", key="k", session=r.thread_id(), main=r.stream(*records))
    return derive(bundle, Codex.dialect)[0]


def call(*records):
    """The one tool call of these records."""
    (found,) = session(*r.opens(1), *records).tool_calls
    return found


# -- two voices -------------------------------------------------------------------------------------------------


def test_a_rollout_of_events_alone_still_tells_the_talk():
    events = [
        r.event("user_message", message="Sow the peas."),
        r.event("agent_reasoning", text="Peas first."),
        r.event("agent_message", message="Sown."),
    ]
    found = r.stream(r.meta(), *r.opens(1), *events).messages
    assert [m.blocks for m in found] == [
        (Text(text="Sow the peas."),),
        (Thinking(text="Peas first."),),
        (Text(text="Sown."),),
    ]
    assert [m.reply_id is None for m in found] == [True, False, False]


def test_a_slice_that_begins_with_an_event_does_not_tell_its_item_again():
    assert shown(*r.answers("Sown."), *r.answers("Watered.")) == [("ai", "reply", "Sown."), ("ai", "reply", "Watered.")]
    thought = r.item("reasoning", summary=[{"type": "summary_text", "text": t} for t in ("a", "a")])
    assert len(shown(r.event("agent_reasoning", text="a"), thought)) == 1


def test_a_prompt_whose_item_is_missing_is_read_from_its_event():
    found = shown(*r.asks("One"), *r.answers("1"), r.event("user_message", message="Two"), *r.answers("2"))
    assert [m[2] for m in found] == ["One", "1", "Two", "2"]


def test_an_event_before_its_item_is_the_same_prompt():
    item, event = r.asks("One")
    assert shown(event, item, *r.asks("Two")) == [("user", "prompt", "One"), ("user", "prompt", "Two")]


def test_the_same_prompt_twice_in_a_row_is_two_prompts():
    assert [m[2] for m in shown(*r.asks("go"), *r.asks("go"))] == ["go", "go"]
    items, events = zip(r.asks("go"), r.asks("on"), strict=True)
    assert [m[2] for m in shown(items[0], events[0], items[1], events[1])] == ["go", "on"]


def test_a_prompt_with_an_image_is_one_prompt_though_its_event_says_less():
    parts = [
        {"type": "input_text", "text": "What is this?"},
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
        {"type": "input_text", "text": "</image>"},
    ]
    item = r.item("message", role="user", content=parts)
    (message,) = r.stream(*r.opens(1), item, r.event("user_message", message="What is this?\n", images=[])).messages
    assert (message.origin, message.display) == ("prompt", "What is this?")
    assert [b.size for b in message.blocks if isinstance(b, Image)] == [len(base64.b64decode(PNG))]


# -- who speaks -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "# AGENTS.md instructions for /home/dev\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>",
        "<environment_context>\n  <cwd>/home/dev</cwd>\n</environment_context>",
        "<user_instructions>\n\nBe kind.\n\n</user_instructions>",
        "<skill>\n<name>sow</name>\n</skill>",
        "<recommended_plugins>none</recommended_plugins>",
        "<user_action>\n<context>review</context>\n</user_action>",
        "<a_tag_of_next_year>\nsomething\n</a_tag_of_next_year>",
    ],
)
def test_what_the_program_adds_is_context(text):
    assert messages(r.says("user", text)) == [("hard_noise", "context", text)]


def test_a_tag_that_a_person_typed_is_a_prompt_if_the_event_says_so():
    typed = "<div>why is this empty?</div>"
    assert shown(*r.asks(typed), *r.answers("It is not.")) == [("user", "prompt", typed), ("ai", "reply", "It is not.")]
    assert shown(r.says("user", typed)) == []
    assert shown(r.says("user", "<b>bold</b> is not bold, why?")) == [
        ("user", "prompt", "<b>bold</b> is not bold, why?")
    ]


def test_a_prompt_behind_instructions_in_one_item_is_read_without_them():
    text = "# AGENTS.md instructions\n\nBe kind."
    assert shown(r.says("user", text, "Sow the peas.")) == [("user", "prompt", "Sow the peas.")]


def test_a_prompt_from_an_editor_is_read_without_what_the_editor_adds():
    text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nSow the peas.\n"
    assert shown(*r.asks(text)) == [("user", "prompt", "Sow the peas.")]


def test_word_of_a_subagent_is_a_notification_and_a_shell_command_is_command_output():
    note = '<subagent_notification>\n{"status": "done"}\n</subagent_notification>'
    assert shown(r.says("user", note)) == [("ai", "notification", "done")]
    assert shown(r.says("user", note.replace('"done"', '{"completed": "Seven."}')))[0][2] == "completed: Seven."
    assert shown(r.says("user", note.replace('"done"', "7")))[0][2].startswith("<subagent_notification>")
    shell = "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>"
    assert shown(r.says("user", shell)) == [("system", "command_output", "<command>\nls\n</command>")]


def test_text_of_developer_and_system_is_kept_and_not_drawn():
    found = r.stream(r.says("developer", "<permissions>"), r.says("system", "be kind")).messages
    assert [(m.role, m.kind, m.origin) for m in found] == [
        ("developer", "hard_noise", "system"),
        ("system", "hard_noise", "system"),
    ]


# -- calls ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "status", "detail"),
    [
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 9\n", "ok", {"exit_code": 0}),
        ("Chunk ID: a1\nWall time: 1.0 seconds\nProcess exited with code 2\nOutput:\nno", "error", {"exit_code": 2}),
        ("Chunk ID: a1\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\n", "ok", {"running": True}),
        (
            json.dumps({"output": "no", "metadata": {"exit_code": 1, "duration_seconds": 0.1}}),
            "error",
            {"exit_code": 1},
        ),
        ({"content": "refused", "success": False}, "error", None),
        ({"content": "fine", "success": True}, "ok", None),
        ("apply_patch verification failed: no such line", "error", None),
        ("exec_command failed for `ls`: no", "error", None),
        ("failed to parse function arguments: missing field", "error", None),
        ("aborted by user after 9.1s", "interrupted", {"interrupted": True}),
        ("Plan updated", "ok", None),
        ("The build failed: see above", "ok", None),
        (None, "ok", None),
        (7, "ok", None),
    ],
)
def test_how_a_call_ended_is_told_by_its_output(output, status, detail):
    found = call(r.calls("c1"), r.gives("c1", output))
    assert (found.status, found.detail) == (status, detail)


def test_the_output_in_an_envelope_is_read_without_it():
    assert call(r.calls("c1"), r.gives("c1", '{"output":"pea\\n","metadata":{"exit_code":0}}')).result == "pea\n"
    other = '{"output":"pea","metadata":{"exit_code":0},"more":1}'
    assert call(r.calls("c1"), r.gives("c1", other)).result == other


def test_an_event_tells_the_exit_code_that_the_output_lacks():
    end = r.event("exec_command_end", call_id="c1", exit_code=3, stdout="")
    found = call(r.calls("c1"), end, r.gives("c1", "pea\n"))
    assert (found.status, found.detail) == ("error", {"exit_code": 3})
    bad = r.event("mcp_tool_call_end", call_id="c1", result={"Err": "gone"})
    assert call(r.calls("c1", "mcp__garden__water"), bad, r.gives("c1", "gone")).status == "error"


def test_arguments_are_json_free_text_or_an_object():
    patch = "*** Begin Patch\n*** End Patch"
    calls = [
        r.calls("c1", cmd="ls"),
        r.item("function_call", name="fetch", namespace="mcp__garden__", call_id="c2", arguments='{"a": '),
        r.item("custom_tool_call", name="apply_patch", call_id="c3", input=patch),
        r.item("local_shell_call", call_id="c4", status="completed", action={"type": "exec", "command": ["ls"]}),
    ]
    found = session(*r.opens(1), *calls).tool_calls
    assert [(c.name, c.input, c.args) for c in found] == [
        ("exec_command", {"cmd": "ls"}, '{"cmd": "ls"}'),
        ("mcp__garden__fetch", '{"a": ', '{"a": '),
        ("apply_patch", patch, patch),
        ("local_shell", {"type": "exec", "command": ["ls"]}, None),
    ]


@pytest.mark.parametrize(
    ("space", "name", "whole"),
    [
        ("mcp__garden", "water", "mcp__garden__water"),
        ("mcp__garden__", "water", "mcp__garden__water"),
        ("mcp__apps__garden", "_water", "mcp__apps__garden_water"),
        (None, "water", "water"),
        (None, None, None),
    ],
)
def test_tools_of_servers_are_called_by_their_whole_name(space, name, whole):
    item = r.item("function_call", namespace=space, name=name, call_id="c1", arguments="{}")
    assert call(item).name == whole


def test_tools_of_the_provider_have_no_result_and_are_done():
    search = r.item("web_search_call", status="completed", action={"type": "search", "query": "peas"})
    made = session(*r.opens(1), *r.asks("Search."), search)
    assert [(c.name, c.status, c.input["query"]) for c in made.tool_calls] == [("web_search", "ok", "peas")]
    assert made.info.unanswered == 0
    picture = r.item("image_generation_call", id="ig_1", status="completed", revised_prompt="a pea", result=PNG)
    (message,) = r.stream(*r.opens(1), picture).messages
    assert [type(block) for block in message.blocks] == [ToolUse, Image]


def test_a_result_of_parts_keeps_texts_and_images():
    parts = [
        {"type": "input_text", "text": "a picture"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
        {"type": "input_image", "image_url": "https://example.invalid/a.png"},
    ]
    result = call(r.calls("c1", "view_image"), r.gives("c1", parts)).result
    assert [type(block) for block in result] == [Text, Image, Unknown]


def test_calls_cut_off_by_an_abort_are_interrupted_and_the_abort_is_told_once():
    note = r.says("user", "<turn_aborted>\nYou were stopped.\n</turn_aborted>")
    event = r.event("turn_aborted", turn_id=r.turn_id(1), reason="interrupted")
    for both in ((note, event), (event, note), (note,), (event,)):
        made = session(
            *r.opens(1), *r.asks("Sow."), r.calls("c1"), *both, *r.opens(2), *r.asks("On."), *r.answers("Ok.")
        )
        assert [c.status for c in made.tool_calls] == ["interrupted"]
        assert [c.status for c in made.chunks if c.kind == "ai"] == ["interrupted", "complete"]
        assert made.info.interruptions == 1


# -- the rest ---------------------------------------------------------------------------------------------------


def test_thoughts_that_cannot_be_read_make_no_message():
    hidden = r.item("reasoning", summary=[], content=None, encrypted_content="AAAA")
    found = r.stream(hidden)
    assert (list(found.messages), found.types) == ([], {("response_item/reasoning", "raw"): 1})
    told = r.item("reasoning", summary=["short"], content=[{"type": "reasoning_text", "text": "long"}])
    assert [m.blocks for m in r.stream(told).messages] == [(Thinking(text="short"), Thinking(text="long"))]


def test_a_compaction_is_one_chunk_with_the_sizes_around_it():
    compacted = r.record("compacted", {"message": "So far: peas.", "replacement_history": [{}, {}]})
    made = session(
        *r.turn(1, "Sow.", "Sown.", r.usage(90_000, 80_000, 60)),
        compacted,
        r.event("context_compacted"),
        *r.turn(2, "On.", "Done.", r.usage(110_000, 80_000, 90), 60),
    )
    (chunk,) = [c for c in made.chunks if c.kind == "compact"]
    assert (chunk.preview, chunk.context_before, chunk.context_after) == ("So far: peas.", 90_000, 20_000)
    assert shown(r.event("context_compacted")) == []
    assert [m.kind for m in r.stream(r.event("context_compacted")).messages] == ["compact"]


def test_an_error_of_the_program_is_a_notice_and_no_reply():
    made = session(*r.opens(1), *r.asks("Sow."), r.event("error", message="You've hit your usage limit."))
    assert [(m.origin, m.detail) for m in made.messages][-1] == ("synthetic", {"api_error": True})
    assert made.requests == []


def test_unknown_records_are_raw_and_counted_by_both_their_types():
    found = r.stream(
        r.record("world_state", {"a": 1}),
        r.item("ghost_snapshot", ghost_commit={}),
        r.event("plan_delta", text="x"),
        {"type": "response_item", "timestamp": "2026-03-02T10:00:00Z"},
        {"no": "type"},
    )
    assert set(found.types) == {
        ("world_state", "raw"),
        ("response_item/ghost_snapshot", "raw"),
        ("event_msg/plan_delta", "raw"),
        ("response_item", "raw"),
        ("(no type)", "raw"),
    }


def test_facts_come_from_the_first_session_meta_and_changes_of_context():
    records = [
        r.meta(),
        *r.opens(1),
        r.meta(second=9, cwd="/elsewhere"),
        *r.opens(2, model="gpt-test-2"),
        r.event("thread_name_updated", thread_id=r.thread_id(), thread_name="Peas"),
        r.event("thread_name_updated", thread_id=r.thread_id(9), thread_name="Beans"),
    ]
    facts = [(f.name, f.value) for f in r.stream(*records).facts]
    assert facts == [
        ("version", "0.140.0"),
        ("provider", "openai"),
        ("agent", "codex_cli_rs"),
        ("cwd", "/home/dev/garden"),
        ("git_branch", "main"),
        ("source", "cli"),
        ("model", "gpt-test-1"),
        ("effort", "low"),
        ("model", "gpt-test-2"),
        ("title.custom", "Peas"),
    ]
    made = session(*records, *r.asks("Sow."))
    assert (made.info.title, made.info.cwd) == ("Peas", "/home/dev/garden")


def test_bare_records_of_the_first_versions_are_read():
    records = [
        {"id": r.thread_id(), "timestamp": "2025-05-02T10:00:00.000Z", "instructions": None, "git": {"branch": "old"}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Sow."}]},
        {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": '{"command": ["ls"]}'},
        {"type": "function_call_output", "call_id": "c1", "output": "pea"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sown."}]},
    ]
    made = session(*records)
    assert [c.preview for c in made.chunks] == ["Sow.", "Sown."]
    assert (made.info.git_branch, made.tool_calls[0].status) == ("old", "ok")
    assert isinstance(made.messages[2].blocks[0], ToolResult)


def test_prompts_that_were_rolled_back_are_marked(tmp_path):
    back = [r.event("thread_rolled_back", 30, num_turns=n) for n in (1, 2, 0, "x", None, 99)]
    turns = [r.turn(n, f"ask {n}", f"say {n}", r.usage(10 * n, 0, n), 3 * n) for n in range(1, 6)]
    path = r.write(
        tmp_path, 1, [r.meta(), *turns[0], *turns[1], back[0], *turns[2], *turns[3], back[1], *back[2:5], *turns[4]]
    )
    db = tmp_path / "x.db"
    import_logs(db, path)
    rows = "SELECT preview, status FROM chunks WHERE kind = 'user' ORDER BY seq"
    gone = [("ask 1", None), *((f"ask {n}", "abandoned") for n in (2, 3, 4)), ("ask 5", None)]
    assert query(db, rows) == gone
    assert query(db, "SELECT prompts, own_output_tokens FROM sessions") == [(5, 5)]
    with path.open("ab") as log:
        log.write(r.data([back[5]]))
    import_logs(db, path)
    assert {status for _prompt, status in query(db, rows)} == {"abandoned"}
