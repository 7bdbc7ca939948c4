"""One publication: ask all redactors, merge what they found, replace it once, and keep count.

A secret is replaced by ``[redacted KIND TAG]``. The tag is the same for the same secret all over one publication and says
nothing about it without the publication's random key, which is never written down.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b, sha256

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
_MARK = re.compile(r"\[redacted(?: [a-z0-9-]+(?: [0-9a-f]{4,64}\]?)?)?")
"""What stands in place of a secret, or its beginning: it is no secret, whatever its name."""
_PSEUDONYM = re.compile(r"(?:user|host|mail|ip|word)-([0-9a-f]{4,64})(?:@redacted\.invalid)?")
_NEAR = 30
_SAMPLES = 5
_LONG, _MOST = 200, 500_000
"""Texts of so many characters are remembered by a digest, at most so many of them: some 100 bytes each."""


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


class _RedactorError(Exception):
    """A redactor raised; which one and why."""


class Redaction:
    """Redacts texts for one publication. ``keep``: values that stay, by a person's choice.

    A redactor is asked once about a text, be it long or often there: it must answer the same every time.
    """

    def __init__(self, redactors: Sequence[Redactor], *, keep: Container[str] = (), key: bytes | None = None) -> None:
        self.redactors = tuple(redactors)
        self.tally = Tally()
        self.key = key or secrets.token_bytes(32)
        self._keep = keep
        self._kinds: dict[str, str] = {}
        self._tags: dict[str, str] = {}
        self._values: dict[str, str] = {}
        self._before: Redaction | None = None
        self._memo: dict[bytes, tuple[Span, ...]] = {}
        self._cached = lru_cache(maxsize=32_768)(self._redacted)

    def again(self, *more: Redactor) -> Redaction:
        """The same publication begun anew, with more redactors. What is remembered is not asked for again."""
        new = Redaction(more, keep=self._keep, key=self.key)
        new._before = self
        return new

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
        try:
            found = self._asked(text)
        except _RedactorError as failed:
            return "", (), str(failed)
        if not found:
            return text, (), None
        fresh = [span for span in found if not self._is_mark(text, span)]
        for span in fresh:
            if span.kind not in _PSEUDONYMS and (value := _value(text, span)) not in self._keep:
                self._kinds.setdefault(value, span.kind)
        spans = tuple(s for s in merged(text, fresh, light=_PSEUDONYMS) if _value(text, s) not in self._keep)
        parts: list[str] = []
        at = 0
        for span in spans:
            parts += (text[at : span.start], self.mark(span.kind, _value(text, span)))
            at = span.end
        return "".join((*parts, text[at:])), spans, None

    def _asked(self, text: str) -> tuple[Span, ...]:
        """What all redactors found in a text. A failure is not remembered: it is told each time."""
        if len(text) < _LONG:
            return self._answers(text)
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        held = self._memo.get(digest)
        if held is None:
            held = self._answers(text)
            if len(self._memo) < _MOST:
                self._memo[digest] = held
        return held

    def _answers(self, text: str) -> tuple[Span, ...]:
        found = list(self._before._asked(text)) if self._before is not None else []  # noqa: SLF001 - one of our own
        for redactor in self.redactors:
            try:
                found += redactor.spans(text)
            except Exception as error:  # noqa: BLE001 - a plugin border, and it fails closed
                raise _RedactorError(f"{redactor.name}: {one_line(error)}") from None
        return tuple(found)

    def _is_mark(self, text: str, span: Span) -> bool:
        """Whether a place holds what stands for something that was hidden before."""
        if _MARK.fullmatch(text, span.start, span.end):
            return True
        found = _PSEUDONYM.fullmatch(text, span.start, span.end)
        return found is not None and found[1] in self._values

    def found(self, text: str) -> list[tuple[str, Sample]]:
        """Each place of ``text`` that is hidden: the value, and how it may be shown. Nothing is counted.

        Where a redactor raises it is one place: the whole text, of the kind ``withheld``.
        """
        result, spans, failure = self._cached(text) if len(text) < 2_000 else self._redacted(text)
        if failure is not None:
            return [(text, Sample(kind="withheld", tag=self.tag(text), before=failure, after="", length=len(text)))]
        return list(self._samples(text, result, spans))

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
        for _hidden, sample in self._samples(text, result, spans):
            kind = sample.kind
            self.tally.places[kind] += 1
            seen = self.tally.secrets.setdefault(kind, set())
            if sample.tag not in seen and len(samples := self.tally.samples.setdefault(kind, [])) < _SAMPLES:
                samples.append(sample)
            seen.add(sample.tag)

    def _samples(self, text: str, result: str, spans: Iterable[Span]) -> Iterator[tuple[str, Sample]]:
        """Value and sample of each place. What stands around it comes from ``result``, which is published anyway."""
        shift = 0  # how much further on a place is in the redacted text
        for span in spans:
            value, length = _value(text, span), span.end - span.start
            start = span.start + shift
            end = start + len(self.mark(span.kind, value))
            before, after = result[max(0, start - _NEAR) : start], result[end : end + _NEAR]
            yield value, Sample(kind=span.kind, tag=self.tag(value), before=before, after=after, length=length)
            shift = end - span.end


def _value(text: str, span: Span) -> str:
    return span.value if span.value is not None else text[span.start : span.end]
