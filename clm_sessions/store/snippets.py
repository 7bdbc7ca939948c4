"""The part of a text that shows why it was found, the words marked in it.

SQLite makes snippets too, but only of an index that holds its text, and for every snippet it searches again: for the
beginning of a word that took a second.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from clm_sessions.store import unspaced
from clm_sessions.store.words import Term

MARK_START, MARK_END = "\x02", "\x03"
"""Set around the words found in a snippet: characters that no stored text needs."""
_BEFORE, _LENGTH = 50, 240
_MATCHES = 500
_LETTER = f"[^\\W_{unspaced.CHARACTERS}]"
"""What makes a word longer, as SQLite's tokenizer sees it; characters of scripts without spaces do not."""
_APART = r"[\W_]*"


class _Folded(dict[int, str]):
    """Characters without case and accent, one for one."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFD", chr(code).lower())[:1] or chr(code)
        self[code] = plain
        return plain


_FOLDED = _Folded()


def folded(text: str) -> str:
    """A text as it is compared: no case, no accents, every character in its place."""
    return text.lower() if text.isascii() else text.translate(_FOLDED)


class Snippets:
    """Makes snippets that mark what was asked for."""

    def __init__(self, asked: Sequence[Term]) -> None:
        self._words = [_pattern(term) for term in asked if not term.excluded]
        self._any = re.compile("|".join(f"({word})" for word in self._words) or r"(?!)")

    def best(self, texts: Mapping[str, str | None]) -> tuple[str, str]:
        """Of the texts of a row the first that holds the most of the words: its name, and a snippet of it."""
        found = {name: self._spans(folded(text)) for name, text in texts.items() if text}
        name = max(found, key=lambda one: len({word for _begin, _end, word in found[one]}), default=next(iter(texts)))
        return name, _marked(texts[name] or "", found.get(name, []))

    def _spans(self, text: str) -> list[tuple[int, int, int]]:
        """(begin, end, which word) of the first places in a text."""
        places = self._any.finditer(text)
        return [(*place.span(), place.lastindex or 0) for place, _number in zip(places, range(_MATCHES), strict=False)]


def pieces(snippet: str) -> list[tuple[str, bool]]:
    """A snippet in pieces, each with whether it is marked. Marks that the log itself brings only mark."""
    parts: list[tuple[str, bool]] = []
    for number, part in enumerate(snippet.split(MARK_START)):
        inside, end, after = part.partition(MARK_END) if number else ("", "", part)
        if number:
            parts.append((inside, True))
            after = after if end else ""
        parts.append((after, False))
    return [(text.replace(MARK_END, ""), marked) for text, marked in parts if text]


def _pattern(term: Term) -> str:
    """What a term looks like in a folded text: its words with anything but letters and digits between them."""
    words = re.findall(f"{_LETTER}+|[{unspaced.CHARACTERS}]", folded(term.text))
    begin = f"(?<!{_LETTER})" if words and re.match(_LETTER, words[0]) else ""
    end = f"(?!{_LETTER})" if words and not term.prefix and re.match(_LETTER, words[-1]) else ""
    return begin + _APART.join(words) + end if words else r"(?!)"


def _marked(text: str, spans: Sequence[tuple[int, int, int]]) -> str:
    """The stretch of a text that holds the most different words, those in it marked."""
    start = max((_here(spans, number), -number) for number in range(len(spans)))[1] if spans else 0
    start = max(0, spans[-start][0] - _BEFORE) if spans else 0
    end = start + _LENGTH
    shown, at = "…" if start else "", start
    for begin, stop, _word in spans:
        if start <= begin and stop <= end:
            shown += f"{text[at:begin]}{MARK_START}{text[begin:stop]}{MARK_END}"
            at = stop
    return shown + text[at:end] + ("…" if end < len(text) else "")


def _here(spans: Sequence[tuple[int, int, int]], number: int) -> int:
    """How many different words stand near the one of that number, from there on."""
    last = spans[number][0] + _LENGTH - _BEFORE
    return len({word for _begin, end, word in spans[number : number + 50] if end <= last})
