"""Secrets that were found once, wherever else they stand: bare, in another session, or cut off at the end of a preview."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Generic, TypeVar

from clm_sessions.redact.readings import Reading, readings
from clm_sessions.redact.spans import Span

SHORTEST = 8
"""Shorter values, and plain words, are hidden only where they stand as a secret."""
_LEAST, _MOST = 5, 4_096
_RUN, _STRIDE = 5, 4
_SLASH, _SLASHES = re.compile(r"[/\\]"), 40
_CUT = re.compile(r"(?:\x1b(?:\[[0-9;:?]*)?)?(?:…|\.{3,}|\[[^\]]{0,40}\]?)?\s*$")
_CUTS = 600


class Known:
    """Finds the values that another redactor found elsewhere. ``values``: value to kind; ``also``: short or plain ones too."""

    name = "known"
    version = "1"

    def __init__(self, values: Mapping[str, str], also: Callable[[str], bool] = lambda _value: False) -> None:
        self._values = {value: kind for value, kind in values.items() if is_telling(value) or also(value)}
        self._wholes = {tail: value for value in self._values for tail in _tails(value)}
        self._wholes |= {value: value for value in self._values}
        self._pieces = Pieces(self._wholes)
        self._begins: dict[str, list[str]] = {}
        for value in sorted(self._values, key=len, reverse=True):
            self._begins.setdefault(value[:_LEAST], []).append(value)
        self._longest = min(max(map(len, self._values), default=0), _MOST)

    def spans(self, text: str) -> Iterator[Span]:
        """Every place of a known value, the end of one after a slash, and the beginning where the text was cut off."""
        plain, clear = readings(text)
        for read in (plain,) if clear is plain else (plain, clear):
            for part in self._pieces.within(read.text):
                whole = self._wholes[part]
                at = read.text.find(part)
                while at >= 0:
                    start, end = read.place(at, at + len(part))
                    yield Span(start=start, end=end, kind=self._values[whole], value=whole)
                    at = read.text.find(part, at + len(part))
            yield from self._cut_off(read)

    def _cut_off(self, read: Reading) -> Iterator[Span]:
        text = read.text
        found = _CUT.search(text, max(0, len(text) - 60))
        end = found.start() if found else len(text)
        if end == len(text) > _CUTS:
            return
        for start in range(max(0, end - self._longest), end - _LEAST + 1):
            for value in self._begins.get(text[start : start + _LEAST], ()):
                if value.startswith(text[start:end]):
                    begin, stop = read.place(start, end)
                    yield Span(start=begin, end=stop, kind=self._values[value], value=value)
                    return


def _tails(value: str) -> Iterator[str]:
    """What is left of a value where it was taken for a path and one name of it kept."""
    for found in islice(_SLASH.finditer(value), _SLASHES):
        tail = value[found.end() :]
        if is_telling(tail):
            yield tail


Some = TypeVar("Some", str, bytes)


class Pieces(Generic[Some]):
    """Which of many values stand in a text or in bytes, in about the same time however many they are.

    Of a text every fourth run of five is looked up. A value of eight or more has such a run in it, wherever it stands:
    one of the four that begin at its first four places.
    """

    def __init__(self, values: Iterable[Some]) -> None:
        self._short: list[Some] = []
        self._of: dict[Some, list[Some]] = {}
        for value in values:
            if len(value) < SHORTEST:
                self._short.append(value)
                continue
            for start in range(_STRIDE):
                self._of.setdefault(value[start : start + _RUN], []).append(value)

    def within(self, text: Some) -> list[Some]:
        """The values that stand in ``text``."""
        found = {value for value in self._short if value in text}
        if self._of:
            for run in {text[at : at + _RUN] for at in range(0, len(text), _STRIDE)} & self._of.keys():
                found |= {value for value in self._of[run] if value in text}
        return list(found)


def is_telling(value: str) -> bool:
    """Whether a value is long and odd enough to be hidden wherever it stands."""
    return len(value) >= SHORTEST and not value.isalpha() and not value.isdigit()
