"""The compact head that all views of a session share: title, the main facts in one line, and the tabs."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping
from typing import Any

from clm_sessions import render
from clm_sessions.formats.base import LogFormat
from clm_sessions.model import SessionInfo
from clm_sessions.render.escape import bdi
from clm_sessions.render.when import time_html
from clm_sessions.view.words import one_line
from datasette_clm import raw
from datasette_clm.data import paging
from datasette_clm.pages import Page, links
from datasette_clm.safe import safe
from datasette_clm.tabs.touching import count
from datasette_clm.urls import Urls
from datasette_clm.visit import Visit

_SHOWN = ("Agent", "Model", "Project", "Branch", "Prompts", "Tool calls", "Duration")
_UTC = render.Options().tz


def tabs(urls: Urls, info: SessionInfo, tables: Collection[str], here: str, files: int | None) -> dict[str, Any]:
    """The tabs of a session; those that read tables which are denied are left out. ``here``: the name of the one shown."""
    sid = info.id
    every = [
        ("transcript", "Transcript", urls.session(sid), None, True),
        ("timeline", "Timeline", urls.tab(sid, "timeline"), None, True),
        ("context", "Context", urls.tab(sid, "context"), None, True),
        ("files", "Files", urls.tab(sid, "files"), files, "tool_calls" in tables),
        ("raw", "Raw", urls.tab(sid, "raw"), None, set(raw.NEEDS) <= set(tables)),
    ]
    return {
        "items": [
            {"label": label, "href": href, "here": name == here, "count": f"{count:,}" if count else ""}
            for name, label, href, count, there in every
            if there
        ],
        "compare": urls.compare(sid),
    }


def views(db: sqlite3.Connection, visit: Visit, info: SessionInfo, here: str) -> dict[str, Any]:
    """What the macro ``tabs`` needs. ``here``: transcript, timeline, context, files or raw."""
    files = count(db, visit.registry.describe, info) if "tool_calls" in visit.tables else None
    return tabs(visit.urls, info, visit.tables, here, files)


def head(db: sqlite3.Connection, visit: Visit, info: SessionInfo, here: str, what: str) -> dict[str, Any]:
    """What the head of a view needs. ``what``: the view, for the title of the window."""
    agent = visit.agent(info.format)
    title = one_line(info.title or info.native_id, 120)
    return {
        "title": f"{what} of {title}",
        "what": what,
        "name": title,
        "line": safe(facts_line(info, agent)),
        "tabs": views(db, visit, info, here),
    }


def facts_line(info: SessionInfo, agent: LogFormat | None) -> str:
    """The main facts in one line."""
    told: Mapping[str, str] = dict(render.facts(info, agent.label if agent else None))
    parts = [f"<span>{_fact(label, told[label])}</span>" for label in _SHOWN if label in told]
    parts += [f"<span>{time_html(info.started_at, _UTC)}</span>"] if info.started_at is not None else []
    return f'<p class="clm-line-of-facts">{" ".join(parts)}</p>'


def _fact(label: str, value: str) -> str:
    shown = bdi(one_line(value, 100), "b")
    return shown if label in {"Agent", "Project"} else f"{label.lower()} {shown}"


def json_head(visit: Visit, info: SessionInfo, here: str) -> dict[str, Any]:
    """What every JSON twin begins with."""
    return {
        "ok": True,
        "session": info.id,
        "title": info.title,
        "html": visit.urls.tab(info.id, here),
        "transcript": visit.urls.session(info.id, ".json"),
    }


def json_paging(page: Page, visit: Visit, info: SessionInfo, here: str, **kept: object) -> dict[str, Any]:
    """Where a JSON page stands, by items of that view."""
    given = paging(page, lambda number: visit.urls.tab(info.id, here, ".json", {**kept, "page": number}))
    given["first"], given["last"] = given.pop("first_chunk"), given.pop("last_chunk")
    return {"count": page.total, **given}


def pager(page: Page, visit: Visit, info: SessionInfo, here: str, what: str, **kept: object) -> dict[str, Any]:
    """The links between the pages of a view."""

    def href(number: int) -> str:
        return visit.urls.tab(info.id, here, query={**kept, "page": number if number > 1 else None})

    return links(page, href, what)
