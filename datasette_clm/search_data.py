"""What a search found for machines: as JSON, as CSV, and the search itself as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clm_sessions import times
from clm_sessions.export.tables import Table, to_csv
from clm_sessions.store.columns import Column
from clm_sessions.store.search import Hit, pieces
from clm_sessions.store.words import fts_query
from datasette_clm.search_ask import WORDS, SearchAsk
from datasette_clm.search_find import Results
from datasette_clm.urls import Urls

_COLUMNS = ("session", "title", "project", "chunk", "what", "part", "at", "snippet", "url")


def json(results: Results, urls: Urls) -> dict[str, Any]:
    """Everything the page shows. ``places`` are in its order; ``approximate``: there are more than were counted."""
    ask, counts = results.ask, results.counts
    number = min(ask.page, results.pages)
    return {
        "ok": True,
        "q": ask.q,
        "filter": {**ask.chosen, **({"session": ask.session} if ask.session else {})},
        "sort": ask.sort,
        "problem": results.problem or None,
        "count": len(results.found.places),
        "approximate": results.capped,
        "session_count": len(counts.sessions),
        "page": number,
        "pages": results.pages,
        "next_url": urls.searching(ask.query(page=number + 1), ".json") if number < results.pages else None,
        "facets": {
            "where": {WORDS[kind]: n for kind, n in counts.kinds.items() if kind in WORDS},
            "tool": counts.tools,
            "project": counts.projects,
            "model": counts.models,
            "format": counts.formats,
            "day": counts.days,
        },
        "places": [_place(hit, ask.q, urls) for hits in results.hits.values() for hit in hits],
        "in_session": {sid: counts.sessions.get(sid, 0) for sid in results.hits},
        "sessions": [{"id": sid, "title": title, "url": urls.session(sid)} for sid, title in results.titles],
    }


def _place(hit: Hit, q: str, urls: Urls) -> dict[str, Any]:
    return {
        "session": hit.session_id,
        "title": hit.title,
        "project": hit.project,
        "chunk": hit.chunk_seq,
        "message": hit.message_seq,
        "what": hit.name,
        "part": hit.part,
        "tool": hit.kind == "tool_call",
        "at": times.iso(hit.at),
        "pieces": [{"text": text, "found": marked} for text, marked in pieces(hit.snippet)],
        "url": urls.found(hit.session_id, hit.chunk_seq or 0, q),
    }


def csv(hits: Sequence[Hit], q: str, urls: Urls) -> str:
    """The places as CSV (``export.tables``), without marks in the snippets."""
    columns = [Column(name=name, kind="text") for name in _COLUMNS]
    return "".join(to_csv(Table(name="search", columns=columns, rows=(_cells(hit, q, urls) for hit in hits))))


def _cells(hit: Hit, q: str, urls: Urls) -> tuple[Any, ...]:
    snippet = "".join(text for text, _marked in pieces(hit.snippet))
    place = urls.found(hit.session_id, hit.chunk_seq or 0, q)
    return (
        hit.session_id,
        hit.title,
        hit.project,
        hit.chunk_seq,
        hit.name,
        hit.part,
        times.iso(hit.at),
        snippet,
        place,
    )


def sql(ask: SearchAsk, tables: frozenset[str]) -> tuple[str, dict[str, str]]:
    """The search as a query that a person can go on with: ranked, without the limit on how much is ranked."""
    calls = "tool_calls" in tables and (ask.tool or ask.where.startswith("tool"))
    table, name, at = ("tool_calls", "m.name", "m.started_at") if calls else ("messages", "m.origin", "m.at")
    given = {
        "q": fts_query(ask.q) or "",
        "project": ask.project,
        "format": ask.format,
        "tool": ask.tool,
        "time": ask.time,
    }
    given["session"] = ask.session
    conditions = {
        "project": "s.project_name = :project", "format": "s.format = :format", "tool": "m.name = :tool",
        "time": "m.day like :time || '%'", "session": "m.session_id = :session",
    }  # fmt: skip
    also = "".join(f"\n  and {sql}" for key, sql in conditions.items() if given[key] and (key != "tool" or calls))
    return (
        f"select s.title, m.session_id, m.chunk_seq, {name}, {at},\n"
        f"  snippet({table}_fts, -1, '«', '»', '…', 24) as snippet\n"
        f"from {table}_fts\njoin {table} m on m.rowid = {table}_fts.rowid\njoin sessions s on s.id = m.session_id\n"
        f"where {table}_fts match :q{also}\norder by {table}_fts.rank\nlimit 100"
    ), {key: value for key, value in given.items() if value and f":{key}" in f"{also} :q"}
