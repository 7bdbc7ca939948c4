"""Times for a reader: short text, the exact moment in ``datetime``."""

from __future__ import annotations

from datetime import tzinfo

from clm_sessions.times import iso
from clm_sessions.zones import at

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def moment(ms: int, tz: tzinfo, *, day: bool = True) -> str:
    """``2 Mar 2026, 09:14``, without ``day`` ``09:14``."""
    when = at(ms, tz)
    clock = f"{when:%H:%M}"
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}, {clock}" if day else clock


def time_html(ms: int, tz: tzinfo, *, day: bool = True) -> str:
    """A ``<time>`` element; hovering shows the zone."""
    when = at(ms, tz)
    return f'<time datetime="{iso(ms)}" title="{when:%Y-%m-%d %H:%M:%S} {when.tzname() or ""}">{moment(ms, tz, day=day)}</time>'


def span_html(start: int | None, end: int | None, tz: tzinfo) -> str:
    """Start and end, the end short if it is on the same day; empty if neither is known."""
    if start is None:
        return time_html(end, tz) if end is not None else ""
    first = time_html(start, tz)
    if end is None or moment(start, tz) == moment(end, tz) or end < start:
        return first
    same = at(start, tz).date() == at(end, tz).date()
    return f"{first}\u2013{time_html(end, tz, day=not same)}"
