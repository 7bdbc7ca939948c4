"""The clm vectors: what the upstream program made of each file (tests/vectors/clm/README.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from clm_sessions.checklog import check
from support import clm_vectors
from support.clm_vectors import LISTINGS, VECTORS

pytestmark = pytest.mark.vectors


def named(vectors):
    return pytest.mark.parametrize("vector", vectors, ids=lambda v: v.name)


def test_there_are_vectors_of_both_classes_and_a_listing():
    assert {v.expected["class"] for v in VECTORS} >= {"must", "quirk"}
    assert LISTINGS


@named([v for v in VECTORS if v.expected["class"] == "must"])
def test_what_every_reader_must_give_is_given(vector):
    assert clm_vectors.outcome(vector.input.read_bytes()) == clm_vectors.expected(vector)


@named([v for v in VECTORS if v.expected["class"] != "must"])
def test_quirks_of_the_upstream_parser_are_followed(vector):
    """The vectors leave readers free here; ours reads as upstream does, so that both show the same session."""
    assert clm_vectors.outcome(vector.input.read_bytes()) == clm_vectors.expected(vector)


@named(VECTORS)
def test_every_line_has_one_disposition(vector):
    data = vector.input.read_bytes()
    assert sum(clm_vectors.stream(data).lines.values()) == data.count(b"\n") + (
        not data.endswith(b"\n") and data != b""
    )


@named(VECTORS)
def test_the_schema_check_reports_every_line_that_is_not_valid(vector):
    lines = len(vector.input.read_bytes().removesuffix(b"\n").split(b"\n")) if vector.input.stat().st_size else 0
    wrong = [line for line, _ in check(vector.input)]
    assert [n for n in range(1, lines + 1) if n not in wrong] == vector.expected["schema_valid_lines"]


@named(LISTINGS)
def test_a_folder_lists_as_upstream_lists_it(vector):
    rows = [{k: v for k, v in row.items() if not k.endswith("_hex")} for row in vector.expected["rows"]]
    assert clm_vectors.listing(vector.folder / vector.name) == rows


def test_our_copy_of_the_vectors_equals_the_shared_one_byte_for_byte():
    ours, shared = (clm_vectors.TESTS / "vectors" / "clm", clm_vectors.TESTS.parents[1] / "shared" / "vectors" / "clm")
    if shared.is_dir():
        assert contents(ours) == contents(shared)
    assert contents(ours)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
