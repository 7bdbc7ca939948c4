"""What redactors find in chosen sessions, value by value, for a person to decide on before anything is written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from clm_sessions.publish.rules import Rules
from clm_sessions.redact import Redaction, Sample, walked

ENOUGH = 2_000_000
"""Characters after which no other session is begun."""
LONGEST = 8_000_000
"""Characters of one session that are looked at, at most."""
_PLACES = 3
_JSON = ("detail", "input")
_TEXTS = {"messages": ("text", "thinking", "detail"), "tool_calls": ("input", "result")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a value stands. ``chunk``: None if in what is said of the whole session; ``sample``: what is around it."""

    session: str
    chunk: int | None
    field: str
    sample: Sample


@dataclass(slots=True, kw_only=True)
class Value:
    """One value that was found. ``begins``: its first characters, if it is long; ``places``: how many; ``shown``: some."""

    kind: str
    digest: str
    begins: str
    length: int
    places: int = 0
    shown: list[Place] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """``titles``: of the sessions looked at, by key, redacted; ``after``: how many trees are done; ``cut``: those too long to be looked at whole."""

    titles: Mapping[str, str]
    values: tuple[Value, ...]
    characters: int
    after: int
    cut: tuple[str, ...]


def review(
    db: sqlite3.Connection, trees: Sequence[Sequence[str]], redaction: Redaction, rules: Rules, start: int = 0
) -> Review:
    """What is found in sessions from tree ``start`` on, as many as ``ENOUGH`` allows, one at least."""
    values: dict[tuple[str, str], Value] = {}
    titles: dict[str, str] = {}
    cut: list[str] = []
    read, after = 0, start
    for tree in trees[start:]:
        after += 1
        for sid in tree:
            titles[sid] = redaction.text(_title(db, sid))
            size = 0
            for chunk, name, text in _texts(db, sid):
                size += len(text)
                if size > LONGEST:
                    cut.append(sid)
                    break
                _note(values, redaction, rules, Place(session=sid, chunk=chunk, field=name, sample=_NOTHING), text)
            read += size
        if read > ENOUGH:
            break
    ordered = sorted(values.values(), key=lambda value: (value.kind, -value.places, value.digest))
    return Review(titles=titles, values=tuple(ordered), characters=read, after=after, cut=tuple(cut))


_NOTHING = Sample(kind="", tag="", before="", after="", length=0)


def _note(
    values: dict[tuple[str, str], Value], redaction: Redaction, rules: Rules, place: Place, text: str
) -> None:  # fmt: skip
    for value, sample in redaction.found(text):
        held = values.get((sample.kind, value))
        if held is None:
            begins = value[:2] if len(value) >= 8 and sample.kind != "withheld" else ""
            held = values[sample.kind, value] = Value(
                kind=sample.kind, digest=rules.digest(value), begins=begins, length=len(value)
            )
        held.places += 1
        if len(held.shown) < _PLACES and all(
            (one.session, one.chunk) != (place.session, place.chunk) for one in held.shown
        ):
            held.shown.append(Place(session=place.session, chunk=place.chunk, field=place.field, sample=sample))


def _title(db: sqlite3.Connection, sid: str) -> str:
    row = db.execute("SELECT title FROM sessions WHERE id = ?", (sid,)).fetchone()
    return row[0] if row and isinstance(row[0], str) else sid


def _texts(db: sqlite3.Connection, sid: str) -> Iterator[tuple[int | None, str, str]]:
    """(chunk, what it is, text) of all that a session says."""
    for row in db.execute("SELECT title, cwd, git_branch FROM sessions WHERE id = ?", (sid,)):
        for name, text in zip(("title", "folder", "branch"), row, strict=True):
            if isinstance(text, str):
                yield None, name, text
    for table, columns in _TEXTS.items():
        sql = f"SELECT chunk_seq, {', '.join(columns)} FROM {table} WHERE session_id = ? ORDER BY seq"  # noqa: S608 - names are ours
        for chunk, *texts in db.execute(sql, (sid,)):
            for name, text in zip(columns, texts, strict=True):
                if isinstance(text, str):
                    yield from ((chunk, name, one) for one in (_strings(text) if name in _JSON else [text]))


def _strings(text: str) -> list[str]:
    """Every string of a JSON value, as publishing looks at it: a secret ends where its string does."""
    found: list[str] = []

    def take(one: str) -> str:
        found.append(one)
        return one

    try:
        walked(json.loads(text), take)
    except (ValueError, RecursionError):
        return [text]
    return found
