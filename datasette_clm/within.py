"""Finding in one session: every place that holds the words, in the order of the log, whatever page it is on."""

from __future__ import annotations

import re
import sqlite3
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from clm_sessions.store import search
from clm_sessions.view import ChunkView, Step

LIMIT = 5_000
"""Places that are counted."""
_AT_ONCE = 500
_OPEN = re.compile(r"(?<!-)\b\w{3,}$")
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
    indexed = search.find(db, _begun(q), session=sid, tables=tables, noise=False)
    found = [place for table in _ABOUT for place in _read(db, table, indexed.places)]
    if not found and q:
        for table in _ABOUT:
            found += _scanned(db, table, sid, q) if table in tables else []
    kept = [place for place in found if among is None or place.chunk in among]
    kept.sort(key=lambda place: (place.chunk, place.message, place.tool, place.rowid))
    return Hits(q=q, places=kept[:LIMIT], chunks=[place.chunk for place in kept[:LIMIT]])


def _begun(q: str) -> str:
    """The query with its last word open at the end, if that is long enough to mean something."""
    return f"{q}*" if _OPEN.search(q) and '"' not in q else q


def _read(db: sqlite3.Connection, table: str, places: Sequence[search.Place]) -> Iterator[Place]:
    """Places that the index found, with the chunk and the message of each."""
    message, what, *_texts = _ABOUT[table]
    rowids = [place.rowid for place in places if place.table == table]
    for start in range(0, len(rowids), _AT_ONCE):
        some = rowids[start : start + _AT_ONCE]
        rows = db.execute(
            f"SELECT m.chunk_seq, {message}, m.rowid, {what} FROM {table} m WHERE m.rowid IN ({', '.join('?' * len(some))})",  # noqa: S608 - ours
            some,
        )
        yield from _places(table, rows)


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
    some = {index: _asked(hits.places[index]) for index in wanted}
    read = search.hits(db, search.Found(text=_begun(hits.q)), list(some.values()))
    return {index: hit.snippet for index, hit in zip(some, read, strict=True) if search.MARK_START in hit.snippet}


def _asked(place: Place) -> search.Place:
    index = "tool_calls_fts" if place.tool else "messages_fts"
    return search.Place(rank=0, found_in=index, rowid=place.rowid, session="", name=place.what, at=None)
