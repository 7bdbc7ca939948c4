"""The outline of a session: prompts and compactions, with what went wrong after each. Data first, then its HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from clm_sessions.model import Chunk, ChunkLine
from clm_sessions.render.escape import bdi, esc
from clm_sessions.view.build import compaction
from clm_sessions.view.words import one_line, plural


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of the outline: a prompt or a compaction, with the tool calls that followed it.

    ``phase``: between which compactions it stands, from 1. ``interrupted``: a person stopped what followed.
    """

    chunk: Chunk | ChunkLine
    tool_calls: int = 0
    tool_errors: int = 0
    phase: int = 1
    interrupted: bool = False

    @property
    def seq(self) -> int:
        """The chunk it leads to."""
        return self.chunk.seq

    @property
    def kind(self) -> str:
        """``user`` or ``compact``; ``ai`` where a session begins with a reply."""
        return self.chunk.kind

    @property
    def rewound(self) -> bool:
        """Whether the prompt was taken back."""
        return self.chunk.status == "abandoned"

    @property
    def text(self) -> str:
        """One line. It is made when asked for: of thousands of entries a page shows some."""
        if self.kind == "compact":
            return compaction(self.chunk)
        return one_line(self.chunk.preview, 120) or f"({self.kind})"


def outline(chunks: Iterable[Chunk | ChunkLine]) -> tuple[Entry, ...]:
    """Prompts, commands and compactions in order, each with the tool calls made until the next one."""
    groups: list[tuple[Chunk | ChunkLine, list[Chunk | ChunkLine]]] = []
    for chunk in chunks:
        if chunk.kind in {"user", "compact"} or (not groups and chunk.kind == "ai"):
            groups.append((chunk, []))
        if chunk.kind == "ai":
            groups[-1][1].append(chunk)
    return tuple(_entries(groups))


def _entries(groups: Iterable[tuple[Chunk | ChunkLine, Sequence[Chunk | ChunkLine]]]) -> Iterable[Entry]:
    phase = 1
    for head, replies in groups:
        phase += head.kind == "compact"
        yield Entry(
            chunk=head,
            phase=phase,
            tool_calls=sum(reply.tool_calls for reply in replies),
            tool_errors=sum(reply.tool_errors for reply in replies),
            interrupted=any(reply.status == "interrupted" for reply in replies),
        )


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
