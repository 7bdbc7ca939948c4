"""Moments in a time zone: that of this machine, or UTC."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone, tzinfo


def at(ms: int, tz: tzinfo) -> datetime:
    """The moment in a zone; in UTC where the zone would take it out of the years 1 to 9999."""
    try:
        return datetime.fromtimestamp(ms // 1000, tz)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(ms // 1000, timezone.utc)


def midnight(day: date, tz: tzinfo) -> int:
    """When a day begins in a zone."""
    return on_clock(int(datetime(day.year, day.month, day.day, tzinfo=timezone.utc).timestamp()) * 1000, tz)


def on_clock(ms: int, tz: tzinfo) -> int:
    """When the clocks of a zone show what they show in UTC at ``ms``; at the ends of the years 1 to 9999 ``ms`` itself."""
    try:
        return int(at(ms, timezone.utc).replace(tzinfo=tz).timestamp()) * 1000 + ms % 1000
    except (ValueError, OverflowError, OSError):
        return ms


class _Local(tzinfo):
    """The zone of this machine, with the rules it has at each moment."""

    def fromutc(self, dt: datetime) -> datetime:
        seconds = dt.replace(tzinfo=timezone.utc).timestamp()
        return datetime.fromtimestamp(seconds).replace(tzinfo=self)  # noqa: DTZ006 - local time is what is wanted

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        return None if dt is None else dt.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, dt: datetime | None) -> timedelta | None:
        del dt
        return None

    def tzname(self, dt: datetime | None) -> str | None:
        return None if dt is None else dt.replace(tzinfo=None).astimezone().tzname()


UTC = timezone.utc
LOCAL: tzinfo = _Local()
"""The zone of this machine."""
