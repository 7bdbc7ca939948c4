"""Full-text search over messages and tool calls. Any text a person types is a valid query."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from clm_sessions import times
from clm_sessions.store.narrow import Narrow, of_rows, tools
from clm_sessions.store.narrow import models as names

_PIECE = re.compile(r'"([^"]*)"(\*?)|(\S+)')
_UNSTORABLE = re.compile('["\\0\ud800-\udfff]')
LIMIT = 1 << 20
TERMS = 64
TERM_LENGTH = 200
_MESSAGES = ("user", "ai", "system", "compact", "sidechain")
KINDS = (*_MESSAGES, "thinking", "tool")
"""Where to search: the texts of messages of one kind, thinking, or tool calls with their results."""
RANKED = 50_000
"""Places of one table that are ranked, those imported last: to rank one, SQLite has to read how long its text is."""
MARK_START, MARK_END = "\x02", "\x03"
"""Set around the words found in a snippet: characters that no stored text needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A place where the words stand. ``kind``: message or tool_call; ``snippet`` marks the words with STX and ETX.

    ``name``: origin of the message, or the tool. ``at`` in milliseconds; ``title`` and ``project`` are of the session.
    """

    kind: str
    session_id: str
    chunk_seq: int | None
    message_seq: int
    name: str
    snippet: str
    rank: float
    at: int | None = None
    title: str | None = None
    project: str | None = None


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


def search(
    db: sqlite3.Connection,
    text: str,
    *,
    limit: int = 50,
    narrow: Narrow | None = None,
    kinds: Collection[str] = (),
    noise: bool = True,
    copies: bool = True,
) -> list[Hit]:
    """The best ``limit`` hits in messages and tool calls together, at most ``LIMIT``.

    ``kinds``: some of ``KINDS``, none for all. ``noise``: also what is never shown. ``copies``: also in what a session
    copied from another one. Of more than ``RANKED`` places in a table the newest are ranked, unless the search is
    narrowed. UsageError if ``narrow`` names what the database does not have.
    """
    query = fts_query(text)
    limit = max(0, min(limit, LIMIT))
    if query is None or not limit:
        return []
    narrow = narrow or Narrow()
    hits: list[Hit] = []
    for ask in _asks(db, narrow, kinds, noise):
        condition, bound = of_rows(db, narrow, "m", ask.at)
        where = [*ask.where, *([] if copies else ["m.inherited = 0"]), *([condition] if condition else [])]
        bound = [*ask.bound, *bound]
        if narrow == Narrow() and not kinds:
            where, bound = [newest(ask.table), *where], [query, *bound]
        hits += _hits(db, ask, f"{ask.columns}({query})", where, bound, limit)
    return sorted(hits, key=lambda h: h.rank)[:limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ask:
    """One query: in which table and columns, and for which of its rows (alias ``m``)."""

    table: str
    seq: str
    name: str
    at: str
    columns: str = ""
    where: tuple[str, ...] = ()
    bound: tuple[str, ...] = ()


def _asks(db: sqlite3.Connection, narrow: Narrow, kinds: Collection[str], noise: bool) -> list[_Ask]:
    models = names(db, narrow) if narrow.models else []
    messages = _Ask(table="messages", seq="m.seq", name="m.origin", at="at")
    calls = _Ask(table="tool_calls", seq="m.message_seq", name="m.name", at="started_at")
    if models:
        marks = ", ".join("?" * len(models))
        of_call = (
            f"(SELECT a.model FROM messages a WHERE a.session_id = m.session_id AND a.seq = m.message_seq) IN ({marks})"
        )
        messages = replace(messages, where=(f"m.model IN ({marks})",), bound=tuple(models))
        calls = replace(calls, where=(of_call,), bound=tuple(models))
    if narrow.tools:
        wanted = tools(db, narrow)
        where = (*calls.where, f"m.name IN ({', '.join('?' * len(wanted))})")
        return [replace(calls, where=where, bound=(*calls.bound, *wanted))]
    if not kinds:
        return [messages if noise else replace(messages, where=(*messages.where, "m.kind <> 'hard_noise'")), calls]
    found = [calls] if "tool" in kinds else []
    if "thinking" in kinds:
        found.append(replace(messages, columns="{search_thinking} : "))
    spoken = [kind for kind in _MESSAGES if kind in kinds]
    if spoken:
        marks = ", ".join("?" * len(spoken))
        where, bound = (*messages.where, f"m.kind IN ({marks})"), (*messages.bound, *spoken)
        found.append(replace(messages, columns="{search_text} : ", where=where, bound=bound))
    return found


def newest(table: str) -> str:
    """SQL: of the rows of ``table``_fts f, the newest ``RANKED`` that match a query, which is its one parameter."""
    return (
        f"f.rowid >= coalesce((SELECT rowid FROM {table}_fts WHERE {table}_fts MATCH ? "
        f"ORDER BY rowid DESC LIMIT 1 OFFSET {RANKED - 1}), 0)"
    )


def _hits(
    db: sqlite3.Connection, ask: _Ask, query: str, where: Sequence[str], bound: Sequence[str], limit: int
) -> list[Hit]:
    """Hits of one query. The best rowids are chosen before snippets are made of them."""
    fts, also = f"{ask.table}_fts", "".join(f" AND {one}" for one in where)
    rows = db.execute(
        f"SELECT m.session_id, m.chunk_seq, {ask.seq}, {ask.name}, m.{ask.at}, s.title, s.project_name, "
        f"snippet({fts}, -1, ?, ?, '…', 24), f.rank FROM {fts} f JOIN {ask.table} m ON m.rowid = f.rowid "
        f"LEFT JOIN sessions s ON s.id = m.session_id WHERE {fts} MATCH ?{also} ORDER BY f.rank LIMIT ?",
        (MARK_START, MARK_END, query, *bound, limit),
    )
    kind = "message" if ask.table == "messages" else "tool_call"
    return [
        Hit(
            kind=kind, session_id=sid, chunk_seq=chunk, message_seq=seq, name=name or "", snippet=snippet or "",
            rank=rank, at=times.parse(at), title=title, project=project,
        )
        for sid, chunk, seq, name, at, title, project, snippet, rank in rows
    ]  # fmt: skip


def pieces(snippet: str) -> list[tuple[str, bool]]:
    """A snippet in pieces, each with whether it is marked. Marks that the log itself brings only mark."""
    parts: list[tuple[str, bool]] = []
    for number, part in enumerate(snippet.split(MARK_START)):
        inside, end, after = part.partition(MARK_END) if number else ("", "", part)
        if number:
            parts.append((inside, True))
            after = after if end else ""
        parts.append((after, False))
    return [(text.replace(MARK_END, ""), marked) for text, marked in parts if text]
