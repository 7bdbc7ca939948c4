"""Sessions per day as a calendar: a column for each week, which begins on Monday."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from clm_sessions.charts.look import DIM, HEAT, Row, altair, base, finished
from clm_sessions.times import plausible
from clm_sessions.view.words import plural

if TYPE_CHECKING:
    from clm_sessions.charts.look import Chart

STEP, _GAP = 15, 0.2
_NAMES = ("Mon", "Wed", "Fri")


def activity_calendar(
    rows: Iterable[Row], *, weeks: int = 53, until: str | None = None, link: Callable[[str], str] | None = None
) -> Chart:
    """``rows``: ``day`` (``2026-03-02``) and ``sessions``. The last ``weeks`` are shown, up to the day ``until`` or the last one.

    ``link``: the address of a day. UsageError without Altair.
    """
    alt = altair()
    counts = {row["day"]: row["sessions"] for row in rows if plausible(row["day"])}
    squares = list(_squares(counts, weeks, until, link))
    x = alt.X("week:O", axis=None, scale=alt.Scale(domain=list(range(weeks)), paddingInner=_GAP, paddingOuter=0))
    y = alt.Y("weekday:O", axis=None, scale=alt.Scale(domain=list(range(7)), paddingInner=_GAP, paddingOuter=0))
    colour = alt.Color("level:O", legend=None, scale=alt.Scale(domain=list(range(len(HEAT))), range=list(HEAT)))
    days = base(squares).encode(x=x, y=y, color=colour, tooltip="words:N", description="words:N")
    used = days.transform_filter("datum.sessions > 0").mark_rect(cornerRadius=2.5)
    if link is not None:
        used = used.encode(href="href:N")
    layers = [days.transform_filter("datum.sessions === 0").mark_rect(cornerRadius=2.5), used]
    text = {"color": DIM, "fontSize": 10.5, "align": "left", "baseline": "middle"}
    months = base(_months(squares, weeks)).mark_text(**text).encode(x=x, y=alt.value(-9), text="name:N")
    names = [{"weekday": 2 * number, "name": words} for number, words in enumerate(_NAMES)]
    weekdays = base(names).mark_text(**text).encode(x=alt.value(-28), y=y, text="name:N")
    made = alt.layer(*layers, months.mark_text(**text, dx=-STEP * 0.4), weekdays)
    room = {"left": 30, "top": 20, "right": 2, "bottom": 2}
    return finished(made, width=(weeks - _GAP) * STEP, height=(7 - _GAP) * STEP, title="Sessions per day", room=room)


def _squares(
    counts: dict[str, int], weeks: int, until: str | None, link: Callable[[str], str] | None
) -> Iterable[dict[str, Any]]:
    last = date.fromisoformat(until or max(counts, default="1970-01-01"))
    monday = last - timedelta(days=last.weekday() + 7 * (weeks - 1))
    levels = _levels(counts.values())
    for number in range((last - monday).days + 1):
        day = monday + timedelta(days=number)
        key, sessions = day.isoformat(), counts.get(day.isoformat(), 0)
        yield {
            "day": key,
            "week": number // 7,
            "weekday": number % 7,
            "sessions": sessions,
            "level": levels[sessions],
            "words": f"{day.day} {day:%b %Y}: {plural(sessions, 'session')}",
            **({"href": link(key)} if link is not None and sessions else {}),
        }


def _levels(counts: Iterable[int]) -> dict[int, int]:
    """The shade of each number of sessions, by its place among the different ones: one busy day does not pale all others."""
    different = sorted({count for count in counts if count})
    darkest, most = len(HEAT) - 1, max(1, len(different) - 1)
    return {0: 0, **{count: 1 + (darkest - 1) * place // most for place, count in enumerate(different)}}


def _months(squares: list[dict[str, Any]], weeks: int) -> list[dict[str, Any]]:
    """The names of months at the first week that begins in each, where there is room."""
    firsts: dict[str, int] = {}
    for square in squares:
        if square["weekday"] == 0:
            firsts.setdefault(square["day"][:7], square["week"])
    starts = [*firsts.values(), weeks]
    named = zip(firsts.items(), starts[1:], strict=True)
    return [
        {"week": week, "name": f"{date.fromisoformat(f'{month}-01'):%b}"}
        for (month, week), after in named
        if after - week > 1
    ]
