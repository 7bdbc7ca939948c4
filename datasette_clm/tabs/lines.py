"""The physical lines of a log out of the raw archive: from any line on, without unpacking what stands before it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clm_sessions import times
from clm_sessions.store import raw

BUDGET = 8_000_000
"""Bytes looked at for one page."""
_PARSED = 1_000_000
_NAMES = ("subtype", "operation")
_NESTED = ("payload", "attachment", "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The log of a session in the archive. ``kept``: how many bytes of it from its beginning; 0: nothing was kept."""

    id: str
    generation: int
    lines: int
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line: its number from 1, its place, and its bytes without the line end (None: longer than what is looked at)."""

    number: int
    offset: int
    length: int
    data: bytes | None


def source(db: sqlite3.Connection, sid: str) -> Source | None:
    """The log that a session was read from; None if there is none."""
    row = db.execute(
        "SELECT id, generation, lines FROM sources WHERE session_id = ? AND role IN ('main', 'agent') "
        "AND state <> 'copy' ORDER BY id LIMIT 1",
        (sid,),
    ).fetchone()
    if row is None:
        return None
    sizes, generation = raw.sizes(db, row[0]), row[1] or 0
    return Source(
        id=row[0],
        generation=generation,
        lines=row[2] or 0,
        kept=sizes[generation] if 0 <= generation < len(sizes) else 0,
    )


def anchor(db: sqlite3.Connection, sid: str, line: int) -> tuple[int, int]:
    """(number, byte offset) of a line at or before ``line`` whose place is known."""
    row = db.execute(
        "SELECT line, byte_offset FROM messages WHERE session_id = ? AND line <= ? AND earlier IS NULL "
        "AND byte_offset IS NOT NULL ORDER BY line DESC LIMIT 1",
        (sid, line),
    ).fetchone()
    return (row[0], row[1]) if row else (1, 0)


def walk(db: sqlite3.Connection, log: Source, sid: str, first: int) -> Iterator[Line]:
    """The lines from ``first`` on, until ``BUDGET`` bytes were looked at. DatabaseError where the archive is damaged."""
    number, offset = anchor(db, sid, first)
    end = min(log.kept, offset + BUDGET)
    held = b""
    at = offset
    while offset < end:
        piece = raw.read_range(db, log.id, log.generation, offset, min(raw.BLOCK, end - offset))
        if not piece:
            return
        offset += len(piece)
        *whole, held = (held + piece).split(b"\n")
        if offset >= log.kept and held:
            whole, held = [*whole, held], b""
        for data in whole:
            if number >= first:
                yield Line(number=number, offset=at, length=min(len(data) + 1, log.kept - at), data=data)
            number, at = number + 1, at + len(data) + 1
    if held and number >= first and at == end - len(held) and len(held) >= BUDGET:
        yield Line(number=number, offset=at, length=len(held), data=None)


def kind(record: Any, known: Mapping[str, Any]) -> str | None:  # noqa: ANN401 - any JSON value
    """The type of a record as its format counted it, as far as the record itself tells; None if it has none."""
    if not isinstance(record, dict) or not isinstance(record.get("type"), str):
        return None
    own = record["type"]
    second = [record.get(name) for name in _NAMES]
    second += [inner.get("type") for name in _NESTED if isinstance(inner := record.get(name), dict)]
    longer = [f"{own}/{word}" for word in second if isinstance(word, str)]
    return next((name for name in longer if name in known), own)


def parsed(data: bytes | None) -> Any:  # noqa: ANN401 - any JSON value
    """The value on a line; None if it is no JSON, or too long to be read for a list."""
    if data is None or len(data) > _PARSED:
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def moment(record: Any) -> int | None:  # noqa: ANN401 - any JSON value
    """The time a record states, in ms."""
    return times.parse(record.get("timestamp")) if isinstance(record, dict) else None
