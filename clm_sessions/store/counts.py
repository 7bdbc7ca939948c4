"""What the places that a search found are counted by: what kind of text, tool, project, model, day, format, session."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from clm_sessions.store.places import PARTS, Found, in_part

_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many places there are by each value. ``kinds`` are some of ``search.KINDS``, ``days`` UTC.

    A place counts for each text of it that holds all the words, and for each model that its session used; so
    ``kinds`` and ``models`` may add up to more than there are places, and ``kinds`` to less.
    """

    kinds: Mapping[str, int] = field(default_factory=dict)
    tools: Mapping[str, int] = field(default_factory=dict)
    projects: Mapping[str, int] = field(default_factory=dict)
    models: Mapping[str, int] = field(default_factory=dict)
    formats: Mapping[str, int] = field(default_factory=dict)
    days: Mapping[str, int] = field(default_factory=dict)
    sessions: Mapping[str, int] = field(default_factory=dict)


def count(db: sqlite3.Connection, found: Found, *, models: bool = True) -> Counts:
    """Count the places of a search. ``models``: whether the models of sessions may be read."""
    sessions = Counter([place.session for place in found.places])
    projects: Counter[str] = Counter()
    formats: Counter[str] = Counter()
    of_models: Counter[str] = Counter()
    for sid, project, fmt in _of(db, "id, project_name, format FROM sessions WHERE id", sessions):
        projects[project] += sessions[sid]
        formats[fmt] += sessions[sid]
    for sid, model in _of(db, "session_id, model FROM session_models WHERE session_id", sessions) if models else ():
        of_models[model] += sessions[sid]
    return Counts(
        kinds=_kinds(db, found),
        tools=_ranked(Counter([place.name for place in found.places if place.table == "tool_calls"])),
        projects=_ranked(projects),
        models=_ranked(of_models),
        formats=_ranked(formats),
        days=dict(sorted(Counter([place.at[:10] for place in found.places if place.at]).items())),
        sessions=sessions,
    )


def _of(db: sqlite3.Connection, what: str, sessions: Collection[str]) -> list[tuple[str, ...]]:
    ids = list(sessions)
    rows: list[tuple[str, ...]] = []
    for number in range(0, len(ids), _AT_ONCE):
        some = ids[number : number + _AT_ONCE]
        rows += db.execute(f"SELECT {what} IN ({', '.join('?' * len(some))})", some)
    return rows


def _kinds(db: sqlite3.Connection, found: Found) -> dict[str, int]:
    kinds: Counter[str] = Counter()
    for index in found.queries:
        table = index.partition("_fts")[0]
        names = {place.rowid: place.name for place in found.places if place.found_in == index}
        if table == "tool_calls":
            kinds.update({part: len(_rowids(db, found, index, part) & names.keys()) for part in PARTS[table]})
            continue
        thought = _rowids(db, found, index, "thinking") & names.keys() if names else set()
        said = _rowids(db, found, index, "text") if thought else set()
        kinds["thinking"] += len(thought)
        kinds.update([name for rowid, name in names.items() if rowid not in thought or rowid in said])
    return _ranked(kinds)


def _rowids(db: sqlite3.Connection, found: Found, index: str, part: str) -> set[int]:
    """The rows that hold all the words in one of their texts."""
    rows = db.execute(
        f"SELECT rowid FROM {index} WHERE {index} MATCH ? AND rowid >= ?",
        (in_part(found.queries[index], part), found.newest.get(index.partition("_fts")[0], 0)),
    )
    return {rowid for (rowid,) in rows}


def _ranked(counts: Mapping[str, int]) -> dict[str, int]:
    """The most frequent first; without what has no name."""
    return dict(sorted(((k, n) for k, n in counts.items() if k and n), key=lambda one: (-one[1], one[0])))
