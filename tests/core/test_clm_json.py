"""JSON as clm reads it: the quick way and the odd way agree, and no bytes are too strange."""

from __future__ import annotations

import json
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clm_sessions.formats import clm_json

TEXT = st.text(alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
PIECES = st.lists(
    st.sampled_from([*'{}[]",:\\ u0e1.-+\n', '"a":', "\\ud83e", "\\uddb4", "null", "true", "\0", "\ufeff"])
)


def value(text):
    found = clm_json.decode(text.encode() if isinstance(text, str) else text)
    assert not found.bad, found.problem
    return found.values[0]


def is_bad(text):
    found = clm_json.decode(text.encode())
    return found.bad and found.values == ()


@given(JSON, st.booleans(), st.sampled_from([None, 1]))
def test_what_is_strict_json_is_read_the_same_by_the_lax_parser(wanted, ascii_only, indent):
    text = json.dumps(wanted, ensure_ascii=ascii_only, indent=indent)
    assert clm_json.parse(text) == (wanted, len(text))
    assert value(text.replace("\n", " ")) == wanted


@given(PIECES)
def test_the_quick_way_takes_nothing_the_lax_parser_would_read_otherwise(pieces):
    text = "".join(pieces)
    found = clm_json.decode(text.encode())
    try:
        parsed, end = clm_json.parse(text)
    except ValueError:
        assert found.bad
        assert found.values == ()
    else:
        assert repr(found.values) == repr((parsed,))
        assert found.bad == (end < len(text))


@given(st.binary(max_size=60))
def test_no_bytes_raise(line):
    clm_json.decode(line)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"a":1,"a":2}', {"a": 1}),
        ('[{"a":{"b":1,"b":2},"a":3}]', [{"a": {"b": 1}}]),
        (r'{"a\u0000x":1,"a":2}', {"a": 1}),
        ('"raw \t and \x1b"', "raw \t and \x1b"),
        ("\x01\x0b{\x0c}\x02", {}),
        ("\ufeff {}", {}),
        (r'"a\u0000b"', "a"),
        ('"a\0b"', "a"),
        (r'"\uZZZZb"', ""),
        (r'"\ud83e\uddb4\/\b"', "\N{BONE}/\b"),
        ("007", 7),
        ("-007", -7),
        ("1.", 1.0),
        ("-.5", -0.5),
        ("1.e2", 100.0),
        ("1e999", sys.float_info.max),
        ("9" * 5000, sys.float_info.max),
    ],
    ids=range(17),
)
def test_what_upstream_accepts_is_accepted(text, wanted):
    assert value(text) == wanted


def test_a_thousand_levels_are_read():
    inner, levels = value("[" * 1000 + "]" * 1000), 1
    while inner:
        inner, levels = inner[0], levels + 1
    assert levels == 1000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+1",
        ".5",
        "-",
        "NaN",
        "-Infinity",
        '"open',
        r'"\x"',
        r'"\u12"',
        r'"half \ud83e"',
        r'"\uddb4\ud83e"',
        "[1,]",
        "[1 2]",
        '{"a":1,}',
        '{"a" 1}',
        "{1:2}",
        "{'a':1}",
        "[",
        '{"a":[}',
        "[" * 1001 + "]" * 1001,
        "[" * 300_000,
        '{"a":' * 300_000,
    ],
    ids=range(22),
)
def test_what_upstream_refuses_is_bad(text):
    assert is_bad(text)


def test_what_follows_the_first_value_is_left_and_said():
    found = clm_json.decode(b'{"a":1}{"b":2}')
    assert found.values == ({"a": 1},)
    assert found.bad
    assert found.problem == "ignored after the first value: 7 characters"


@pytest.mark.parametrize("unit", ["[", '{"a":', '"\\ud83e\\uddb4",', "1,", '"', "\\", "\0", '{"a":1,"a":', "{}"])
def test_hostile_lines_take_linear_time(unit):
    line = ("[" + unit * (1_000_000 // len(unit))).encode()
    began = time.perf_counter()
    clm_json.decode(line)
    assert time.perf_counter() - began < 5
