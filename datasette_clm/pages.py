"""Pages of a long list."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

ITEMS, WEIGHT = 100, 150
"""The most chunks on a page, and the weight at which it ends before that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Page ``number`` of ``pages``, both from 1 on. It holds ``seqs``, items ``first`` to ``last`` (from 1) of ``total``.

    ``starts``: at which index of the list each page begins.
    """

    number: int
    pages: int
    first: int
    last: int
    total: int
    seqs: Sequence[int]
    starts: Sequence[int] = (0,)

    def span(self, number: int) -> tuple[int, int]:
        """The first and the last item (from 1) of a page."""
        return self.starts[number - 1] + 1, self.starts[number] if number < self.pages else self.total


def page_of(
    seqs: Sequence[int],
    items: int = ITEMS,
    *,
    weight: Callable[[int], int] = lambda _seq: 0,
    page: int | None = None,
    chunk: int | None = None,
) -> Page:
    """The page asked for, or that on which ``chunk`` is or would be; beyond the end the last one. ``seqs`` ascend.

    ``items``: the most there are on a page; ``weight`` of a seq: how much it brings to the page beside itself, which ends
    at ``WEIGHT``. An item is never split.
    """
    starts = _starts(seqs, items, weight)
    number = page or 1
    if chunk is not None:
        number = bisect_right(starts, bisect_left(seqs, chunk))
    number = min(number, len(starts))
    start, stop = starts[number - 1], starts[number] if number < len(starts) else len(seqs)
    held = seqs[start:stop]
    return Page(
        number=number,
        pages=len(starts),
        first=start + 1 if held else 0,
        last=stop,
        total=len(seqs),
        seqs=held,
        starts=starts,
    )


def links(page: Page, href: Callable[[int], str], what: str) -> dict[str, Any]:
    """The links between the pages of a list of ``what`` for the macro ``pages``; None where there is none."""
    return {
        "first": href(1) if page.number > 1 else None,
        "previous": href(page.number - 1) if page.number > 1 else None,
        "next": href(page.number + 1) if page.number < page.pages else None,
        "last": href(page.pages) if page.number < page.pages else None,
        "words": f"{what} {page.first:,}\u2013{page.last:,} of {page.total:,}" if page.total else f"No {what.lower()}",
        "pages": page.pages,
    }


def _starts(seqs: Sequence[int], items: int, weight: Callable[[int], int]) -> list[int]:
    starts, held = [0], 0
    for index, seq in enumerate(seqs):
        if index - starts[-1] >= items or held >= WEIGHT:
            starts.append(index)
            held = 0
        held += weight(seq)
    return starts
