"""A session as Markdown: prose as it was written but with no live HTML or image, everything else in fences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import timezone

from markdown_it import MarkdownIt

from clm_sessions.model import SessionInfo
from clm_sessions.render import facts
from clm_sessions.render.ansi import plain
from clm_sessions.render.escape import visible
from clm_sessions.render.when import moment
from clm_sessions.view import ChunkView, Section, Step
from clm_sessions.view.words import duration, one_line, size

_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~#])")
_TICKS = re.compile(r"`+")
_PARSER_LIMIT = 20_000


def session_md(info: SessionInfo, views: Iterable[ChunkView], place: str, limit: int | None) -> str:
    """A session, or a part of it: ``place`` says which. ``limit``: characters of each fenced text, None for all."""
    return "\n".join(lines(info, views, place, limit)).rstrip() + "\n"


def lines(
    info: SessionInfo, views: Iterable[ChunkView], place: str, limit: int | None, note: str | None = None
) -> Iterator[str]:
    """The same line by line, no card before it is asked for. ``note`` stands below the facts."""
    yield from (f"# {inline(info.title or info.native_id)}", "")
    yield from (f"- {label}: {inline(value)}" for label, value in facts(info))
    yield from (f"- Shown: {place}", *([f"- {note}"] if note else []), "")
    for view in views:
        yield from chunk_md(view, limit)


def chunk_md(view: ChunkView, limit: int | None) -> Iterator[str]:
    """The lines of one card."""
    about = [inline(view.summary if view.kind == "compact" else view.who)]
    about += [moment(view.started_at, timezone.utc) + " UTC"] if view.started_at is not None else []
    about += [duration(view.duration_ms)] if view.duration_ms else []
    yield f"## {view.number}. {' · '.join(about)}"
    yield ""
    for section in view.sections:
        yield from _section(section, limit)
    for step in view.steps:
        yield from _step(step, limit)


def _step(step: Step, limit: int | None) -> Iterator[str]:
    if step.kind != "text":
        ends = [*step.badges, *([step.status] if step.status else [])]
        ends += [duration(step.duration_ms)] if step.duration_ms is not None else []
        about = f" {inline(step.subtitle)}" if step.subtitle else ""
        tail = "".join(f" · {inline(end)}" for end in ends if end)
        yield f"**{inline(step.title)}**{about}{tail}"
        yield ""
    for section in step.sections:
        yield from _section(section, limit)


def _section(section: Section, limit: int | None) -> Iterator[str]:
    if section.title:
        yield f"*{inline(section.title)}*"
        yield ""
    if section.kind == "markdown":
        yield prose(section.text)
    elif section.image is not None:
        yield f"*[image: {inline(section.image.media_type)}, {size(section.image.size)}]*"
    else:
        text = section_text(section)
        cut = limit is not None and len(text) > limit
        language = "diff" if section.kind == "diff" else ""
        yield fence(text[:limit] if cut else text, language)
        if cut:
            yield ""
            yield f"*Cut here; the whole is {size(len(text.encode('utf-8', 'replace')))}.*"
    yield ""


def section_text(section: Section) -> str:
    """A section of any kind as plain text."""
    if section.kind == "diff":
        return "\n".join(("" if line.sign == "@" else line.sign) + line.text for line in section.diff)
    if section.kind == "key_values":
        return "\n".join(": ".join(row) for row in section.rows)
    if section.kind == "table":
        return "\n".join(
            "\t".join(row) for row in ((section.header, *section.rows) if section.header else section.rows)
        )
    return plain(section.text) if section.kind == "terminal" else section.text


def inline(text: str) -> str:
    """Log text on one line of Markdown, with nothing in it that Markdown would act on."""
    return _SPECIAL.sub(r"\\\1", one_line(visible(text), 300))


def fence(text: str, language: str = "") -> str:
    """Text as a fenced block that it cannot end."""
    longest = max(map(len, _TICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{visible(text).rstrip()}\n{ticks}"


def prose(text: str) -> str:
    """Markdown of the log without live HTML or images. What cannot be made sure of is fenced."""
    text = visible(text)
    if len(text) > _PARSER_LIMIT or text.count("[") > 1_000:
        return fence(text)
    parser = MarkdownIt("commonmark", {"html": True})
    kept: set[int] = set()
    for token in parser.parse(text):
        if token.type in {"fence", "code_block"} and token.map:
            kept.update(range(*token.map))
    lines = [
        line if n in kept else _TAG.sub("\\\\<", line).replace("![", "!\\[") for n, line in enumerate(text.split("\n"))
    ]
    made = "\n".join(lines)
    return fence(text) if _live(parser, made) else made


def _live(parser: MarkdownIt, text: str) -> bool:
    """Whether Markdown holds HTML or an image, or ends inside a fence that would swallow what follows."""
    tokens = parser.parse(text + "\n\nclm-end")
    flat = [child for token in tokens for child in (token, *(token.children or ()))]
    last = tokens[-2] if len(tokens) > 1 else None
    ended = last is not None and last.content == "clm-end" and last.level == 1
    return not ended or any(token.type in {"html_block", "html_inline", "image"} for token in flat)
