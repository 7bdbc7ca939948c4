"""Every table page of a database through Datasette, as a person opens it: pages.py DATABASE

The default page of every table, and behind it each question its description links to; then the page that the first value
of each default facet leads to; the longest session. With Datasette's own settings: 200 ms a facet, 1 s a query. Each is
looked at twice, and the second time counts. Prints a JSON object: the version of Datasette, and "pages": name -> [wall ms,
which facets timed out, status].
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from html import unescape
from typing import Any

import datasette.handle_exception
from datasette.app import Datasette
from datasette.version import __version__

from datasette_clm import tables

_LATE = re.compile(r"timed out: ([^<]*)<")


async def walk(path: str) -> dict[str, list[Any]]:
    """Each page by the end of its address."""
    datasette.handle_exception.rich = None  # where it is installed 0.65 prints every error with all variables
    site = Datasette([path])
    await site.invoke_startup()
    name = next(n for n in site.databases if not n.startswith("_"))
    found = {}
    for page in (*addresses(), *facets(path), longest(path)):
        for _ in range(2):
            begun = time.perf_counter()
            answer = await site.client.get(f"/{name}/{page}")
            ms = (time.perf_counter() - begun) * 1e3
        late = _LATE.search(answer.text)
        found[page] = [ms, unescape(late[1]).strip() if late else "", answer.status_code]
    return found


def addresses() -> Iterator[str]:
    """Default pages of all tables, those Datasette hides too, and what their descriptions link to."""
    for name, table in tables.TABLES.items():
        yield name
        for _words, query in table.ways:
            yield f"{name}?{query}"


def facets(path: str) -> Iterator[str]:
    """The page behind the most frequent value of each default facet."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        for name, table in tables.TABLES.items():
            for column in table.facets:
                sql = (
                    f"SELECT {column} FROM {name} WHERE {column} IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT 1"
                )
                row = db.execute(sql).fetchone()
                if row is not None:
                    yield f"{name}?{column}={row[0]}"


def longest(path: str) -> str:
    """The transcript of the longest session."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return f"-/session/{db.execute('SELECT id FROM sessions ORDER BY messages DESC LIMIT 1').fetchone()[0]}"


if __name__ == "__main__":
    print(json.dumps({"datasette": __version__, "pages": asyncio.run(walk(sys.argv[1]))}))
