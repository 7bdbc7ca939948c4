"""Blocks go to columns and come back the same."""

import sqlite3

from hypothesis import given
from hypothesis import strategies as st

from clm_sessions.model import Image, Text, Thinking, ToolCall, ToolResult, ToolUse, Unknown
from clm_sessions.store.codec import Packer, pack_result, unpack, unpack_result

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | TEXT,
    lambda c: st.lists(c, max_size=3) | st.dictionaries(TEXT, c, max_size=3),
    max_leaves=6,
)
IMAGE = st.builds(Image, media_type=TEXT, sha256=st.sampled_from(["aa", "bb"]), size=st.just(1), data=st.just(b"x"))
PART = (
    st.builds(Text, text=TEXT, extra=st.none() | st.just({"k": 1})) | IMAGE | st.builds(Unknown, type=TEXT, data=JSON)
)
CONTENT = TEXT | st.lists(PART, max_size=4).map(tuple)
USE = st.builds(ToolUse, id=st.none() | st.sampled_from(["a", "b"]), name=st.none() | TEXT, input=JSON)
RESULT = st.builds(
    ToolResult,
    tool_use_id=st.none() | st.sampled_from(["a", "b"]),
    content=CONTENT,
    is_error=st.booleans(),
    name=st.none() | TEXT,
)
BLOCKS = st.lists(PART | st.builds(Thinking, text=TEXT) | USE | RESULT, max_size=6).map(tuple)


@given(BLOCKS, st.booleans())
def test_the_blocks_of_a_message_survive_the_store(blocks, linked):
    calls = []
    if linked:
        results = {b.tool_use_id: b for b in reversed(blocks) if isinstance(b, ToolResult)}
        for use in (b for b in blocks if isinstance(b, ToolUse)):
            answer = results.pop(use.id, None)
            calls.append(
                ToolCall(
                    id=use.id,
                    name=use.name,
                    input=use.input,
                    args=use.args,
                    status="ok",
                    message=0,
                    result=answer.content if answer else None,
                    result_message=0 if answer else None,
                )
            )
    text, thinking, layout = Packer(calls).pack(0, blocks)
    stored = []
    for call in calls:
        result, result_layout = pack_result(call.result)
        stored.append(unpack_result(result, result_layout, lambda _: b"x"))
    back = [
        ToolCall(id=c.id, name=c.name, input=c.input, args=c.args, status=c.status, message=0, result=r)
        for c, r in zip(calls, stored, strict=True)
    ]
    assert stored == [c.result for c in calls]
    assert unpack(text, thinking, layout, dict(enumerate(back)), lambda _: b"x") == blocks


def test_no_block_and_an_empty_text_are_told_apart():
    assert Packer([]).pack(0, ()) == (None, None, None)
    assert Packer([]).pack(0, (Text(text=""),)) == ("", None, None)
    assert unpack(None, None, None, {}, lambda _: None) == ()
    assert unpack("", None, None, {}, lambda _: None) == (Text(text=""),)


def test_a_nul_inside_a_text_is_stored_as_a_symbol_that_sqlite_does_not_stop_at():
    text, _thinking, _layout = Packer([]).pack(0, (Text(text="a\0b"),))
    assert sqlite3.connect(":memory:").execute("select length(?)", (text,)).fetchone() == (3,)
    assert text == "a␀b"
