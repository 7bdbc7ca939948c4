"""The outline beside a live view: the prompts and compactions around the page, however many there are."""

from __future__ import annotations

from clm_sessions.render import outline
from clm_sessions.render.escape import visible
from clm_sessions.view.words import one_line, plural
from jupyter_clm.find import Finder

BLOCK, MARGIN = 60, 40
"""The outline is of a block of so many chunks and of so many on both sides, so it stays the same from page to page."""
Option = tuple[str, int]
"""A label and the seq of the chunk it leads to."""


def entries(finder: Finder, here: int) -> tuple[list[Option], int | None]:
    """The outline around the chunk ``here``, and the seq of the entry that it belongs to, if that is in it.

    Where more lies before or behind, an option leads there. Reads 140 chunks at most, without their content.
    """
    block = here // BLOCK * BLOCK
    start, stop = max(0, block - MARGIN), min(finder.count, block + BLOCK + MARGIN)
    found = [entry for entry in outline(finder.window(start, stop)) if entry.kind != "ai" or not start]
    options = [(_label(e.seq, e.kind, e.text, e.tool_calls, e.tool_errors), e.seq) for e in found]
    earlier = [(f"↑ earlier, from #{start:,} back", start - 1)] if start else []
    later = [(f"↓ later, from #{stop + 1:,} on", stop)] if stop < finder.count else []
    return [*earlier, *options, *later], max((e.seq for e in found if e.seq <= here), default=None)


def _label(seq: int, kind: str, text: str, calls: int, errors: int) -> str:
    mark = ("⇊ " if kind == "compact" else "") + ("✗ " if errors else "")
    counts = f" · {plural(calls, 'tool')}" if calls else ""
    counts += f", {errors:,} failed" if errors else ""
    return f"{seq + 1:,}  {mark}{visible(one_line(text, 60))}{counts}"
