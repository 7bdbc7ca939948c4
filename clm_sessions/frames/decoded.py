"""What one line of a log holds, as far as JSON goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The JSON values found in one line, and what was wrong with it (None: nothing).

    ``bad``: something on the line is lost. A line may be repaired: values and a problem, but not bad.
    ``settled``: whatever else may be written behind it on the line, the values stay.
    """

    values: tuple[Any, ...] = ()
    problem: str | None = None
    bad: bool = False
    settled: bool = False

    @property
    def usable(self) -> bool:
        """Whether the values of a line that has no end yet can be used: it is whole so far, or settled."""
        return bool(self.values) and (self.settled or not self.bad)
