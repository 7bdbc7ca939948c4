"""What a redactor answers: places in a text, never new text. The engine alone replaces."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A place to hide: characters ``start`` to ``end`` (exclusive) of the text that was asked about.

    ``kind``: lower-case words with hyphens (``github-token``). ``value``: the thing itself where the text holds it in
    another form (escaped, coloured, wrapped), so that one secret gets one tag; None: as it stands.
    """

    start: int
    end: int
    kind: str
    value: str | None = None


@runtime_checkable
class Redactor(Protocol):
    """Finds what must not be published. It adds spans and cannot bring text back; one that raises withholds the text."""

    name: str
    version: str

    def spans(self, text: str) -> Iterable[Span]:
        """The places to hide in ``text``; they may overlap and come in any order."""
        ...


def merged(text: str, spans: Iterable[Span], *, light: Collection[str] = ()) -> Iterator[Span]:
    """The spans in order, each within the text, those that overlap made one.

    The longest of them gives kind and value; one of the kinds ``light`` only where there is no other.
    """
    held: Span | None = None
    heavy: Span | None = None

    def weight(span: Span) -> tuple[bool, int]:
        return span.kind not in light, span.end - span.start

    for span in sorted(_within(text, spans), key=lambda s: (s.start, -s.end)):
        if held is None or heavy is None or span.start >= held.end:
            if held is not None:
                yield held
            held = heavy = span
            continue
        heavy = max(heavy, span, key=weight)
        end = max(held.end, span.end)
        same = (heavy.start, heavy.end) == (held.start, end)
        held = heavy if same else Span(start=held.start, end=end, kind=heavy.kind)
    if held is not None:
        yield held


def _within(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    for span in spans:
        start, end = max(0, span.start), min(len(text), span.end)
        if start < end:
            yield span if (start, end) == (span.start, span.end) else Span(start=start, end=end, kind=span.kind)
