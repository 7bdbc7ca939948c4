"""Where prices come from: a person's own first, then the library."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from clm_sessions.model import Usage
from clm_sessions.prices import packaged
from clm_sessions.prices.own import own_price
from clm_sessions.prices.values import Price, cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """``own``: prices of a person (``parse_own``), which win. ``packaged``: those of genai-prices too, where installed."""

    own: tuple[Price, ...] = ()
    packaged: bool = True
    _known: dict[str, tuple[Price, ...]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def empty(self) -> bool:
        """Whether it has no price of any model."""
        return not self.own and not (self.packaged and packaged.installed())

    def prices(self, model: str) -> tuple[Price, ...]:
        """All prices of a model; one without rates if nobody knows it, none if there is nobody to ask."""
        if model not in self._known:
            own = own_price(self.own, model)
            if own is not None:
                self._known[model] = (own,)
            elif self.packaged and packaged.installed():
                self._known[model] = packaged.look_up(model)
            else:
                self._known[model] = ()
        return self._known[model]

    def all(self, models: Iterable[str]) -> list[Price]:
        """The prices of several models."""
        return [price for model in models for price in self.prices(model)]

    def cost(self, model: str | None, day: str | None, usage: Usage | None) -> float | None:
        """US dollars for a reply of a model on a day (UTC); None if it cannot be said."""
        return None if model is None else cost(self.prices(model), day, usage)
