"""Milliseconds since the epoch, and back to text."""

from __future__ import annotations

import re
from datetime import date, datetime, timezone
from functools import lru_cache
from typing import Any

_ISO = re.compile(
    r"\s*(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?\s*(Z|z|[+-]\d\d(?::?\d\d)?)?\s*",
    re.ASCII,
)
_START, _LIMIT = -62_135_596_800_000, 253_402_300_800_000  # years 1 and 10000
_DAY = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()


def parse(value: Any) -> int | None:  # noqa: ANN401 - any JSON value may stand where a time should
    """Milliseconds from ISO 8601 text (any offset; naive = UTC; fraction cut) or an epoch number, else None.

    Numbers below 1e11 are seconds, others milliseconds (spec claude-code 2.5).
    """
    if isinstance(value, str):
        return _parse_text(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _LIMIT:
        return None
    return _within(int(value * 1000) if abs(value) < 1e11 else int(value))


def _within(ms: int) -> int | None:
    """A time that can be written with four digits of a year, else None: an offset may carry a text beyond them."""
    return ms if _START <= ms < _LIMIT else None


def _parse_text(value: str) -> int | None:
    found = _ISO.fullmatch(value)
    if not found:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        moment = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=timezone.utc
        )
    except ValueError:
        return None
    ms = int(moment.timestamp()) * 1000 + int((fraction or "0")[:3].ljust(3, "0"))
    if zone and zone not in "Zz":
        sign = -1 if zone[0] == "-" else 1
        digits = zone[1:].replace(":", "")
        ms -= sign * (int(digits[:2]) * 60 + int(digits[2:] or 0)) * 60_000
    return _within(ms)


def iso(ms: int | None) -> str | None:
    """``2026-03-02T09:00:00.000Z``; None for None, and for what is outside the years 1 to 9999."""
    if ms is None or not _START <= ms < _LIMIT:
        return None
    minute, rest = divmod(ms, 60_000)
    return f"{_minute(minute)}{rest // 1000:02d}.{rest % 1000:03d}Z"


def day(ms: int | None) -> str | None:
    """The UTC day, ``2026-03-02``; None as for ``iso``."""
    return None if ms is None or not _START <= ms < _LIMIT else _day(ms // _DAY)


def plausible(day: str | None) -> bool:
    """Whether a UTC day (``2026-03-02``) can stand in a calendar: a log may claim any year from 1 to 9999."""
    try:
        given = date.fromisoformat(day or "")
    except (TypeError, ValueError):
        return False
    return given.isoformat() == day and 1970 <= given.year < 2200


# What is written is near to what was written before, mostly.
@lru_cache(maxsize=1024)
def _minute(number: int) -> str:
    hours, minute = divmod(number, 60)
    days, hour = divmod(hours, 24)
    return f"{_day(days)}T{hour:02d}:{minute:02d}:"


@lru_cache(maxsize=1024)
def _day(number: int) -> str:
    return date.fromordinal(_EPOCH + number).isoformat()
