"""The Claude Code vectors: folders with known results (tests/vectors/claude/README.md)."""

from __future__ import annotations

import pytest

from support import claude_vectors
from support.claude_vectors import TESTS

pytestmark = pytest.mark.vectors
VECTORS = claude_vectors.vectors()


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_there_are_vectors():
    assert VECTORS


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: v.name)
def test_a_folder_gives_exactly_the_known_result(vector):
    theirs = claude_vectors.expected(vector)["sessions"]
    assert claude_vectors.differences(claude_vectors.outcome(vector), theirs) == []


def test_our_copy_of_the_vectors_equals_the_shared_one_byte_for_byte():
    ours, shared = TESTS / "vectors" / "claude", TESTS.parents[1] / "shared" / "vectors" / "claude"
    if shared.is_dir():
        assert contents(ours) == contents(shared)
