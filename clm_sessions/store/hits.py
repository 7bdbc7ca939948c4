"""What a person reads of the places that a search found: where each is, and a snippet with the words marked."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clm_sessions import times
from clm_sessions.store.places import COLUMNS, PARTS, Found, Place
from clm_sessions.store.snippets import Snippets
from clm_sessions.store.words import terms

_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A place where the words stand. ``kind``: message or tool_call; ``snippet`` marks the words with STX and ETX.

    ``part`` is the text that the snippet is of: text, thinking, input or output. ``name``: origin of the message, or the
    tool. ``at`` in milliseconds; ``title`` and ``project`` are of the session.
    """

    kind: str
    session_id: str
    chunk_seq: int | None
    message_seq: int
    name: str
    snippet: str
    rank: float
    part: str = "text"
    at: int | None = None
    title: str | None = None
    project: str | None = None


def hits(db: sqlite3.Connection, found: Found, places: Sequence[Place]) -> list[Hit]:
    """Some of the places that were found, in their order."""
    show = Snippets(terms(found.text))
    made: dict[Place, Hit] = {}
    for table in PARTS:
        mine = [place for place in places if place.table == table]
        for number in range(0, len(mine), _AT_ONCE):
            made |= _read(db, table, {place.rowid: place for place in mine[number : number + _AT_ONCE]}, show)
    return [made[place] for place in places]


def _read(db: sqlite3.Connection, table: str, some: Mapping[int, Place], show: Snippets) -> Iterator[tuple[Place, Hit]]:
    calls = table == "tool_calls"
    seq, name, at = ("m.message_seq", "m.name", "m.started_at") if calls else ("m.seq", "m.origin", "m.at")
    texts = ", ".join(f"m.{COLUMNS[part]}" for part in PARTS[table])
    rows = db.execute(
        f"SELECT m.rowid, m.session_id, m.chunk_seq, {seq}, {name}, {at}, s.title, s.project_name, {texts} "
        f"FROM {table} m LEFT JOIN sessions s ON s.id = m.session_id WHERE m.rowid IN ({', '.join('?' * len(some))})",
        [*some],
    )
    for rowid, sid, chunk, message, what, when, title, project, *columns in rows:
        part, text = show.best(dict(zip(PARTS[table], columns, strict=True)))
        yield some[rowid], Hit(
            kind="tool_call" if calls else "message", session_id=sid, chunk_seq=chunk, message_seq=message,
            name=what or "", snippet=text, rank=some[rowid].rank, part=part, at=times.parse(when), title=title, project=project,
        )  # fmt: skip
