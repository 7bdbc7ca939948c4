"""Times of entries. Nearly all are written alike and share their minute with the entry before, which makes them cheap."""

from __future__ import annotations

import re
from typing import Any

from clm_sessions import times

_USUAL = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:)([0-5]\d)\.(\d{3})Z", re.ASCII)


class Clock:
    """Reads times as ``times.parse`` does, and remembers the last minute."""

    def __init__(self) -> None:
        self._minute: str | None = None
        self._start: int | None = None

    def read(self, value: Any) -> int | None:  # noqa: ANN401 - any JSON value may stand where a time should
        """Milliseconds since the epoch, or None."""
        found = _USUAL.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            return times.parse(value)
        minute, seconds, ms = found.groups()
        if minute != self._minute:
            self._minute, self._start = minute, times.parse(f"{minute}00Z")
        return None if self._start is None else self._start + int(seconds) * 1000 + int(ms)
