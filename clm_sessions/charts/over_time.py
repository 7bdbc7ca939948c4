"""Tokens and cost over time, by model: stacked bars for days, weeks or months, whichever can still be told apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from clm_sessions.charts.look import OTHER, SERIES, Row, altair, base, finished, name
from clm_sessions.times import plausible
from clm_sessions.view.words import count

if TYPE_CHECKING:
    from clm_sessions.charts.look import Chart

Link = Callable[[str, str, "str | None"], str]
"""The address of the replies from one day to another (both inclusive), of one model or of all (None)."""
_LEAST, _FILLED = 12, 0.86


def tokens_over_time(rows: Iterable[Row], *, width: int = 540, height: int = 190, link: Link | None = None) -> Chart:
    """``rows``: ``day``, ``model`` and ``output_tokens``. Rows without a plausible day or a number are left out. UsageError without Altair."""
    return _over_time(rows, "output_tokens", "Output tokens", count, width, height, link)


def cost_over_time(rows: Iterable[Row], *, width: int = 540, height: int = 190, link: Link | None = None) -> Chart:
    """``rows``: ``day``, ``model`` and ``cost_usd``, an estimate in US dollars. As ``tokens_over_time``."""
    return _over_time(rows, "cost_usd", "Estimated cost", lambda dollars: f"${dollars:,.2f}", width, height, link)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped:
    """Numbers in periods of a length that suits them. ``models``: most first, those beyond the colours as ``OTHER``.

    ``sums``: by the first day of a period and the model.
    """

    period: Period
    models: Sequence[str | None]
    sums: Mapping[tuple[date, str | None], float]

    @property
    def starts(self) -> list[date]:
        """The first days of the periods that hold something, in order."""
        return sorted({start for start, _model in self.sums})


def grouped(rows: Iterable[Row], measure: str) -> Grouped:
    """What a chart over time shows, as numbers. Needs no Altair. ``measure``: ``output_tokens`` or ``cost_usd``."""
    found = [(row["day"], row["model"], row[measure]) for row in rows if plausible(row["day"]) and row[measure]]
    models = _models(found)
    kept, period = set(models), Period.of([day for day, _model, _number in found])
    sums: dict[tuple[date, str | None], float] = defaultdict(int)
    for day, model, number in found:
        sums[period.start(date.fromisoformat(day)), model if model in kept else OTHER] += number
    return Grouped(period=period, models=models, sums=sums)


def _over_time(
    rows: Iterable[Row],
    measure: str,
    title: str,
    words: Callable[[Any], str],
    width: int,
    height: int,
    link: Link | None,
) -> Chart:
    alt = altair()
    data = grouped(rows, measure)
    bars, tops = [], dict[date, float]()
    for start, model in sorted(data.sums, key=lambda each: (each[0], data.models.index(each[1]))):
        number, bottom, after = data.sums[start, model], tops.get(start, 0), data.period.after(start)
        tops[start] = bottom + number
        bar = {
            "start": _ms(start),
            "end": _ms(start) + _FILLED * (_ms(after) - _ms(start)),
            "bottom": bottom,
            "top": tops[start],
            "order": data.models.index(model),
            "words": f"{data.period.words(start)}, {name(model)}: {words(number)}",
        }
        if link is not None:
            bar["href"] = link(*data.period.days(start), None if model == OTHER else model)
        bars.append(bar)
    return _chart(alt, bars, data, title, width, height, linked=link is not None)


def _chart(
    alt: Any,  # noqa: ANN401 - the module
    bars: Sequence[Row],
    data: Grouped,
    title: str,
    width: int,
    height: int,
    *,
    linked: bool,
) -> Chart:
    period, models = data.period, data.models
    names = _unique([name(model, 34) for model in models])
    drawn = [{**bar, "model": names[bar["order"]]} for bar in bars]
    dates = alt.Axis(title=None, grid=False, format=period.format, tickCount=max(2, width // 95), labelOverlap=True)
    scale = alt.Scale(type="utc", domain=[_ms(day) for day in period.domain], nice=False)
    shown = "'$' + format(datum.value, ',~r')" if "cost" in title else "datum.value ? format(datum.value, '.3~s') : '0'"
    numbers = alt.Axis(title=None, domain=False, ticks=False, tickCount=4, labelExpr=shown)
    colours = [*SERIES[: len(names)]]
    if OTHER in models:
        colours[-1] = SERIES[-1]
    legend = alt.Legend(title=None, orient="bottom", columns=1 if width < 400 else 2, columnPadding=34, rowPadding=3)
    chart = (
        base(drawn)
        .mark_rect()
        .encode(
            x=alt.X("start:T", scale=scale, axis=dates),
            x2="end:T",
            y=alt.Y("bottom:Q", axis=numbers),
            y2="top:Q",
            color=alt.Color("model:N", legend=legend, scale=alt.Scale(domain=names, range=colours)),
            tooltip="words:N",
            description="words:N",
        )
    )
    chart = chart.encode(href="href:N") if linked else chart
    return finished(chart, width=width - 52, height=height, title=f"{title} by {period.unit} and model")


def _models(found: Iterable[tuple[str, str | None, float]]) -> list[str | None]:
    """The models in the order of what they used; those for which there is no colour as one."""
    sums: dict[str | None, float] = defaultdict(int)
    for _day, model, number in found:
        sums[model] += number
    ranked = sorted(sums, key=lambda model: (-sums[model], str(model)))
    return ranked if len(ranked) <= len(SERIES) else [*ranked[: len(SERIES) - 1], OTHER]


def _unique(names: list[str]) -> list[str]:
    """Labels of which no two are the same, though they were cut."""
    return [label if label not in names[:number] else f"{label} ({number + 1})" for number, label in enumerate(names)]


def _ms(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=timezone.utc).timestamp()) * 1000


class Period:
    """What one bar stands for: a ``day``, ``week`` (from Monday) or ``month``, by the time from ``first`` to ``last``."""

    def __init__(self, first: date, last: date) -> None:
        span = (last - first).days
        self.unit = "day" if span < 70 else "week" if span < 420 else "month"
        self.format = "%b %Y" if self.unit == "month" else "%-d %b"
        end = begin = self.start(last)
        for _each in range(_LEAST - 1):
            begin = self.start(begin - timedelta(days=1))
        self.domain = (min(begin, self.start(first)), self.after(end))

    @classmethod
    def of(cls, days: Iterable[str]) -> Period:
        """For the days that there are."""
        known = sorted(set(days)) or ["1970-01-01"]
        return cls(date.fromisoformat(known[0]), date.fromisoformat(known[-1]))

    def start(self, day: date) -> date:
        """The first day of what holds a day."""
        if self.unit == "month":
            return day.replace(day=1)
        return day - timedelta(days=day.weekday()) if self.unit == "week" else day

    def after(self, start: date) -> date:
        """The first day of the next."""
        if self.unit == "month":
            return (start + timedelta(days=31)).replace(day=1)
        return start + timedelta(days=7 if self.unit == "week" else 1)

    def days(self, start: date) -> tuple[str, str]:
        """The first and the last day."""
        return start.isoformat(), (self.after(start) - timedelta(days=1)).isoformat()

    def words(self, start: date) -> str:
        """``2 Mar 2026``, ``week of 2 Mar 2026``, ``Mar 2026``."""
        if self.unit == "month":
            return f"{start:%b %Y}"
        return f"{'week of ' if self.unit == 'week' else ''}{start.day} {start:%b %Y}"
