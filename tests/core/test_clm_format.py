"""The format clm beyond its vectors: where logs lie, what is claimed, and what each record becomes (spec clm 7)."""

from __future__ import annotations

import json
from pathlib import Path, PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clm_sessions.errors import Refused
from clm_sessions.formats.base import Confidence, Head, Located, StreamContext
from clm_sessions.formats.clm import CONTENT_LIMIT, Clm, clm_register_formats
from clm_sessions.formats.clm_dialect import outcome
from clm_sessions.frames import head, read_head
from clm_sessions.model import Place, Text, ToolResult, ToolUse, Unknown
from support import clm_vectors

CASE = clm_vectors.TESTS / "cases" / "clm-forward" / "input"
CONTEXT = StreamContext(role="main", session="x")
PLACE = Place(line=1, offset=0, length=1)
MAIN = Located(role="main", session="x")


def feed(*records, reader=None):
    reader = reader or Clm().reader(CONTEXT)
    return [reader.feed(record, PLACE) for record in records]


def message(**fields):
    (parsed,) = feed({"type": "msg", **fields})
    return parsed.message


def facts(*records):
    return {fact.name: fact.value for parsed in feed(*records) for fact in parsed.facts}


# -- finding ----------------------------------------------------------------------------------------------------


def test_logs_lie_in_the_state_folder():
    home = Path("/home/dev")
    assert list(Clm().roots(home, {})) == [home / ".local/state/clm"]
    assert list(Clm().roots(home, {"XDG_STATE_HOME": ""})) == [home / ".local/state/clm"]
    assert list(Clm().roots(home, {"XDG_STATE_HOME": "/state"})) == [Path("/state/clm")]


@pytest.mark.parametrize("name", ["20260302-090000-0a1b2c3d", "a", "-", "Z" * 64])
def test_a_session_is_named_by_its_file(name):
    assert Clm().locate(PurePath("/s/clm", f"{name}.jsonl")) == Located(role="main", session=name)


@pytest.mark.parametrize(
    "path",
    [
        "a.jsonl.bak.bak",
        "a.jsonl.tmp",
        "a.JSONL",
        "a.json",
        ".jsonl",
        "under_score.jsonl",
        "dot.ted.jsonl",
        "café.jsonl",
        "a\n.jsonl",
        "Z" * 65 + ".jsonl",
        "a.blobs/0123.jsonl",
        "a.spool/out.jsonl",
    ],
)
def test_other_files_are_no_logs(path):
    assert Clm().locate(PurePath("/s/clm", path)) is None


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("a.jsonl.bak", "earlier"),
        (f"a.blobs/{'0' * 64}.png", "side"),
        (f"a.blobs/{'0' * 64}.svg", None),
        ("a.blobs/0.png", None),
        ("a.spool/x.txt", "side"),
        ("a.spool/x.sh", None),
    ],
)
def test_files_beside_a_log_belong_to_its_session(path, role):
    located = Clm().locate(PurePath("/s/clm", path))
    assert located == (role and Located(role=role, session="a"))


def claim(data):
    fmt = Clm()
    return fmt.sniff(MAIN, Head(records=head(data, fmt.decode), data=data)).confidence


@pytest.mark.parametrize(
    ("data", "confidence"),
    [
        (b'{"type":"meta","v":1}\n', Confidence.SIGNATURE),
        (b'nonsense\n{"type":"msg","role":"user"}\n{"v":2,"type":"meta"}\n', Confidence.SIGNATURE),
        (b'{"content":"x","role":"tool","type":"msg"}', Confidence.SHAPE),
        (b'{"type":"meta","v":true}\n', Confidence.NO),
        (b'{"type":"meta"}\n{"type":"msg"}\n{"type":"msg","role":"developer"}\n', Confidence.NO),
        (b'{"type":"user","message":{"role":"user"}}\n{"type":"assistant"}\n' * 50, Confidence.NO),
        (b"", Confidence.NO),
        (b"[1]\nnull\n\0\0\n", Confidence.NO),
    ],
)
def test_a_file_is_claimed_by_its_records(data, confidence):
    assert claim(data) == confidence


@pytest.mark.parametrize("path", sorted(CASE.glob("*.jsonl")), ids=lambda p: p.name)
def test_the_logs_of_the_case_are_claimed(path):
    with path.open("rb") as file:
        assert claim(read_head(file)) > Confidence.NO


def test_the_format_is_registered():
    assert [fmt.name for fmt in clm_register_formats()] == ["clm"]


# -- session facts ----------------------------------------------------------------------------------------------


def test_the_first_meta_gives_the_facts_of_the_session():
    meta = {"type": "meta", "v": 1, "id": "x", "created": 1772442000.5, "model": "m", "provider": "p", "agent": "a"}
    later = {"type": "meta", "v": 1, "model": "other"}
    assert facts(meta, later) == {
        "meta": meta,
        "created": 1772442000500,
        "model": "m",
        "provider": "p",
        "agent": "a",
    }


@pytest.mark.parametrize("created", ["1772442000", None, True, [1], 1e300, -1e300, 10**30])
def test_a_creation_time_that_is_none_is_not_recorded(created):
    assert "created" not in facts({"type": "meta", "v": 1, "created": created})


def test_facts_of_an_odd_kind_are_left_to_the_whole_meta_record():
    meta = {"type": "meta", "model": ["m"], "agent": 3, "provider": None}
    assert facts(meta) == {"meta": meta}


def test_a_meta_record_too_deep_to_store_keeps_its_plain_fields():
    deep: list = []
    for _ in range(900):
        deep = [deep]
    assert facts({"type": "meta", "v": 1, "x": deep})["meta"] == {"type": "meta", "v": 1}


@pytest.mark.parametrize("version", [2, 1.5, 1e308])
def test_a_newer_version_is_refused_by_number_and_line(version):
    reader = Clm().reader(CONTEXT, {"meta": True})
    with pytest.raises(Refused, match=rf"version {version}.* \(line 7\)".replace("+", r"\+")):
        reader.feed({"type": "meta", "v": version}, Place(line=7, offset=0, length=1))


@pytest.mark.parametrize("version", [1, 1.0, 0, -3, "2", None, True, [9]])
def test_other_versions_pass(version):
    assert feed({"type": "meta", "v": version})[0].disposition == "fact"


def test_a_prompt_record_is_a_fact_and_an_unknown_record_is_counted_by_its_type():
    prompt, event, none, odd = feed(
        {"type": "prompt", "hash": "00ff", "content": "You are a test."}, {"type": "event"}, {}, {"type": 5}
    )
    assert prompt.facts[0].value == {"hash": "00ff", "content": "You are a test."}
    assert (event.disposition, event.type, event.issue) == ("raw", "event", None)
    assert (none.disposition, none.type) == (odd.disposition, odd.type) == ("raw", None)


@pytest.mark.parametrize("value", [None, 5, [1], "text"])
def test_what_is_no_object_is_noted_but_no_bad_line(value):
    (parsed,) = feed(value)
    assert (parsed.disposition, parsed.issue_kind) == ("raw", "not_object")


# -- messages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "kind", "origin"),
    [
        ({"role": "system", "content": "s"}, "hard_noise", "system"),
        ({"role": "user", "content": "u"}, "user", "prompt"),
        ({"role": "user"}, "user", "prompt"),
        ({"role": "user", "content": " [context update]"}, "user", "prompt"),
        ({"role": "user", "content": "[context update]"}, "hard_noise", "context"),
        ({"role": "user", "content": '[background job 1 ("a") finished, exit status 0]\nx'}, "ai", "notification"),
        ({"role": "user", "content": 'a [background job 1 ("a") finished'}, "user", "prompt"),
        ({"role": "user", "content": "[background job 1 finished"}, "user", "prompt"),
        ({"role": "assistant", "content": "[context update]"}, "ai", "reply"),
        ({"role": "tool", "tool_call_id": "1"}, "ai", "tool_result"),
    ],
)
def test_each_record_goes_where_the_spec_puts_it(fields, kind, origin):
    found = message(**fields)
    assert (found.kind, found.origin, found.role) == (kind, origin, fields["role"])
    assert found.at is None


def test_absent_content_differs_from_empty_content():
    assert message(role="user").blocks == ()
    assert message(role="user", content="").blocks == (Text(text=""),)
    assert message(role="tool").blocks == (ToolResult(tool_use_id=None, content=()),)
    assert message(role="tool", content="").blocks == (ToolResult(tool_use_id=None, content=""),)


@pytest.mark.parametrize(
    ("args", "value"),
    [
        ('{"path": "."}', {"path": "."}),
        ('{"shelf": ', '{"shelf": '),
        ("plain", "plain"),
        ("", ""),
        ("[1]", [1]),
        ("{}{}", "{}{}"),
        ("NaN", "NaN"),
        (None, None),
        ({"a": 1}, None),
    ],
)
def test_arguments_are_kept_as_text_and_parsed_where_they_are_json(args, value):
    (call,) = message(role="assistant", tool_calls=[{"id": "c", "name": "n", "args": args}]).blocks
    assert call == ToolUse(id="c", name="n", input=value, args=args if isinstance(args, str) else None)


def test_text_stands_before_the_calls_of_the_same_record():
    found = message(role="assistant", content="t", tool_calls=[{}, {"id": ""}])
    assert found.blocks == (
        Text(text="t"),
        ToolUse(id=None, name=None, input=None),
        ToolUse(id="", name=None, input=None),
    )


@pytest.mark.parametrize(
    ("content", "kept", "cut"),
    [
        ("a" * (CONTENT_LIMIT - 1), "a" * (CONTENT_LIMIT - 1), False),
        ("a" * CONTENT_LIMIT, "a" * CONTENT_LIMIT, True),
        ("a" * 70_000, "a" * CONTENT_LIMIT, True),
        ("é" * 40_000, "é" * 32_767 + "\ufffd", True),
        ("\ufffd" * 60_000, "\ufffd" * 60_000, False),
        ("a" * (CONTENT_LIMIT - 2) + "\ufffd", "a" * (CONTENT_LIMIT - 2) + "\ufffd", True),
    ],
    ids=range(6),
)
def test_content_of_65535_bytes_counts_as_cut(content, kept, cut):
    found = message(role="user", content=content)
    assert found.joined == kept
    assert found.detail == ({"cut": True} if cut else None)


def test_attachments_are_kept_beside_the_text():
    images = [{"type": "image", "media_type": "image/png", "sha256": "00", "bytes": 3}]
    blocks = (Text(text="see"), Unknown(type="image", data=images[0]))
    assert message(role="user", content="see", attachments=images).blocks == blocks
    assert message(role="user", content="see", attachments="x").blocks == blocks[:1]


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("[context update] current time: Mon, 02 Mar 2026 09:16:40 +0000\n(x)", 1772443000000),
        ("[context update] current time: 2 Mar 2026 10:16:40 +0100", 1772443000000),
        ("[context update] current time: Mon, 31 Feb 2026 09:16:40 +0000", None),
        ("[context update] current time: Mon, 02 Foo 2026 09:16:40 +0000", None),
        ("[context update] current time: soon", None),
        ("[context update]", None),
    ],
)
def test_a_context_update_gives_an_approximate_time_and_no_message_a_time(text, ms):
    (parsed,) = feed({"type": "msg", "role": "user", "content": text})
    assert [(f.name, f.value) for f in parsed.facts] == ([("context_time", ms)] if ms else [])
    assert parsed.at is parsed.message.at is None


def test_the_end_of_a_background_job_is_tied_to_the_call_that_started_it():
    started = {"type": "msg", "role": "tool", "tool_call_id": "c7", "tool_name": "bg_exec"}
    started["content"] = "started background job 3: count (result will arrive later)"
    done = {"type": "msg", "role": "user", "content": '[background job 3 ("count") finished, exit status 0]\n'}
    reader = Clm().reader(CONTEXT)
    feed(started, reader=reader)
    state = json.loads(json.dumps(reader.state()))
    first, again = feed(done, done, reader=Clm().reader(CONTEXT, state))
    assert first.message.source_tool_use_id == "c7"
    assert again.message.source_tool_use_id is None


def test_the_state_stays_small_whatever_the_log_says():
    reader = Clm().reader(CONTEXT)
    for n in range(1000):
        content = f"started background job {n}"
        feed({"type": "msg", "role": "tool", "tool_call_id": "c", "content": content}, reader=reader)
    assert len(json.dumps(reader.state())) < 2000


# -- what results say -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool failed: ValueError\n\n(exit status 3)]", {"failed": True, "exit_status": 3}),
        ("[tool failed: denied by user]", {"failed": True, "denied": True}),
        ("[tool failed: (killed by signal 15: Terminated)]", {"failed": True, "signal": 15}),
        ("out\n(killed by signal 9: Killed)\n", {"signal": 9}),
        ("out\n(exit status 1)", {"exit_status": 1}),
        ("[tool failed: timed out after 500 ms]", {"failed": True, "timed_out_ms": 500}),
        ("timed out after 500 ms", {"timed_out_ms": 500}),
    ],
)
def test_a_failure_is_read_from_the_text(text, said):
    assert outcome(text) == said
    assert Clm().dialect.failed(text)
    assert message(role="tool", content=text).detail == said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        "out\n(exit status 0)",
        "the log says (exit status 3) and goes on",
        "it timed out after 5 ms, then worked",
        " [tool failed",
        "[Tool failed: x]",
    ],
)
def test_other_text_is_no_failure(text):
    assert not Clm().dialect.failed(text)


def test_ids_are_taken_to_repeat():
    assert Clm().dialect.tool_ids == "reused"


# -- hostile records --------------------------------------------------------------------------------------------


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
KEYS = ("v", "id", "created", "model", "content", "tool_calls", "tool_call_id", "tool_name", "attachments", "hash")
RECORD = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["meta", "msg", "prompt"]) | ODD,
        "role": st.sampled_from(["system", "user", "assistant", "tool"]) | ODD,
        **dict.fromkeys(KEYS, ODD),
    },
)


@given(st.lists(RECORD | ODD, max_size=4))
def test_no_record_raises_anything_but_a_refusal(records):
    reader = Clm().reader(CONTEXT)
    for record in records:
        try:
            parsed = reader.feed(record, PLACE)
        except Refused:
            continue
        assert (parsed.message is not None) == (parsed.disposition == "message")
        assert (parsed.issue is not None) >= (parsed.disposition == "issue")


@pytest.mark.parametrize("vector", clm_vectors.VECTORS, ids=lambda v: v.name)
def test_a_reader_goes_on_from_any_state_as_if_it_had_not_stopped(vector):
    records = [v for line in vector.input.read_bytes().split(b"\n") for v in Clm().decode(line, False).values]
    if "error" in vector.expected:
        return
    expected = feed(*records)
    for cut in range(len(records) + 1):
        first = Clm().reader(CONTEXT)
        before = feed(*records[:cut], reader=first)
        second = Clm().reader(CONTEXT, json.loads(json.dumps(first.state())))
        assert before + feed(*records[cut:], reader=second) == expected
