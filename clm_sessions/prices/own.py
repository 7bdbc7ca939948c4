"""A person's own prices, as they stand in the settings or in the configuration of Datasette.

[prices]
"claude-sonnet-4-5*" = { input = 3, output = 15, cache_read = 0.3, cache_creation = 3.75 }
"llama3:*" = { input = 0, output = 0 }
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from clm_sessions.errors import UsageError
from clm_sessions.prices.values import Price

RATES = ("input", "output", "cache_read", "cache_creation", "cache_creation_1h", "reasoning")
OWN = "your own prices"


def parse_own(given: object, where: str) -> tuple[Price, ...]:
    """Prices of a mapping from model (``*`` and ``?`` stand for anything) to rates per million tokens.

    What is not named costs what its whole costs: from and to the cache as input, reasoning as output. UsageError that
    names ``where`` if something else was given.
    """
    if not isinstance(given, Mapping):
        raise UsageError(f"{where}: prices must be a table of models")
    return tuple(_price(str(model), rates, where) for model, rates in given.items())


def _price(model: str, rates: object, where: str) -> Price:
    if not isinstance(rates, Mapping) or not {"input", "output"} <= rates.keys() <= set(RATES):
        raise UsageError(
            f"{where}: the price of {model!r} must have input and output, in US dollars per million tokens; "
            f"it may have {', '.join(RATES[2:])}"
        )
    for name, rate in rates.items():
        if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate < math.inf:
            raise UsageError(f"{where}: the price of {model!r}: {name} must be a number from 0 on")
    named = {name: float(rate) for name, rate in rates.items()}
    written = named.get("cache_creation", named["input"])
    return Price(
        model=model,
        source=OWN,
        input=named["input"],
        output=named["output"],
        cache_read=named.get("cache_read", named["input"]),
        cache_creation=written,
        cache_creation_1h=named.get("cache_creation_1h", written),
        reasoning=named.get("reasoning", named["output"]),
    )


def own_price(own: tuple[Price, ...], model: str) -> Price | None:
    """The first of a person's prices whose name fits the model."""
    name = model.lower()
    found = next((price for price in own if fnmatchcase(name, price.model.lower())), None)
    return None if found is None else replace(found, model=model)
