"""check-log: what the schema says of a log (what it says of each vector is tested with the vectors)."""

from __future__ import annotations

import json
import sys

import pytest

from clm_sessions import checklog
from clm_sessions.errors import UsageError
from clm_sessions.frames import lines
from support import clm_vectors

GOOD = b'{"type":"meta","v":1,"id":"a","created":1}\n'


def check(tmp_path, data):
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    return checklog.check(path)


def test_the_schema_is_the_seeds_own():
    ours = clm_vectors.TESTS.parent / "clm_sessions" / checklog.SCHEMA
    seeds = list((clm_vectors.TESTS.parents[1] / "shared" / "seeds").glob("000_*.txt"))
    for seed in seeds:
        assert json.loads(ours.read_bytes()) == json.loads(seed.read_bytes())
    assert json.loads(ours.read_bytes())["title"] == "clm session log record"


def test_a_good_log_has_no_findings(tmp_path):
    assert check(tmp_path, GOOD + b'{"type":"msg","role":"user","content":"hi"}\n{"type":"new"}') == []
    assert check(tmp_path, b"") == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (b'{"type":"msg","role":"pope"}', "role: 'pope' is not one of ['system', 'user', 'assistant', 'tool']"),
        (b'{"type":"msg","role":"tool"}', "'tool_call_id' is a required property"),
        (b'{"type":"msg","role":"assistant","tool_calls":[{"id":1}]}', "tool_calls.0.id: 1 is not of type 'string'"),
        (b'{"type":"meta","v":0,"id":"a","created":1}', "v: 0 is less than the minimum of 1"),
        (b"{}", "'type' is a required property"),
        (b"[]", "[] is not of type 'object'"),
        (b'"\xff"', "not UTF-8 (byte 2 of the line)"),
        (b" \r", "blank line"),
        (b"{}{}", "2 records on one line"),
    ],
)
def test_a_finding_names_the_line_and_the_fault(tmp_path, line, wrong):
    assert check(tmp_path, GOOD + line + b"\n" + GOOD) == [(2, wrong)]


def test_a_finding_does_not_repeat_a_huge_value(tmp_path):
    ((line, wrong),) = check(tmp_path, b'{"type":"msg","role":"user","content":["' + b"x" * 100_000 + b'"]}')
    assert line == 1
    assert wrong.startswith("content: ['xxx")
    assert len(wrong) == checklog.MESSAGE_LIMIT


def test_depth_is_no_fault_where_the_schema_is_silent_and_never_a_crash(tmp_path):
    deep = b"[" * 3000 + b"]" * 3000
    assert check(tmp_path, b'{"type":"msg","role":"user","x":' + deep + b"}") == []
    (finding,) = check(tmp_path, b'{"type":"msg","role":"user","content":' + deep + b"}")
    assert finding[0] == 1
    assert len(check(tmp_path, b'{"type":"msg","role":"user","x":' + deep * 10 + b"}")) == 1


def test_a_line_too_long_to_read_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(checklog, "lines", lambda file: lines(file, limit=100, block=16))
    ((line, wrong),) = check(tmp_path, GOOD + b'{"type":"msg","content":"' + b"x" * 5000 + b'"}\n')
    assert line == 2
    assert wrong == "5,028 bytes: too long to check"


def test_without_jsonschema_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(UsageError, match=r'pip install "clm-sessions\[check\]"'):
        check(tmp_path, GOOD)
