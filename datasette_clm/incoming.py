"""What we do with a request before Datasette sees it: look for new databases, mend a search, remember the page.

Prices that a query asks for are loaded before its time begins to run.
"""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any
from urllib.parse import parse_qsl, urlencode

from clm_sessions.prices import packaged
from datasette_clm import defaults, detect, private, queries, watching
from datasette_clm._compat import Datasette, tilde_decode
from datasette_clm.tables import TABLES
from datasette_clm.watching import Receive

Asgi = Callable[..., Awaitable[None]]
Scope = Mapping[str, Any]
_parts: ContextVar[tuple[str, ...]] = ContextVar("clm_sessions_parts", default=())


def on_row_page() -> bool:
    """Whether the page being made is that of one row: ``/database/table/key``. On 0.65 cells are not told."""
    return len(_parts.get()) == 3


async def refresh(datasette: Datasette) -> None:
    """Find databases of ours that are new, and give them their defaults."""

    async def found(name: str) -> None:
        await defaults.configure(datasette, name)
        await queries.configure(datasette, name)

    await detect.refresh(datasette, found)


def wrap(datasette: Datasette, app: Asgi) -> Asgi:
    """The application behind the gate of private databases, with each request prepared for it."""
    app = private.gate(datasette, app)

    async def wrapped(scope: Scope, receive: Receive, send: object) -> None:
        if scope["type"] == "lifespan":
            receive = watching.beside(receive)
        else:
            await refresh(datasette)
        if scope["type"] == "http":
            parts = _split(scope["path"], str(datasette.setting("base_url")))
            _parts.set(parts)
            if b"clm_price" in scope["query_string"]:
                await to_thread(packaged.load)
            if parts and detect.is_ours(datasette, _database(datasette, parts[0])):
                scope = {**scope, "query_string": asked(scope["query_string"], parts)}
        await app(scope, receive, send)

    return wrapped


def asked(query: bytes, parts: tuple[str, ...]) -> bytes:
    """A query string that Datasette answers, and without its search for more facets on our table pages.

    That search looks at every column, the longest texts too: a second a page on 0.65. ``_nosuggest=`` brings it back.
    """
    if b"_search" in query:
        query = mended(query)
    if len(parts) == 2 and parts[1] in TABLES and b"_nosuggest=" not in query:
        return query + b"&_nosuggest=1" if query else b"_nosuggest=1"
    return query


def mended(query: bytes) -> bytes:
    """A query string in which no table search is one that SQLite cannot parse.

    Datasette quotes what people type, but a search of quotes alone, or with a NUL in it, still ends as an error page.
    """
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, encoding="utf-8", errors="surrogateescape")
    if ("_searchmode", "raw") in pairs:
        return query
    kept = [(key, _searchable(value)) if _is_search(key) else (key, value) for key, value in pairs]
    return urlencode([pair for pair in kept if pair[1] or not _is_search(pair[0])], errors="surrogateescape").encode()


def _is_search(key: str) -> bool:
    return key == "_search" or key.startswith("_search_")


def _searchable(text: str) -> str:
    return text.replace("\0", " ") if any(c.isalnum() for c in text) else ""


def _split(path: str, base_url: str) -> tuple[str, ...]:
    if base_url != "/" and path.startswith(base_url):
        path = path[len(base_url) - 1 :]
    return tuple(part for part in path.split("/") if part)


def _database(datasette: Datasette, route: str) -> str | None:
    try:
        return str(datasette.get_database(route=tilde_decode(route.partition(".")[0])).name)
    except KeyError:
        return None
