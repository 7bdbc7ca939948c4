"""How the tools of Codex are shown."""

import pytest

from clm_sessions.model import ToolCall
from clm_sessions.tools import describe

PATCH = """*** Begin Patch
*** Add File: list.txt
+pea
+bean
*** Update File: old.txt
*** Move to: new.txt
@@ beds
 one
-two
+three
*** Delete File: gone.txt
*** End Patch
"""


def call(name, value, result="", **more):
    return ToolCall(id="t", name=name, input=value, result=result, **{"status": "ok", "message": 0, **more})


def sections(view, kind):
    return [s for s in view.sections if s.kind == kind]


@pytest.mark.parametrize(
    "given",
    [
        {"cmd": "ls beds"},
        {"command": ["bash", "-lc", "ls beds"]},
        {"command": ["ls", "beds"]},
        {"command": "ls beds"},
    ],
)
def test_a_command_is_shown_as_a_person_would_type_it(given):
    view = describe(call("shell", {**given, "workdir": "/home/dev"}, "pea\n"))
    assert (view.subtitle, view.family) == ("ls beds", "shell")
    assert [s.text for s in sections(view, "code")] == ["ls beds"]
    assert [s.rows for s in sections(view, "key_values")] == [(("workdir", "/home/dev"),)]


def test_a_command_that_failed_or_still_runs_says_so():
    assert describe(call("exec_command", {"cmd": "ls"}, detail={"exit_code": 2}, status="error")).badges == ("exit 2",)
    assert describe(call("exec_command", {"cmd": "ls"}, detail={"exit_code": 0})).badges == ()
    assert describe(call("write_stdin", {"session_id": 7}, detail={"running": True})).badges == ("still running",)
    assert describe(call("write_stdin", {"session_id": 7, "chars": "y\n"})).subtitle == "y\\n"


def test_a_command_of_another_shape_hides_nothing():
    view = describe(call("shell", {"command": ["ls", 7]}))
    assert "7" in str(view.sections)
    assert describe(call("shell", "not json")).sections[0].text == "not json"


def test_a_patch_is_a_diff_for_each_file():
    view = describe(call("apply_patch", PATCH, "ok", args=PATCH))
    assert [(s.title, [line.sign for line in s.diff]) for s in sections(view, "diff")] == [
        ("list.txt (new)", ["+", "+"]),
        ("old.txt → new.txt", ["@", " ", "-", "+"]),
        ("gone.txt (deleted)", []),
    ]
    assert (view.badges, view.open, view.family) == (("+3 \u22121",), True, "edit")
    torn = describe(call("apply_patch", PATCH[:60]))
    assert [s.title for s in sections(torn, "diff")] == ["list.txt (new)"]
    assert sections(describe(call("apply_patch", "rubbish")), "code")[0].text == "rubbish"
    assert len(sections(describe(call("apply_patch", {"input": PATCH})), "diff")) == 3


def test_a_plan_is_a_table():
    steps = [{"step": "sow", "status": "completed"}, {"step": "water", "status": "in_progress"}, 7]
    view = describe(call("update_plan", {"plan": steps, "explanation": "Peas first."}, "Plan updated"))
    assert sections(view, "table")[0].rows == (("✓ done", "sow"), ("▸ in progress", "water"))
    assert (view.subtitle, view.badges) == ("water", ("1 of 2 done",))


def test_a_search_and_an_agent_say_what_they_are_about():
    search = {"type": "search", "query": "peas", "queries": ["peas", "beans"]}
    view = describe(call("web_search", search, None))
    assert (view.subtitle, view.badges) == ("peas", ("2 questions",))
    assert describe(call("web_search", {"type": "open_page", "url": "https://example.invalid"}, None)).subtitle
    view = describe(call("spawn_agent", {"message": "Count.", "agent_type": "explorer"}, '{"agent_id":"x"}'))
    assert (view.subtitle, view.badges, view.family) == ("Count.", ("explorer",), "agent")
