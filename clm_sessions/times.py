"""Milliseconds since the epoch, and back to text."""

from __future__ import annotations

import math
import re
from datetime import datetime, timezone
from typing import Any

_ISO = re.compile(
    r"\s*(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?\s*(Z|z|[+-]\d\d(?::?\d\d)?)?\s*",
    re.ASCII,
)
_LIMIT = 253_402_300_800_000  # year 10000


def parse(value: Any) -> int | None:  # noqa: ANN401 - any JSON value may stand where a time should
    """Milliseconds from ISO 8601 text (any offset; naive = UTC; fraction cut) or an epoch number, else None.

    Numbers below 1e11 are seconds, others milliseconds (spec claude-code 2.5).
    """
    if isinstance(value, str):
        return _parse_text(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value):
        return None
    if abs(value) > _LIMIT:
        return None
    ms = int(value * 1000) if abs(value) < 1e11 else int(value)
    return ms if -62_135_596_800_000 <= ms < _LIMIT else None


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
    return ms


def iso(ms: int | None) -> str | None:
    """``2026-03-02T09:00:00.000Z``, or None."""
    if ms is None:
        return None
    return f"{datetime.fromtimestamp(ms // 1000, timezone.utc).isoformat()[:19]}.{ms % 1000:03d}Z"


def day(ms: int | None) -> str | None:
    """The UTC day, ``2026-03-02``, or None."""
    return None if ms is None else datetime.fromtimestamp(ms // 1000, timezone.utc).date().isoformat()
