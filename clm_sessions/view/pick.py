"""Parts of a transcript: which cards, and which steps of them, a reader asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from clm_sessions.view.model import ChunkView, Section, Step

_FAILED = frozenset(("error", "interrupted", "unanswered"))
_STOPS = frozenset(("interruption", "notice"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """What is asked for; an empty field asks for everything.

    ``kinds`` of chunks. ``tools``: names, ``*`` and ``?`` stand for anything. ``errors``: steps that failed, were
    interrupted or got no answer. ``pattern`` is looked for in all texts of a card, line by line where it has ``^``.
    ``thinking``: True unfolds it, False leaves it out.
    """

    kinds: frozenset[str] = frozenset()
    tools: tuple[str, ...] = ()
    errors: bool = False
    pattern: re.Pattern[str] | None = None
    thinking: bool | None = None

    @property
    def narrows(self) -> bool:
        """Whether whole cards may be left out."""
        return bool(self.kinds or self.tools or self.errors or self.pattern)


def pick(view: ChunkView, asked: Pick) -> ChunkView | None:
    """The card with the steps that are asked for, those found open; None if nothing in it is."""
    if asked.kinds and view.kind not in asked.kinds:
        return None
    steps = view.steps
    if asked.thinking is not None:
        kept = (step for step in steps if asked.thinking or step.kind != "thinking")
        steps = tuple(_open(step) if step.kind == "thinking" else step for step in kept)
    if asked.tools:
        steps = tuple(step for step in steps if step.tool is not None and _named(step.tool, asked.tools))
    if asked.errors:
        steps = tuple(_open(step) for step in steps if step.status in _FAILED or step.kind in _STOPS)
    sections = view.sections
    if asked.pattern is not None:
        steps = tuple(_open(step) for step in steps if _holds(asked.pattern, _texts(step)))
        if sections and not any(_holds(asked.pattern, _words(section)) for section in sections):
            sections = ()
    only_steps = bool(asked.tools or asked.errors)
    if (only_steps and not steps) or (asked.pattern and not steps and not sections):
        return None
    return view if steps == view.steps and sections == view.sections else replace(view, steps=steps, sections=sections)


def _named(tool: str, wanted: tuple[str, ...]) -> bool:
    return any(fnmatchcase(tool.casefold(), name.casefold()) for name in wanted)


def _open(step: Step) -> Step:
    return step if step.open else replace(step, open=True)


def _holds(pattern: re.Pattern[str], texts: Iterator[str]) -> bool:
    return any(pattern.search(text) for text in texts)


def _texts(step: Step) -> Iterator[str]:
    yield from (step.title, step.subtitle)
    for section in step.sections:
        yield from _words(section)


def _words(section: Section) -> Iterator[str]:
    yield section.text
    yield from (line.text for line in section.diff)
    yield from section.header
    yield from (cell for row in section.rows for cell in row)
