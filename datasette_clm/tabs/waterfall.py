"""Bars in time as HTML: each row a link, its exact times in words, and a small SVG whose shapes carry no style."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from clm_sessions.render import Options
from clm_sessions.render.escape import bdi, esc
from clm_sessions.render.when import span_html
from clm_sessions.times import iso
from clm_sessions.view.scale import Scale, packed, scale
from clm_sessions.view.timeline import Bar, Turn
from clm_sessions.view.words import duration, one_line, plural
from datasette_clm.urls import Urls

_UTC = Options().tz
_SIGNS = {"error": "✗ failed", "interrupted": "⊘ interrupted", "unanswered": "○ no result"}
_THINNEST = 0.4
_MOST_TURNS = 400
_DEEPEST = 6


def turn_html(turn: Turn, rows: Sequence[Bar], urls: Urls, sid: str, first: int, most: int) -> str:
    """A turn: its prompt, its axis, and ``most`` of its rows from ``first`` on; what has no time is listed below."""
    shown = rows[first : first + most]
    axis = scale(_moments(rows))
    timed = [row for row in shown if row.start is not None]
    untimed = [row for row in shown if row.start is None]
    body = (
        f'{_axis(axis)}<ol class="clm-rows-of-time">{"".join(_row(row, axis, urls) for row in timed)}</ol>'
        if timed
        else ""
    )
    if untimed:
        label = "No time recorded" if timed else f"No times recorded ({plural(len(untimed), 'entry', 'entries')})"
        items = "".join(f"<li>{_what(row, urls)}{_sign(row)}</li>" for row in untimed)
        fold = "" if len(untimed) > 12 else " open"
        body += f'<details class="clm-untimed"{fold}><summary>{label}</summary><ul>{items}</ul></details>'
    hidden = len(rows) - len(shown)
    if hidden and first == 0:
        link = urls.tab(sid, "timeline", query={"turn": turn.number})
        body += f'<p class="clm-cut"><a href="{esc(link)}">This turn alone</a>, with {plural(hidden, "more row")}</p>'
    kind = " clm-turn-compact" if turn.kind == "compact" else ""
    return (
        f'<section class="clm-turn{kind}" aria-labelledby="t{turn.number}">{_head(turn, urls, sid)}{body}</section>\n'
    )


def _head(turn: Turn, urls: Urls, sid: str) -> str:
    facts = [span_html(turn.started_at, turn.ended_at, _UTC)]
    if turn.started_at is not None and turn.ended_at is not None and turn.ended_at > turn.started_at:
        facts.append(duration(turn.ended_at - turn.started_at))
    facts += [plural(turn.tool_calls, "call")] if turn.tool_calls else []
    facts += [f'<span class="clm-is-error">✗ {turn.tool_errors:,} failed</span>'] if turn.tool_errors else []
    facts += (
        [f'<span class="clm-is-interrupted">{_SIGNS["interrupted"]}</span>'] if turn.status == "interrupted" else []
    )
    about = bdi(turn.text or f"({turn.kind})")
    joined = '<span class="clm-dot"> · </span>'.join(fact for fact in facts if fact)
    return (
        f'<h3 id="t{turn.number}" class="clm-turn-head"><a href="{esc(urls.at(sid, turn.first))}">{about}</a></h3>'
        f'<p class="clm-turn-facts"><span class="clm-n">Turn {turn.number:,}</span> {joined}</p>'
    )


def _moments(rows: Sequence[Bar]) -> Iterator[int]:
    for row in rows:
        yield from (at for at in (row.start, row.end) if row.start is not None and at is not None)


# -- the axis ---------------------------------------------------------------------------------------------------


def _axis(axis: Scale) -> str:
    """Time since the beginning at every quarter, and what was left out."""
    if len(axis.times) < 2:
        return ""
    ticks = [axis.time(quarter / 4) for quarter in range(5)]
    labels = "".join(f"<li>{_since(axis.times[0], tick)}</li>" for tick in ticks if tick is not None)
    breaks = "".join(f"<li>{duration(b.end - b.start)} in which nothing began or ended</li>" for b in axis.breaks)
    waits = f'<ul class="clm-breaks" aria-label="Drawn short">{breaks}</ul>' if breaks else ""
    return f'<div class="clm-axis"><ul aria-label="Time since the beginning of the turn">{labels}</ul></div>{waits}'


def _since(start: int, at: int) -> str:
    return duration(at - start) if at > start else "0 s"


# -- rows -------------------------------------------------------------------------------------------------------


def _row(row: Bar, axis: Scale, urls: Urls) -> str:
    status = f" clm-is-{row.status}" if row.status in _SIGNS else ""
    start = row.start or 0
    clock = f'<time datetime="{iso(start)}">{(iso(start) or "")[11:19]}</time>'
    took = "" if row.kind == "mark" else _took(row)
    return (
        f'<li class="clm-bar-row clm-w-{row.kind}{status}">{_what(row, urls)}'
        f'<span class="clm-when">{clock}</span><span class="clm-span">{took}{_sign(row)}</span>{_track(row, axis)}</li>'
    )


def _took(row: Bar) -> str:
    if row.duration_ms is None:
        return "end unknown" if row.status in {"ok", "error"} else "no end"
    return duration(row.duration_ms) if row.duration_ms else "0 ms"


def _sign(row: Bar) -> str:
    if row.status not in _SIGNS or row.kind == "mark":
        return ""
    return f' <span class="clm-pill clm-is-{row.status}">{_SIGNS[row.status]}</span>'


def _what(row: Bar, urls: Urls) -> str:
    """The name, as a link to the chunk (of a subagent: to its transcript), and what it was about."""
    depth = f" clm-d{min(row.depth, _DEEPEST)}" if row.depth else ""
    if row.kind == "more":
        link = urls.tab(row.session, "timeline")
        return f'<span class="clm-what{depth}"><a href="{esc(link)}">{row.count:,} more entries</a></span>'
    link = urls.session(row.session) if row.chunk is None else urls.at(row.session, row.chunk)
    about = f" {bdi(one_line(row.about, 120), 'span', 'clm-about')}" if row.about else ""
    name = one_line(row.label, 40)
    said = f'<span class="clm-sr">{row.kind} </span>' if row.kind in {"tool", "agent"} else ""
    return f'<span class="clm-what{depth}"><a href="{esc(link)}">{said}{bdi(name)}</a>{about}</span>'


def _track(row: Bar, axis: Scale) -> str:
    """The bar. One that was never answered runs on to the end of the axis, dashed; one whose end is unknown is a moment."""
    left = 100 * axis.at(row.start or 0)
    lasting = row.end is None and row.status in {"unanswered", "interrupted", None}
    right = 100.0 if lasting else 100 * axis.at(row.start or 0 if row.end is None else row.end)
    width = max(right - left, _THINNEST)
    left = min(left, 100 - width)
    waits = "".join(
        f'<rect class="clm-wait" x="{100 * b.at:.2f}%" width="{100 * b.width:.2f}%" y="0" height="18"></rect>'
        for b in axis.breaks
    )
    opened = ' stroke-dasharray="3 3"' if lasting else ""
    shape = f'<rect class="clm-w" x="{left:.2f}%" width="{width:.2f}%" y="3" height="12" rx="2"{opened}></rect>'
    return f'<svg class="clm-track" width="100%" height="18" aria-hidden="true" focusable="false">{waits}{shape}</svg>'


# -- all turns --------------------------------------------------------------------------------------------------


def overview_html(every: Sequence[Turn], here: Collection[int], urls: Urls, sid: str) -> str:
    """All turns on one axis, long waits between them drawn short; each leads to its page. Empty without two timed turns."""
    timed = [turn for turn in every if turn.started_at is not None]
    if len(timed) < 2:
        return ""
    step = -(-len(timed) // _MOST_TURNS)
    groups = [timed[n : n + step] for n in range(0, len(timed), step)]
    spans = [(group, _begin(group), _end(group)) for group in groups]
    axis = packed((begin, end) for _group, begin, end in spans)
    shapes = "".join(_turn_mark(group, begin, end, axis, here, urls, sid) for group, begin, end in spans)
    waits = "".join(
        f'<rect class="clm-wait" x="{100 * b.at:.3f}%" width="{100 * b.width:.3f}%" y="0" height="34"></rect>'
        for b in axis.breaks
    )
    words = f"{plural(len(timed), 'turn')} in {duration(axis.times[-1] - axis.times[0]) or '0 s'}"
    if axis.breaks:
        words += "; waits between them (grey) are drawn short"
    if any(turn.tool_errors for turn in timed):
        words += "; a red line marks failed calls"
    label = f"All turns in time: {words}. The turns below can be reached by their pages."
    return (
        f'<figure class="clm-all-turns"><svg width="100%" height="34" role="group" aria-label="{esc(label)}">{waits}{shapes}</svg>'
        f"<figcaption>{words}</figcaption></figure>"
    )


def _begin(group: Sequence[Turn]) -> int:
    return min(turn.started_at or 0 for turn in group)


def _end(group: Sequence[Turn]) -> int:
    return max(max(turn.ended_at or 0, turn.started_at or 0) for turn in group)


def _turn_mark(
    group: Sequence[Turn], begin: int, end: int, axis: Scale, here: Collection[int], urls: Urls, sid: str
) -> str:
    first = group[0]
    left = 100 * axis.at(begin)
    width = max(100 * axis.at(end) - left, 0.25)
    failed = sum(turn.tool_errors for turn in group)
    classes = "clm-turn-mark" + (" clm-here" if any(turn.number in here for turn in group) else "")
    words = f"Turn {first.number:,}, {duration(end - begin) or '0 s'}" + (f", {failed:,} failed" if failed else "")
    link = urls.tab(sid, "timeline", query={"turn": first.number})
    place = f'x="{min(left, 100 - width):.3f}%" width="{width:.3f}%"'
    below = f'<rect class="clm-turn-failed" {place} y="27" height="4"></rect>' if failed else ""
    return (
        f'<a href="{esc(link)}" tabindex="-1"><rect class="{classes}" {place} '
        f'y="5" height="20" rx="2"><title>{words}</title></rect>{below}</a>'
    )
