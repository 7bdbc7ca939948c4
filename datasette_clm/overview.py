"""The overview of a database: what was asked for in the address, and the answer as a page or as JSON."""

from __future__ import annotations

import sqlite3
from dataclasses import asdict
from datetime import date
from functools import partial
from typing import Any

from clm_sessions import overview as core
from clm_sessions.overview import Asked, Overview
from datasette_clm import overview_html, pictures
from datasette_clm.leads import Leads
from datasette_clm.urls import Urls
from datasette_clm.visit import Answer, Page, Visit, json_body

NEEDS = core.NEEDS
WANTS = core.WANTS


def answer(db: sqlite3.Connection, visit: Visit) -> Answer:
    """All that is asked for, of the tables that may be read. Pictures are drawn when the database is free again."""
    found = core.overview(db, parse(visit.args), visit.tables)
    leads = Leads.of(visit.urls, found.asked)
    if visit.format == ".json":
        body = overview_json(found, visit.urls, leads, visit.tables)
        return json_body(body)
    page = overview_html.page(found, visit.urls, leads, visit.tables)
    return Page(template="clm_overview.html", page=page, finish=partial(pictures.pictures, found, leads))


def parse(args: Any) -> Asked:  # noqa: ANN401 - Datasette's MultiParams
    """The question in the arguments of a request. Nonsense counts as not asked."""
    return Asked(project=args.get("project") or None, since=_day(args.get("since")), until=_day(args.get("until")))


def _day(text: str | None) -> str | None:
    try:
        return date.fromisoformat(text or "").isoformat()
    except ValueError:
        return None


def overview_json(found: Overview, urls: Urls, leads: Leads, tables: frozenset[str]) -> dict[str, Any]:
    """The same figures as the page, with the addresses that its marks lead to."""
    return {
        "ok": True,
        "asked": asdict(found.asked),
        "first_day": found.first,
        "last_day": found.last,
        "figures": asdict(found.figures),
        "days": [{"day": day, "sessions": sessions, "url": leads.day(day)} for day, sessions in found.days],
        "models": None if found.models is None else [asdict(used) for used in found.models],
        "tools": None if found.tools is None else [{**asdict(one), "url": leads.tool(one.tool)} for one in found.tools],
        "projects": [
            {**asdict(one), "url": urls.overview(query=overview_html.kept(found.asked, project=one.key))}
            for one in found.projects
        ],
        "recent": [{**asdict(one), "url": overview_html.to_session(urls, one.id, tables)} for one in found.recent],
        "cuts": None if found.cuts is None else [
            {**asdict(one), "url": overview_html.to_session(urls, one.session, tables, one.chunk)} for one in found.cuts
        ],
        "html": urls.overview(query=overview_html.kept(found.asked)),
    }  # fmt: skip
