"""What is wrong, and where: a secret is shown by its kind, its length and what stands around it, never itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clm_sessions.redact import Redaction, Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """``place``: file (or address) and where in it. ``kind``: that of a secret, or one of private, setting, link, unread."""

    place: str
    kind: str
    what: str


class Finder:
    """Finds secrets in texts, each value once for each place."""

    def __init__(self, redactors: Sequence[Redactor]) -> None:
        self._redaction = Redaction(redactors)
        self._seen: set[tuple[str, str]] = set()

    def __call__(self, place: str, text: str) -> Iterator[Finding]:
        """The secrets in one text."""
        for value, sample in self._redaction.found(text):
            if (place, value) not in self._seen:
                self._seen.add((place, value))
                around = " ".join(f"…{sample.before}⟦…⟧{sample.after}…".split())
                yield Finding(place=place, kind=sample.kind, what=f"{sample.length:,} characters in {around}")
