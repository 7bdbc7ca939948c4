"""Find in a session: only in tables that may be read. No text is an error."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from clm_sessions import times
from clm_sessions.store import search


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A place that holds the words. ``what``: origin of the message, or the tool; ``snippet`` is marked by STX and ETX."""

    session: str
    title: str | None
    chunk: int | None
    message: int
    what: str
    at: str | None
    snippet: str
    tool: bool = False


def places(
    db: sqlite3.Connection, q: str, tables: Collection[str], *, session: str | None = None, limit: int = 50
) -> list[Found]:
    """The best ``limit`` places for what a person typed; none if it has no letter or digit. Noise is left out."""
    found = search.find(db, q, session=session, tables=tables, noise=False)
    return [
        Found(
            session=hit.session_id, title=hit.title, chunk=hit.chunk_seq, message=hit.message_seq, what=hit.name,
            at=times.iso(hit.at), snippet=hit.snippet, tool=hit.kind == "tool_call",
        )
        for hit in search.hits(db, found, found.places[:limit])
    ]  # fmt: skip
