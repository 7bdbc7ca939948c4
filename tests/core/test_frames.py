"""Frames: bytes to lines, lines to values. Whatever the bytes are, every one of them is accounted for."""

from __future__ import annotations

import io
import json
import math
import sqlite3
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clm_sessions.errors import Refused
from clm_sessions.frames import (
    TOO_DEEP,
    Decoded,
    RawLine,
    blank,
    decode_strict,
    document,
    head,
    lines,
    read_head,
    rows,
    strict,
)

NEWLINES = st.lists(st.binary(max_size=12), max_size=12).map(b"\n".join)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**60, max_value=2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def split(data, **options):
    return list(lines(io.BytesIO(data), **options))


def decode(text, *, first=False):
    return decode_strict(text.encode() if isinstance(text, str) else text, first=first)


@pytest.fixture(params=["orjson", "standard library"])
def parser(request, monkeypatch):
    """Both JSON parsers, as the extra "fast" is or is not installed."""
    if request.param == "orjson":
        pytest.importorskip("orjson")
    else:
        monkeypatch.setattr(strict, "orjson", None)


# -- lines ------------------------------------------------------------------------------------------------------


@given(NEWLINES, st.integers(1, 9))
def test_lines_put_together_are_the_file_again(data, block):
    found = split(data, block=block)
    assert b"".join(line.data + b"\n" * line.ended for line in found) == data
    assert [line.number for line in found] == list(range(1, len(found) + 1))
    assert [line.offset for line in found] == [sum(x.length for x in found[:i]) for i in range(len(found))]
    assert all(line.ended for line in found[:-1])


@given(NEWLINES, st.integers(1, 9), st.data())
def test_reading_goes_on_at_any_line_as_if_it_had_not_stopped(data, block, draw):
    found = split(data)
    if found:
        k = draw.draw(st.integers(0, len(found) - 1))
        assert split(data, offset=found[k].offset, number=found[k].number, block=block) == found[k:]


@given(NEWLINES, st.integers(0, 200))
def test_a_file_cut_anywhere_gives_the_same_whole_lines(data, cut):
    part = split(data[:cut])
    assert [line for line in part if line.ended] == split(data)[: sum(line.ended for line in part)]


def test_only_lf_ends_a_line():
    data = "a\r\nb\u2028c\x0b\x0c\x85\u2029\x1c".encode() + b"\xff\n\n"
    assert [line.data for line in split(data)] == [b"a\r", data[3:-2], b""]


def test_an_empty_file_has_no_line_and_a_lone_lf_is_one_blank_line():
    assert split(b"") == []
    assert split(b"\n") == [RawLine(1, 0, b"", True)]


@given(NEWLINES, st.integers(1, 9), st.integers(1, 6))
def test_a_line_over_the_limit_is_named_by_its_beginning_and_takes_its_place(data, block, limit):
    whole, limited = split(data), split(data, block=block, limit=limit)
    assert [(x.number, x.offset, x.length, x.ended) for x in limited] == [
        (x.number, x.offset, x.length, x.ended) for x in whole
    ]
    assert all(w.data.startswith(x.data) for w, x in zip(whole, limited, strict=True))


def test_a_line_far_over_the_limit_is_not_held_in_memory():
    class Endless(io.RawIOBase):
        left = 3_000

        def read(self, size=-1):
            self.left -= 1
            return b"x" * size if self.left > 0 else b"\n{}\n" if self.left == 0 else b""

    first, second = lines(Endless(), block=1 << 10, limit=1 << 16)
    assert first.length == 2_999 * 1024 + 1
    assert first.skipped > 0
    assert len(first.data) <= 1 << 16
    assert second.data == b"{}"


def test_a_long_line_takes_linear_time():
    data = b"x" * (8 << 20)
    began = time.perf_counter()
    assert len(split(data, block=1 << 10)) == 1
    assert time.perf_counter() - began < 2


# -- heads ------------------------------------------------------------------------------------------------------


def test_the_head_of_a_file_is_its_first_64_kb():
    assert len(read_head(io.BytesIO(b'{"a":1}\n' * 100_000))) == 64 << 10


def test_the_head_goes_on_to_the_end_of_a_long_first_line_but_not_past_4_mb():
    assert b"\n" in read_head(io.BytesIO(b"x" * (2 << 20) + b"\n" + b"y" * (4 << 20)))
    assert len(read_head(io.BytesIO(b"x" * (5 << 20)))) == 4 << 20


def test_the_last_record_of_a_head_counts_only_if_it_is_whole():
    def read(data):
        return tuple(head(data, lambda line, first: decode_strict(line, first=first)))

    assert read(b'\xef\xbb\xbf{"a":1}\nnonsense\n{"a":2}\n{"a":3}') == ({"a": 1}, {"a": 2}, {"a": 3})
    assert read(b'{"a":1}\n{"a":2}{"a":') == ({"a": 1},)
    assert read(b"") == ()


# -- strict JSON ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("parser")
class TestStrict:
    """What one line gives, whichever parser reads it."""

    @pytest.mark.parametrize(
        ("line", "value"),
        [
            ('{"a": 1}\r', {"a": 1}),
            ("42", 42),
            ("null", None),
            ("[]", []),
            ('"text"', "text"),
            ('{"a":1,"a":2}', {"a": 2}),
            ("-0", 0),
            (str(2**53 + 1), 2**53 + 1),
            (str(2**64), 2**64),
            (str(-(2**63) - 1), -(2**63) - 1),
            ("9" * 4300, int("9" * 4300)),
            ('"' + "9" * 5000 + '"', "9" * 5000),
            (r'"\ud83e\uddb4"', "\N{BONE}"),
            (r'"half \ud83e end"', "half \ufffd end"),
            (r'"\uddb4\ud83e"', "\ufffd\ufffd"),
            (r'"\ud83e\ud83e\uddb4"', "\ufffd\N{BONE}"),
            (r'"\\ud83e"', r"\ud83e"),
            (r'{"\udfff":0}', {"\ufffd": 0}),
            (r'"a\u0000b"', "a\0b"),
            (b'"\xff \xc3( \xe2\x82"', "\ufffd \ufffd( \ufffd"),
            (b'"\xed\xa0\x80"', "\ufffd\ufffd\ufffd"),
            ("[" * 512 + "]" * 512, json.loads("[" * 512 + "]" * 512)),
            ('"' + "[" * 2000 + '"', "[" * 2000),
        ],
        ids=range(23),
    )
    def test_a_value_is_read_exactly(self, line, value):
        found = decode(line)
        assert found == Decoded(values=(value,))
        assert type(found.values[0]) is type(value)

    @pytest.mark.parametrize(
        "line",
        [
            "NaN",
            '{"a":Infinity}',
            '{"a":-Infinity}',
            '{"a":1,}',
            "{'a':1}",
            '{"a":01}',
            '{"a":1.}',
            '"raw \t tab"',
            '"\\x"',
            "{",
            "[[",
            "not json",
            "9" * 4301,
            "-" + "9" * 5000,
            "[" * 513 + "]" * 513,
            "[" * 200_000,
            '{"a":' * 200_000,
            "1 2",
            "\x00\x00\x00",
            b"\xff",
            b"\xfe\xff\x00{",
            b" \xef\xbb\xbf{}",
        ],
    )
    def test_what_is_no_json_is_bad_and_gives_nothing(self, line):
        found = decode(line)
        assert found.bad
        assert found.problem
        assert found.values == ()

    @pytest.mark.parametrize(("line", "sign"), [("1e999", 1), ("-1e999", -1)])
    def test_a_number_too_large_is_the_largest_of_its_sign(self, line, sign):
        assert decode(line).values == (math.copysign(sys.float_info.max, sign),)

    @pytest.mark.parametrize("line", [b"", b"\r", b" \t ", b"\xc2\xa0", b"\x0b\x0c"])
    def test_a_blank_line_has_neither_value_nor_problem(self, line):
        assert blank(line)
        assert decode_strict(line, first=False) == Decoded()

    def test_a_byte_order_mark_is_dropped_at_the_beginning_of_the_file_only(self):
        assert decode(b"\xef\xbb\xbf{}\r", first=True) == Decoded(values=({},))
        assert decode(b"\xef\xbb\xbf{}").bad

    def test_depth_is_named_as_the_reason(self):
        assert decode("[" * 513 + "]" * 513).problem == TOO_DEEP
        assert decode('{"a":' + "[" * 20_000 + "]" * 20_000 + "}").problem == TOO_DEEP


@given(JSON, st.booleans())
def test_both_parsers_give_the_same_values(value, ascii_only):
    line = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert both(line)[0] == both(line)[1]
    assert not both(line)[0].bad


@given(st.binary(max_size=40))
def test_both_parsers_agree_on_any_bytes(line):
    assert both(line)[0] == both(line)[1]


@given(st.lists(st.sampled_from([*'{}[]",:\\ u0e1.-\n', '{"', '"type":"a"', '"uuid":1', "\\ud83e", "null", "\0"])))
def test_both_parsers_agree_on_pieces_of_json(pieces):
    line = "".join(pieces).encode()
    assert repr(both(line)[0]) == repr(both(line)[1])


def both(line):
    fast = decode_strict(line, first=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict, "orjson", None)
        return fast, decode_strict(line, first=True)


@given(JSON)
def test_values_can_be_stored_as_utf8(value):
    line = json.dumps(value).encode()
    json.dumps(decode_strict(line, first=False).values, ensure_ascii=False).encode("utf-8")


# -- several records on a line ----------------------------------------------------------------------------------


RECORD = '{"type":"user","uuid":"u1","message":{"role":"user","content":[{"type":"text","text":"a } { \\" b"}]}}'
OTHER = '{"timestamp":"2026-03-02T09:00:00Z","type":"x","list":[{"type":"y"}]}'


def values(*records):
    return tuple(json.loads(r) for r in records)


@given(st.integers(1, len(RECORD) - 1))
def test_a_whole_record_behind_a_torn_one_is_recovered_wherever_the_tear_is(cut):
    found = decode(RECORD[:cut] + OTHER)
    assert found.values == values(OTHER)
    assert found.bad


@given(st.integers(1, len(RECORD) - 1))
def test_whole_records_before_a_torn_one_are_kept(cut):
    found = decode(OTHER + RECORD[:cut])
    assert found.values == values(OTHER)
    assert found.bad


def test_records_with_nothing_between_them_are_all_read_and_nothing_is_bad():
    found = decode(f"{RECORD}{OTHER} {RECORD}")
    assert found.values == values(RECORD, OTHER, RECORD)
    assert found.problem == "3 records on one line"
    assert not found.bad


def test_records_between_stubs_and_nul_bytes_are_recovered():
    found = decode(f"\0\0\0{RECORD[:30]}{OTHER}{RECORD}{RECORD[:50]}{OTHER}  ")
    assert found.values == values(OTHER, RECORD, OTHER)
    assert found.bad


@pytest.mark.parametrize("rest", [" and text", "}", ",", " 5", " []", "{"])
def test_anything_left_over_makes_the_line_bad_and_keeps_its_records(rest):
    found = decode(RECORD + rest)
    assert found.values == values(RECORD)
    assert found.bad


def test_a_part_of_a_torn_record_is_not_taken_for_a_record():
    assert decode('{"type":"user","message":{"type":"m","uuid":"x"},"cut').values == ()
    assert decode('{"type":"user","message":{"content":"x"}').values == ()


@pytest.mark.parametrize(
    "unit",
    ['{"', '{"a":', '{"a":"', '{"type":"a","uuid":1},', '"{"', "[", '{"a":[', "{}", "1 ", "\\ud83e", '{"a":{"b":1},'],
)
def test_hostile_lines_take_linear_time(unit):
    line = (unit * (2_000_000 // len(unit))).encode()
    began = time.perf_counter()
    decode_strict(line, first=True)
    assert time.perf_counter() - began < 8


# -- whole files ------------------------------------------------------------------------------------------------


def test_a_document_is_one_value_over_many_lines():
    assert document(b'\xef\xbb\xbf{\r\n "a": [1,\n 2]\n}\n') == Decoded(values=({"a": [1, 2]},))


@pytest.mark.parametrize("data", [b"{} {}", b'{"a":', b"{}x"])
def test_a_document_that_is_not_one_value_is_bad(data):
    found = document(data)
    assert found.bad
    assert found.values == ()


def test_a_document_over_the_limit_is_not_read():
    assert document(b"[1]", limit=2) == Decoded(problem="larger than 2 bytes", bad=True)


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "odd name?#%.db"
    with sqlite3.connect(path) as db:
        db.execute("create table t (id integer, text text)")
        db.execute("insert into t values (1, 'one'), (2, cast(x'ff41' as text))")
    db.close()
    return path


def test_rows_of_a_database_are_read_with_text_replaced(database):
    assert list(rows(database, "select * from t where id >= ? order by id", (1,))) == [(1, "one"), (2, "\ufffdA")]


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_reading_a_database_leaves_no_trace(database, journal):
    with sqlite3.connect(database) as db:
        db.execute(f"pragma journal_mode = {journal}")
    db.close()
    before = {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in database.parent.iterdir()}
    assert len(list(rows(database, "select * from t"))) == 2
    assert {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in database.parent.iterdir()} == before


def test_rows_not_yet_checkpointed_are_seen(database):
    writer = sqlite3.connect(database)
    writer.execute("pragma journal_mode = wal")
    writer.execute("insert into t values (3, 'three')")
    writer.commit()
    assert len(list(rows(database, "select * from t"))) == 3
    writer.close()


def test_a_query_cannot_write(database):
    with pytest.raises(Refused):
        list(rows(database, "insert into t values (3, 'three')"))
    assert len(list(rows(database, "select * from t"))) == 2


def test_what_is_no_database_is_refused_by_name(tmp_path):
    path = tmp_path / "state.db"
    path.write_bytes(b"no database at all, but long enough to look at" * 9)
    with pytest.raises(Refused, match=r"state\.db"):
        list(rows(path, "select 1 from t"))
    with pytest.raises(Refused, match=r"missing\.db"):
        list(rows(tmp_path / "missing.db", "select 1"))
