"""New chunks for a session page that is open.

The page tells what it holds by marks of its cards and is given those that differ, so nothing is remembered here: any
number of tabs and of servers may ask, and a page that slept catches up in one answer. It asks again and again; a
connection held open would be one of the six that a browser has for a server, and some proxies keep what it says.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import replace
from hashlib import blake2s
from typing import Any

from clm_sessions.model import SessionInfo
from clm_sessions.store.relations import relations
from clm_sessions.view import chunk_view
from datasette_clm import ask, html, loader
from datasette_clm.html.cards import cards
from datasette_clm.loader import Loaded
from datasette_clm.pages import Page
from datasette_clm.urls import Urls
from datasette_clm.visit import Answer, Missing, Visit, json_body

_CARDS = 50
"""Cards in an answer. Where more differ the page is told so and asks for the others at once."""


def page_data(db: sqlite3.Connection, loaded: Loaded, urls: Urls) -> dict[str, Any] | None:
    """What an open page needs to ask for news; None if there will be none, for the database is immutable.

    ``marks`` is empty on a page that is not the end of its session: it is told how many chunks there are, no more.
    """
    if _frozen(urls):
        return None
    sid, seqs = loaded.info.id, loaded.page.seqs
    whole = loaded.page.number == loaded.page.pages and not loaded.ask.narrows
    first = seqs[0] if whole and seqs else 0
    return {
        "since": urls.since(sid),
        "first": first,
        "total": len(loaded.chunks),
        "whole": whole,
        "marks": ".".join(marks(db, loaded.tables, sid, first)) if whole else "",
    }


def since(db: sqlite3.Connection, visit: Visit) -> Answer:
    """The cards from chunk ``first`` on that are not as ``have`` says: marks divided by dots; without it, none."""
    info = loader.session_info(db, visit.tables, visit.sid)
    if info is None:
        return Missing()
    first, have = ask.number(visit.args.get("first")) or 0, visit.args.get("have")
    found: list[dict[str, Any]] = []
    differ: list[int] = []
    if have is not None:
        held, now = have.split("."), marks(db, visit.tables, info.id, first)
        differ = [n for n, mark in enumerate(now) if n >= len(held) or held[n] != mark]
        made = _cards(db, visit, info, [first + n for n in differ[:_CARDS]])
        found = [
            {"seq": first + n, "mark": now[n], "html": card} for n, card in zip(differ[:_CARDS], made, strict=True)
        ]
    body = {
        "ok": True,
        "frozen": _frozen(visit.urls),
        "total": info.chunks,
        "chunks": found,
        "more": len(differ) > _CARDS,
    }
    return json_body(body)


def marks(db: sqlite3.Connection, tables: Collection[str], sid: str, first: int) -> list[str]:
    """For each chunk from ``first`` on eight letters that change when something is added to it, or one of its calls ends."""
    there = (sid, first)
    rows = db.execute("SELECT * FROM chunks WHERE session_id = ? AND seq >= ? ORDER BY seq", there).fetchall()
    parts = {first + n: [repr(tuple(row))] for n, row in enumerate(rows)}
    if "tool_calls" in tables:
        calls = "SELECT chunk_seq, status, result_message_seq FROM tool_calls WHERE session_id = ? AND chunk_seq >= ? ORDER BY seq"
        for seq, status, result in db.execute(calls, there):
            if seq in parts:
                parts[seq].append(f"{status} {result}")
    return [blake2s("\n".join(part).encode("utf-8", "replace"), digest_size=4).hexdigest() for part in parts.values()]


def _cards(db: sqlite3.Connection, visit: Visit, info: SessionInfo, seqs: Collection[int]) -> list[str]:
    views = [
        chunk_view(content, visit.registry.describe)
        for content in loader.read_contents(db, visit.tables, info, sorted(seqs))
    ]
    alone = Loaded(
        ask=ask.Ask(), tables=visit.tables, info=info, relations=relations(db, visit.tables, info), chunks=(), sizes={},
        tools=(), thinks=False, issues=None, inherited=0, views=views,
        page=Page(number=1, pages=1, first=1, last=len(views), total=len(views), seqs=tuple(seqs)),
    )  # fmt: skip
    how = html.options(visit.urls, info.id, visit.tables)
    return ["".join(cards(replace(alone, views=[view]), visit.urls, how)) for view in views]


def _frozen(urls: Urls) -> bool:
    return not urls.datasette.get_database(urls.database).is_mutable
