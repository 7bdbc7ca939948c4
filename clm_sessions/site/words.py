"""The search index of a site: words to places, cut into files of a size that loads at once.

A *place* is the title of a session, a prompt, a reply or a summary; places are numbered in order. Each file has the words
of a stretch of the alphabet, so a word, or the beginning of one, needs one file or a few neighbours. ``search.js`` folds
what a person types in the same way.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from clm_sessions.store.unspaced import CHARACTERS

LONGEST = 40
"""Longer words are known by so many letters."""
FILE = 60_000
"""About how many characters a file has."""
_WORD = re.compile(r"[^\W_]+")
_RUN = re.compile(f"([{CHARACTERS}]+)")
_ACCENTS = re.compile("[\u0300-\u036f]")


def folded(text: str) -> str:
    """Lower case, without accents; one form of each letter."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", unicodedata.normalize("NFD", text))).lower()


def words(text: str) -> set[str]:
    """The words of a text; of a run in a script without spaces every two neighbours, and its last character."""
    text = folded(text)
    found = set()
    for word in _WORD.findall(text):
        if word.isascii():
            found.add(word[:LONGEST])
            continue
        for n, part in enumerate(_RUN.split(word)):
            if n % 2:
                found.update(map(str.__add__, part, part[1:]))
                found.add(part[-1])
            elif part:
                found.add(part[:LONGEST])
    return found


class Index:
    """Collects places; ``files`` gives them as data."""

    def __init__(self) -> None:
        self._places: dict[str, array[int]] = {}
        self._count = 0

    def add(self, text: str) -> None:
        """One more place."""
        for word in words(text):
            held = self._places.get(word)
            if held is None:
                held = self._places[word] = array("I")
            held.append(self._count)
        self._count += 1

    def files(self) -> Iterator[dict[str, Any]]:
        """``words`` in the order in which JavaScript compares texts, with a blank between; ``places`` of each.

        A place is told as how far it lies behind the one before it.
        """
        held: list[tuple[str, list[int]]] = []
        size = 0
        for word in sorted(self._places, key=lambda word: word.encode("utf-16-be", "surrogatepass")):
            places = self._places[word]
            steps = [places[0], *(after - before for before, after in pairwise(places))]
            held.append((word, steps))
            size += len(word) + 2 + 2 * len(steps)
            if size >= FILE:
                yield _file(held)
                held, size = [], 0
        if held:
            yield _file(held)


def _file(held: list[tuple[str, list[int]]]) -> dict[str, Any]:
    return {"words": " ".join(word for word, _steps in held), "places": [steps for _word, steps in held]}
