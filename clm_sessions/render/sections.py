"""Sections as HTML, each within its cap: what is cut says how large it is and where the whole is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from clm_sessions.render.ansi import ansi_html
from clm_sessions.render.code import code_lines, numbered
from clm_sessions.render.diff import diff_html
from clm_sessions.render.escape import bdi, esc, scrollable
from clm_sessions.render.images import image_html
from clm_sessions.render.options import Options
from clm_sessions.view import Section
from clm_sessions.view.words import plural, size

_CELL_LIMIT = 4_000


@dataclass(slots=True)
class Place:
    """Where sections are rendered: options, heading level for Markdown, and how much log text is left to show."""

    options: Options
    heading: int = 4
    left: int = field(init=False)
    colours: int = 60_000
    """Characters of code still to be coloured in this chunk; past them it is plain, for time."""

    def __post_init__(self) -> None:
        """The whole budget is there at first."""
        self.left = self.options.budget if self.options.budget is not None else 1 << 62

    def take(self, text: str, cap: int | None) -> int:
        """How many characters of a text may be shown; they are counted."""
        limit = min(len(text), len(text) if cap is None else cap, max(self.left, self.options.floor))
        self.left -= limit
        return limit

    def colour(self, text: str) -> bool:
        """Whether to colour the code in a text; it is counted."""
        self.colours -= len(text)
        return self.options.highlight and self.colours > 0


@dataclass(frozen=True, slots=True)
class Cut:
    """A text with its middle left out: ``head``, ``tail`` and the size of the whole in bytes (None: it is whole)."""

    head: str
    tail: str = ""
    whole: int | None = None


def cut(text: str, limit: int, tail_part: float = 0.25) -> Cut:
    """At most ``limit`` characters, most from the beginning and the rest from the end, at line ends where possible."""
    if len(text) <= limit:
        return Cut(text)
    tail = int(limit * tail_part)
    head_text, tail_text = text[: limit - tail], text[len(text) - tail :] if tail else ""
    if "\n" in head_text[-1000:]:
        head_text = head_text[: head_text.rindex("\n") + 1]
    if "\n" in tail_text[:1000]:
        tail_text = tail_text[tail_text.index("\n") + 1 :]
    return Cut(head_text, tail_text, len(text.encode("utf-8", "replace")))


def section_html(section: Section, place: Place, more: str | None = None) -> str:
    """A section with its label. ``more``: address of the whole, offered if it had to be cut."""
    body = _KINDS.get(section.kind, _text)(section, place, more)
    title = section.title
    if section.folded:
        label = bdi(title or "More", "summary", "clm-label")
        return f'<details class="clm-fold">{label}{body}</details>'
    return f'<div class="clm-section">{_label(title)}{body}</div>' if title else body


def _label(title: str | None) -> str:
    return bdi(title, "div", "clm-label") if title else ""


def _note(whole: str, more: str | None) -> str:
    link = f' <a href="{esc(more)}">Show all</a>' if more else ""
    return f'<p class="clm-cut">Cut here; the whole is {whole}.{link}</p>'


def _pre(classes: str, text: str, inner: str) -> str:
    return f'<pre class="{classes}"{scrollable(text)} dir="auto">{inner}</pre>'


def _pieces(text: str, place: Place, more: str | None, make: Callable[[str], str], cap: int | None) -> str:
    part = cut(text, place.take(text, cap))
    if part.whole is None:
        return make(part.head)
    ends = make(part.tail) if part.tail else ""
    return make(part.head) + _note(size(part.whole), more) + ends


def _text(section: Section, place: Place, more: str | None) -> str:
    classes = "clm-note" if section.kind == "note" else "clm-text"
    return _pieces(
        section.text,
        place,
        more,
        lambda text: f'<div class="{classes}" dir="auto">{esc(text)}</div>',
        place.options.max_prose,
    )


def _markdown(section: Section, place: Place, more: str | None) -> str:
    from clm_sessions.render.markdown import markdown_html  # its parsers are slow to import, and text needs none

    def make(text: str) -> str:
        html = markdown_html(text, place.heading, highlight=place.colour(text))
        if html is None:
            return _pre("clm-asis", text, esc(text))
        return f'<div class="clm-md" dir="auto">{html}</div>'

    return _pieces(section.text, place, more, make, place.options.max_prose)


def _code(section: Section, place: Place, more: str | None) -> str:
    part = cut(section.text, place.take(section.text, place.options.max_output))
    name = section.language if place.colour(part.head + part.tail) else None

    def block(text: str, first: int | None) -> str:
        return _pre("clm-code", text, f'<code dir="ltr">{numbered(code_lines(text, name), first)}</code>')

    if part.whole is None:
        return block(part.head, section.first_line)
    after = None
    if section.first_line is not None:
        after = section.first_line + section.text.count("\n", 0, len(section.text) - len(part.tail))
    ends = block(part.tail, after) if part.tail else ""
    return block(part.head, section.first_line) + _note(size(part.whole), more) + ends


def _terminal(section: Section, place: Place, more: str | None) -> str:
    return _pieces(
        section.text.rstrip("\n"),
        place,
        more,
        lambda text: _pre("clm-terminal", text, ansi_html(text)),
        place.options.max_output,
    )


def _diff(section: Section, place: Place, more: str | None) -> str:
    shown, room = 0, place.options.max_output if place.options.max_output is not None else 1 << 62
    room = min(room, max(place.left, place.options.floor))
    for line in section.diff:
        if len(line.text) + 1 > room:
            break
        room -= len(line.text) + 1
        place.left -= len(line.text) + 1
        shown += 1
    lines = section.diff[:shown]
    scroll = scrollable("\n".join(line.text for line in lines))
    body = f'<pre class="clm-diff"{scroll} dir="ltr"><code>{diff_html(lines)}</code></pre>' if lines else ""
    return body if shown == len(section.diff) else body + _note(plural(len(section.diff), "line"), more)


def _table(section: Section, place: Place, more: str | None) -> str:
    rows = section.rows[: place.options.max_rows]
    head = "".join(bdi(cell, "th") for cell in section.header)
    body = "".join(f"<tr>{''.join(_cell(cell, place) for cell in row)}</tr>" for row in rows)
    thead = f"<thead><tr>{head}</tr></thead>" if head else ""
    html = f'<div class="clm-scroll" tabindex="0"><table>{thead}<tbody>{body}</tbody></table></div>'
    return html if len(rows) == len(section.rows) else html + _note(plural(len(section.rows), "row"), more)


def _cell(text: str, place: Place, tag: str = "td") -> str:
    part = cut(text, place.take(text, _CELL_LIMIT), 0)
    size_note = f" … ({size(part.whole)})" if part.whole is not None else ""
    return f'<{tag} dir="auto">{esc(part.head)}{size_note}</{tag}>'


def _key_values(section: Section, place: Place, more: str | None) -> str:
    rows = section.rows[: place.options.max_rows]
    pairs = "".join(
        f"<div>{_cell(key, place, 'dt')}{_cell(' '.join(value), place, 'dd')}</div>" for key, *value in rows
    )
    html = f'<dl class="clm-pairs">{pairs}</dl>'
    return html if len(rows) == len(section.rows) else html + _note(plural(len(section.rows), "row"), more)


def _image(section: Section, place: Place, _more: str | None) -> str:
    image = section.image
    return image_html(image, place.options.image_src(image)) if image is not None else ""


def _command(section: Section, place: Place, more: str | None) -> str:
    return _pieces(
        section.text,
        place,
        more,
        lambda text: f'<p class="clm-command">{bdi(text, "kbd")}</p>',
        place.options.max_prose,
    )


_KINDS: dict[str, Callable[[Section, Place, str | None], str]] = {
    "text": _text,
    "note": _text,
    "markdown": _markdown,
    "code": _code,
    "terminal": _terminal,
    "diff": _diff,
    "table": _table,
    "key_values": _key_values,
    "image": _image,
    "command": _command,
}
