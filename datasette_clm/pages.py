"""Pages of a long list."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Page ``number`` of ``pages``, both from 1 on. It holds ``seqs``, items ``first`` to ``last`` (from 1) of ``total``."""

    number: int
    pages: int
    first: int
    last: int
    total: int
    seqs: Sequence[int]


def page_of(seqs: Sequence[int], size: int, *, page: int | None = None, chunk: int | None = None) -> Page:
    """The page asked for, or that on which ``chunk`` is or would be; beyond the end the last one. ``seqs`` ascend."""
    pages = max(1, -(-len(seqs) // size))
    number = page or 1
    if chunk is not None:
        number = bisect_left(seqs, chunk) // size + 1
    number = min(number, pages)
    start = (number - 1) * size
    held = seqs[start : start + size]
    return Page(
        number=number, pages=pages, first=start + 1 if held else 0, last=start + len(held), total=len(seqs), seqs=held
    )
