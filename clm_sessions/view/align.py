"""Two sessions turn by turn: which turns of one stand beside which of the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

Pair = tuple[int | None, int | None]
_COMPARED = 40_000
"""Turns of one times turns of the other up to which the best alignment is looked for; it is quadratic."""


def align(a: Sequence[str], b: Sequence[str]) -> list[Pair]:
    """Pairs of positions, in order, each position once; None where the other has nothing beside it.

    Equal prompts stand beside each other. Between those, the first different ones are paired as they come.
    """
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    pairs: list[Pair] = [(n, n) for n in range(head)]
    rest_a, rest_b = a[head:], b[head:]
    if len(rest_a) * len(rest_b) > _COMPARED:
        return pairs + list(_beside(range(head, len(a)), range(head, len(b))))
    for _tag, i, j, k, m in SequenceMatcher(None, rest_a, rest_b, autojunk=False).get_opcodes():
        pairs += _beside(range(head + i, head + j), range(head + k, head + m))
    return pairs


def _beside(left: range, right: range) -> Iterator[Pair]:
    for n in range(max(len(left), len(right))):
        yield (left[n] if n < len(left) else None, right[n] if n < len(right) else None)
