"""The view model: what a chunk looks like, as plain data. ``render`` makes HTML of it, ``cli`` makes text of it.

All strings are plain text as the log has them: escaping is the renderer's business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from clm_sessions.model import Image

SectionKind = Literal["text", "markdown", "code", "diff", "terminal", "table", "key_values", "image", "note", "command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """``sign``: " ", "+", "-" or "@" (a hunk header). ``number``: line in the file it belongs to, from 1, if known."""

    sign: str
    text: str
    number: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A piece of a card. Which fields count depends on ``kind``.

    text, markdown, terminal, note: ``text``. code: ``text``, ``language`` (a name or file name, may be None),
    ``first_line`` (its number in the file; None: no line numbers). command: ``text`` as it was typed.
    diff: ``diff``. table: ``header``, ``rows``. key_values: ``rows`` of two. image: ``image``.
    ``title`` is a short label above it, or None. ``folded``: shown only when unfolded by its title.
    """

    kind: SectionKind
    text: str = ""
    title: str | None = None
    language: str | None = None
    diff: tuple[DiffLine, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    image: Image | None = None
    first_line: int | None = None
    folded: bool = False

    @property
    def length(self) -> int:
        """About how much text it shows, in characters; an image counts as a thousand."""
        cells = sum(len(cell) + 8 for row in self.rows for cell in row)
        return (
            len(self.text) + sum(len(line.text) + 40 for line in self.diff) + cells + 1_000 * (self.image is not None)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolView:
    """A tool call for a reader.

    ``title`` (tool name), ``subtitle`` (what it was about), ``badges`` (short facts such as ``+2 -2`` or ``exit 1``),
    and the sections to unfold. ``family`` is a hint for the eye: shell, read, edit, search, web, agent, plan,
    question, or empty.
    """

    title: str
    subtitle: str = ""
    badges: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    open: bool = False
    family: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of an AI card.

    ``kind``: thinking, text, tool, result (one without its call), interruption, subagent, notification, teammate,
    injected, notice (from the program), sidechain, image, or raw (a block nobody knows).
    ``status``: ok, error, interrupted, unanswered, or None. ``message`` is the seq it comes from.
    """

    kind: str
    title: str = ""
    subtitle: str = ""
    status: str | None = None
    duration_ms: int | None = None
    badges: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    open: bool = False
    message: int | None = None
    tool: str | None = None
    subagent: str | None = None
    """Session key of a subagent attached here, to be loaded on demand."""
    family: str = ""
    hit: int | None = None
    """Where somebody looks for words: the number (from 1) of the place found here."""
    index: int | None = None
    """Its place (from 0) among the steps of the chunk, where some were left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkView:
    """A chunk as a card. ``anchor`` is ``c<seq>``. ``number`` is what a reader sees (seq + 1).

    ``hit`` is that of its own sections, as in a step.
    """

    seq: int
    number: int
    anchor: str
    kind: str
    who: str
    status: str | None = None
    started_at: int | None = None
    ended_at: int | None = None
    duration_ms: int | None = None
    output_tokens: int | None = None
    summary: str = ""
    sections: tuple[Section, ...] = ()
    steps: tuple[Step, ...] = field(default=())
    badges: tuple[str, ...] = ()
    hit: int | None = None
