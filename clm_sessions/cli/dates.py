"""Days and moments as people write them."""

from __future__ import annotations

import re
from datetime import date, timedelta, tzinfo

from clm_sessions import times, zones
from clm_sessions.errors import UsageError

_AGO = re.compile(r"(\d{1,5})([hdw])")
_UNITS = {"h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_HOW = "write 2026-03-02, 2026-03-02T14:30, today, yesterday, or 12h, 7d, 2w for so long ago"


def span(
    since: str | None, until: str | None, day: str | None, *, now: int, tz: tzinfo
) -> tuple[int | None, int | None]:
    """Where a span of time begins (inclusive) and ends (exclusive), in milliseconds; None: no end on that side.

    ``until`` a day means: that day included. ``now``: the present moment. UsageError for what is no date.
    """
    if day is not None:
        if since is not None or until is not None:
            raise UsageError("--day stands for --since and --until of that day; give one or the others")
        one = _day(day, now, tz)
        if one is None:
            raise UsageError(f"--day {day!r}: no such day; {_HOW}")
        return zones.midnight(one, tz), _next(one, tz)
    start = None if since is None else moment(since, "--since", now=now, tz=tz)
    if until is None:
        return start, None
    last = _day(until, now, tz)
    return start, moment(until, "--until", now=now, tz=tz) if last is None else _next(last, tz)


def moment(text: str, option: str, *, now: int, tz: tzinfo) -> int:
    """The moment that a text names, a day standing for its beginning. UsageError names the option."""
    ago = _AGO.fullmatch(text.strip())
    if ago is not None:
        return max(now - int(ago[1]) * _UNITS[ago[2]], 0)
    one = _day(text, now, tz)
    if one is not None:
        return zones.midnight(one, tz)
    ms = times.parse(text)
    if ms is None:
        raise UsageError(f"{option} {text!r}: no date; {_HOW}")
    if re.search(r"(Z|z|[+-]\d\d:?\d\d)\s*$", text):
        return ms
    return zones.on_clock(ms, tz)


def _day(text: str, now: int, tz: tzinfo) -> date | None:
    today = zones.at(now, tz).date()
    words = {"today": today, "yesterday": today - timedelta(days=1)}
    try:
        return words.get(text.strip().lower()) or date.fromisoformat(text.strip())
    except ValueError:
        return None


def _next(day: date, tz: tzinfo) -> int:
    try:
        return zones.midnight(day + timedelta(days=1), tz)
    except OverflowError:  # the last day of year 9999
        return zones.midnight(day, tz) + _UNITS["d"]
