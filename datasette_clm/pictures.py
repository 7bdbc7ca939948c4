"""The charts of the overview as SVG. Each is drawn once for what it shows, and kept as long as that is asked for.

What is kept goes by the figures themselves, so it cannot be out of date, and pages of different days share what is equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from threading import Lock
from typing import Any

from markupsafe import Markup

from clm_sessions import charts
from clm_sessions.charts import look
from clm_sessions.errors import UsageError
from clm_sessions.overview import Overview
from datasette_clm.leads import Leads
from datasette_clm.safe import safe

_WIDE, _NARROW = 540, 318
_YEAR, _HALF, _NARROW_WEEKS = 53, 26, 20
_one_at_a_time = Lock()


def missing() -> str | None:
    """What must be installed for pictures, in words; None if nothing."""
    try:
        look.altair()
        look.vl_convert()
    except UsageError as error:
        return str(error)
    return None


def is_long(first: str, last: str) -> bool:
    """Whether the days from ``first`` to ``last`` need a calendar of a year; else half a year is enough."""
    return (date.fromisoformat(last) - date.fromisoformat(first)).days > 7 * (_HALF - 1)


def is_older(first: str, last: str) -> bool:
    """Whether a calendar of a year up to ``last`` leaves out ``first``."""
    return (date.fromisoformat(last) - date.fromisoformat(first)).days > 7 * (_YEAR - 1)


def pictures(found: Overview, leads: Leads) -> dict[str, Any]:
    """The pictures by name, those of which there is nothing to show left out; or in ``no_pictures`` why there are none."""
    why = missing()
    if why is not None:
        return {"no_pictures": why}
    used = found.models or ()
    wanted = {
        "activity": tuple(found.days),
        "tokens": tuple((one.day, one.model, one.output_tokens) for one in used if one.day and one.output_tokens),
        "cost": tuple((one.day, one.model, one.cost_usd) for one in used if one.day and one.cost_usd),
        "tools": tuple((one.tool, one.calls, one.errors) for one in found.tools or ()),
    }
    try:
        return {"pictures": {name: _drawn(name, rows, _until(found), leads) for name, rows in wanted.items() if rows}}
    except UsageError as error:
        return {"no_pictures": str(error)}


def _until(found: Overview) -> str | None:
    """The last day of the calendar: nothing is known of what comes after the last session."""
    return min(filter(None, (found.asked.until, found.last)), default=None)


@lru_cache(maxsize=64)
def _drawn(name: str, rows: tuple[tuple[Any, ...], ...], until: str | None, leads: Leads) -> Markup:
    """A chart for wide places and one for narrow ones, of which the stylesheet shows one: text keeps its size."""
    title, keys, make = _CHARTS[name]
    given: set[str] = set()

    def noted(link: Callable[..., str]) -> Callable[..., str]:
        def address(*what: Any) -> str:  # noqa: ANN401 - what a chart says of a mark
            href = link(*what)
            given.add(href)
            return href

        return address

    drawn = ""
    with _one_at_a_time:
        for number, cls in enumerate(("clm-chart clm-wide-only", "clm-chart clm-narrow-only")):
            chart = make([dict(zip(keys, row, strict=True)) for row in rows], number, until, leads, noted)
            drawn += charts.svg(chart, title=title, links=given, cls=cls)
    return safe(drawn)


def _activity(rows: Sequence[Mapping[str, Any]], number: int, until: str | None, leads: Leads, noted: Any) -> Any:  # noqa: ANN401
    weeks = _NARROW_WEEKS if number else _YEAR if is_long(rows[0]["day"], until or rows[-1]["day"]) else _HALF
    return charts.activity_calendar(rows, weeks=weeks, until=until, link=noted(leads.day))


def _over_time(chart: Callable[..., Any]) -> Callable[..., Any]:
    def make(rows: Sequence[Mapping[str, Any]], number: int, _until: None, leads: Leads, noted: Any) -> Any:  # noqa: ANN401
        return chart(rows, width=(_WIDE, _NARROW)[number], link=noted(leads.replies))

    return make


def _tools(rows: Sequence[Mapping[str, Any]], number: int, _until: None, leads: Leads, noted: Any) -> Any:  # noqa: ANN401
    return charts.tool_use(rows, width=(_WIDE, _NARROW)[number], link=noted(leads.tool))


_CHARTS: Mapping[str, tuple[str, tuple[str, ...], Callable[..., Any]]] = {
    "activity": ("Sessions per day", ("day", "sessions"), _activity),
    "tokens": (
        "Output tokens over time, by model",
        ("day", "model", "output_tokens"),
        _over_time(charts.tokens_over_time),
    ),
    "cost": ("Estimated cost over time, by model", ("day", "model", "cost_usd"), _over_time(charts.cost_over_time)),
    "tools": ("Calls by tool, and those that failed", ("tool", "calls", "errors"), _tools),
}
