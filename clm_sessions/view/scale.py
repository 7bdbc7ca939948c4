"""A time axis on which a long wait takes little room: what came before and after it stays readable."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_LONG = 60_000
_TIMES, _PART = 3, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """A wait that is drawn shorter than it was: from ``start`` to ``end`` (ms), at ``at`` and ``width`` (0 to 1) wide."""

    start: int
    end: int
    at: float
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """``times`` (ms, ascending) stand at ``places`` (0 to 1); between two of them time is even. Both may be empty."""

    times: tuple[int, ...] = ()
    places: tuple[float, ...] = ()
    breaks: tuple[Break, ...] = ()

    def at(self, ms: int) -> float:
        """Where a time stands; those before and after all are put to the ends."""
        if len(self.times) < 2 or ms <= self.times[0]:
            return 0.0
        if ms >= self.times[-1]:
            return 1.0
        n = bisect_right(self.times, ms)
        start, end = self.times[n - 1], self.times[n]
        return self.places[n - 1] + (self.places[n] - self.places[n - 1]) * (ms - start) / (end - start)

    def time(self, place: float) -> int | None:
        """The time (ms) at a place from 0 to 1; None if nothing is on the axis."""
        if not self.times:
            return None
        n = bisect_right(self.places, place)
        if n == 0 or n == len(self.places):
            return self.times[0] if n == 0 else self.times[-1]
        share = (place - self.places[n - 1]) / (self.places[n] - self.places[n - 1])
        return round(self.times[n - 1] + share * (self.times[n] - self.times[n - 1]))


def scale(moments: Iterable[int]) -> Scale:
    """The axis of these times (ms, in any order).

    A stretch of more than a minute in which nothing begins or ends, and that is more than three times as long as all
    shorter ones together, is drawn a third as long as those.
    """
    times = sorted(set(moments))
    gaps = [after - before for before, after in pairwise(times)]
    shown = [float(gap) for gap in gaps]
    total, short = 0.0, set()
    for n in sorted(range(len(gaps)), key=gaps.__getitem__):
        if total and gaps[n] > max(_LONG, _TIMES * total):
            shown[n] = total / _PART
            short.add(n)
        total += shown[n]
    return _scale(times, shown, short)


def packed(spans: Iterable[tuple[int, int]]) -> Scale:
    """The axis of stretches of work (start, end in ms): the waits between them together take at most a quarter of it."""
    merged: list[list[int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    busy = sum(end - start for start, end in merged)
    most = busy / (_PART * max(1, len(merged) - 1)) or 1.0
    times: list[int] = []
    shown: list[float] = []
    short: set[int] = set()
    for n, (start, end) in enumerate(merged):
        if n:
            gap = start - times[-1]
            short |= {len(shown)} if gap > most else set()
            shown.append(min(float(gap), most))
        times.append(start)
        if end > start:
            times.append(end)
            shown.append(float(end - start))
    return _scale(times, shown, short)


def _scale(times: Sequence[int], shown: Sequence[float], short: Collection[int]) -> Scale:
    """``shown``: how long the stretch after each time is drawn; ``short``: which of them are shorter than they were."""
    total = sum(shown)
    places = [0.0]
    for width in shown:
        places.append(places[-1] + width / total)
    return Scale(
        times=tuple(times),
        places=tuple(places) if times else (),
        breaks=tuple(
            Break(start=times[n], end=times[n + 1], at=places[n], width=shown[n] / total) for n in sorted(short)
        ),
    )
