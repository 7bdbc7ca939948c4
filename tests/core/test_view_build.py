"""The card of a chunk: what a reader sees of each message, and that nothing is hidden."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clm_sessions.model import Command, Image, SessionInfo, Text, Thinking, ToolResult, ToolUse, Unknown
from clm_sessions.tools import describe
from clm_sessions.view import ChunkView, ToolView, chunk_view, words
from support import gallery
from support.gallery import Builder
from support.json_values import json_values
from support.safety import strings


def kinds(view: ChunkView) -> list[str]:
    return [step.kind for step in view.steps]


def test_a_call_and_its_result_are_one_step_where_the_call_stands():
    view = chunk_view(
        Builder(0, "ai").say("before").call("Read", {"file_path": "a"}, "text").say("after").build(), describe
    )
    assert kinds(view) == ["text", "tool", "text"]
    assert view.steps[1].status == "ok"
    assert view.steps[1].tool == "Read"


def test_results_that_come_later_and_in_another_order_still_stand_at_their_calls():
    b = Builder(0, "ai")
    b.say(
        ToolUse(id="1", name="Read", input={"file_path": "a"}), ToolUse(id="2", name="Read", input={"file_path": "b"})
    )
    one = b.call("Read", {"file_path": "c"}, "third").build()
    asked = min(one.messages)
    calls = tuple(
        dataclasses.replace(
            one.tool_calls[0], id=i, input={"file_path": p}, message=asked, result=r, result_message=None
        )
        for i, p, r in (("1", "a", "first"), ("2", "b", "second"))
    )
    view = chunk_view(dataclasses.replace(one, tool_calls=calls + one.tool_calls), describe)
    assert [(step.subtitle, step.sections[-1].text) for step in view.steps] == [
        ("a", "first"),
        ("b", "second"),
        ("c", "third"),
    ]


def test_a_result_whose_call_is_elsewhere_and_a_second_result_are_steps_of_their_own():
    b = Builder(0, "ai").call("Read", {"file_path": "a"}, "text", ident="t")
    b.say(ToolResult(tool_use_id="elsewhere", content="late"), role="user", origin="tool_result")
    b.say(ToolResult(tool_use_id="t", content="again"), role="user", origin="tool_result")
    view = chunk_view(b.build(), describe)
    assert kinds(view) == ["tool", "result", "result"]
    assert [step.sections[0].text for step in view.steps[1:]] == ["late", "again"]


def test_a_result_linked_by_its_source_is_not_shown_twice():
    content = Builder(0, "ai").call("Skill", {"skill": "soil"}, "launched", ident="t").build()
    (call,) = content.tool_calls
    answer = content.messages[call.result_message]
    other = dataclasses.replace(
        answer, blocks=(ToolResult(tool_use_id="unknown", content="launched"),), source_tool_use_id="t"
    )
    content = dataclasses.replace(content, messages={**content.messages, call.result_message: other})
    assert kinds(chunk_view(content, describe)) == ["tool"]


def test_a_block_without_name_or_with_an_id_used_before_is_shown_and_says_so():
    b = Builder(0, "ai").call("Read", {"file_path": "a"}, "text", ident="t")
    b.say(ToolUse(id="t", name="Read", input={"file_path": "b"})).say(ToolUse(id=None, name=None, input={"x": 1}))
    view = chunk_view(b.build(), describe)
    assert [step.badges[-1] for step in view.steps] == ["1 line", "id used before", "no name"]
    assert view.steps[1].status is None


def test_asides_are_told_apart_from_what_the_agent_says():
    view = chunk_view(gallery.more_tools(), describe)
    asides = [kind for kind in kinds(view) if kind not in {"tool", "text"}]
    assert asides == [
        "notification",
        "teammate",
        "injected",
        "raw",
        "result",
        "notice",
        "interruption",
        "subagent",
        "sidechain",
    ]
    by_kind = {step.kind: step for step in view.steps}
    assert by_kind["notification"].subtitle == "Watering finished"
    assert by_kind["notification"].badges == ("completed",)
    assert by_kind["teammate"].title == "Teammate digger"
    assert by_kind["raw"].title == "Block of type sketch"
    assert '"strokes"' in by_kind["raw"].sections[0].text


def test_a_subagent_stands_at_the_call_that_started_it():
    view = chunk_view(gallery.work(), describe)
    assert [step.tool for step in view.steps if step.subagent] == ["Agent"]
    assert kinds(view).count("subagent") == 0


@pytest.mark.parametrize("link", [{"agent_id": "a7"}, {"parent_call": "t5"}, {"id": "a7"}])
def test_a_subagent_is_found_by_agent_id_session_key_or_parent_call(link: dict[str, str]):
    content = Builder(0, "ai").call("Agent", {"description": "look"}, "done", ident="t5", subagent_id="a7").build()
    info = SessionInfo(**{"id": "key", "native_id": "n", "format": "f", **link})
    view = chunk_view(dataclasses.replace(content, subagents=(info,)), describe)
    assert [step.subagent for step in view.steps] == [info.id]


def test_thinking_of_which_the_text_is_not_logged_keeps_its_place_and_blank_text_takes_none():
    b = Builder(0, "ai").say(Thinking(text="")).say("\n\n").say(role="user", origin="tool_result").say("said")
    steps = chunk_view(b.build(), describe).steps
    assert [(step.message, step.kind) for step in steps] == [(0, "thinking"), (3, "text")]


def test_known_blocks_beside_an_unknown_one_are_shown():
    for builder in (Builder(0, "ai"), Builder(0, "user")):
        content = builder.say("And the pots?", Unknown(type="smell", data={"value": "basil"})).build()
        shown = " ".join(strings(chunk_view(content, describe)))
        assert "And the pots?" in shown
        assert "smell" in shown
        assert "basil" in shown


def test_every_text_of_a_chunk_is_somewhere_in_its_view():
    texts = [Text(text=f"word{n}") for n in range(3)]
    b = Builder(0, "ai").say(texts[0], Thinking(text="word3")).say("word4", role="user", origin="injected")
    b.say(ToolResult(tool_use_id="x", content=(texts[1], Unknown(type="u", data="word5"))), role="user")
    b.call("Whatever", {"a": "word6", "b": {"c": ["word7"]}}, (texts[2],)).say("word8", role="user", origin="context")
    shown = " ".join(strings(chunk_view(b.build(), describe)))
    assert [f"word{n}" for n in range(9) if f"word{n}" not in shown] == []


def test_commands_are_shown_as_typed():
    slash = Builder(0, "user").say(
        "<x>", origin="command", text="/model small", command=Command(name="model", args="small")
    )
    shell = Builder(0, "user").say("<bash-input>ls shed</bash-input>", origin="bash_command")
    assert [s.text for s in chunk_view(slash.build(), describe).sections] == ["/model small"]
    assert [(s.kind, s.text) for s in chunk_view(shell.build(), describe).sections] == [("command", "! ls shed")]


def test_what_was_taken_out_of_a_prompt_stays_within_reach():
    content = Builder(0, "user").say("Hi\n<system-reminder>x</system-reminder>", origin="prompt", text="Hi").build()
    first, logged = chunk_view(content, describe).sections
    assert (first.text, first.folded) == ("Hi", False)
    assert (logged.folded, "system-reminder" in logged.text) == (True, True)


def test_images_of_a_prompt_follow_its_text_and_missing_ones_are_named():
    image = gallery.image(gallery.png(2, 2))
    named = {"attachments": [{"type": "image", "media_type": "image/png", "sha256": "ab", "bytes": 7}]}
    loaded = chunk_view(Builder(0, "user").say(image, "look").build(), describe)
    missing = chunk_view(Builder(0, "user").say("look", detail=named).build(), describe)
    assert [s.kind for s in loaded.sections] == ["markdown", "image"]
    assert missing.sections[1].image == Image(media_type="image/png", sha256="ab", size=7)


def test_a_text_the_agent_cut_says_so():
    for kind in ("user", "ai"):
        view = chunk_view(Builder(0, kind).say("beginning", detail={"cut": True}).build(), describe)
        sections = view.sections or view.steps[0].sections
        assert [s.kind for s in sections] == ["markdown", "note"]


@pytest.mark.parametrize(
    ("before", "after", "summary"),
    [
        (93_000, 21_000, "context compacted · 93k → 21k tokens"),
        (93_000, None, "context compacted · from 93k tokens"),
        (None, None, "context compacted"),
    ],
)
def test_a_compaction_says_how_far_it_went_as_far_as_is_known(before, after, summary):
    content = Builder(0, "compact", context_before=before, context_after=after).say("Summary").build()
    view = chunk_view(content, describe)
    assert view.summary == summary
    assert view.sections[0].text == "Summary"


def test_who_speaks_is_the_model_and_never_the_placeholder():
    b = Builder(0, "ai").say("a").say("b", model="<synthetic>").say("c", model="other-model")
    assert chunk_view(b.build(), describe).who == "test-model-1, other-model"
    assert chunk_view(Builder(0, "ai").say("a", model=None).build(), describe).who == "Assistant"


def test_a_describer_of_a_plugin_wins_and_none_from_it_means_the_default():
    content = Builder(0, "ai").call("Bash", {"command": "ls"}, "x").call("Other", {}, "y").build()
    view = chunk_view(content, lambda call: ToolView(title="mine") if call.name == "Bash" else None)
    assert [step.title for step in view.steps] == ["mine", "Other"]


@pytest.mark.parametrize(
    ("cwd", "path", "shown"),
    [
        ("/home/dev/garden", "/home/dev/garden/a/b.csv", "a/b.csv"),
        ("/home/dev/garden/", "/home/dev/garden/b.csv", "b.csv"),
        ("C:\\garden", "C:\\garden\\b.csv", "b.csv"),
        ("/home/dev/garden", "/home/dev/gardens/b.csv", "/home/dev/gardens/b.csv"),
        ("/home/dev/garden", "/home/dev/garden", "/home/dev/garden"),
        ("/", "/etc/hosts", "/etc/hosts"),
        (None, "/home/dev/garden/b.csv", "/home/dev/garden/b.csv"),
    ],
)
def test_paths_are_shown_from_the_working_directory_on(cwd: str | None, path: str, shown: str):
    content = Builder(0, "ai").call("Read", {"file_path": path}, "x").build()
    content = dataclasses.replace(content, session=dataclasses.replace(content.session, cwd=cwd))
    assert chunk_view(content, describe).steps[0].subtitle == shown


def test_a_refused_call_says_so():
    content = (
        Builder(0, "ai").call("Bash", {"command": "rm"}, "no", status="interrupted", detail={"rejected": True}).build()
    )
    assert "refused by the person" in chunk_view(content, describe).steps[0].badges


@pytest.mark.parametrize(
    ("ms", "text"),
    [(-1, ""), (0, "0 ms"), (999, "999 ms"), (4_800, "4.8 s"), (59_600, "1 min"), (112_000, "1 min 52 s"), (7_860_000, "2 h 11 min"), (100_000_000, "1 d 3 h")],
)  # fmt: skip
def test_durations_read_well(ms: int, text: str):
    assert words.duration(ms) == text


@pytest.mark.parametrize(
    ("n", "text"), [(0, "0"), (999, "999"), (3_100, "3.1k"), (41_300, "41k"), (999_600, "1M"), (1_210_000, "1.2M")]
)
def test_counts_read_well(n: int, text: str):
    assert words.count(n) == text


@settings(max_examples=60, deadline=None)
@given(
    blocks=st.lists(json_values, max_size=3),
    detail=json_values,
    origin=st.sampled_from(["reply", "teammate", "notification", "x"]),
)
def test_odd_blocks_and_details_give_a_view_all_the_same(blocks, detail, origin):
    for kind in ("user", "ai", "system", "compact", "x"):
        b = Builder(0, kind)
        b.say(*(Unknown(type="odd", data=value) for value in blocks), "text", origin=origin, detail=detail, role="user")
        assert "text" in " ".join(strings(chunk_view(b.build(), describe)))
