"""Secrets that were found once, wherever else they stand: bare, in another session, or cut off at the end of a preview."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from clm_sessions.redact.readings import readings
from clm_sessions.redact.spans import Span

SHORTEST = 8
"""Shorter values, and plain words, are hidden only where they stand as a secret."""
_LEAST = 5
_CUT = re.compile(r"(?:…|\.{3,}|\[[^\]]{0,40}\]?)?\s*$")
_CUTS = 600


class Known:
    """Finds the values that another redactor found elsewhere. ``values``: value to kind; ``also``: short or plain ones too."""

    name = "known"
    version = "1"

    def __init__(self, values: Mapping[str, str], also: Callable[[str], bool] = lambda _value: False) -> None:
        self._values = {value: kind for value, kind in values.items() if is_telling(value) or also(value)}
        self._begins = {value[:size]: value for value in self._values for size in range(_LEAST, len(value))}
        self._longest = min(max(map(len, self._values), default=0), 4_096)

    def spans(self, text: str) -> Iterator[Span]:
        """Every place of a known value, and the beginning of one where the text was cut off."""
        plain, clear = readings(text)
        for read in (plain,) if clear is plain else (plain, clear):
            for value, kind in self._values.items():
                at = read.text.find(value)
                while at >= 0:
                    start, end = read.place(at, at + len(value))
                    yield Span(start=start, end=end, kind=kind, value=value)
                    at = read.text.find(value, at + len(value))
        yield from self._cut_off(text)

    def _cut_off(self, text: str) -> Iterator[Span]:
        found = _CUT.search(text, max(0, len(text) - 60))
        end = found.start() if found else len(text)
        if end == len(text) > _CUTS:
            return
        for size in range(min(self._longest, end), _LEAST - 1, -1):
            value = self._begins.get(text[end - size : end])
            if value is not None:
                yield Span(start=end - size, end=end, kind=self._values[value], value=value)
                return


def is_telling(value: str) -> bool:
    """Whether a value is long and odd enough to be hidden wherever it stands."""
    return len(value) >= SHORTEST and not value.isalpha() and not value.isdigit()
