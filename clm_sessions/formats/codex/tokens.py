"""From the running totals of a thread to the tokens of each reply (spec other-formats 1, "Tokens")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clm_sessions.formats.numbers import count
from clm_sessions.model import Usage

_FIELDS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
Counts = tuple[int | None, int | None, int | None, int | None]


class Tokens:
    """Takes in one ``token_count`` after another. ``state``: what an earlier one left."""

    def __init__(self, state: Sequence[int | None] | None = None) -> None:
        self._before: Counts | None = None if state is None else _four(state)

    def state(self) -> list[int | None] | None:
        """The last totals, or None before the first."""
        return None if self._before is None else list(self._before)

    def take(self, info: Any, *, continued: bool) -> Usage | None:  # noqa: ANN401 - a JSON value
        """What was used since the last count; None if nothing was said or nothing is new.

        The thread's total is told again and again, so what counts is by how much it rose. Where it fell, the program
        has begun to count anew, and the reply's own figure is taken; so it is at the first count of a thread that
        goes on from another one (``continued``), whose total holds what was used there.
        """
        if not isinstance(info, dict):
            return None
        total, last = _counts(info.get("total_token_usage")), _counts(info.get("last_token_usage"))
        if total is None:
            return None if last is None else _usage(last)
        before, self._before = self._before, total
        if before == total:
            return None
        if before is None:
            return _usage(last if continued and last is not None else total)
        if _sum(total) == _sum(before):
            return None
        if _sum(total) < _sum(before):
            return _usage(last if last is not None and _sum(last) <= _sum(total) else total)
        return _usage(_rise(before, total))


def _counts(given: Any) -> Counts | None:  # noqa: ANN401 - a JSON value
    if not isinstance(given, Mapping):
        return None
    found = _four([given.get(name) for name in _FIELDS])
    return found if any(n is not None for n in found) else None


def _four(values: Sequence[Any]) -> Counts:
    a, b, c, d = (_count(value) for value in (*values[:4], *(None,) * (4 - len(values))))
    return a, b, c, d


def _count(value: Any) -> int | None:  # noqa: ANN401 - a JSON value
    found = count(value)
    return found if found is not None and found >= 0 else None


def _sum(counts: Counts) -> int:
    return (counts[0] or 0) + (counts[2] or 0)


def _rise(before: Counts, total: Counts) -> Counts:
    a, b, c, d = (None if n is None else max(0, n - (old or 0)) for old, n in zip(before, total, strict=True))
    return a, b, c, d


def _usage(counts: Counts) -> Usage:
    """``input_tokens`` holds the cached part too; ours does not."""
    given, cached, output, reasoning = counts
    if given is not None and cached is not None:
        cached = min(cached, given)
        given -= cached
    return Usage(input=given, output=output, cache_read=cached, reasoning=reasoning)
