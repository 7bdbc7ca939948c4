"""Twice the log takes about twice the time, in the shapes that make other readers quadratic."""

from __future__ import annotations

import time

import pytest

from clm_sessions.derive import Bundle, derive
from clm_sessions.derive.steps import items, steps
from clm_sessions.formats.base import Dialect
from clm_sessions.formats.claude_code import ClaudeCode
from clm_sessions.model import Message, Place, Stream, Text, ToolResult, ToolUse

SMALL, FACTOR = 1_500, 4
ROUNDS = 3


class Reusing(Dialect):
    tool_ids = "reused"


def message(number, blocks, role="assistant", kind="ai", at=None, **more):
    place = Place(line=number + 1, offset=number, length=1)
    at = number if at is None else at
    return Message(place=place, role=role, kind=kind, origin="reply", blocks=blocks, at=at, uuid=f"u{number}", **more)


def one_chunk(n):
    """One AI chunk of n calls, their results in reverse order at the end."""
    calls = [message(i, (ToolUse(id=f"t{i}", name="A", input={}), Text(text="x"))) for i in range(n)]
    results = [message(n + i, (ToolResult(tool_use_id=f"t{n - 1 - i}", content="r"),), role="user") for i in range(n)]
    return calls + results


def one_id(n):
    """One id for all calls, which are made in one reply and answered under other names."""
    uses = tuple(ToolUse(id="", name="A", input={}) for _ in range(n))
    return [
        message(0, uses),
        *(message(1 + i, (ToolResult(tool_use_id="", content="r", name="B"),), role="tool") for i in range(n)),
    ]


def same_time(n):
    """Every step at the same moment, so that none begins clearly later than another."""
    return [message(i, (Text(text="x"),), at=5) for i in range(n)]


def chained(n):
    """One thread of prompts, each the parent of the next, with a rewind at its root."""
    prompts = [message(i, (Text(text="x"),), role="user", kind="user", parent_uuid=f"u{i - 1}") for i in range(1, n)]
    return [message(0, (Text(text="x"),), role="user", kind="user"), *prompts]


def cost(messages, dialect):
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        (session,) = derive(Bundle(format="x", key="k", session="k", main=Stream(messages=messages)), dialect)
        for content in session.contents():
            steps(content, dialect)
            items(content, dialect)
        best = min(best, time.process_time() - begun)
    return best


@pytest.mark.parametrize(
    ("shape", "dialect"),
    [
        (one_chunk, ClaudeCode.dialect),
        (one_id, Reusing()),
        (same_time, ClaudeCode.dialect),
        (chained, ClaudeCode.dialect),
    ],
    ids=["one chunk", "one id", "same time", "chained"],
)
def test_time_grows_with_the_log_and_not_with_its_square(shape, dialect):
    small, large = cost(shape(SMALL), dialect), cost(shape(SMALL * FACTOR), dialect)
    assert large < small * FACTOR * 2.5, f"{small:.3f} s, {large:.3f} s for {FACTOR} times as much"
