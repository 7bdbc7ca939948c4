"""The floor: our own redactor of secrets, standard library only."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from clm_sessions.redact.context import named
from clm_sessions.redact.readings import Reading, disguised, readings
from clm_sessions.redact.shapes import addressed, long_words, shaped
from clm_sessions.redact.spans import Span

_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{24,}(?:[ \t]*\r?\n[ \t]*[+\-|>]?[ \t]*[A-Za-z0-9+/_-]{20,})*={0,2}")
_SHORTEST = 24
_SHORT, _LAST_PLAIN = 16, 126
"""Whether it is text is seen by the first letters; their bytes are plain."""
_NOT_BASE64 = re.compile(r"[\s|>]+|(?<=\n)[+\-]")
_HARMLESS = re.compile(r"[\w.-]{0,14}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]{1,20}Z?")
"""Most texts of a log: words too short to hold a secret and its name, ids, times."""


class Secrets:
    """Keys, tokens, passwords: by shape, by name, and inside base64."""

    name = "secrets"
    version = "1"

    def spans(self, text: str) -> Iterator[Span]:
        """The secrets in ``text``, in every way it may be read."""
        if _HARMLESS.fullmatch(text):
            return
        plain, clear = readings(text)
        for span in _found(clear):
            start, end = clear.place(span.start, span.end)
            yield Span(start=start, end=end, kind=span.kind, value=span.value)
        if clear is plain:
            return
        for start, end in disguised(plain.text):
            line = plain.text[start:end]
            for span in (*named(line), *addressed(line)):
                yield Span(start=start + span.start, end=start + span.end, kind=span.kind, value=span.value)


def _found(read: Reading) -> Iterator[Span]:
    words = long_words(read.text)
    yield from shaped(read, words)
    yield from named(read.text)
    yield from addressed(read.text)
    for run in _runs(read.text, words):
        inner = _decoded(run[0])
        if inner is not None:
            first = next(_found(readings(inner)[1]), None)
            if first is not None:
                yield Span(start=run.start(), end=run.end(), kind=first.kind, value=first.value)


def _runs(text: str, words: set[str]) -> Iterator[re.Match[str]]:
    """Runs of base64, over several lines too. ``words``: the long ones of the text, looked at first."""
    if not any(_ENCODED.search(word) for word in words if len(word) >= _SHORTEST):
        return
    at = done = 0
    for word in text.split():
        if len(word) < _SHORTEST:
            continue
        at = text.find(word, at)
        end = at + len(word)
        while (short := _ENCODED.search(text, max(at, done), end)) is not None:
            run = _ENCODED.match(text, short.start()) or short
            done = run.end()
            yield run
        at = end


def _decoded(run: str) -> str | None:
    """The text that a run of base64 holds; None if it is no text."""
    plain = _NOT_BASE64.sub("", run).rstrip("=").replace("-", "+").replace("_", "/")
    plain = plain[: len(plain) // 4 * 4] if len(plain) % 4 == 1 else plain + "=" * (-len(plain) % 4)
    try:
        if any(byte > _LAST_PLAIN for byte in base64.b64decode(plain[:_SHORT])):
            return None
        text = base64.b64decode(plain).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return text if text.isprintable() or "\n" in text or "\x1b" in text else None
