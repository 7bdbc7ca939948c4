"""Counts that logs state, held to what can be a count at all."""

from __future__ import annotations

from typing import Any

from clm_sessions.model import Usage

COUNT_LIMIT = 1 << 40
"""No reply has so many tokens: what says so is damage, and a few of them would overflow the sums of SQLite."""


def count(value: Any) -> int | None:  # noqa: ANN401 - a JSON value
    """A whole number that can be a count, else None. ``3.0`` is whole."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if abs(value) < COUNT_LIMIT else None


def credible(usage: Usage) -> Usage:
    """The same usage without counts that can be none, whichever format read them."""
    given = (*usage.counts().values(), usage.cache_creation_1h)
    if all(n is None or -COUNT_LIMIT < n < COUNT_LIMIT for n in given):
        return usage
    a, b, c, d, e, f = map(count, given)
    return Usage(input=a, output=b, cache_read=c, cache_creation=d, reasoning=e, cache_creation_1h=f)
