"""The measure: what a redactor finds, leaves over and hides without need. In ``tests/``: ``python -m redaction.measure [-v]``."""

import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from redaction import corpus, harmless

RESIDUE = 8
PIECE, LIMIT = 32_000, 1_000_000


@dataclass(slots=True)
class Figures:
    planted: Counter = field(default_factory=Counter)
    found: Counter = field(default_factory=Counter)
    missed: list = field(default_factory=list)
    residue: list = field(default_factory=list)
    beside: list = field(default_factory=list)  # hidden in a planted text, touching no secret
    false: dict = field(default_factory=dict)  # class -> hidden stretches
    sizes: dict = field(default_factory=dict)  # class -> bytes

    def share(self, group: str) -> float:
        return 100 * self.found[group] / self.planted[group]


def measure(spans_of) -> Figures:
    """``spans_of(text)`` gives ``(start, end)`` in order, without overlap."""
    figures = Figures()
    for one in corpus.secrets():
        spans = list(spans_of(one.text))
        left = [_left(one.text, stretch, spans) for stretch in one.ranges]
        figures.planted[one.group] += 1
        if not any(any(parts) for parts in left):
            figures.found[one.group] += 1
            if any(not any(start < stop and end > begin for start, stop in one.ranges) for begin, end in spans):
                figures.beside.append(one)
            continue
        touched = any(begin < end and start < stop for begin, stop in spans for start, end in one.ranges)
        figures.missed.append((one, touched))
        if touched and any(len(part) >= RESIDUE for parts in left for part in parts):
            figures.residue.append(one)
    for name, text in harmless.texts().items():
        figures.sizes[name] = len(text.encode())
        figures.false[name] = [text[max(0, start - 20) : end + 20] for start, end in spans_of(text)]
    return figures


def _left(text, stretch, spans):
    """The pieces of a stretch that no span covers."""
    at, end = stretch
    pieces = []
    for begin, stop in spans:
        if stop <= at or begin >= end:
            continue
        pieces.append(text[at:begin])
        at = max(at, stop)
    return [piece for piece in [*pieces, text[at:end]] if piece]


def speed(spans_of, text: str) -> tuple[float, float]:
    """MB/s of process time, and that of the floor, ``re.findall(r"\\w+")``; best of three.

    The text comes in pieces of 32 thousand characters, as logs hold texts: one by one, not megabytes at once.
    """
    pieces = [text[at : at + PIECE] for at in range(0, min(len(text), LIMIT), PIECE)]
    size = sum(len(piece.encode()) for piece in pieces) / 1e6
    ours_, floor = ([lambda piece=piece, f=f: list(f(piece)) for piece in pieces] for f in (spans_of, _floor))
    return size / seconds(ours_), size / seconds(floor)


def _floor(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def seconds(runs) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        for run in runs:
            run()
        best = min(best, time.process_time() - start)
    return best


def ours(text: str):
    from clm_sessions.redact import Secrets, merged

    return [(span.start, span.end) for span in merged(text, Secrets().spans(text))]


def main(spans_of=ours):
    figures = measure(spans_of)
    for group in figures.planted:
        print(f"{group}: {figures.found[group]} of {figures.planted[group]} = {figures.share(group):.1f} %")
    print(f"residue: {len(figures.residue)}; hidden beside: {len(figures.beside)}")
    texts = harmless.texts()
    for name, found in figures.false.items():
        print(f"false in {name} ({figures.sizes[name] / 1e6:.2f} MB): {len(found)}")
    for name in ("code", "prose"):
        print(f"speed on {name}: %.1f MB/s, floor %.1f" % speed(spans_of, texts[name]))
    if "-v" in sys.argv:
        for one, touched in figures.missed:
            print("MISSED", one.group, one.kind, "|", one.where, "| touched" if touched else "", repr(one.text[:230]))
        for one in figures.beside:
            print("BESIDE", one.kind, one.where, repr(one.text[:200]))
        for name, found in figures.false.items():
            for text, count in Counter(found).most_common(12):
                print("FALSE", name, count, repr(text[:150]))


if __name__ == "__main__":
    main()
