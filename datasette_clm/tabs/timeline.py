"""The timeline: an overview of all turns, and the turns of a page as waterfalls of replies, tools and subagents."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from clm_sessions.model import SessionInfo
from clm_sessions.store import reader
from clm_sessions.times import iso
from clm_sessions.view.timeline import Bar, Turn, bars, turns
from datasette_clm import ask, loader
from datasette_clm.pages import Page as Paging
from datasette_clm.pages import page_of
from datasette_clm.safe import safe
from datasette_clm.tabs import head
from datasette_clm.tabs.light import Lights
from datasette_clm.tabs.waterfall import overview_html, turn_html
from datasette_clm.urls import Urls
from datasette_clm.visit import Answer, Body, Missing, Page, Visit, json_body

TURNS, ROWS, IN_TURN, LONGEST = 20, 250, 60, 20_000
"""Turns on a page; rows of a turn that has a page to itself, and of one among others; messages looked at in one turn."""
Drawn = list[tuple[Turn, list[Bar]]]


def answer(db: sqlite3.Connection, visit: Visit) -> Answer:
    """A page of turns, or with ``turn`` a page of one turn."""
    info = loader.session_info(db, visit.tables, visit.sid)
    if info is None:
        return Missing()
    every = turns(reader.chunks(db, info.id, members=False))
    number, asked = ask.number(visit.args.get("turn")), ask.number(visit.args.get("page"))
    one = number is not None and 0 < number <= len(every)
    lights = Lights(db, info, tools="tool_calls" in visit.tables)
    if number is not None and one:
        turn = every[number - 1]
        rows = list(bars(lights.turn(turn, LONGEST), visit.registry.describe))
        page = page_of(range(len(rows)), ROWS, page=asked)
        drawn = [(turn, rows)]
    else:
        page = page_of(range(len(every)), TURNS, page=asked)
        drawn = [(every[n], list(bars(lights.turn(every[n]), visit.registry.describe))) for n in page.seqs]
    kept = {"turn": number} if one else {}
    if visit.format == ".json":
        return _json(visit, info, drawn, page, kept)
    return Page(template="clm_timeline.html", page=_page(db, visit, info, every, drawn, page, kept))


def _page(
    db: sqlite3.Connection,
    visit: Visit,
    info: SessionInfo,
    every: Sequence[Turn],
    drawn: Drawn,
    page: Paging,
    kept: dict[str, int | None],
) -> dict[str, Any]:
    urls = visit.urls
    if kept:
        first = page.seqs[0] if page.seqs else 0
        html = "".join(turn_html(turn, rows, urls, info.id, first, ROWS) for turn, rows in drawn)
    else:
        html = "".join(turn_html(turn, rows, urls, info.id, 0, IN_TURN) for turn, rows in drawn)
    timed = any(turn.started_at is not None for turn in every)
    return {
        **head.head(db, visit, info, "timeline", "Timeline"),
        "overview": safe(overview_html(every, {turn.number for turn, _rows in drawn}, urls, info.id)),
        "turns": safe(html),
        "timed": timed,
        "all": urls.tab(info.id, "timeline") if kept else None,
        "pager": head.pager(page, visit, info, "timeline", "Rows" if kept else "Turns", **kept),
        "json": urls.tab(info.id, "timeline", ".json", {**kept, "page": page.number if page.number > 1 else None}),
        "tools": "tool_calls" in visit.tables,
    }


def _json(visit: Visit, info: SessionInfo, drawn: Drawn, page: Paging, kept: dict[str, int | None]) -> Body:
    first, last = (page.first - 1, page.last) if kept else (0, None)
    body = {
        **head.json_head(visit, info, "timeline"),
        **head.json_paging(page, visit, info, "timeline", **kept),
        "turns": [_turn(turn, rows[first:last], visit.urls, info.id) for turn, rows in drawn],
    }
    return json_body(body)


def _turn(turn: Turn, rows: Sequence[Bar], urls: Urls, sid: str) -> dict[str, Any]:
    return {
        "turn": turn.number,
        "kind": turn.kind,
        "text": turn.text,
        "first_chunk": turn.first,
        "last_chunk": turn.last,
        "started_at": iso(turn.started_at),
        "ended_at": iso(turn.ended_at),
        "tool_calls": turn.tool_calls,
        "tool_errors": turn.tool_errors,
        "status": turn.status,
        "url": urls.at(sid, turn.first),
        "rows": [_bar(row, urls) for row in rows],
    }


def _bar(row: Bar, urls: Urls) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "depth": row.depth,
        "label": row.label,
        "about": row.about,
        "session": row.session,
        "chunk": row.chunk,
        "message": row.message,
        "started_at": iso(row.start),
        "ended_at": iso(row.end),
        "duration_ms": row.duration_ms,
        "status": row.status,
        "agent": row.agent,
        "count": row.count or None,
        "url": urls.session(row.session) if row.chunk is None else urls.at(row.session, row.chunk),
    }
