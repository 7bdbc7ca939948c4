"""What the template of the overview puts together. Log text goes through the core's renderer, or through the template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta, timezone
from typing import Any

from clm_sessions import times
from clm_sessions.charts.over_time import grouped
from clm_sessions.overview import Asked, Cut, Overview, Recent, Used, total
from clm_sessions.render.escape import visible
from clm_sessions.render.when import time_html
from clm_sessions.view.words import count, one_line, percent, plural
from datasette_clm import loader, pictures
from datasette_clm.leads import Leads
from datasette_clm.safe import safe
from datasette_clm.urls import Urls

_PROJECTS, _TOOLS, _DAYS = 12, 200, 371
"""How many are listed; days as many as a calendar of a year has."""
_STEPS = 20
_SPANS = (("Last 7 days", 7), ("Last 30 days", 30), ("Last 90 days", 90))
_YEARS = 6


def page(found: Overview, urls: Urls, leads: Leads, tables: frozenset[str]) -> dict[str, Any]:
    """The page without its pictures."""
    asked = found.asked
    return {
        "title": f"Agent sessions: {urls.database}",
        "action": urls.overview(),
        "json": urls.overview(".json", kept(asked)),
        "search": urls.search() if set(loader.NEEDS) <= tables else None,
        "asked": asked,
        "names": [(key, words(label)) for key, label in found.names],
        "spans": list(_spans(found, urls)),
        "narrowed": asked != Asked(),
        "period": _period(found),
        "empty": not found.figures.sessions and not found.figures.replies and not found.figures.tool_calls,
        "figures": list(_figures(found, urls, leads)),
        "days": _days(found, leads),
        "timeless": _timeless(found),
        "tokens": _over_time(found.models, "output_tokens", leads),
        "cost": _over_time(found.models, "cost_usd", leads),
        "models": _models(found, leads),
        "tools": _tools(found, leads),
        "projects": _projects(found, urls),
        "recent": [_recent(one, urls, tables) for one in found.recent],
        "cuts": None if found.cuts is None else [_cut(one, urls, tables) for one in found.cuts],
        "all_sessions": leads.all_sessions(),
    }


def words(text: str | None, limit: int = 80) -> str:
    """Log text in one line, nothing invisible in it. The template escapes it."""
    return one_line(visible("unknown" if text is None else text), limit)


def kept(asked: Asked, **change: str | None) -> dict[str, str | None]:
    """What is asked for as parts of an address, with changes."""
    return {"project": asked.project, "since": asked.since, "until": asked.until, **change}


def to_session(urls: Urls, sid: str, tables: frozenset[str], chunk: int | None = None) -> str:
    """A session, or a chunk in it: its transcript, or its row for those who may not read that."""
    if not set(loader.NEEDS) <= tables | {"sessions"}:
        return urls.row("sessions", sid)
    return urls.session(sid) if chunk is None else urls.at(sid, chunk)


# -- what is shown of what --------------------------------------------------------------------------------------


def _spans(found: Overview, urls: Urls) -> Iterator[dict[str, Any]]:
    """Links to spans of time, counted back from the last day there is: logs may be old."""
    asked = found.asked

    def link(label: str, since: str | None, until: str | None) -> dict[str, Any]:
        on = (asked.since, asked.until) == (since, until)
        return {"label": label, "on": on, "href": urls.overview(query=kept(asked, since=since, until=until))}

    yield link("All time", None, None)
    if found.first is None or found.last is None:
        return
    last = date.fromisoformat(found.last)
    years = range(max(int(found.first[:4]), last.year - _YEARS + 1), last.year + 1)
    for year in years if len(years) > 1 else ():
        yield link(str(year), f"{year}-01-01", f"{year}-12-31")
    for label, days in reversed(_SPANS):
        if (last - date.fromisoformat(found.first)).days >= days:
            yield link(label, (last - timedelta(days=days - 1)).isoformat(), found.last)


def _period(found: Overview) -> str:
    first, last = found.asked.since or found.first, found.asked.until or found.last
    if first is None or last is None:
        return ""
    return day_words(first) if first == last else f"{day_words(first)} \u2013 {day_words(last)}"


def day_words(day: str) -> str:
    """``2 Mar 2026``."""
    at = date.fromisoformat(day)
    return f"{at.day} {at:%b %Y}"


def _figures(found: Overview, urls: Urls, leads: Leads) -> Iterator[dict[str, Any]]:
    """The headline: a number, what it counts, where it leads. What is unknown is left out."""
    figures = found.figures
    yield _figure(f"{figures.sessions:,}", "session" if figures.sessions == 1 else "sessions", leads.all_sessions())
    if figures.projects:
        yield _figure(f"{figures.projects:,}", "project" if figures.projects == 1 else "projects")
    if figures.prompts is not None:
        yield _figure(f"{figures.prompts:,}", "prompt" if figures.prompts == 1 else "prompts")
    if figures.output_tokens is not None:
        yield _figure(count(figures.output_tokens), "output tokens", leads.replies(), f"{figures.output_tokens:,}")
    if figures.cost_usd is not None:
        yield _figure(dollars(figures.cost_usd), "estimated cost") | _unpriced(figures.unpriced, leads)
    if figures.tool_calls:
        failed = percent(figures.errors or 0, figures.tool_calls)
        about = f"{figures.errors:,} of {figures.tool_calls:,}"
        yield {**_figure(failed, "tool calls failed", leads.tool(status="error"), about), "bad": bool(figures.errors)}
    for number, what, column in (
        (figures.compactions, "compactions", "compactions"),
        (figures.interruptions, "interruptions", "interruptions"),
    ):
        if number:
            yield _figure(f"{number:,}", what if number > 1 else what[:-1], leads.cut(column))
    if figures.skipped:
        yield {
            **_figure(f"{figures.skipped:,}", "lines skipped" if figures.skipped > 1 else "line skipped"),
            "more": ("why", urls.table("ingest_issues")),
        }


def _figure(number: str, what: str, href: str | None = None, about: str = "") -> dict[str, Any]:
    return {"number": number, "what": what, "href": href, "about": about}


def _unpriced(replies: int | None, leads: Leads) -> dict[str, Any]:
    if not replies:
        return {}
    return {"more": (f"{plural(replies, 'reply', 'replies')} unpriced", leads.replies(cost_usd__isnull="1"))}


def dollars(amount: float) -> str:
    """``$0.04``, ``$12.30``, ``$1,318``; below a cent ``<$0.01``."""
    if 0 < amount < 0.005:
        return "<$0.01"
    return f"${amount:,.0f}" if amount >= 1000 else f"${amount:,.2f}"


def _days(found: Overview, leads: Leads) -> dict[str, Any] | None:
    if not found.days:
        return None
    most = max(found.days, key=lambda each: each[1])
    rows = [{"label": day_words(day), "href": leads.day(day), "number": sessions} for day, sessions in found.days]
    return {
        "rows": _barred(rows[: -_DAYS - 1 : -1]),
        "long": pictures.is_long(found.days[0][0], found.days[-1][0]),
        "older": pictures.is_older(found.days[0][0], found.days[-1][0]),
        "used": plural(len(rows), "day"),
        "most": {"label": day_words(most[0]), "href": leads.day(most[0]), "sessions": plural(most[1], "session")},
    }


def _timeless(found: Overview) -> str | None:
    """Sessions that no calendar can show."""
    number = found.figures.sessions - sum(sessions for _day, sessions in found.days)
    return f"{plural(number, 'session')} without a time" if number else None


def _barred(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the length of their bar, in steps: the greatest number has all of them."""
    most = max((row["number"] for row in rows), default=0)
    return [
        {
            **row,
            "bar": max(1, round(_STEPS * row["number"] / most)) if row["number"] else 0,
            "words": f"{row['number']:,}",
        }
        for row in rows
    ]


def _over_time(models: Sequence[Used] | None, measure: str, leads: Leads) -> dict[str, Any] | None:
    """The table beside a chart over time: a row for each period, the newest first, a column for each model."""
    rows = [{"day": one.day, "model": one.model, measure: getattr(one, measure)} for one in models or ()]
    data = grouped(rows, measure)
    if not data.sums:
        return None
    show = dollars if measure == "cost_usd" else lambda number: f"{number:,.0f}"
    return {
        "unit": data.period.unit,
        "models": [words(model, 40) for model in data.models],
        "rows": [
            {
                "label": data.period.words(start),
                "href": leads.replies(*data.period.days(start)),
                "numbers": [show(data.sums[start, one]) if (start, one) in data.sums else "" for one in data.models],
            }
            for start in reversed(data.starts)
        ],
    }


def _models(found: Overview, leads: Leads) -> list[dict[str, Any]]:
    """All models, most tokens first; none if no log has told of tokens."""
    by: dict[str | None, list[Used]] = {}
    for used in found.models or ():
        by.setdefault(used.model, []).append(used)
    rows = []
    for model, days in by.items():
        tokens, cost = total([one.output_tokens for one in days]), total([one.cost_usd for one in days])
        rows.append({
            "label": words(model, 60),
            "href": leads.replies(model=model) if model is not None else leads.replies(model__isnull="1"),
            "number": tokens or 0,
            "tokens": "unknown" if tokens is None else count(tokens),
            "replies": f"{sum(one.replies for one in days):,}",
            "cost": "" if cost is None else dollars(cost),
        })  # fmt: skip
    return _barred(sorted(rows, key=lambda row: -row["number"])) if any(row["number"] for row in rows) else []


def _tools(found: Overview, leads: Leads) -> dict[str, Any] | None:
    if not found.tools:
        return None
    rows = [
        {
            "label": words(one.tool, 60),
            "href": leads.tool(one.tool) if one.tool is not None else leads.tool(name__isnull="1"),
            "number": one.calls,
            "failed": percent(one.errors, one.calls) if one.errors else "",
            "failures": leads.tool(one.tool, status="error") if one.errors else None,
        }
        for one in found.tools
    ]
    return {"rows": _barred(rows)[:_TOOLS], "total": len(rows)}


def _projects(found: Overview, urls: Urls) -> dict[str, Any]:
    rows = [
        {
            "label": words(one.name) if one.name else "not recorded",
            "href": urls.overview(query=kept(found.asked, project=one.key)) if one.key is not None else None,
            "number": one.sessions,
            "tokens": "" if one.output_tokens is None else count(one.output_tokens),
            "last": day_words(one.last) if one.last else "",
        }
        for one in found.projects
    ]
    known = any(one.key is not None for one in found.projects)
    return {"rows": _barred(rows)[:_PROJECTS] if known else [], "rest": len(rows) - _PROJECTS}


def _recent(one: Recent, urls: Urls, tables: frozenset[str]) -> dict[str, Any]:
    facts = [words(one.project, 40) if one.project else "", words(one.branch, 40) if one.branch else ""]
    facts.append(plural(one.prompts, "prompt") if one.prompts else "")
    failed = plural(one.errors, "failed call") if one.errors and "tool_calls" in tables else ""
    return {
        "href": to_session(urls, one.id, tables),
        "title": words(one.title or one.id, 110),
        "facts": [fact for fact in facts if fact],
        "failed": failed,
        "mark": one.status if one.status in _MARKED else "",
        "bad": one.status in _MARKED[1:],
        "at": _when(one.at),
    }


_MARKED = ("ongoing", "interrupted", "error", "unanswered")


def _cut(one: Cut, urls: Urls, tables: frozenset[str]) -> dict[str, Any]:
    known = one.compacted and one.before is not None and one.after is not None
    return {
        "href": to_session(urls, one.session, tables, one.chunk),
        "title": words(one.title or one.session, 110),
        "number": one.chunk + 1,
        "compacted": one.compacted,
        "sizes": f"{count(one.before or 0)} \u2192 {count(one.after or 0)} tokens" if known else "",
        "at": _when(one.at),
    }


def _when(at: str | None) -> Any:  # noqa: ANN401 - safe HTML
    ms = times.parse(at)
    return safe(time_html(ms, timezone.utc)) if ms is not None else ""
