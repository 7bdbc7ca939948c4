"""A chunk view as text for a terminal: no escape sequence of the log survives, colours are ours and optional."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from datetime import timezone, tzinfo

from clm_sessions.render.ansi import plain
from clm_sessions.render.escape import visible
from clm_sessions.render.sections import cut
from clm_sessions.render.when import moment
from clm_sessions.view import ChunkView, Section, Step
from clm_sessions.view.words import count, duration, one_line, plural, size

_LIMIT = 16_384
_MARKS = {
    "tool": "•",
    "thinking": "∴",
    "interruption": "⊘",
    "subagent": "»",
    "notification": "!",
    "teammate": "@",
    "notice": "!",
    "injected": "+",
    "sidechain": "»",
    "result": "<",
    "image": "▣",
    "raw": "?",
}
_STATUS = {"error": "✗ failed", "interrupted": "⊘ interrupted", "unanswered": "○ no result", "ok": "✓ ok"}
_PROSE = {"markdown", "text", "note"}
_LEAD = re.compile(r"\s*(?:(?:[-*+>]|\d{1,3}[.)])\s+)?")
_COLOURS = {
    "user": "1;34",
    "ai": "1;36",
    "system": "1;35",
    "compact": "1;33",
    "error": "31",
    "dim": "2",
    "add": "32",
    "del": "31",
}


def text(
    view: ChunkView, *, colour: bool = False, full: bool = False, tz: tzinfo = timezone.utc, width: int | None = None
) -> str:
    """One chunk as lines of text, ending in a line break. ``width``: characters at which prose is wrapped.

    ``full`` unfolds every step; otherwise a step is one line and only those open by default are shown whole.
    ``colour`` adds SGR sequences of ours. Long sections are cut and say how large they are.
    """
    paint = _Paint(colour, width)
    lines = [*_head(view, paint, tz)]
    for section in view.sections:
        if full or not section.folded:
            lines += _section(section, paint, "  ")
    for step in view.steps:
        lines += _step(step, paint, full)
    return "\n".join(lines) + "\n"


class _Paint:
    def __init__(self, on: bool, width: int | None) -> None:
        self._on, self.width = on, width

    def __call__(self, name: str, words: str) -> str:
        code = _COLOURS.get(name)
        return f"\x1b[{code}m{words}\x1b[0m" if self._on and code and words else words


def _head(view: ChunkView, paint: _Paint, tz: tzinfo) -> Iterator[str]:
    facts = [moment(view.started_at, tz)] if view.started_at is not None else []
    facts += [duration(view.duration_ms)] if view.duration_ms else []
    facts += [f"{count(view.output_tokens)} out"] if view.output_tokens else []
    facts += [*view.badges]
    facts += [_STATUS[view.status]] if view.status in {"error", "interrupted"} and not view.badges else []
    who = view.summary if view.kind == "compact" and view.summary else view.who
    yield ""
    yield paint(view.kind, f"#{view.number} {line(who)}") + paint(
        "dim", "".join(f" · {line(fact)}" for fact in facts if fact)
    )


def _step(step: Step, paint: _Paint, full: bool) -> Iterator[str]:
    if step.kind == "text":
        for section in step.sections:
            yield from _section(section, paint, "  ")
        return
    ends = [*step.badges, _STATUS.get(step.status or "", "") if step.status != "ok" else ""]
    ends += [duration(step.duration_ms)] if step.duration_ms is not None else []
    tail = paint("error" if step.status == "error" else "dim", "".join(f" · {line(end)}" for end in ends if end))
    title = line(step.title)
    room = (
        2_000
        if paint.width is None
        else max(20, paint.width - len(title) - sum(len(end) + 3 for end in ends if end) - 6)
    )
    yield f"  {_MARKS.get(step.kind, '?')} {title} {paint('dim', line(step.subtitle, room))}".rstrip() + tail
    if not full and not step.open:
        return
    for section in step.sections:
        if full or not section.folded:
            yield from _section(section, paint, "      ")


def _section(section: Section, paint: _Paint, indent: str) -> Iterator[str]:
    if section.title:
        yield indent + paint("dim", f"{line(section.title)}:")
    body = _body(section, paint)
    if paint.width is not None and section.kind in _PROSE:
        body = _wrapped(body, max(20, paint.width - len(indent)))
    yield from (f"{indent}{each}".rstrip() for each in body)


def _wrapped(texts: Iterator[str], width: int) -> Iterator[str]:
    """Lines of prose at most ``width`` characters long, those of a list item below its text; code and tables stay."""
    fenced = False
    for each in texts:
        fenced ^= each.lstrip().startswith(("```", "~~~"))
        if fenced or len(each) <= width or each.startswith(("    ", "\t", "|")):
            yield each
            continue
        found = _LEAD.match(each)
        lead = len(found[0]) if found else 0
        yield from textwrap.wrap(
            each, width, subsequent_indent=" " * min(lead, width // 2), break_long_words=False, break_on_hyphens=False
        )


def _body(section: Section, paint: _Paint) -> Iterator[str]:
    if section.kind == "diff":
        for row in section.diff:
            name = {"+": "add", "-": "del"}.get(row.sign, "dim" if row.sign == "@" else "")
            yield paint(name, ("" if row.sign == "@" else row.sign) + visible(plain(row.text[:_LIMIT])))
    elif section.kind in {"table", "key_values"}:
        joint = ": " if section.kind == "key_values" else " | "
        yield from (
            line(joint.join(row)) for row in ((section.header, *section.rows) if section.header else section.rows)
        )
    elif section.image is not None:
        yield f"[image: {line(section.image.media_type)}, {size(section.image.size)}]"
    else:
        yield from _text(section.text)


def _text(whole: str) -> Iterator[str]:
    part = cut(whole, _LIMIT)
    yield from visible(plain(part.head)).rstrip("\n").split("\n")
    if part.whole is not None:
        yield f"[… cut here; the whole is {size(part.whole)}, {plural(whole.count(chr(10)) + 1, 'line')} …]"
        yield from visible(plain(part.tail)).rstrip("\n").split("\n")


def line(words: str, limit: int = 2_000) -> str:
    """Log text on one line of at most ``limit`` characters that cannot act on a terminal or reorder what stands beside it."""
    return one_line(visible(plain(words[: limit * 8])), limit)
