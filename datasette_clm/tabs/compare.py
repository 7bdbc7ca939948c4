"""Two sessions side by side: what differs in figures, and both transcripts turn by turn."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clm_sessions.model import Chunk, SessionInfo
from clm_sessions.render.escape import bdi
from clm_sessions.store import reader
from clm_sessions.view import ChunkView, chunk_view
from clm_sessions.view.align import Pair, align
from clm_sessions.view.differences import Difference
from clm_sessions.view.timeline import Turn, turns
from clm_sessions.view.words import one_line
from datasette_clm import ask, loader
from datasette_clm.data import paging
from datasette_clm.pages import links, page_of
from datasette_clm.safe import safe
from datasette_clm.tabs import head
from datasette_clm.tabs.differences import differences
from datasette_clm.tabs.sides import turn_side
from datasette_clm.visit import Answer, Missing, Page, Visit, json_body

TURNS, CANDIDATES, IN_TURN = 10, 30, 12
"""Pairs of turns on a page, sessions offered to compare with, chunks shown of one turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two sessions with its turns."""

    info: SessionInfo
    turns: Sequence[Turn]
    chunks: Sequence[Chunk]

    def key(self, turn: Turn) -> tuple[Any, ...]:
        """What a turn is told by: two turns of one key are copies of each other."""
        return tuple((chunk.kind, chunk.key) for chunk in self.chunks[turn.first : turn.last + 1])


def answer(db: sqlite3.Connection, visit: Visit) -> Answer:
    """The comparison; with one session, the others it could be compared with."""
    a, b = visit.args.get("a") or "", visit.args.get("b") or ""
    left = side(db, visit, a)
    if left is None:
        return Missing(words="Name a session to compare: ?a=ID&b=ID")
    if not b:
        return _picker(db, visit, left.info)
    right = side(db, visit, b)
    if right is None:
        return Missing(words="No such second session")
    pairs = align([turn.text for turn in left.turns], [turn.text for turn in right.turns])
    page = page_of(range(len(pairs)), TURNS, page=ask.number(visit.args.get("page")))
    shown = [pairs[n] for n in page.seqs]
    told = differences(db, visit, left.info, right.info)
    if visit.format == ".json":
        body = {
            "ok": True,
            "a": left.info.id,
            "b": right.info.id,
            "differences": [{"what": d.what, "a": d.a, "b": d.b, "same": d.same} for d in told],
            "count": page.total,
            **paging(page, lambda n: visit.urls.compare(a, b, ".json", page=n)),
            "turns": [_data(pair, left, right, visit) for pair in shown],
        }
        return json_body(body)

    def href(number: int) -> str:
        return visit.urls.compare(a, b, page=number if number > 1 else None)

    return Page(
        template="clm_compare.html",
        page={
            "title": f"{one_line(left.info.title or a, 50)} beside {one_line(right.info.title or b, 50)}",
            "sides": [_named(one.info, visit) for one in (left, right)],
            "swap": visit.urls.compare(b, a),
            "other": visit.urls.compare(a),
            "differences": [_shown(d) for d in told],
            "pairs": [_pair(db, visit, pair, left, right) for pair in shown],
            "pager": links(page, href, "Turns"),
            "json": visit.urls.compare(a, b, ".json", page=page.number if page.number > 1 else None),
        },
    )


def side(db: sqlite3.Connection, visit: Visit, sid: str) -> Side | None:
    """A session with its turns; None if there is none."""
    info = loader.session_info(db, visit.tables, sid) if sid else None
    if info is None:
        return None
    chunks = reader.chunks(db, sid, members=False)
    return Side(info=info, turns=turns(chunks), chunks=chunks)


# -- the pairs --------------------------------------------------------------------------------------------------


def _same(pair: Pair, left: Side, right: Side) -> bool:
    a, b = pair
    return a is not None and b is not None and left.key(left.turns[a]) == right.key(right.turns[b])


def _pair(db: sqlite3.Connection, visit: Visit, pair: Pair, left: Side, right: Side) -> dict[str, Any]:
    """A pair of turns as HTML; copies of each other are shown once, folded."""
    a, b = pair
    same = _same(pair, left, right)
    numbers = [f"Turn {n + 1:,}" if n is not None else "" for n in pair]
    text = left.turns[a].text if a is not None else right.turns[b].text if b is not None else ""
    return {
        "same": same,
        "words": safe(bdi(one_line(text, 120))),
        "numbers": numbers,
        "a": None if a is None else _cards(db, visit, left, left.turns[a], "a-"),
        "b": None if b is None or same else _cards(db, visit, right, right.turns[b], "b-"),
    }


def _cards(db: sqlite3.Connection, visit: Visit, one: Side, turn: Turn, prefix: str) -> Any:  # noqa: ANN401 - Markup
    seqs = range(turn.first, turn.last + 1)[:IN_TURN]
    views: list[ChunkView] = [
        chunk_view(content, visit.registry.describe)
        for content in loader.read_contents(db, visit.tables, one.info, seqs)
    ]
    return safe(turn_side(views, turn, visit, one.info.id, prefix))


def _data(pair: Pair, left: Side, right: Side, visit: Visit) -> dict[str, Any]:
    def told(one: Side, n: int | None) -> dict[str, Any] | None:
        if n is None:
            return None
        turn = one.turns[n]
        return {
            "turn": turn.number,
            "text": turn.text,
            "first_chunk": turn.first,
            "last_chunk": turn.last,
            "tool_calls": turn.tool_calls,
            "tool_errors": turn.tool_errors,
            "url": visit.urls.at(one.info.id, turn.first),
        }

    return {"same": _same(pair, left, right), "a": told(left, pair[0]), "b": told(right, pair[1])}


def _named(info: SessionInfo, visit: Visit) -> dict[str, Any]:
    return {
        "href": visit.urls.session(info.id),
        "title": safe(bdi(one_line(info.title or info.native_id, 120))),
        "line": safe(head.facts_line(info, visit.agent(info.format))),
    }


def _shown(one: Difference) -> Mapping[str, Any]:
    return {
        "what": safe(bdi(one_line(one.what, 60))),
        "a": safe(bdi(one_line(one.a, 300))),
        "b": safe(bdi(one_line(one.b, 300))),
        "same": one.same,
    }


# -- what to compare with ---------------------------------------------------------------------------------------


def _picker(db: sqlite3.Connection, visit: Visit, info: SessionInfo) -> Answer:
    found = candidates(db, info)
    if visit.format == ".json":
        body = {
            "ok": True,
            "a": info.id,
            "candidates": [
                {
                    "id": other.id,
                    "title": other.title,
                    "why": why,
                    "url": visit.urls.compare(info.id, other.id, ".json"),
                }
                for other, why in found
            ],
        }
        return json_body(body)
    return Page(
        template="clm_compare.html",
        page={
            "title": f"Compare {one_line(info.title or info.id, 80)} with …",
            "sides": [_named(info, visit)],
            "action": visit.urls.compare_form(),
            "a": info.id,
            "candidates": [
                {**_named(other, visit), "href": visit.urls.compare(info.id, other.id), "why": why}
                for other, why in found
            ],
            "json": visit.urls.compare(info.id, "", ".json"),
        },
    )


def candidates(db: sqlite3.Connection, info: SessionInfo) -> list[tuple[SessionInfo, str]]:
    """Sessions to compare with, and why: forks and what it was forked from, then the newest of the same project."""
    near = (
        "s.id <> ? AND (s.forked_from = ? OR s.id = (SELECT forked_from FROM sessions WHERE id = ?) "
        "OR s.forked_from = (SELECT forked_from FROM sessions WHERE id = ?))"
    )
    related = reader.session_infos(db, near, (info.id,) * 4)[:CANDIDATES]
    same = (
        "s.id IN (SELECT id FROM sessions WHERE role = ? AND id <> ? AND project_id IS "
        "(SELECT project_id FROM sessions WHERE id = ?) ORDER BY started_at DESC LIMIT ?)"
    )
    role = "main" if info.role == "main" else info.role
    others = reader.session_infos(db, same, (role, info.id, info.id, CANDIDATES))
    seen = {one.id for one in related}
    found = [(one, "shares its beginning") for one in related]
    found += [(one, "same project" if info.project_name else "recent") for one in others if one.id not in seen]
    return found[:CANDIDATES]
