"""A price, and what a reply costs by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clm_sessions.model import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Rates of a model in US dollars per million tokens, for some days and some sizes of the input.

    ``from_day`` (inclusive) and ``until_day`` (exclusive) are days in UTC, None: open. It holds for replies with more
    than ``input_above`` and at most ``input_up_to`` input tokens, those from and to the cache included, and then for all
    of their tokens. Rates of None: there is no price; ``source`` says why.
    """

    model: str
    source: str
    from_day: str | None = None
    until_day: str | None = None
    input_above: int | None = None
    input_up_to: int | None = None
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_creation: float | None = None
    cache_creation_1h: float | None = None
    reasoning: float | None = None

    def holds(self, day: str | None, size: int) -> bool:
        """Whether it is for a reply of that day and input size. Of no day: only if the model has one price for all days."""
        if self.from_day is not None and (day is None or day < self.from_day):
            return False
        if self.until_day is not None and (day is None or day >= self.until_day):
            return False
        return (self.input_above is None or size > self.input_above) and (
            self.input_up_to is None or size <= self.input_up_to
        )

    def usd(self, usage: Usage) -> float | None:
        """What a reply costs by these rates. The same sum as in ``store.costs``."""
        rates = (
            self.input,
            self.cache_read,
            self.cache_creation,
            self.cache_creation_1h,
            self.output,
            self.reasoning,
        )
        written, out = usage.cache_creation or 0, usage.output or 0
        hour, thought = min(usage.cache_creation_1h or 0, written), min(usage.reasoning or 0, out)
        tokens = (usage.input or 0, usage.cache_read or 0, written - hour, hour, out - thought, thought)
        total = 0.0
        for rate, number in zip(rates, tokens, strict=True):
            if rate is None:
                return None
            total += rate * number
        return total / 1e6


def cost(prices: Iterable[Price], day: str | None, usage: Usage | None) -> float | None:
    """US dollars for one reply, by the one price that holds. None if there is none, or input or output is not recorded."""
    if usage is None or usage.input is None or usage.output is None:
        return None
    sizes = (usage.input, usage.cache_read or 0, usage.cache_creation or 0)
    if min(*sizes, usage.output) < 0:
        return None
    found = next((price for price in prices if price.holds(day, sum(sizes))), None)
    return None if found is None else found.usd(usage)
