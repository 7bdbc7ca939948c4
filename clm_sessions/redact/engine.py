"""One publication: ask all redactors, merge what they found, replace it once, and keep count.

A secret is replaced by ``[redacted KIND TAG]``. The tag is the same for the same secret all over one publication and says
nothing about it without the publication's random key, which is never written down.
"""

from __future__ import annotations

import hmac
import secrets
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256

from clm_sessions.errors import one_line
from clm_sessions.redact.spans import Redactor, Span, merged

WITHHELD = "[withheld: a redactor failed]"
_PSEUDONYMS = {
    "user": "user-{}",
    "host": "host-{}",
    "email": "mail-{}@redacted.invalid",
    "ip-address": "ip-{}",
    "word": "word-{}",
}
_NEAR = 30
_SAMPLES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A place that was redacted, for a person to look at: what stood around it, redacted too, and its length."""

    kind: str
    tag: str
    before: str
    after: str
    length: int


@dataclass(kw_only=True)
class Tally:
    """What a publication redacted. ``places`` and ``secrets``: by kind, in all and different ones."""

    places: Counter[str] = field(default_factory=Counter)
    secrets: dict[str, set[str]] = field(default_factory=dict)
    samples: dict[str, list[Sample]] = field(default_factory=dict)
    withheld: int = 0
    failures: Counter[str] = field(default_factory=Counter)


class Redaction:
    """Redacts texts for one publication. ``keep``: values that stay, by a person's choice."""

    def __init__(self, redactors: Sequence[Redactor], *, keep: Container[str] = (), key: bytes | None = None) -> None:
        self.redactors = tuple(redactors)
        self.tally = Tally()
        self.key = key or secrets.token_bytes(32)
        self._keep = keep
        self._kinds: dict[str, str] = {}
        self._tags: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._cached = lru_cache(maxsize=4_096)(self._redacted)

    def text(self, text: str) -> str:
        """``text`` with everything hidden that any redactor found. Where one raises, nothing of the text is shown."""
        result, spans, failure = self._cached(text) if len(text) < 2_000 else self._redacted(text)
        if failure is not None:
            self.tally.withheld += 1
            self.tally.failures[failure] += 1
            return WITHHELD
        if spans:
            self._count(text, result, spans)
        return result

    def _redacted(self, text: str) -> tuple[str, tuple[Span, ...], str | None]:
        found: list[Span] = []
        for redactor in self.redactors:
            try:
                found += redactor.spans(text)
            except Exception as error:  # noqa: BLE001 - a plugin border, and it fails closed
                return "", (), f"{redactor.name}: {one_line(error)}"
        spans = tuple(s for s in merged(text, found) if _value(text, s) not in self._keep)
        if not spans:
            return text, (), None
        parts: list[str] = []
        at = 0
        for span in spans:
            parts += (text[at : span.start], self.mark(span.kind, _value(text, span)))
            at = span.end
        return "".join((*parts, text[at:])), spans, None

    def mark(self, kind: str, value: str) -> str:
        """What stands in place of a value."""
        tag = self.tag(value)
        pseudonym = _PSEUDONYMS.get(kind)
        return pseudonym.format(tag) if pseudonym else f"[redacted {kind} {tag}]"

    def values(self) -> dict[str, str]:
        """Every value that was hidden, with its kind; pseudonyms are none."""
        return dict(self._kinds)

    def digest(self, name: str) -> str:
        """Another name for a name that would tell something, 64 hexadecimal digits; the same one gives the same."""
        return hmac.new(self.key, name.encode("utf-8", "surrogatepass"), sha256).hexdigest()

    def tag(self, value: str) -> str:
        """The tag of a value: four hexadecimal digits, more where two values would share them."""
        if value not in self._tags:
            digest = self.digest(value)
            size = next(n for n in range(4, 65) if digest[:n] not in self._values)
            self._values[digest[:size]] = value
            self._tags[value] = digest[:size]
        return self._tags[value]

    def _count(self, text: str, result: str, spans: Iterable[Span]) -> None:
        shift = 0  # how much further on a place is in the redacted text
        for span in spans:
            value = _value(text, span)
            mark = self.mark(span.kind, value)
            self.tally.places[span.kind] += 1
            if span.kind not in _PSEUDONYMS:
                self._kinds.setdefault(value, span.kind)
            seen = self.tally.secrets.setdefault(span.kind, set())
            tag = self.tag(value)
            if tag not in seen and len(samples := self.tally.samples.setdefault(span.kind, [])) < _SAMPLES:
                samples.append(_sample(span, tag, result, span.start + shift, mark))
            seen.add(tag)
            shift += len(mark) - (span.end - span.start)


def _sample(span: Span, tag: str, result: str, at: int, mark: str) -> Sample:
    """A place with what stands around it in the redacted text: nothing is shown that is not published anyway."""
    end = at + len(mark)
    return Sample(
        kind=span.kind,
        tag=tag,
        before=result[max(0, at - _NEAR) : at],
        after=result[end : end + _NEAR],
        length=span.end - span.start,
    )


def _value(text: str, span: Span) -> str:
    return span.value if span.value is not None else text[span.start : span.end]
