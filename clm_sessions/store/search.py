"""Full-text search over messages and tool calls. Any text a person types is a valid query."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass

_PIECE = re.compile(r'"([^"]*)"(\*?)|(\S+)')
_UNSTORABLE = re.compile('["\\0\ud800-\udfff]')
LIMIT = 1 << 20
TERMS = 64
TERM_LENGTH = 200
MARK_START, MARK_END = "\x02", "\x03"
"""Set around the words found in a snippet: characters that no stored text needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A place where the words stand. ``kind``: message or tool_call; ``snippet`` marks the words with STX and ETX."""

    kind: str
    session_id: str
    chunk_seq: int | None
    message_seq: int
    name: str
    snippet: str
    rank: float


def fts_query(text: str) -> str | None:
    """An FTS5 query for what a person typed, or None if there is no letter or digit in it.

    Words must all occur; ``"quoted words"`` are a phrase; a word that ends in ``*`` is a prefix. Punctuation inside
    a word makes it a phrase of its parts, operators are words. Accents fold: cafe finds Café. At most ``TERMS``
    different terms count, and of each its first ``TERM_LENGTH`` characters, which then are a prefix.
    """
    terms: dict[str, None] = {}
    for found in _PIECE.finditer(text):
        phrase, star, word = found.groups()
        term = phrase or word or ""
        prefix = "*" if star or (word or "").endswith("*") or len(term) > TERM_LENGTH else ""
        term = _UNSTORABLE.sub(" ", term[:TERM_LENGTH])
        if any(c.isalnum() for c in term):
            terms[f'"{term}"{prefix}'] = None
        if len(terms) == TERMS:
            break
    return " ".join(terms) or None


def search(db: sqlite3.Connection, text: str, *, limit: int = 50) -> list[Hit]:
    """The best ``limit`` hits in messages and tool calls together, at most ``LIMIT``."""
    query = fts_query(text)
    limit = max(0, min(limit, LIMIT))
    if query is None or not limit:
        return []
    hits = [
        *_hits(db, "messages", "m.seq", "m.origin", query, limit),
        *_hits(db, "tool_calls", "m.message_seq", "m.name", query, limit),
    ]
    return sorted(hits, key=lambda h: h.rank)[:limit]


def _hits(db: sqlite3.Connection, table: str, seq: str, name: str, query: str, limit: int) -> list[Hit]:
    """Hits of one table. The best rowids are chosen before snippets are made of them."""
    rows = db.execute(
        f"SELECT m.session_id, m.chunk_seq, {seq}, {name}, snippet({table}_fts, -1, ?, ?, '…', 24), f.rank "
        f"FROM {table}_fts f JOIN {table} m ON m.rowid = f.rowid WHERE {table}_fts MATCH ? ORDER BY f.rank LIMIT ?",
        (MARK_START, MARK_END, query, limit),
    )
    kind = "message" if table == "messages" else "tool_call"
    return [
        Hit(kind=kind, session_id=s, chunk_seq=c, message_seq=q, name=n or "", snippet=t or "", rank=r)
        for s, c, q, n, t, r in rows
    ]
