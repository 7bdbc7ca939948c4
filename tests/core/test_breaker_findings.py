"""Faults that an attack on the core found, each as the promise it broke."""

from __future__ import annotations

import io
import json
import time
from dataclasses import fields, is_dataclass, replace
from pathlib import PurePath

import pytest

from clm_sessions import times
from clm_sessions.derive.steps import last_output
from clm_sessions.errors import NoSessionError, NotALogError
from clm_sessions.formats.base import Confidence, Head, StreamContext
from clm_sessions.formats.claude_code import tags
from clm_sessions.formats.claude_code.dialect import ClaudeDialect
from clm_sessions.formats.clm import Clm, ClmReader
from clm_sessions.formats.numbers import COUNT_LIMIT, count
from clm_sessions.frames import blank, decode_strict, head, parse_args, read_head
from clm_sessions.library import load, load_all, open_db
from clm_sessions.model import Usage
from clm_sessions.read import read_stream
from clm_sessions.store.words import TERM_LENGTH, TERMS, fts_query
from support.claude_entries import FORMAT
from support.logs import check_search_index, dump, entry, import_logs, query, session_id, text, turn, write_log

SID = session_id()
UUID = "11111111-2222-4333-8444-555555555555"
CLM = "20260302-090000-66f926cf"


def use(call, name="Bash", /, **given):
    return [{"type": "tool_use", "id": call, "name": name, "input": given}]


def visible(value):
    """A value with U+0000 as columns show it, which is all that load and a database may differ by."""
    if is_dataclass(value):
        return type(value)(**{f.name: visible(getattr(value, f.name)) for f in fields(value)})
    if isinstance(value, dict):
        return {visible(k): visible(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return tuple(map(visible, value))
    return value.replace("\0", "\u2400") if isinstance(value, str) else value


def assert_steps_are_one_go(tmp_path, log, *states):
    """Import a log in these states one after another: the database is that of the last state, and what load gives."""
    for state in states:
        write_log(log, state)
        report = import_logs(tmp_path / "steps.db", tmp_path / "p")
        assert "plugin" not in report.json()["issues"]
    import_logs(tmp_path / "fresh.db", tmp_path / "p")
    assert dump(tmp_path / "steps.db", sources=False) == dump(tmp_path / "fresh.db", sources=False)
    check_search_index(tmp_path / "steps.db")
    with open_db(tmp_path / "steps.db") as db:
        assert visible([s.read() for s in db.sessions]) == visible(load_all(tmp_path / "p"))


# -- times and counts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    ["9999-12-31T23:30:00-01:00", "0001-01-01T00:30:00+01:00", 10**400, -(10**400), 253_402_300_800_000, float("nan")],
)
def test_a_time_outside_the_years_1_to_9999_is_unreadable(value):
    assert times.parse(value) is None


@pytest.mark.parametrize("ms", [10**20, -(10**20), 253_402_300_800_000, -62_135_596_800_001, None])
def test_a_number_that_is_no_time_is_written_as_null(ms):
    assert times.iso(ms) is None
    assert times.day(ms) is None


def test_a_log_dated_behind_the_year_9999_is_imported_without_that_date(tmp_path):
    entries = turn(1, "hi", "yo")
    entries[0]["timestamp"] = "9999-12-31T23:30:00-01:00"
    assert_steps_are_one_go(tmp_path, tmp_path / "p" / f"{SID}.jsonl", entries)
    assert query(tmp_path / "fresh.db", "SELECT at FROM messages ORDER BY seq") == [
        (None,),
        ("2026-03-02T09:00:03.000Z",),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (7, 7), (3.0, 3), (-1, -1), (COUNT_LIMIT - 1, COUNT_LIMIT - 1), (COUNT_LIMIT, None), (-COUNT_LIMIT, None),
     (2**63, None), (1e308, None), (float("inf"), None), (1.5, None), (True, None), ("7", None), (None, None)],
)  # fmt: skip
def test_a_count_is_a_whole_number_of_a_size_that_can_be(value, expected):
    assert count(value) == expected


@pytest.mark.parametrize("big", [2**40, 2**62, 2**63 - 1, 2**63, 10**300, 1e300])
def test_impossible_token_counts_overflow_nothing_wherever_they_stand(tmp_path, big):
    for number in (1, 2, 3):
        entries = [*turn(1, "hi", "yo", session=session_id(number)), *turn(2, "a", "b", session=session_id(number))]
        entries[1]["message"]["usage"] = {"output_tokens": big, "input_tokens": 5}
        entries[3]["message"]["usage"] = {"output_tokens": 1, "cache_read_input_tokens": big, "input_tokens": big}
        write_log(tmp_path / "p" / f"{session_id(number)}.jsonl", entries)
    assert import_logs(tmp_path / "x.db", tmp_path / "p").totals["tokens"]["output"] == 3
    with open_db(tmp_path / "x.db") as db:
        assert visible([s.read() for s in db.sessions]) == visible(load_all(tmp_path / "p"))


def test_impossible_counts_of_any_format_are_left_out_by_the_core():
    class Lavish(ClmReader):
        def feed(self, record, place):
            parsed = super().feed(record, place)
            return replace(parsed, message=replace(parsed.message, usage=Usage(input=2**63, output=4)))

    class LavishFormat(Clm):
        def reader(self, context, state=None):
            return Lavish(state or {})

    log = io.BytesIO(b'{"type":"msg","role":"user","content":"hi"}\n')
    stream, _ = read_stream(LavishFormat(), StreamContext(role="main", session=CLM), log)
    assert stream.messages[0].usage == Usage(output=4)


# -- argument texts ---------------------------------------------------------------------------------------------

ARGS = (
    '{"path":"\\ud800"}', "NaN", '{"x":1e999}', '{"a":' + "[" * 600 + "]" * 600 + "}", "1 2", '\ufeff{"a":1}', "",
    '{"a":NaN}', '{"a":1,"a":2}', '{"a":' + "9" * 5000 + "}", "free text", '{"a":"\\u0000"}',
)  # fmt: skip


def test_arguments_mean_the_same_when_a_log_is_loaded_and_when_it_has_grown(tmp_path):
    records = [
        {"type": "meta", "v": 1, "id": "x", "created": 1772442000},
        {"type": "msg", "role": "user", "content": "hi"},
    ]
    records += [
        {"type": "msg", "role": "assistant", "tool_calls": [{"id": str(n), "name": "n", "args": args}]}
        for n, args in enumerate(ARGS)
    ]
    more = [*records, {"type": "msg", "role": "user", "content": "more"}]
    assert_steps_are_one_go(tmp_path, tmp_path / "p" / f"{CLM}.jsonl", records, more)


@pytest.mark.parametrize("args", [*ARGS, '{"a":"x\0y"}', "\0"])
def test_an_argument_text_reads_the_same_from_a_column(args):
    assert visible(parse_args(args)) == visible(parse_args(args.replace("\0", "\u2400")))


# -- heads and tails --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [b"", b"\n", b"\0" * 9 + b"\n", b" \t\r\n" * 3, b'{"type":"fork-context-ref"}\n'])
def test_a_format_is_known_by_a_long_record_behind_lines_that_tell_nothing(before):
    line = json.dumps({**entry("user", 1, "x" * 300_000)}).encode() + b"\n"
    data = read_head(io.BytesIO(before + line))
    records = head(data, FORMAT.decode)
    claim = FORMAT.sniff(FORMAT.locate(PurePath("/p") / f"{SID}.jsonl"), Head(records=records, data=data))
    assert claim.confidence is Confidence.SIGNATURE


def test_a_clm_record_without_line_feed_counts_though_something_is_left_over(tmp_path):
    log = tmp_path / "p" / f"{CLM}.jsonl"
    records = [{"type": "meta", "v": 1}, b'{"type":"msg","role":"user","content":"hi"} junk']
    write_log(log, records, end=b"")
    assert [m.joined for m in load(log).messages] == ["hi"]
    write_log(log, records)
    assert [m.joined for m in load(log).messages] == ["hi"]


def test_a_claude_tail_that_is_not_whole_stays_held_back(tmp_path):
    log = tmp_path / "p" / f"{SID}.jsonl"
    first, second = turn(1, "hi", "yo")
    write_log(log, [first, json.dumps(second).encode() + b" junk"], end=b"")
    session = load(log)
    assert [m.uuid for m in session.messages] == [first["uuid"]]
    assert not session.issues


# -- lines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["\ufeff", "\xa0\u2028 ", "\u3000\r", "", "\v\f"])
def test_a_line_of_javascript_white_space_is_blank(line):
    assert blank(line.encode())
    assert decode_strict(line.encode(), first=False).problem is None


@pytest.mark.parametrize("line", ["\x85", "\x1c", "\x1d\x1e\x1f", " \x1c "])
def test_other_separators_are_no_white_space_and_the_line_is_bad(line):
    assert not blank(line.encode())
    assert decode_strict(line.encode(), first=False).bad


def test_a_first_line_that_is_only_a_byte_order_mark_is_blank(tmp_path):
    log = write_log(tmp_path / "p" / f"{SID}.jsonl", [b"\xef\xbb\xbf", *turn(1, "a", "b")])
    assert len(load(log).messages) == 2
    import_logs(tmp_path / "x.db", tmp_path / "p")
    assert dict(query(tmp_path / "x.db", "SELECT disposition, lines FROM source_lines")) == {"blank": 1, "message": 2}


INNER = '{"type":"user","uuid":"INVENTED","timestamp":"2026-03-02T09:00:09.000Z","message":{"content":"nested"}}'
NEXT = json.dumps(entry("user", 4, "next"))


@pytest.mark.parametrize(
    "torn",
    [
        '{"type":"progress","data":{"type":"agent_progress","message":' + INNER,
        '{"type":"progress","data":{"message":' + INNER + "}",
        '{"type":"progress","text":"a brace {","message":' + INNER,
        '{"type":"progress","list":[1,' + INNER,
        '{"type":"progress","n":NaN,"message":' + INNER + "}",
    ],
)
def test_a_torn_line_does_not_make_a_record_of_a_message_it_embeds(torn):
    assert decode_strict(torn.encode(), first=False).values == ()
    behind = decode_strict(torn.encode() + NEXT.encode(), first=False)
    assert behind.bad
    assert behind.values == (json.loads(NEXT),)


def test_a_record_behind_a_stub_is_recovered_wherever_the_stub_was_cut():
    stub = json.dumps(entry("assistant", 3, [*text('brace { and "quote'), *use("t", text="{")]))
    for cut in range(1, len(stub)):
        found = decode_strict((stub[:cut] + NEXT).encode(), first=False)
        assert (found.values, found.bad) == ((json.loads(NEXT),), True), stub[:cut]


@pytest.mark.parametrize("between", [" xyz ", ",", " 5 ", "]", " null, "])
def test_whole_objects_with_rubbish_between_them_are_kept_and_the_line_is_bad(between):
    found = decode_strict(between.join((NEXT, '{"type":"x"}', NEXT)).encode(), first=False)
    assert found.values == (json.loads(NEXT), {"type": "x"}, json.loads(NEXT))
    assert found.bad


@pytest.mark.parametrize("unit", ['{"type":"a"}x', '{"a":"{",', '{"a":NaN}', '{"a":{"type":"x","uuid":1}', '{"{":{'])
def test_rubbish_between_objects_takes_linear_time(unit):
    began = time.perf_counter()
    decode_strict((unit * (1_000_000 // len(unit))).encode(), first=False)
    assert time.perf_counter() - began < 4


# -- names of folders -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "role", "session", "folder"),
    [
        (f"/logs/{UUID}/{SID}.jsonl", "main", SID, UUID),
        (f"/logs/{UUID}/deeper/{SID}.jsonl", "main", SID, "deeper"),
        (f"/home/projects/{UUID}/{SID}.jsonl", "main", SID, UUID),
        (f"/home/projects/{UUID}/an export.jsonl", "main", "an export", UUID),
        (f"/logs/subagents/{SID}.jsonl", "main", SID, "subagents"),
        ("/logs/subagents/an export.jsonl", "main", "an export", "subagents"),
        (f"/home/projects/{UUID}/agent-a.jsonl", "agent", None, UUID),
        (f"/home/projects/{UUID}/{SID}/subagents/agent-a.jsonl", "agent", SID, UUID),
        (f"/logs/{UUID}/agent_a.jsonl", "agent", UUID, "logs"),
    ],
)
def test_any_folder_with_logs_is_read_whatever_its_name(path, role, session, folder):
    located = FORMAT.locate(PurePath(path))
    assert (located.role, located.session, located.folder) == (role, session, folder)


def test_logs_in_a_folder_named_like_a_session_are_loaded(tmp_path):
    log = write_log(tmp_path / UUID / f"{SID}.jsonl", turn(1, "hi", "yo"))
    assert load(log).info.native_id == SID


# -- U+0000 in names --------------------------------------------------------------------------------------------


def test_ids_with_u_0000_mean_the_same_in_one_go_and_in_steps(tmp_path):
    first = entry("user", 1, "q") | {"uuid": "a\0b"}
    rest = [
        entry("assistant", 2, text("a"), reply="m\0", model="n\0"),
        entry("assistant", 3, use("t\0", "B\0"), reply="m\0", model="n\0"),
        entry("user", 4, [{"type": "tool_result", "tool_use_id": "t\0", "content": "x\0"}]),
        first,
        {"type": "summary", "summary": "a\0title", "leafUuid": "a\0b"},
        entry("user", 6, "again", parentUuid="a\0b"),
    ]
    log = tmp_path / "p" / f"{SID}.jsonl"
    assert_steps_are_one_go(tmp_path, log, *([first, *rest[:n]] for n in range(len(rest) + 1)))
    session = load(log)
    assert len(session.messages) == 5
    assert session.chunks[0].key == "user-a\u2400b"
    assert session.info.title == "a\0title"
    assert [(c.id, c.status) for c in session.tool_calls] == [("t\u2400", "ok")]
    assert len(session.requests) == 1


@pytest.mark.parametrize("by", ["prompt", "hint", "meta", "team"])
def test_an_agent_is_linked_through_u_0000_in_one_go_and_in_steps(tmp_path, by):
    given = {"prompt": "do\0it", "description": "D\0"} | ({"team_name": "t", "name": "n"} if by == "team" else {})
    entries = [entry("user", 1, "q"), entry("assistant", 2, use("t\0", "Task", **given))]
    if by == "hint":
        entries.append({"type": "progress", "data": {"agentId": "a1"}, "parentToolUseID": "t\0"})
    asked = {"prompt": "do\0it", "team": '<teammate-message teammate_id="lead" summary="D\0">x</teammate-message>'}
    below = tmp_path / "p" / SID / "subagents"
    write_log(below / "agent-a1.jsonl", turn(5, asked.get(by, "other"), "ok"))
    if by == "meta":
        (below / "agent-a1.meta.json").write_text(json.dumps({"toolUseId": "t\0"}))
    log = tmp_path / "p" / f"{SID}.jsonl"
    assert_steps_are_one_go(tmp_path, log, entries, [*entries, *turn(9, "more", "x")])
    assert query(tmp_path / "steps.db", "SELECT link, parent_tool_call_id FROM sessions WHERE agent_id = 'a1'") == [
        (by, "t\u2400")
    ]


# -- reading back -----------------------------------------------------------------------------------------------


def test_agents_nested_deeper_than_python_recurses_are_read_back(tmp_path):
    depth = 1_100
    write_log(tmp_path / "p" / f"{SID}.jsonl", [entry("user", 1, "q"), entry("assistant", 2, use("t0", "Task"))])
    for n in range(depth):
        log = [
            {"type": "user", "uuid": f"u{n}", "sessionId": SID, "message": {"role": "user", "content": f"p{n}"}},
            {"type": "assistant", "uuid": f"v{n}", "sessionId": SID, "message": {"content": use(f"t{n + 1}", "Task")}},
        ]
        below = tmp_path / "p" / SID / "subagents"
        write_log(below / f"agent-{n:04}.jsonl", log)
        (below / f"agent-{n:04}.meta.json").write_text(json.dumps({"toolUseId": f"t{n}"}))
    import_logs(tmp_path / "x.db", tmp_path / "p")
    with open_db(tmp_path / "x.db") as db:
        at, levels = db.session(SID).read(), 0
    while at.subagents:
        (at,) = at.subagents
        levels += 1
    assert levels == depth


def test_an_unreadable_log_is_said_to_be_unreadable(tmp_path):
    log = write_log(tmp_path / "p" / f"{SID}.jsonl", turn(1, "hi", "yo"))
    log.with_name(f"{session_id(2)}.jsonl.gz").write_bytes(b"damaged")
    with pytest.raises(NotALogError, match=r"jsonl\.gz: cannot read: damaged"):
        load(log.with_name(f"{session_id(2)}.jsonl.gz"))
    log.unlink()
    with pytest.raises(NotALogError, match=r"02\.jsonl\.gz: cannot read: damaged"):
        load(tmp_path / "p")
    with pytest.raises(NotALogError, match="no format recognises"):
        load(write_log(tmp_path / "p" / "notes.jsonl", [b"hello"]))


def test_an_id_that_no_text_can_hold_names_no_session(tmp_path):
    write_log(tmp_path / "p" / f"{SID}.jsonl", turn(1, "hi", "yo"))
    import_logs(tmp_path / "x.db", tmp_path / "p")
    with open_db(tmp_path / "x.db") as db, pytest.raises(NoSessionError):
        db.session("\ud800")


# -- search -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "typed",
    ["a " * 30_000, " ".join(f"w{n}" for n in range(5000)), "a" * 2_000_000, '"' + "a " * 100_000 + '"', "a\ud800",
     '"' * 1001 + "a", "a\0b", "NEAR(a b)", "\u1c80", '"a" "'],
)  # fmt: skip
def test_any_text_is_a_query_that_is_answered_soon(tmp_path, typed):
    write_log(tmp_path / "p" / f"{SID}.jsonl", turn(1, "a word", "b"))
    import_logs(tmp_path / "x.db", tmp_path / "p")
    with open_db(tmp_path / "x.db") as db:
        began = time.perf_counter()
        db.search(typed)
        assert time.perf_counter() - began < 2
        assert len(db.search("word", limit=10**30)) == 1
        assert db.search("word", limit=-1) == []


def test_a_query_has_few_different_terms_of_bounded_length():
    many = fts_query(" ".join(f"w{n}" for n in range(5000)))
    assert many is not None
    assert len(many.split()) == TERMS
    assert fts_query("a b a b a*") == '"a" "b" "a*"*'
    assert fts_query("x" * 5000) == '"' + "x" * TERM_LENGTH + '"*'


# -- by the letter ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ('<teammate-message teammate_id="a">', True),
        ('<teammate-message color=blue teammate_id="a" urgent>', True),
        ("<teammate-message summary='it is' teammate_id=\"a\">", True),
        ('<teammate-message summary="1 > 0" teammate_id="a" >', True),
        ("<teammate-message teammate_id='a'>", False),
        ('<teammate-message other_teammate_id="a">', False),
        ('<teammate-message summary="teammate_id=">', False),
        ('<teammate-messages teammate_id="a">', False),
        ('<teammate-message>teammate_id="a"', False),
    ],
)
def test_a_teammate_tag_is_one_that_carries_a_teammate_id_in_double_quotes(start, expected):
    assert tags.is_teammate(f"{start}text</teammate-message>") is expected
    assert [mate.text for mate in tags.teammates(f"{start}text</teammate-message>")] == ["text"] * expected


@pytest.mark.parametrize(
    "unit", ["<teammate-message ", '<teammate-message "', '<teammate-message a="', '<teammate-message "x" ']
)
def test_teammate_tags_without_end_take_linear_time(unit):
    began = time.perf_counter()
    tags.teammates(unit * 40_000)
    assert time.perf_counter() - began < 2


@pytest.mark.parametrize(
    ("flag", "side"), [([], True), ({}, True), (1, True), ("x", True), (0, False), ("", False), (None, False)]
)
def test_a_sidechain_flag_counts_as_javascript_takes_it(tmp_path, flag, side):
    first, second = turn(1, "hi", "yo")
    log = write_log(tmp_path / "p" / f"{SID}.jsonl", [first, second | {"isSidechain": flag}])
    message = load(log).messages[1]
    assert (message.is_sidechain, message.kind) == (side, "sidechain" if side else "ai")


def test_of_several_plans_the_last_call_counts_also_if_it_does_not_say_its_plan(tmp_path):
    def shown(*blocks):
        log = write_log(tmp_path / "p" / f"{SID}.jsonl", [entry("user", 1, "q"), entry("assistant", 2, list(blocks))])
        session = load(log)
        last = last_output(session.contents()[1], ClaudeDialect())
        return last and (last.kind, last.text), session.chunks[1].preview

    old, new, silent = (
        use(c, "ExitPlanMode", **g)[0] for c, g in (("1", {"plan": "old"}), ("2", {"plan": "new"}), ("3", {}))
    )
    assert shown(old, new) == (("plan_exit", "new"), "new")
    assert shown(*text("said"), old, silent) == (("text", "said"), "said")
    assert shown(old, silent) == (None, "ExitPlanMode")


def test_a_block_without_id_is_no_call(tmp_path):
    nameless = {"type": "tool_use", "name": "Bash", "input": {}}
    log = write_log(tmp_path / "p" / f"{SID}.jsonl", [entry("user", 1, "q"), entry("assistant", 2, [nameless])])
    session = load(log)
    assert not session.tool_calls
    assert session.chunks[1].tool_calls == 0
