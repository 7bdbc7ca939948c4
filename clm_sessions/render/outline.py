"""The outline of a session: prompts and compactions, with what went wrong after each. Data first, then its HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from clm_sessions.model import Chunk
from clm_sessions.render.escape import bdi, esc
from clm_sessions.view.build import compaction
from clm_sessions.view.words import one_line, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of the outline: a prompt or a compaction, with the tool calls that followed it.

    ``phase``: between which compactions it stands, from 1. ``interrupted``: a person stopped what followed; ``rewound``:
    the prompt was taken back.
    """

    seq: int
    kind: str
    text: str
    tool_calls: int = 0
    tool_errors: int = 0
    phase: int = 1
    interrupted: bool = False
    rewound: bool = False


def outline(chunks: Iterable[Chunk]) -> tuple[Entry, ...]:
    """Prompts, commands and compactions in order, each with the tool calls made until the next one."""
    entries: list[Entry] = []
    phase = 1
    for chunk in chunks:
        if chunk.kind in {"user", "compact"} or (not entries and chunk.kind == "ai"):
            phase += chunk.kind == "compact"
            entries.append(_entry(chunk, phase))
        if chunk.kind == "ai":
            last = entries[-1]
            entries[-1] = replace(
                last,
                tool_calls=last.tool_calls + chunk.tool_calls,
                tool_errors=last.tool_errors + chunk.tool_errors,
                interrupted=last.interrupted or chunk.status == "interrupted",
            )
    return tuple(entries)


def _entry(chunk: Chunk, phase: int) -> Entry:
    text = compaction(chunk) if chunk.kind == "compact" else one_line(chunk.preview, 120) or f"({chunk.kind})"
    return Entry(seq=chunk.seq, kind=chunk.kind, text=text, phase=phase, rewound=chunk.status == "abandoned")


def outline_html(entries: Sequence[Entry], href: Callable[[int], str], here: int | None = None) -> str:
    """The outline as lists of links, one for each phase; ``here``: seq of the entry the page stands at."""
    lists = "".join(
        f'<ol aria-label="Phase {phase}">{"".join(_row(entry, href(entry.seq), entry.seq == here) for entry in group)}</ol>'
        for phase, group in groupby(entries, lambda entry: entry.phase)
    )
    return f'<nav class="clm-outline" aria-label="Outline">{lists}</nav>' if lists else ""


def _row(entry: Entry, link: str, here: bool) -> str:
    current = ' aria-current="true"' if here else ""
    counts = "".join(f" {mark}" for mark in _marks(entry))
    kind = "compact" if entry.kind == "compact" else "prompt"
    return (
        f'<li class="clm-at-{kind}{" clm-is-abandoned" if entry.rewound else ""}"><a href="{esc(link)}"{current}>'
        f'<span class="clm-num">{entry.seq + 1}</span> {bdi(entry.text, "span", "clm-about")}'
        f'{f"""<span class="clm-counts">{counts}</span>""" if counts else ""}</a></li>'
    )


def _marks(entry: Entry) -> Iterable[str]:
    if entry.tool_calls:
        yield f"<small>{plural(entry.tool_calls, 'tool')}</small>"
    if entry.tool_errors:
        yield f'<small class="clm-is-error">✗ {entry.tool_errors:,} failed</small>'
    if entry.interrupted:
        yield '<small class="clm-is-interrupted">⊘ interrupted</small>'
    if entry.rewound:
        yield "<small>↶ rewound</small>"
