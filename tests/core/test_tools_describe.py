"""Tool calls for a reader: title, what it was about, how it ended, and all of its arguments and its result."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clm_sessions.model import Image, Text, ToolCall, Unknown
from clm_sessions.tools import clm_describe_tool, describe
from clm_sessions.tools.patch import from_structured, from_texts
from clm_sessions.tools.table import TABLE
from clm_sessions.view import Section, ToolView
from support.json_values import json_values
from support.safety import strings


def call(name: str | None, value: object = None, result: object = None, **more: object) -> ToolCall:
    facts: dict[str, object] = {"id": "t", "status": "ok", "message": 0, **more}
    return ToolCall(name=name, input={} if value is None else value, result=result, **facts)  # type: ignore[arg-type]


def section(view: ToolView, kind: str) -> Section:
    return next(s for s in view.sections if s.kind == kind)


def test_read_shows_the_file_with_its_own_line_numbers():
    view = describe(
        call("Read", {"file_path": "beds.csv", "offset": 7}, "     7→bed,crop\n     8→1,kale\n\n<reminder>")
    )
    code = section(view, "code")
    assert (view.subtitle, code.text, code.first_line, code.language) == ("beds.csv", "bed,crop\n1,kale", 7, "beds.csv")
    assert section(view, "note").text == "<reminder>"
    assert view.badges == ("lines 7 to 8",)


def test_a_table_with_numbers_in_front_is_no_numbered_file():
    assert section(describe(call("read_file", {"path": "a.tsv"}, "1\tkale\n2\tbeans")), "code").first_line is None
    assert section(describe(call("Read", {"path": "a.py"}, "1\tkale\n2\tbeans")), "code").first_line == 1


def test_read_of_an_image_shows_the_image():
    image = Image(media_type="image/png", sha256="x", size=3)
    assert section(describe(call("Read", {"file_path": "a.png"}, (image,))), "image").image == image


def test_a_failed_call_shows_its_error_as_such():
    for name in TABLE:
        view = describe(call(name, {"file_path": "a", "command": "b"}, "no such thing", status="error", is_error=True))
        assert [s.title for s in view.sections if s.text == "no such thing"] == ["Error"], name
        assert not any(s.folded for s in view.sections if s.text == "no such thing"), name


def test_edit_takes_the_logged_patch_with_line_numbers():
    patch = [
        {"oldStart": 3, "newStart": 3, "lines": [" a", "-b", "+c", "+d"]},
        {"oldStart": 30, "newStart": 31, "lines": ["-x", "\\ No newline at end of file"]},
    ]
    view = describe(
        call("Edit", {"file_path": "f", "old_string": "b", "new_string": "c"}, "ok", detail={"structuredPatch": patch})
    )
    lines = [(line.sign, line.text, line.number) for line in section(view, "diff").diff]
    assert lines[:5] == [(" ", "a", 3), ("-", "b", 4), ("+", "c", 4), ("+", "d", 5), ("@", "@@ line 31 @@", None)]
    assert lines[5][:2] == ("-", "x")
    assert view.badges == ("+2 \u22122",)
    assert view.open


def test_edit_without_a_patch_compares_the_texts():
    view = describe(
        call("Edit", {"file_path": "f", "old_string": "a\nb\nc", "new_string": "a\nB\nc", "replace_all": True}, "ok")
    )
    assert [(line.sign, line.text) for line in section(view, "diff").diff] == [
        (" ", "a"),
        ("-", "b"),
        ("+", "B"),
        (" ", "c"),
    ]
    assert view.badges == ("+1 \u22121", "every match")


def test_multi_edit_shows_each_edit():
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "", "new_string": "c"}]
    view = describe(call("MultiEdit", {"file_path": "f", "edits": edits}, "ok"))
    assert [[line.sign for line in s.diff] for s in view.sections if s.kind == "diff"] == [["-", "+"], ["-", "+"]]


def test_an_edit_that_cannot_be_read_shows_its_arguments():
    view = describe(call("MultiEdit", {"file_path": "f", "edits": ["not an edit"]}, "?"))
    assert "not an edit" in " ".join(strings(view))


def test_write_shows_the_file_and_for_an_old_file_what_changed():
    new = describe(call("Write", {"file_path": "w.py", "content": "x = 1\n"}, "created"))
    old = describe(
        call(
            "Write",
            {"file_path": "w.py", "content": "x = 1\n"},
            "updated",
            detail={"structuredPatch": [{"lines": ["-x", "+y"]}]},
        )
    )
    assert (new.badges, section(new, "code").language) == (("1 line",), "w.py")
    assert [s.kind for s in old.sections[:2]] == ["diff", "code"]
    assert old.sections[1].folded


@pytest.mark.parametrize(
    ("name", "value", "result", "more", "badges"),
    [
        ("Bash", {"command": "ls"}, "a\nb", {}, ()),
        ("Bash", {"command": "ls"}, "Exit code 2\nno", {"status": "error"}, ("exit 2",)),
        ("Bash", {"command": "ls"}, "Error: Exit code 127\nno", {"status": "error"}, ("exit 127",)),
        ("Bash", {"command": "w", "run_in_background": True}, "started", {}, ("background",)),
        ("Bash", {"command": "w"}, "Command timed out after 120000ms", {"status": "error"}, ("timed out after 2 min",)),
        ("Bash", {"command": "ls"}, "x", {"detail": {"exitCode": 0}}, ("exit 0",)),
        ("shell_exec", {"command": "false"}, "[tool failed: no (exit status 1)", {"status": "error"}, ("exit 1",)),
        ("shell_exec", {"command": "x"}, "(killed by signal 9: Killed)", {"status": "error"}, ("signal 9",)),
        ("shell_exec", {"command": "x"}, "x", {"detail": {"exit_status": 3, "timed_out_ms": 5000}}, ("exit 3", "timed out after 5 s")),
        ("bg_exec", {"command": "x", "label": "count"}, "started background job 1", {}, ("background",)),
        ("BashOutput", {"bash_id": "7"}, "more", {}, ()),
    ],
)  # fmt: skip
def test_commands_say_how_they_ended(name, value, result, more, badges):
    view = describe(call(name, value, result, **more))
    assert view.badges == badges
    assert section(view, "terminal").text == result


@pytest.mark.parametrize(
    ("name", "value", "result", "detail", "subtitle", "badges"),
    [
        ("Grep", {"pattern": "kale", "path": "beds/"}, "a\nb", {"numFiles": 2, "numLines": 9}, '"kale" beds/', ("2 files", "9 lines")),
        ("Glob", {"pattern": "**/*.csv"}, "a.csv", {"truncated": True}, "**/*.csv", ("1 line", "cut by the tool")),
        ("WebFetch", {"url": "https://x.example", "prompt": "?"}, "text", {"code": 404, "bytes": 1200}, "https://x.example", ("HTTP 404", "1.2 KB")),
        ("WebSearch", {"query": "kale"}, "text", {"results": [1, 2]}, "kale", ("2 results",)),
        ("Task", {"description": "look", "prompt": "p", "subagent_type": "Explore"}, "a", {"totalTokens": 9400}, "look", ("Explore", "9.4k tok")),
        ("Skill", {"skill": "soil", "args": "bed 2"}, "ok", None, "soil bed 2", ()),
        ("TaskUpdate", {"taskId": "3", "status": "completed"}, "ok", None, "#3 ✓ done", ()),
        ("ExitPlanMode", {"plan": "# Plan\n- a"}, "ok", None, "Plan", ()),
        ("SendMessage", {"recipient": "digger", "content": "go"}, "ok", None, "to digger go", ()),
        ("read_file", {"path": "a.txt"}, "text", None, "a.txt", ("1 line",)),
        ("list_dir", {"path": "."}, "a\nb", None, ".", ("2 lines",)),
        ("NotebookEdit", {"notebook_path": "n.ipynb", "new_source": "x", "edit_mode": "insert"}, "ok", None, "n.ipynb", ("insert",)),
        ("mcp__weather__forecast", {"place": "Leeds"}, "rain", None, "Leeds", ("weather",)),
        ("mcp__odd", {"place": "Leeds"}, "rain", None, "Leeds", ()),
        (None, {"x": 1}, "y", None, "", ()),
    ],
)  # fmt: skip
def test_tools_say_what_they_were_about(name, value, result, detail, subtitle, badges):
    view = describe(call(name, value, result, detail=detail))
    assert (view.subtitle, view.badges) == (subtitle, badges)
    assert result in " ".join(strings(view))


def test_todos_are_a_table_with_words_for_their_state():
    todos = [
        {"content": "kale", "status": "completed"},
        {"content": "beans", "status": "in_progress"},
        {"content": "x", "status": "?"},
    ]
    view = describe(call("TodoWrite", {"todos": todos}, "ok"))
    assert section(view, "table").rows == (("✓ done", "kale"), ("▸ in progress", "beans"), ("?", "x"))
    assert (view.subtitle, view.badges) == ("beans", ("1 of 3 done",))


def test_a_question_shows_its_choices_and_the_answer():
    questions = [{"question": "Which bed?", "options": [{"label": "1", "description": "near"}, {"label": "2"}]}]
    view = describe(
        call("AskUserQuestion", {"questions": questions}, "answered 1", detail={"answers": {"Which bed?": "1"}})
    )
    assert section(view, "table").rows == (("1", "near"), ("2", ""))
    assert section(view, "key_values").rows == (("Which bed?", "1"),)


def test_unknown_tools_show_small_arguments_as_pairs_and_others_as_json():
    small = describe(call("vent", {"angle": 30, "open": True, "note": None}, "ok"))
    nested = describe(call("vent", {"angle": {"min": 1}}, '{"a": [1]}'))
    assert section(small, "key_values").rows == (("angle", "30"), ("open", "true"), ("note", "null"))
    assert [s.language for s in nested.sections] == ["json", "json"]
    assert section(nested, "code").text == '{\n  "angle": {\n    "min": 1\n  }\n}'


def test_broken_arguments_are_shown_as_they_are():
    view = describe(call("no_such_tool", '{"x": 1', "", args='{"x": 1'))
    assert [s.text for s in view.sections] == ['{"x": 1']


def test_results_made_of_blocks_keep_every_block():
    blocks = (
        Text(text="one"),
        Text(text="two"),
        Unknown(type="tool_reference", data={"tool_name": "x"}),
        Text(text="three"),
    )
    view = describe(call("ToolSearch", {"query": "q"}, blocks))
    assert [s.kind for s in view.sections] == ["terminal", "code", "terminal"]
    assert view.sections[0].text == "one\ntwo"


def test_the_hook_describes_tools_that_nobody_knows():
    assert clm_describe_tool(call("nobody knows", {})).title == "nobody knows"
    assert clm_describe_tool(call("Bash", {"command": "ls"})) is not None


def test_deep_and_large_arguments_do_not_stop_a_view():
    deep: object = "bottom"
    for _ in range(5_000):
        deep = [deep]
    assert "too deeply" in describe(call("x", {"a": deep})).sections[0].text
    assert len(describe(call("x", {"a": list(range(100_000))})).sections[0].text) > 500_000


NAMES = [*TABLE, "unknown", "mcp__a__b", None]


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    value=json_values,
    result=st.text() | st.none(),
    detail=json_values,
    status=st.sampled_from(["ok", "error", "interrupted", "unanswered"]),
)
def test_any_arguments_result_and_detail_can_be_described(name, value, result, detail, status):
    view = describe(call(name, value, result, detail=detail, status=status))
    assert view.title
    if result:
        assert result.strip() in " ".join(strings(view)) or json.loads(result) is not None


WORDS = st.text(st.sampled_from("abc XYZ"), min_size=1, max_size=30)
KEYS = st.sampled_from(
    ["file_path", "path", "command", "content", "pattern", "query", "url", "prompt", "plan", "todos", "id", "other"]
)


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    value=st.dictionaries(
        KEYS, WORDS | st.lists(WORDS, min_size=1) | st.dictionaries(WORDS, WORDS, min_size=1), min_size=1
    ),
)
def test_no_argument_is_hidden(name, value):
    shown = " ".join(" ".join(strings(describe(call(name, value, "done")))).split())
    for wanted in strings(list(value.values())):
        assert " ".join(wanted.split()) in shown


@settings(max_examples=60, deadline=None)
@given(old=st.lists(st.sampled_from("abcd"), max_size=12), new=st.lists(st.sampled_from("abcd"), max_size=12))
def test_a_diff_gives_back_both_texts_but_for_equal_ends(old, new):
    before, after = "\n".join(old), "\n".join(new)
    diff = from_texts(before, after)
    removed = "\n".join(line.text for line in diff if line.sign in " -")
    added = "\n".join(line.text for line in diff if line.sign in " +")
    assert before.endswith(removed) or removed in before
    assert added in after


@settings(max_examples=60, deadline=None)
@given(json_values)
def test_a_patch_of_any_shape_gives_lines_or_none(patch):
    assert isinstance(from_structured([patch]), tuple)
    assert isinstance(from_structured([{"lines": patch, "oldStart": patch, "newStart": patch}]), tuple)
