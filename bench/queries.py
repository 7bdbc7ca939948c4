"""What people ask of a large database, timed: queries.py DATABASE INDEX_FREE_COPY ROUNDS

Every default facet that the Datasette plugin shows, as Datasette counts it; the SQL of transcript pages, recorded while
the plugin loads them and played again; full-text search with rank and snippet. Each runs once to warm the cache and then
ROUNDS times, on the database and then on a copy without indexes. Prints a JSON object: name -> [CPU ms, CPU ms
without indexes, rows]. Whole pages are the work of ``pages.py``.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

from clm_sessions.plugins import from_environment
from clm_sessions.store import search
from datasette_clm import loader, search_find, search_page, tables
from datasette_clm.ask import Ask
from datasette_clm.search_ask import SearchAsk

FACET_SIZE = 31
Statement = tuple[str, tuple[Any, ...]]
Query = Callable[[sqlite3.Connection], int]


class Recording(sqlite3.Connection):
    """Remembers the statements it is given."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.said: list[Statement] = []

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        self.said.append((sql, tuple(parameters)))
        return super().execute(sql, parameters)


def facets() -> Iterator[tuple[str, Query]]:
    for name, table in tables.TABLES.items():
        for column in table.facets:
            sql = (
                f"select {column} as value, count(*) as count from (select * from {name}) "
                f"where {column} is not null group by {column} order by count desc, value limit {FACET_SIZE}"
            )
            yield f"facet {name}.{column}", playing([(sql, ())])


def sorts(path: str) -> Iterator[tuple[str, Query]]:
    """The first page of each table in its default order, every column; and how many rows there are."""
    db = sqlite3.connect(path)
    for name, table in tables.TABLES.items():
        keys = [row[1] for row in sorted(db.execute(f"PRAGMA table_info([{name}])"), key=lambda row: row[5]) if row[5]]
        order = f"{table.sort_desc} desc" if table.sort_desc else table.sort or ", ".join(keys)
        yield f"table {name}", playing([(f"select * from {name} order by {order} limit 101", ())])
        yield f"count {name}", playing([(f"select count(*) from {name}", ())])


def transcripts(path: str) -> Iterator[tuple[str, Query]]:
    """Pages of the longest session and of a middling one; the last one narrowed to failed tools and to words."""
    plain = sqlite3.connect(path)
    ranked = plain.execute("SELECT id, chunks FROM sessions WHERE role = 'main' ORDER BY messages DESC").fetchall()
    longest, middling = ranked[0], ranked[len(ranked) // 2]
    asked = {
        "transcript, first page, middling session": (middling[0], Ask()),
        "transcript, first page, longest session": (longest[0], Ask()),
        "transcript, last page, longest session": (longest[0], Ask(chunk=longest[1] - 1)),
    }
    describe = from_environment().describe
    there = frozenset({*loader.NEEDS, *loader.WANTS})
    for name, (session, ask) in asked.items():
        db = sqlite3.connect(path, factory=Recording)
        loader.load(db, there, session, ask, describe)
        yield f"{name} ({longest[1] if session == longest[0] else middling[1]} chunks)", playing(db.said)


def searches(path: str) -> Iterator[tuple[str, Query]]:
    """A word in about half of the texts, one in about one of eighty, one in about a hundred texts; and two of them."""
    there = frozenset({*loader.NEEDS, *search_page.WANTS})
    for name, word in words(sqlite3.connect(path)).items():
        yield f"search, {name}", lambda db, w=word: len(search.search(db, w, limit=50))
        yield (
            f"search page with its facets, {name}",
            lambda db, w=word: len(search_find.find(db, SearchAsk(q=w), there).hits),
        )


def words(db: sqlite3.Connection) -> dict[str, str]:
    db.execute("CREATE VIRTUAL TABLE temp.seen USING fts5vocab('main', 'messages_fts', 'row')")
    total = db.execute("SELECT count(*) FROM messages WHERE text IS NOT NULL").fetchone()[0]
    found = {}
    for name, share in (("common word", 0.5), ("middling word", 1 / 80), ("rare word", 100 / total)):
        term, count = db.execute(
            "SELECT term, doc FROM temp.seen WHERE term GLOB '[a-z]*' ORDER BY abs(doc - ?) LIMIT 1", (share * total,)
        ).fetchone()
        found[f"{name} ({count:,} messages)"] = term
    return {**found, "the first two": " ".join([*found.values()][:2])}


def playing(statements: Sequence[Statement]) -> Query:
    def play(db: sqlite3.Connection) -> int:
        return sum(len(db.execute(sql, parameters).fetchall()) for sql, parameters in statements)

    return play


def measure(query: Query, connections: Sequence[sqlite3.Connection], rounds: int) -> list[float]:
    """CPU ms on each connection and the number of rows. One after the other, or each would find cold caches."""
    times: list[list[float]] = [[] for _ in connections]
    rows = 0
    for number, db in enumerate(connections):
        rows = query(db)
        for _ in range(rounds):
            begun = time.process_time()
            query(db)
            times[number].append((time.process_time() - begun) * 1e3)
    return [*map(median, times), rows]


def main(path: str, copy: str, rounds: str) -> None:
    connections = [sqlite3.connect(f"file:{one}?mode=ro", uri=True) for one in (path, copy)]
    asked = [*facets(), *sorts(path), *transcripts(path), *searches(path)]
    result: dict[str, Any] = {}
    for name, query in asked:
        both = connections if name.startswith(("facet", "table", "count", "transcript")) else connections[:1]
        result[name] = measure(query, both, int(rounds))
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
