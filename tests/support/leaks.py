"""Whether secrets stand in bytes, in any form that they may have there."""

from __future__ import annotations

import base64
import html
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from clm_sessions.redact import Redaction, Secrets
from redaction import corpus

SHORTEST, WINDOW = 8, 12
_BLOCK = 1 << 16
_GRAM, _STRIDE = 5, 4
"""Every fourth run of five bytes: of eight bytes in a row one such run is among them, wherever they begin."""
_WRITTEN = re.compile(rb"\\+u00([0-9a-f]{2})")
_RUN = re.compile(r"[A-Za-z0-9]{12,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """``text`` as it stands in a log; ``pieces``: what must not be seen of it."""

    name: str
    text: str
    pieces: tuple[str, ...]


def secrets() -> list[Secret]:
    """Those of the corpus that the rules know. How many they do not know is held elsewhere (tests/redaction)."""
    found = []
    for number, one in enumerate(corpus.secrets()):
        stretches = [one.text[start:end] for start, end in one.ranges if end - start >= SHORTEST]
        pieces = [piece for stretch in stretches for piece in _pieces(stretch)]
        shown = Redaction([Secrets()]).text(one.text)
        if pieces and not any(piece in shown for piece in pieces):
            found.append(Secret(name=f"{number} {one.kind}, {one.where}", text=one.text, pieces=tuple(pieces)))
    return found


def _pieces(stretch: str) -> Iterator[str]:
    """A secret whole, and in windows, should it have been cut; its beginning may be what all of its kind have."""
    yield stretch
    for start in range(WINDOW, len(stretch) - WINDOW + 1, WINDOW):
        yield stretch[start : start + WINDOW]


class Search:
    """Looks for secrets in bytes."""

    def __init__(self, wanted: Iterable[Secret]) -> None:
        self._grams: dict[bytes, set[bytes]] = defaultdict(set)
        self._of: dict[bytes, set[str]] = defaultdict(set)
        for secret in wanted:
            for needle in {form for piece in secret.pieces for form in forms(piece)}:
                self._of[needle].add(secret.name)
                for start in range(_STRIDE):
                    self._grams[needle[start : start + _GRAM]].add(needle)
        self._longest = max(map(len, self._of))

    def found(self, data: bytes) -> Mapping[str, bytes]:
        """The secrets that stand in ``data``, each with the form it has there."""
        hits: dict[str, bytes] = {}
        for reading in {data, clear(data)}:
            for start in range(0, len(reading), _BLOCK):
                block = reading[start : start + _BLOCK + self._longest]
                seen = {block[at : at + _GRAM] for at in range(0, len(block), _STRIDE)} & self._grams.keys()
                for needle in {needle for gram in seen for needle in self._grams[gram]}:
                    if needle in block:
                        hits |= dict.fromkeys(self._of[needle], needle)
        return hits


def forms(piece: str) -> Iterator[bytes]:
    """The bytes that a text may be written as. What ``clear`` takes away need not be thought of."""
    plain = piece.encode()
    words = max(piece.split(), key=len).encode()
    runs = [run.lower().encode() for run in _RUN.findall(piece)]  # as a search index has it
    coded = [base64.b64encode(b"\0" * before + plain)[skipped:-4] for before, skipped in enumerate((0, 2, 3))]
    yield from (
        one for one in {plain, clear(plain), words, *runs, *coded, plain.hex().encode()} if len(one) >= SHORTEST
    )


def clear(data: bytes) -> bytes:
    """Bytes without what text is dressed up in: two-byte characters, JSON, percent and HTML escapes."""
    data = _WRITTEN.sub(lambda found: bytes([int(found[1], 16)]), data.replace(b"\0", b"")).replace(b"\\", b"")
    data = unquote_to_bytes(data) if b"%" in data else data
    return html.unescape(data.decode("latin-1")).encode("latin-1", "replace") if b"&" in data else data
