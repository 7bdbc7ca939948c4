"""The floor: our own redactor of secrets, standard library only."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from clm_sessions.redact.context import named
from clm_sessions.redact.readings import Reading, disguised, readings
from clm_sessions.redact.rules import beginnings
from clm_sessions.redact.shapes import addressed, long_words, shaped
from clm_sessions.redact.spans import Span

_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_ENCODED_LINES = re.compile(r"[A-Za-z0-9+/_-]{24,}(?:[ \t]*\r?\n[ \t]*[+\-|>]?[ \t]*[A-Za-z0-9+/_-]{20,})*={0,2}")
_TAIL = re.compile(r"[ \t]*\r?\n[ \t]*[+\-|>]?[ \t]*[A-Za-z0-9+/_-]{1,19}={0,2}(?![^\s\"',;)\]}])")
"""The last line of base64, which may be short; or a word that does not belong to it."""
_SHORTEST = 24
_SHORT, _LAST_PLAIN = 16, 126
"""Whether it is text is seen by the first letters; their bytes are plain."""
_REMEMBERED, _SLASHES = 200_000, 12
_FIRST, _LONGEST_CHARACTER = 4_096, 3
"""So many letters are decoded before all are, and the last character may be cut by so many bytes."""
_NOT_BASE64 = re.compile(r"[\s|>]+|(?<=\n)[+\-]")
_HARMLESS = re.compile(r"[\w.-]{0,14}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]{1,20}Z?")
"""Most texts of a log: words too short to hold a secret and its name, ids, times."""


class Secrets:
    """Keys, tokens, passwords: by shape, by name, and inside base64."""

    name = "secrets"
    version = "1"

    def __init__(self) -> None:
        self._plain: set[str] = set()

    def spans(self, text: str) -> Iterator[Span]:
        """The secrets in ``text``, in every way it may be read."""
        if _HARMLESS.fullmatch(text):
            return
        plain, clear = readings(text)
        for span in self._found(clear):
            start, end = clear.place(span.start, span.end)
            yield Span(start=start, end=end, kind=span.kind, value=span.value)
        if clear is plain:
            return
        for start, end in disguised(plain.text):
            line = plain.text[start:end]
            for span in (*named(line), *addressed(line)):
                yield Span(start=start + span.start, end=start + span.end, kind=span.kind, value=span.value)

    def _found(self, read: Reading) -> Iterator[Span]:
        words = self._telling(long_words(read.text))
        yield from shaped(read, words)
        yield from named(read.text)
        yield from addressed(read.text)
        if any(map(_holds_text, words)):
            for start, end, inner in _encoded(read.text):
                first = next(self._found(readings(inner)[1]), None)
                if first is not None:
                    yield Span(start=start, end=end, kind=first.kind, value=first.value)

    def _telling(self, words: set[str]) -> set[str]:
        """The words that a token or base64 may begin in. Most words of logs come again and again: those are remembered."""
        fresh = words - self._plain
        begins = beginnings(" ".join(fresh))
        telling = {word for word in fresh if any(begin in word for begin in begins) or _holds_text(word)}
        if len(self._plain) > _REMEMBERED:
            self._plain.clear()
        self._plain |= fresh - telling
        return telling


def _encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Where text stands in base64, over several lines too: from, to, the text."""
    at = done = 0
    for word in text.split():
        if len(word) < _SHORTEST:
            continue
        at = text.find(word, at)
        end = at + len(word)
        while (line := _ENCODED.search(text, max(at, done), end)) is not None:
            done = line.end()
            start = next((start for start in _starts(text, *line.span()) if _begins_text(text[start:end])), None)
            # What stands on the line before may look like base64 too: where it is no text, the next line is a beginning.
            first = None if start is None else _ENCODED_LINES.match(text, start, start + _FIRST)
            if first and _is_text(first[0]):
                run = _ENCODED_LINES.match(text, first.start()) or first
                tail = None if run[0].endswith("=") else _TAIL.match(text, run.end())
                done = tail.end() if tail and _is_text(text[run.start() : tail.end()]) else run.end()
                yield run.start(), done, _decoded(text[run.start() : done])
        at = end


def _holds_text(word: str) -> bool:
    """Whether text may stand in base64 in a word."""
    return len(word) >= _SHORTEST and any(
        _begins_text(word[start:]) for run in _ENCODED.finditer(word) for start in _starts(word, *run.span())
    )


def _starts(text: str, start: int, end: int) -> Iterator[int]:
    """Where base64 may begin in a run of its letters: the slashes before it may be those of a path."""
    for _slash in range(_SLASHES):
        yield start
        start = text.find("/", start, end - _SHORTEST) + 1
        if not start:
            return


def _begins_text(run: str) -> bool:
    """Whether a run of base64 may hold text: the bytes of its first letters are plain."""
    try:
        return all(byte <= _LAST_PLAIN for byte in base64.b64decode(_standard(run[:_SHORT])))
    except (binascii.Error, ValueError):
        return False


def _is_text(run: str) -> bool:
    """Whether a run of base64 holds text; its last character may be cut."""
    text = _decoded(run)
    whole = len(text.encode()) + _LONGEST_CHARACTER >= len(_NOT_BASE64.sub("", run).rstrip("=")) * 3 // 4
    return whole and (text.isprintable() or "\n" in text or "\x1b" in text)


def _decoded(run: str) -> str:
    """The text that a run of base64 holds, up to what is none."""
    try:
        data = base64.b64decode(_standard(_NOT_BASE64.sub("", run).rstrip("=")))
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: error.start].decode("utf-8")
    except (binascii.Error, ValueError):
        return ""


def _standard(run: str) -> str:
    """Base64 with the two letters of the standard, and as long as it must be."""
    plain = run.replace("-", "+").replace("_", "/")
    return plain[: len(plain) // 4 * 4] if len(plain) % 4 == 1 else plain + "=" * (-len(plain) % 4)
