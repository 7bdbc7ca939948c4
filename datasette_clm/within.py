"""Finding in one session: every place that holds the words, in the order of the log, whatever page it is on."""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from clm_sessions.store.search import MARK_END, MARK_START, fts_query
from clm_sessions.view import ChunkView, Step

LIMIT = 5_000
"""Places that are counted."""
_WORDS = 24
_ABOUT = {
    "messages": ("m.seq", "coalesce(m.origin, '')", "m.text", "m.thinking"),
    "tool_calls": ("m.message_seq", "m.name", "m.input", "m.result"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the words stand: chunk, message, and the row of its table. ``what``: the origin of the message, or the tool."""

    chunk: int
    message: int
    rowid: int
    what: str
    tool: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """The places that hold ``q``, in order, and the chunk of each. ``here`` is the index of the one the reader is at.

    ``snippets``, by index: the words found, marked by STX and ETX, of those that the page shows.
    """

    q: str = ""
    places: Sequence[Place] = ()
    chunks: Sequence[int] = ()
    here: int | None = None
    snippets: Mapping[int, str] = field(default_factory=dict)

    def at(self, hit: int | None, chunk: int | None) -> int | None:
        """The index of hit number ``hit``, or of the first one from ``chunk`` on (the last, if there is none)."""
        if not self.places:
            return None
        wanted = hit - 1 if hit else bisect_left(self.chunks, chunk) if chunk else 0
        return min(wanted, len(self.places) - 1)

    def within(self, seq: int) -> range:
        """The indexes of those in a chunk."""
        return range(bisect_left(self.chunks, seq), bisect_left(self.chunks, seq + 1))

    def marked(self, view: ChunkView) -> ChunkView:
        """The card with its hits numbered and the steps that hold them open."""
        steps, own = list(view.steps), None
        for index in self.within(view.seq):
            place = self.places[index]
            held = [n for n, step in enumerate(steps) if _holds(step, place)]
            for n in held:
                steps[n] = replace(steps[n], open=True)
            free = next((n for n in held if steps[n].hit is None), None)
            if free is not None:
                steps[free] = replace(steps[free], hit=index + 1)
            elif own is None:
                own = index + 1
        return replace(view, steps=tuple(steps), hit=own) if self.places else view


def _holds(step: Step, place: Place) -> bool:
    """A message that calls a tool stands in the steps of the tool; its own words do in all others."""
    if step.message != place.message:
        return False
    return step.tool == place.what if place.tool else step.tool is None


def find(db: sqlite3.Connection, q: str, tables: Collection[str], sid: str, among: Collection[int] | None) -> Hits:
    """The first ``LIMIT`` places, those in the chunks ``among`` (None: in all).

    As in any search, all words must stand in one message or call; the last one may be the beginning of a word. What no
    index of words finds, such as signs or part of a word, is looked for as it stands.
    """
    query = fts_query(q)
    found: list[Place] = []
    for table in _ABOUT:
        if table in tables:
            found += _indexed(db, table, sid, _begun(query)) if query else []
    if not found and q:
        for table in _ABOUT:
            found += _scanned(db, table, sid, q) if table in tables else []
    kept = [place for place in found if among is None or place.chunk in among]
    kept.sort(key=lambda place: (place.chunk, place.message, place.tool, place.rowid))
    return Hits(q=q, places=kept, chunks=[place.chunk for place in kept])


def _begun(query: str) -> str:
    """The query with its last word open at the end, if that is long enough to mean something."""
    last = query[query.rindex('"', 0, -1) :] if query.endswith('"') else ""
    return f"{query}*" if len(last) > 4 and " " not in last else query


def _indexed(db: sqlite3.Connection, table: str, sid: str, query: str) -> list[Place]:
    """By the index. FTS is told the rowids of the session, so that a common word elsewhere costs nothing."""
    first, last = db.execute(f"SELECT min(rowid), max(rowid) FROM {table} WHERE session_id = ?", (sid,)).fetchone()  # noqa: S608 - ours
    if first is None:
        return []
    message, what, *_texts = _ABOUT[table]
    sql = f"""SELECT m.chunk_seq, {message}, m.rowid, {what} FROM {table}_fts f JOIN {table} m ON m.rowid = f.rowid
        WHERE {table}_fts MATCH ? AND f.rowid BETWEEN ? AND ? AND m.session_id = ? AND m.chunk_seq IS NOT NULL
        LIMIT ?"""  # noqa: S608 - names are ours
    return _places(table, db.execute(sql, (query, first, last, sid, LIMIT)))


def _scanned(db: sqlite3.Connection, table: str, sid: str, q: str) -> list[Place]:
    message, what, *texts = _ABOUT[table]
    holds = " OR ".join(f"{text} LIKE ? ESCAPE '\\'" for text in texts)
    escaped = q.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_").replace("\0", "")
    sql = f"""SELECT m.chunk_seq, {message}, m.rowid, {what} FROM {table} m
        WHERE m.session_id = ? AND m.chunk_seq IS NOT NULL AND ({holds}) LIMIT ?"""  # noqa: S608 - names are ours
    return _places(table, db.execute(sql, (sid, *[f"%{escaped}%"] * len(texts), LIMIT)))


def _places(table: str, rows: sqlite3.Cursor) -> list[Place]:
    return [
        Place(chunk=chunk, message=message, rowid=rowid, what=what or "", tool=table == "tool_calls")
        for chunk, message, rowid, what in rows
    ]


def snippets(db: sqlite3.Connection, hits: Hits, wanted: Iterable[int]) -> dict[int, str]:
    """Snippets of the hits at some indexes; the words in them are marked by STX and ETX. Those scanned for have none."""
    query = fts_query(hits.q)
    made: dict[int, str] = {}
    for index in wanted if query else ():
        place = hits.places[index]
        table = "tool_calls" if place.tool else "messages"
        row = db.execute(
            f"SELECT snippet({table}_fts, -1, ?, ?, '…', {_WORDS}) FROM {table}_fts WHERE {table}_fts MATCH ? AND rowid = ?",  # noqa: S608
            (MARK_START, MARK_END, _begun(query or ""), place.rowid),
        ).fetchone()
        if row and row[0]:
            made[index] = row[0]
    return made
