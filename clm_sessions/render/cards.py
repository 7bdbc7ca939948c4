"""Cards: a chunk view as one ``<article>``, its steps as disclosures. No script, no inline style, no live log text."""

from __future__ import annotations

from collections.abc import Iterator

from clm_sessions.render.escape import bdi, esc
from clm_sessions.render.options import LATER, Options
from clm_sessions.render.sections import Place, section_html
from clm_sessions.render.when import span_html
from clm_sessions.view import ChunkView, Step
from clm_sessions.view.words import count, duration, plural

_KINDS = {"user", "ai", "system", "compact"}
_STEPS = {"thinking", "text", "tool", "result", "interruption", "subagent", "notification", "teammate", "injected"}
_STEPS |= {"notice", "sidechain", "image", "raw"}
_FAMILIES = {"shell", "read", "edit", "search", "web", "agent", "plan", "question"}
_STATUS = {
    "ok": ("✓", "ok"),
    "error": ("✗", "failed"),
    "interrupted": ("⊘", "interrupted"),
    "unanswered": ("○", "no result"),
    "abandoned": ("↶", "rewound"),
}
_SAID = {"interrupted", "error", "abandoned"}
_DEFAULT = Options()


def chunk_html(view: ChunkView, *, options: Options = _DEFAULT) -> str:
    """One chunk as an ``<article class="clm-chunk" id="c12">``, safe to put into any page. Never raises on content."""
    kind = view.kind if view.kind in _KINDS else "other"
    anchor = f"{options.id_prefix}c{view.seq}"
    place = Place(options, min(options.heading + 1, 6))
    body = _compact(view, place) if kind == "compact" else _sections(view, place) + _steps(view, place)
    classes = f"clm-chunk clm-{kind} tex2jax_ignore mathjax_ignore"
    classes += " clm-is-abandoned" if view.status == "abandoned" else ""
    return (
        f'<article class="{classes}{_hit(view.hit)} id="{esc(anchor)}" aria-labelledby="{esc(anchor)}-h">'
        f'{_head(view, options, anchor)}<div class="clm-body">{body}</div></article>\n'
    )


def _head(view: ChunkView, options: Options, anchor: str) -> str:
    level = options.heading
    link = options.permalink(view) if options.permalink else f"#{anchor}"
    facts = [span_html(view.started_at, view.ended_at, options.tz)]
    facts += [esc(duration(view.duration_ms))] if view.duration_ms else []
    facts += [f"{count(view.output_tokens)} out"] if view.output_tokens else []
    facts += [f'<span class="clm-pill clm-is-error">✗ {esc(badge)}</span>' for badge in view.badges]
    facts += [_pill(view.status)] if view.status in _SAID and not (view.badges and view.status == "error") else []
    who = view.summary if view.kind == "compact" and view.summary else view.who
    return (
        f'<div class="clm-head"><h{level} class="clm-who" id="{esc(anchor)}-h">{bdi(who)}</h{level}>'
        f'<span class="clm-facts">{_joined(facts)}</span>'
        f' <a class="clm-permalink" href="{esc(link)}" aria-label="Link to chunk {view.number}">#{view.number}</a></div>'
    )


def _hit(number: int | None) -> str:
    """The end of a class attribute, and the number of what was found here."""
    return '"' if number is None else f' clm-found" data-n="{number}"'


def _joined(facts: list[str]) -> str:
    return '<span class="clm-dot"> · </span>'.join(fact for fact in facts if fact)


def _pill(status: str | None) -> str:
    if status not in _STATUS:
        return ""
    sign, word = _STATUS[status]
    return f'<span class="clm-pill clm-is-{status}">{sign} <span class="clm-word">{word}</span></span>'


def _sections(view: ChunkView, place: Place) -> str:
    return "".join(section_html(s, place, _more(view, place, None, i)) for i, s in enumerate(view.sections))


def _more(view: ChunkView, place: Place, step: int | None, section: int | None) -> str | None:
    return place.options.more_href(view, step, section) if place.options.more_href else None


def _compact(view: ChunkView, place: Place) -> str:
    if not view.sections:
        return ""
    inner = _sections(view, place)
    return f'<details class="clm-summary"><summary>Show summary</summary><div class="clm-inner">{inner}</div></details>'


def _steps(view: ChunkView, place: Place) -> str:
    """The steps, those that are not text gathered into lists of rows."""
    options = place.options
    first = max(0, options.first_step)
    last = len(view.steps) if options.max_steps is None else min(len(view.steps), first + options.max_steps)
    html: list[str] = []
    if first:
        html.append(f'<p class="clm-cut">Steps {first + 1} to {last} of {len(view.steps)}.</p>')
    in_rows = False
    for index in range(first, last):
        step = view.steps[index]
        row = step.kind != "text"
        if row != in_rows:
            html.append('<div class="clm-rows">' if row else "</div>")
            in_rows = row
        html.append(step_html(view, index, place) if row else _say(view, index, place))
    html.append("</div>" if in_rows else "")
    if last < len(view.steps):
        more = _more(view, place, last, None)
        link = f' <a href="{esc(more)}">Show them</a>' if more else ""
        html.append(f'<p class="clm-cut">{plural(len(view.steps) - last, "more step")} not shown here.{link}</p>')
    return "".join(html)


def _say(view: ChunkView, index: int, place: Place) -> str:
    return f'<div class="clm-say{_hit(view.steps[index].hit)} id="{_anchor(view, index, place)}">{_inside(view, index, place)}</div>'


def step_body_html(view: ChunkView, index: int, *, options: Options = _DEFAULT) -> str:
    """What a step unfolds to, for a page that left it out (``Options.later``)."""
    return _inside(view, index, Place(options, min(options.heading + 1, 6)))


def _anchor(view: ChunkView, index: int, place: Place) -> str:
    return f"{esc(place.options.id_prefix)}c{view.seq}-{_own(view, index) + 1}"


def _own(view: ChunkView, index: int) -> int:
    """The place of a step in its chunk."""
    own = view.steps[index].index if index < len(view.steps) else None
    return index if own is None else own


def _inside(view: ChunkView, index: int, place: Place) -> str:
    sections, own = view.steps[index].sections, _own(view, index)
    return "".join(section_html(s, place, _more(view, place, own, i)) for i, s in enumerate(sections))


def step_html(view: ChunkView, index: int, place: Place) -> str:
    """One step as a disclosure, or as a plain row where there is nothing to unfold."""
    step = view.steps[index]
    kind = step.kind if step.kind in _STEPS else "raw"
    classes = f"clm-step clm-s-{kind}" + (f" clm-f-{step.family}" if step.family in _FAMILIES else "")
    classes += f" clm-is-{step.status}" if step.status in _STATUS else ""
    own = place.options.step_class(step) if place.options.step_class else None
    classes += f" {esc(own)}" if own else ""
    head = f'class="{classes}{_hit(step.hit)} id="{_anchor(view, index, place)}"'
    inner = (_later(view, index, place) or _inside(view, index, place)) + "".join(_agent(step, place.options))
    if not inner:
        return f'<div {head}><div class="clm-row">{_row(step)}</div></div>'
    is_open = " open" if step.open else ""
    return f'<details {head}{is_open}><summary class="clm-row">{_row(step)}</summary><div class="clm-inner">{inner}</div></details>'


def _later(view: ChunkView, index: int, place: Place) -> str:
    """A link in the place of what a closed step holds, if that is to be fetched."""
    step, later = view.steps[index], place.options.later
    if step.open or later is None or sum(section.length for section in step.sections) <= LATER:
        return ""
    href = later(view, _own(view, index))
    return f'<p class="clm-goto clm-later"><a href="{esc(href)}">Show {esc(step.title) or "it"}</a></p>' if href else ""


def _row(step: Step) -> str:
    facts = [f'<span class="clm-badge">{bdi(badge)}</span>' for badge in step.badges if badge]
    facts += [_pill(step.status)] if step.status else []
    took = duration(step.duration_ms) if step.duration_ms is not None else ""
    facts += [f'<span class="clm-took">{took}</span>'] if took else []
    about = " " + bdi(step.subtitle, "span", "clm-about") if step.subtitle else ""
    end = f' <span class="clm-end">{" ".join(facts)}</span>' if facts else ""
    return f'<span class="clm-glyph" aria-hidden="true"></span>{bdi(step.title, "strong", "clm-name")}{about}{end}'


def _agent(step: Step, options: Options) -> Iterator[str]:
    if step.subagent is None:
        return
    nested = options.subagent_html(step.subagent) if options.subagent_html else None
    href = options.subagent_href(step.subagent) if options.subagent_href else None
    if href:
        yield f'<p class="clm-goto"><a href="{esc(href)}">Open the subagent transcript</a></p>'
    if nested:
        yield f'<div class="clm-nest">{nested}</div>'
