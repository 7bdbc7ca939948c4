"""Times for a reader: short text, the exact moment in ``datetime``."""

from __future__ import annotations

from datetime import datetime, timezone, tzinfo

from clm_sessions.times import iso

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _at(ms: int, tz: tzinfo) -> datetime:
    """The moment in a zone; in UTC where the zone would take it out of the years 1 to 9999."""
    try:
        return datetime.fromtimestamp(ms // 1000, tz)
    except (ValueError, OverflowError):
        return datetime.fromtimestamp(ms // 1000, timezone.utc)


def moment(ms: int, tz: tzinfo, *, day: bool = True) -> str:
    """``2 Mar 2026, 09:14``, without ``day`` ``09:14``."""
    at = _at(ms, tz)
    clock = f"{at:%H:%M}"
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}, {clock}" if day else clock


def time_html(ms: int, tz: tzinfo, *, day: bool = True) -> str:
    """A ``<time>`` element; hovering shows the zone."""
    at = _at(ms, tz)
    return f'<time datetime="{iso(ms)}" title="{at:%Y-%m-%d %H:%M:%S} {at.tzname() or ""}">{moment(ms, tz, day=day)}</time>'


def span_html(start: int | None, end: int | None, tz: tzinfo) -> str:
    """Start and end, the end short if it is on the same day; empty if neither is known."""
    if start is None:
        return time_html(end, tz) if end is not None else ""
    first = time_html(start, tz)
    if end is None or moment(start, tz) == moment(end, tz) or end < start:
        return first
    same = _at(start, tz).date() == _at(end, tz).date()
    return f"{first}\u2013{time_html(end, tz, day=not same)}"
