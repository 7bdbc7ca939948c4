"""What the search page shows, read in one go and as values: HTML, JSON and CSV are made of the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from clm_sessions.errors import UsageError
from clm_sessions.store import search, unspaced
from clm_sessions.store.counts import Counts, count
from clm_sessions.store.search import RANKED, Found, Hit, Place
from clm_sessions.store.words import fts_query, unspaced_query
from datasette_clm.search_ask import TITLES, SearchAsk

SESSIONS, EACH, IN_ONE, IN_CSV = 15, 3, 40, 1_000
"""Sessions on a page and places shown of each; places on a page of one session; rows of the CSV."""
TABLES = ("messages", "tool_calls")


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """One page of what was found. ``hits``: by session, in the order of the page; ``titles``: (id, title) of sessions.

    ``problem`` says why nothing could be found.
    """

    ask: SearchAsk
    found: Found
    counts: Counts
    hits: Mapping[str, Sequence[Hit]] = field(default_factory=dict)
    titles: Sequence[tuple[str, str]] = ()
    pages: int = 1
    problem: str = ""

    @property
    def capped(self) -> bool:
        """Whether there are more places than were looked at."""
        return bool(self.found.newest)


def find(db: sqlite3.Connection, ask: SearchAsk, tables: frozenset[str]) -> Results:
    """The page that is asked for. Reads only ``tables``."""
    found, problem = places(db, ask, tables)
    counts = count(db, found, models="session_models" in tables)
    shown, pages = _page(found, ask, len(counts.sessions))
    by_session: dict[str, list[Hit]] = {}
    for hit in search.hits(db, found, shown):
        by_session.setdefault(hit.session_id, []).append(hit)
    titles: Sequence[tuple[str, str]] = ()
    if not ask.session and ask.page == 1 and ask.chosen.keys() <= {"where"} and ask.where in ("", TITLES):
        titles = with_title(db, ask.q, 100 if ask.where else 6)
    return Results(
        ask=ask, found=found, counts=counts, hits=by_session, titles=titles, pages=pages, problem=problem
    )  # fmt: skip


def places(db: sqlite3.Connection, ask: SearchAsk, tables: frozenset[str]) -> tuple[Found, str]:
    """All places in the order asked for, and what is wrong if they could not be looked for."""
    if ask.where == TITLES or not ask.q:
        return Found(text=ask.q), ""
    try:
        found = search.find(
            db,
            ask.q,
            narrow=ask.of_places,
            sessions=ask.of_sessions,
            kinds=ask.kinds,
            session=ask.session or None,
            tables=tables & {*TABLES},
            noise=False,
            copies=bool(ask.session),
            ranked=RANKED,
        )
    except UsageError as error:
        return Found(text=ask.q), str(error)
    if ask.sort == "newest":
        ordered = sorted(found.places, key=lambda place: place.at or "", reverse=True)
        return Found(text=ask.q, places=ordered, queries=found.queries, newest=found.newest), ""
    return found, ""


def first(db: sqlite3.Connection, ask: SearchAsk, tables: frozenset[str]) -> list[Hit]:
    """The first places, not by session."""
    found, _problem = places(db, ask, tables)
    return search.hits(db, found, found.places[:IN_CSV])


def with_title(db: sqlite3.Connection, q: str, limit: int) -> list[tuple[str, str]]:
    """Sessions whose title holds the words: (id, title), best first."""
    index, query = ("sessions_fts_cjk", unspaced_query(q)) if unspaced.within(q) else ("sessions_fts", fts_query(q))
    if query is None:
        return []
    rows = db.execute(
        f"SELECT s.id, s.title FROM {index} f JOIN sessions s ON s.rowid = f.rowid WHERE {index} MATCH ? "  # noqa: S608 - ours
        "ORDER BY f.rank LIMIT ?",
        (query, limit),
    )
    return [(row[0], row[1]) for row in rows]


def _page(found: Found, ask: SearchAsk, sessions: int) -> tuple[list[Place], int]:
    """The places on the page, and how many pages there are. Beyond the end the last one is shown."""
    if ask.session:
        pages = max(1, -(-len(found.places) // IN_ONE))
        start = (min(ask.page, pages) - 1) * IN_ONE
        return list(found.places[start : start + IN_ONE]), pages
    pages = max(1, -(-sessions // SESSIONS))
    start = (min(ask.page, pages) - 1) * SESSIONS
    wanted = set(islice(_order(found.places), start, start + SESSIONS))
    left = dict.fromkeys(wanted, EACH)
    shown = []
    for place in found.places:
        if left.get(place.session):
            left[place.session] -= 1
            shown.append(place)
    return shown, pages


def _order(places: Sequence[Place]) -> Iterator[str]:
    """The sessions in the order of their first place."""
    yield from dict.fromkeys(place.session for place in places)
