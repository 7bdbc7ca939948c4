"""A diff as HTML: a sign on every line, its number in the margin, the changed middle of a line marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clm_sessions.render.escape import esc
from clm_sessions.view import DiffLine

_CLASSES = {"+": "clm-add", "-": "clm-del", "@": "clm-hunk"}


def diff_html(lines: Sequence[DiffLine]) -> str:
    """The lines of a ``<pre>``; each is a span, so that a whole line can be coloured."""
    return "".join(_line(line, middle) for line, middle in _with_middles(lines))


def _line(line: DiffLine, middle: tuple[int, int] | None) -> str:
    text = esc(line.text)
    start, end = middle or (0, 0)
    if start < end:
        text = f"{esc(line.text[:start])}<mark>{esc(line.text[start:end])}</mark>{esc(line.text[end:])}"
    number = f' data-n="{line.number}"' if line.number is not None else ""
    sign = "" if line.sign == "@" else esc(line.sign)
    return f'<span class="clm-line {_CLASSES.get(line.sign, "clm-same")}"{number}>{sign}{text}\n</span>'


def _with_middles(lines: Sequence[DiffLine]) -> Iterator[tuple[DiffLine, tuple[int, int] | None]]:
    """Each line with what to mark in it: where as many lines came as went, they are compared pair by pair."""
    at = 0
    while at < len(lines):
        gone = _run(lines, at, "-")
        come = _run(lines, at + gone, "+")
        if gone == 0 or gone != come:
            width = gone or 1
            yield from ((line, None) for line in lines[at : at + width])
            at += width
            continue
        pairs = [_middle(lines[at + i].text, lines[at + gone + i].text) for i in range(gone)]
        yield from ((lines[at + i], pair and pair[0]) for i, pair in enumerate(pairs))
        yield from ((lines[at + gone + i], pair and pair[1]) for i, pair in enumerate(pairs))
        at += gone + come


def _run(lines: Sequence[DiffLine], start: int, sign: str) -> int:
    end = start
    while end < len(lines) and lines[end].sign == sign:
        end += 1
    return end - start


def _middle(old: str, new: str) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where two lines differ between what they begin and end with in common; None if most of them differs."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if (head + tail) * 3 < shorter:
        return None
    return (head, len(old) - tail), (head, len(new) - tail)
