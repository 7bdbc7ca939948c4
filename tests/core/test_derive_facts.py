"""What a log says about its session: title, activity, project, counts (spec claude-code 11)."""

from __future__ import annotations

import pytest

from clm_sessions.derive import Bundle, derive
from clm_sessions.formats.base import Dialect
from clm_sessions.model import Fact, Stream
from support.claude_entries import FORMAT, call, entry, reply, result, session, stream, text, user

MARK = "[Request interrupted by user]"


def info(*entries):
    return session(*entries).info


TYPED = [
    user("c", "<command-name>/clear</command-name>", 1),
    user("b", "<bash-input>ls</bash-input>", 2),
    user("n", "<system-reminder>x</system-reminder>", 3),
    user("u", "\n Plan the   beds. \nAnd more.", 4),
    user("v", "second", 5),
]


@pytest.mark.parametrize(
    ("more", "title"),
    [
        ([], "Plan the beds."),
        ([entry("summary", None, summary="of another", leafUuid="zz")], "Plan the beds."),
        ([entry("summary", None, summary="of this", leafUuid="u")], "of this"),
        ([entry("summary", None, summary="of this", leafUuid="u"), entry("ai-title", None, aiTitle="its")], "its"),
        ([entry("custom-title", None, customTitle="mine"), entry("ai-title", None, aiTitle="its")], "mine"),
        ([entry("custom-title", None, customTitle="a"), entry("custom-title", None, customTitle="b")], "b"),
        ([entry("custom-title", None, customTitle=" \n ")], "Plan the beds."),
        ([entry("last-prompt", None, lastPrompt="stale")], "Plan the beds."),
        ([entry("custom-title", None, customTitle="x" * 300)], "x" * 199 + "…"),
    ],
)
def test_the_best_title_there_is_wins(more, title):
    assert info(*TYPED, *more).title == title


def test_a_session_of_commands_is_named_by_the_first_and_one_of_nothing_by_nothing():
    assert info(*TYPED[:3]).title == "/clear"
    assert info(TYPED[2]).title is None
    assert info(user("u", [{"type": "image", "source": {}}])).title is None


def test_prompts_are_what_a_person_typed():
    counted = info(*TYPED, user("k", "sum", isCompactSummary=True), user("i", MARK), user("m", "x", isMeta=True))
    assert (counted.prompts, counted.compactions, counted.interruptions) == (2, 1, 1)


def test_a_rejected_tool_and_the_marker_behind_it_are_one_interruption():
    rejected = user("r", [result("t")], toolUseResult="User rejected tool use")
    noise = entry("system", "s", subtype="turn_duration")
    marker = user("i", [text("[Request interrupted by user for tool use]")])
    assert info(reply("a", [call("t")]), rejected, noise, marker).interruptions == 1
    assert info(reply("a", [call("t")]), rejected, reply("b", "x"), marker).interruptions == 2


def test_images_are_counted_in_messages_and_in_results():
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    assert (
        info(user("u", [image, {"type": "image"}]), reply("a", [call("t")]), user("r", [result("t", [image])])).images
        == 3
    )


def test_the_session_starts_with_its_first_dated_record_and_ends_with_its_latest():
    counted = info(
        entry("mode", None, mode="x"),
        entry("progress", "p", 7),
        user("u", "x", 5),
        reply("a", "x", 9),
        user("v", "x", 8),
    )
    assert (counted.started_at, counted.duration_ms) == (1772442007000, 2000)
    assert info(user("u", "x")).started_at is None


def test_the_project_is_where_the_session_started():
    moved = [user("u", "x", cwd="/home/dev/one"), user("v", "x", cwd="/home/dev/one/sub")]
    assert (info(*moved).project, info(*moved).cwd, info(*moved).project_name) == (
        "/home/dev/one",
        "/home/dev/one",
        "one",
    )


@pytest.mark.parametrize(
    ("cwd", "folder", "name"),
    [
        ("C:\\Work\\my-app", "x", "my-app"),
        ("/home/dev/.config/a b_c/", "x", "a b_c"),
        ("/", "x", "/"),
        (None, "-home-dev-nocwd", "nocwd"),
        (None, None, None),
    ],
)
def test_the_short_name_is_the_last_part_on_any_platform(cwd, folder, name):
    main = stream(*([user("u", "x", cwd=cwd)] if cwd else [user("u", "x")]))
    (s,) = derive(Bundle(format="f", key="k", session="k", folder=folder, main=main), FORMAT.dialect)
    assert (s.info.project, s.info.project_name) == (cwd, name)


def test_version_model_and_branch_are_told_and_synthetic_is_no_model():
    told = info(
        user("u", "x", gitBranch="main", version="1"),
        reply("a", "x", model="m1", gitBranch="topic", version="2"),
        reply("b", "x", model="<synthetic>"),
        reply("c", "x", model="m2"),
        reply("d", "x", model="m1"),
    )
    assert (told.models, told.git_branch, told.version) == (("m1", "m2"), "main", "2")


def test_a_format_may_say_once_what_others_say_with_each_reply():
    facts = [Fact(name=n, value=v) for n, v in {"model": "m", "provider": "p", "agent": "g", "created": 5000}.items()]
    (s,) = derive(Bundle(format="f", key="k", session="k", main=Stream(facts=facts)), Dialect())
    assert (s.info.models, s.info.provider, s.info.agent, s.info.started_at) == (("m",), "p", "g", 5000)


SHUTDOWN = call("s", "SendMessage", type="shutdown_response", approve=True)


@pytest.mark.parametrize(
    ("entries", "working"),
    [
        ([user("u", "x")], False),
        ([reply("a", "done")], False),
        ([reply("a", [call("t")])], True),
        ([reply("a", [text("x"), {"type": "thinking", "thinking": "t"}])], True),
        ([reply("a", [{"type": "thinking", "thinking": ""}])], False),
        ([reply("a", [call("t"), text(" \n")])], True),
        ([reply("a", [call("t")]), user("r", [result("t")])], True),
        ([reply("a", [call("t")]), user("u", "x")], True),
        ([reply("a", [call("t")]), user("i", MARK)], False),
        ([reply("a", [call("t")]), user("i", [text(MARK), text("more")])], False),
        ([reply("a", [call("t")]), user("r", [result("t")], toolUseResult="User rejected tool use")], False),
        ([reply("a", [call("t", "ExitPlanMode", plan="p")])], False),
        ([reply("a", [call("t", "ExitPlanMode", plan="p")]), user("r", [result("t")])], True),
        ([reply("a", [SHUTDOWN])], False),
        ([reply("a", [SHUTDOWN]), user("r", [result("s")])], False),
        ([reply("a", [call("s", "SendMessage", type="shutdown_response", approve=False)])], True),
        ([reply("a", [{"type": "tool_use", "name": "no id"}])], True),
    ],
)
def test_a_session_is_ongoing_when_the_last_thing_was_work(entries, working):
    assert info(*entries).ongoing is working


def test_facts_and_issues_of_the_log_come_along():
    s = session(user("u", "x", cwd="/a"), None)
    assert [f.name for f in s.facts] == ["cwd"]
    assert [(i.kind, i.line) for i in s.issues] == [("bad_line", 2)]
