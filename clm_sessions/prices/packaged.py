"""Prices out of the data that the library genai-prices brings along. Nothing is loaded from the network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timezone
from functools import cache
from importlib.util import find_spec
from typing import Any

from clm_sessions.prices.values import Price

_EVER = datetime(1, 1, 1, tzinfo=timezone.utc)
_WHOLE = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_creation": "cache_write_mtok",
    "cache_creation_1h": "cache_write_1h_mtok",
    "reasoning": "output_reasoning_mtok",
}


def installed() -> bool:
    """Whether the library is there. It is not loaded for that."""
    try:
        return find_spec("genai_prices") is not None
    except (ImportError, ValueError):  # something stands in its place
        return False


def load() -> None:
    """Load the library now, if it is there: some 400 ms, once."""
    if installed():
        look_up("")


@cache
def version() -> str:
    """The version of the library, which is that of its prices."""
    from importlib.metadata import version as installed_version

    return f"genai-prices {installed_version('genai-prices')}"


def look_up(model: str) -> tuple[Price, ...]:
    """All prices of a model, each day and each size of input in one of them. A model it does not know has one without rates."""
    from genai_prices.data_snapshot import get_snapshot  # some 400 ms, the first time

    try:
        provider, info = get_snapshot().find_provider_model(model, None, None, None)
    except LookupError:
        return (Price(model=model, source=f"{version()} does not know it"),)
    source = f"{version()}: {provider.id}/{info.id}"
    starts = _starts(info.prices)
    if starts is None:
        return (Price(model=model, source=f"{source} has a price that depends on the hour"),)
    found: list[Price] = []
    for number, start in enumerate(starts):
        until = starts[number + 1].date().isoformat() if number + 1 < len(starts) else None
        day = start.date().isoformat() if number else None
        sizes = _sizes(model, source, info.get_prices(start))
        found += [replace(each, from_day=day, until_day=until) for each in sizes]
    return tuple(found)


def _starts(prices: Any) -> list[datetime] | None:  # noqa: ANN401 - the library's own type
    """The first moments from which prices differ, the beginning of time first. None: they differ by the hour."""
    starts = {_EVER}
    for each in prices if isinstance(prices, list) else ():
        if each.constraint is None:
            continue
        if not hasattr(each.constraint, "start_date"):
            return None
        day = each.constraint.start_date
        starts.add(datetime(day.year, day.month, day.day, tzinfo=timezone.utc))
    return sorted(starts)


def _sizes(model: str, source: str, prices: Any) -> Iterator[Price]:  # noqa: ANN401 - the library's own type
    """The prices of one day, by size of the input."""
    given = {name: getattr(prices, key) for name, key in _WHOLE.items()}
    if given["input"] is None or given["output"] is None or getattr(prices, "requests_kcount", None) is not None:
        yield Price(model=model, source=f"{source} is not priced by tokens alone")
        return
    bounds = sorted({tier.start for value in given.values() for tier in getattr(value, "tiers", ())})
    for above, up_to in zip([None, *bounds], [*bounds, None], strict=True):
        rates = {name: _rate(value, above) for name, value in given.items()}
        written = _first(rates["cache_creation"], rates["input"])
        yield Price(
            model=model,
            source=source,
            input_above=above,
            input_up_to=up_to,
            input=rates["input"],
            output=rates["output"],
            cache_read=_first(rates["cache_read"], rates["input"]),
            cache_creation=written,
            cache_creation_1h=_first(rates["cache_creation_1h"], written),
            reasoning=_first(rates["reasoning"], rates["output"]),
        )


def _rate(value: Any, above: int | None) -> float | None:  # noqa: ANN401 - a decimal, or prices by size
    if value is None:
        return None
    if not hasattr(value, "tiers"):
        return float(value)
    reached = [tier.price for tier in value.tiers if above is not None and tier.start <= above]
    return float(reached[-1] if reached else value.base)


def _first(rate: float | None, otherwise: float | None) -> float | None:
    return otherwise if rate is None else rate
