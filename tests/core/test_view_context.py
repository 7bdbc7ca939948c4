"""The parts of the context add up to what was recorded, and nothing is claimed that the log does not tell."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clm_sessions.view.context import CATEGORIES, Piece, Size, fills


def test_what_the_context_grew_by_is_shared_out_by_characters():
    sizes = [Size(seq=1, chunk=1, tokens=1000), Size(seq=4, chunk=1, tokens=1400)]
    pieces = [Piece(seq=1, category="replies", characters=300), Piece(seq=2, category="outputs", characters=100)]
    (fill,) = fills(sizes, pieces)
    assert dict(fill.parts) == {"start": 1000, "replies": 300, "outputs": 100}
    assert (fill.tokens, fill.grown) == (1400, None)


def test_growth_is_counted_from_the_chunk_before():
    found = fills([Size(seq=n, chunk=n, tokens=100 * n) for n in (1, 2, 5)], [])
    assert [fill.grown for fill in found] == [None, 100, 300]
    assert found[-1].parts["unlogged"] == 400


def test_after_a_compaction_everything_begins_anew():
    sizes = [Size(seq=1, chunk=1, tokens=9000), Size(seq=5, chunk=3, tokens=2000), Size(seq=8, chunk=5, tokens=2500)]
    pieces = [Piece(seq=6, category="prompts", characters=10)]
    found = fills(sizes, pieces, compactions=[3])
    assert dict(found[1].parts) == {"start": 2000}
    assert [fill.grown for fill in found] == [None, None, 500]
    assert found[2].parts["prompts"] == 500


def test_growth_that_came_with_an_image_is_not_shared_out():
    pieces = [Piece(seq=1, category="prompts", characters=5, images=1), Piece(seq=1, category="replies", characters=9)]
    (fill,) = fills([Size(seq=1, chunk=1, tokens=10), Size(seq=2, chunk=1, tokens=1500)], pieces)
    assert dict(fill.parts) == {"start": 10, "images": 1490}


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=30),
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(list(CATEGORIES)), st.integers(0, 10**5)), max_size=40),
    st.lists(st.integers(0, 40), max_size=3),
)
def test_the_parts_always_add_up_to_the_recorded_tokens(tokens, texts, compactions):
    sizes = [Size(seq=n, chunk=n // 3, tokens=size) for n, size in enumerate(tokens)]
    pieces = [Piece(seq=seq, category=name, characters=n) for seq, name, n in sorted(texts)]
    for fill in fills(sizes, pieces, compactions):
        assert sum(fill.parts.values()) == pytest.approx(fill.tokens)
        assert min(fill.parts.values()) >= 0
