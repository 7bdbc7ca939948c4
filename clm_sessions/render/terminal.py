"""A chunk view as text for a terminal: no escape sequence of the log survives, colours are ours and optional."""

from __future__ import annotations

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


def text(view: ChunkView, *, colour: bool = False, full: bool = False, tz: tzinfo = timezone.utc) -> str:
    """One chunk as lines of text, ending in a line break.

    ``full`` unfolds every step; otherwise a step is one line and only those open by default are shown whole.
    ``colour`` adds SGR sequences of ours. Long sections are cut and say how large they are.
    """
    paint = _Paint(colour)
    lines = [*_head(view, paint, tz)]
    for section in view.sections:
        if full or not section.folded:
            lines += _section(section, paint, "  ")
    for step in view.steps:
        lines += _step(step, paint, full)
    return "\n".join(lines) + "\n"


class _Paint:
    def __init__(self, on: bool) -> None:
        self._on = on

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
    yield paint(view.kind, f"#{view.number} {_clean(who)}") + paint(
        "dim", "".join(f" · {_clean(fact)}" for fact in facts if fact)
    )


def _step(step: Step, paint: _Paint, full: bool) -> Iterator[str]:
    if step.kind == "text":
        for section in step.sections:
            yield from _section(section, paint, "  ")
        return
    ends = [*step.badges, _STATUS.get(step.status or "", "") if step.status != "ok" else ""]
    ends += [duration(step.duration_ms)] if step.duration_ms is not None else []
    tail = paint("error" if step.status == "error" else "dim", "".join(f" · {_clean(end)}" for end in ends if end))
    yield f"  {_MARKS.get(step.kind, '?')} {_clean(step.title)} {paint('dim', _clean(step.subtitle))}".rstrip() + tail
    if not full and not step.open:
        return
    for section in step.sections:
        if full or not section.folded:
            yield from _section(section, paint, "      ")


def _section(section: Section, paint: _Paint, indent: str) -> Iterator[str]:
    if section.title:
        yield indent + paint("dim", f"{_clean(section.title)}:")
    yield from (f"{indent}{line}".rstrip() for line in _body(section, paint))


def _body(section: Section, paint: _Paint) -> Iterator[str]:
    if section.kind == "diff":
        for line in section.diff:
            name = {"+": "add", "-": "del"}.get(line.sign, "dim" if line.sign == "@" else "")
            yield paint(name, ("" if line.sign == "@" else line.sign) + visible(plain(line.text[:_LIMIT])))
    elif section.kind in {"table", "key_values"}:
        joint = ": " if section.kind == "key_values" else " | "
        yield from (
            _clean(joint.join(row)) for row in ((section.header, *section.rows) if section.header else section.rows)
        )
    elif section.image is not None:
        yield f"[image: {_clean(section.image.media_type)}, {size(section.image.size)}]"
    else:
        yield from _text(section.text)


def _text(whole: str) -> Iterator[str]:
    part = cut(whole, _LIMIT)
    yield from visible(plain(part.head)).rstrip("\n").split("\n")
    if part.whole is not None:
        yield f"[… cut here; the whole is {size(part.whole)}, {plural(whole.count(chr(10)) + 1, 'line')} …]"
        yield from visible(plain(part.tail)).rstrip("\n").split("\n")


def _clean(words: str) -> str:
    """One line without control characters."""
    return one_line(visible(plain(words)), 2_000)
