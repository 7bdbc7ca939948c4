"""What user entries are (spec claude-code 4 and 5), read through the reader."""

from __future__ import annotations

import pytest

from support.claude_entries import result, stream, text, user

NOISE = "<system-reminder>r</system-reminder>"
CAVEAT = "<local-command-caveat>c</local-command-caveat>"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
DOCUMENT = {"type": "document", "source": {}}
MARK = "[Request interrupted by user]"


def read(content, **more):
    return stream(user("u", content, **more)).messages[0]


@pytest.mark.parametrize(
    ("content", "more", "kind", "origin"),
    [
        ("hello", {}, "user", "prompt"),
        ("", {}, "ai", "context"),
        (" \n\ufeff ", {}, "ai", "context"),
        (None, {}, "ai", "context"),
        ([], {}, "ai", "context"),
        ([text("")], {}, "user", "prompt"),
        ([text("  ")], {}, "user", "prompt"),
        ([{"type": "text"}], {}, "user", "prompt"),
        (["bare"], {}, "user", "prompt"),
        ([IMAGE], {}, "user", "prompt"),
        ([{"type": "image", "source": {"type": "url", "url": "x"}}], {}, "user", "prompt"),
        ([DOCUMENT], {}, "ai", "context"),
        ([result("t")], {}, "ai", "tool_result"),
        ([result("t")], {"isMeta": True}, "ai", "tool_result"),
        ([result("t"), text("and this")], {}, "user", "prompt"),
        ([result("t"), text(NOISE)], {}, "ai", "tool_result"),
        (f" {MARK}", {}, "ai", "interruption"),
        ([text(MARK)], {"isMeta": True}, "ai", "interruption"),
        ([result("t"), result("u"), text(f"\n{MARK[:-1]} for tool use]")], {}, "ai", "interruption"),
        ([text(MARK), text("more")], {}, "user", "prompt"),
        ([text(MARK), IMAGE], {}, "user", "prompt"),
        (f"I typed {MARK}", {}, "user", "prompt"),
        (NOISE, {}, "hard_noise", "context"),
        (f" {CAVEAT}\n{NOISE} ", {}, "hard_noise", "context"),
        ([text(NOISE), text("")], {}, "hard_noise", "context"),
        ([text(NOISE), DOCUMENT], {}, "ai", "context"),
        ([text(NOISE), IMAGE], {}, "user", "prompt"),
        (NOISE, {"isCompactSummary": True}, "hard_noise", "context"),
        (f"{NOISE}words", {}, "user", "prompt"),
        ("<system-reminder>open", {}, "ai", "context"),
        ("<SYSTEM-REMINDER>x</SYSTEM-REMINDER>", {}, "user", "prompt"),
        ("summary", {"isCompactSummary": True, "isMeta": True}, "compact", "compact_summary"),
        ("summary", {"isCompactSummary": 1}, "user", "prompt"),
        ([result("t")], {"isCompactSummary": True}, "compact", "compact_summary"),
        ("\n<local-command-stdout></local-command-stdout>", {}, "system", "command_output"),
        ("<local-command-stderr>e</local-command-stderr>", {"isMeta": True}, "system", "command_output"),
        ("<bash-stdout>o</bash-stdout>", {}, "system", "command_output"),
        ([text("first"), text(f"{NOISE} <bash-stderr>")], {}, "system", "command_output"),
        ("see <local-command-stdout>x</local-command-stdout>", {}, "user", "prompt"),
        ("injected", {"isMeta": True}, "ai", "injected"),
        ("typed", {"isMeta": "true"}, "user", "prompt"),
        ([IMAGE], {"isMeta": True}, "ai", "injected"),
        ('<teammate-message teammate_id="a">x</teammate-message>', {}, "ai", "teammate"),
        ('<teammate-message summary="a > b" teammate_id="a">x</teammate-message>', {}, "ai", "teammate"),
        ('<teammate-message color="a">x</teammate-message>', {}, "user", "prompt"),
        ('fyi <teammate-message teammate_id="a">x</teammate-message>', {}, "user", "prompt"),
        ("anything", {"origin": {"kind": "task-notification"}}, "ai", "notification"),
        ("anything", {"origin": {"kind": "human"}}, "user", "prompt"),
        ("<task-notification>", {}, "ai", "notification"),
        ([text("<task-notification>"), text("more")], {}, "ai", "notification"),
        ([text("more"), text("<task-notification>")], {}, "user", "prompt"),
        ("<command-name>/x</command-name>", {}, "user", "command"),
        ("<command-message>x</command-message><command-name>/x</command-name>", {}, "user", "command"),
        (f"{CAVEAT}<command-name>/x</command-name>", {}, "user", "command"),
        ("<command-name>x</command-name>", {}, "user", "prompt"),
        ("<bash-input>ls</bash-input>", {}, "user", "bash_command"),
        ("<user-memory-input>x</user-memory-input>", {}, "user", "prompt"),
    ],
)
def test_an_entry_has_one_kind_and_origin(content, more, kind, origin):
    message = read(content, **more)
    assert (message.kind, message.origin) == (kind, origin)


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ([text("a "), text("b")], "a b"),
        (f"fix it\n{NOISE}", "fix it"),
        ("x <System-Reminder>y</system-REMINDER> z", "x  z"),
        ("a <task-notification>b</task-notification>c", "a c"),
        ("a <command-args>b</command-args>", "a"),
        ("a Read the output file to retrieve the result: /p/q b", "a b"),
        ("<command-name>/x</command-name><command-args> a < b </command-args>", "/x a < b"),
        ("<command-name>/x</command-name><command-args> </command-args>", "/x"),
        ("<system-reminder>never closed", "<system-reminder>never closed"),
    ],
)
def test_the_text_of_a_prompt_is_what_a_person_should_read(content, shown):
    assert read(content).display == shown


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("<local-command-stderr>e</local-command-stderr><local-command-stdout> o\n</local-command-stdout>", " o\n"),
        ("<local-command-stdout></local-command-stdout><local-command-stderr>e</local-command-stderr>", ""),
        ("<local-command-stdout>open <local-command-stderr>e</local-command-stderr>", "e"),
        ("<bash-stdout>o</bash-stdout><bash-stderr>e</bash-stderr>", "o\ne"),
        ("<bash-stdout></bash-stdout><bash-stderr>e</bash-stderr>", "e"),
        ("<bash-stdout></bash-stdout><bash-stderr></bash-stderr>", ""),
        (" <bash-stdout>open ", "<bash-stdout>open"),
    ],
)
def test_command_output_is_read_out_of_its_tags(content, shown):
    assert read(content).display == shown


def test_a_command_keeps_its_parts_and_a_missing_tag_is_none():
    command = read("<command-message> m </command-message><command-name>/a-b</command-name>").command
    assert (command.name, command.message, command.args) == ("a-b", "m", None)


def test_teammates_are_told_with_empty_summaries_and_trimmed_texts():
    content = '<teammate-message teammate_id="a" summary="s">\nx\n</teammate-message> <teammate-message teammate_id="b">y</teammate-message><teammate-message teammate_id="c">open'
    assert read(content).detail["teammates"] == [
        {"id": "a", "summary": "s", "text": "x"},
        {"id": "b", "summary": "", "text": "y"},
    ]


@pytest.mark.parametrize(
    "hostile",
    [
        "<system-reminder>" * 100_000,
        '<teammate-message teammate_id="a">' * 60_000,
        "<task-notification><task-id>" * 60_000,
        "<command-name>/" * 100_000,
        "<local-command-stdout>" * 100_000,
        "<teammate-message" + ' a="' * 200_000,
    ],
)
def test_a_text_of_nothing_but_open_tags_is_read_in_linear_time(hostile):
    """Quadratic work on two megabytes would take minutes."""
    assert read(hostile).kind in ("ai", "user", "system")
