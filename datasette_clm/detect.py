"""Which of the attached databases are ours: those whose marker table says so, never by table names alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace

from clm_sessions import plugins
from clm_sessions.plugins import Registry
from clm_sessions.prices import Book
from clm_sessions.store.schema import APPLICATION, PUBLISHED, SCHEMA_VERSION
from datasette_clm._compat import Database, Datasette
from datasette_clm.tables import TABLES

_ATTRIBUTE = "_clm_sessions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A database as it was when looked at: SQLite's schema version, our schema version (None: not ours), its columns.

    ``private``: it is ours, and no published copy.
    """

    version: int
    schema: int | None = None
    private: bool = False
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class State:
    """What the plugin remembers about one Datasette: tool describers, the databases it has looked at, its own prices."""

    registry: Registry = field(default_factory=plugins.from_environment)
    seen: dict[str, Seen] = field(default_factory=dict)
    book: Book = field(default_factory=Book)


def state(datasette: Datasette) -> State:
    """The state that belongs to a Datasette; made at the first call."""
    found = getattr(datasette, _ATTRIBUTE, None)
    if not isinstance(found, State):
        found = State()
        setattr(datasette, _ATTRIBUTE, found)
    return found


def is_ours(datasette: Datasette, database: str | None) -> bool:
    """Whether a database was seen to be ours and of a schema this version knows. Asks nothing of the database."""
    seen = state(datasette).seen.get(database or "")
    return seen is not None and seen.schema is not None and seen.schema <= SCHEMA_VERSION


def columns(datasette: Datasette, database: str) -> Mapping[str, tuple[str, ...]]:
    """The tables of a database of ours that we have words for, with their columns, as last seen."""
    seen = state(datasette).seen.get(database)
    return seen.columns if seen else {}


async def look(datasette: Datasette, database: Database) -> int | None:
    """The schema version of a database of ours, None for others. Cached for as long as its schema does not change.

    That it was published is never cached: another file may have taken its place.
    """
    known = state(datasette).seen
    before = known.get(database.name)
    try:
        seen: Seen = await database.execute_fn(lambda connection: _look(connection, before))
    except sqlite3.Error:
        known.pop(database.name, None)
        return None
    known[database.name] = seen
    return seen.schema


def _look(connection: sqlite3.Connection, before: Seen | None) -> Seen:
    version = int(connection.execute("PRAGMA schema_version").fetchone()[0])
    if before is not None and before.version == version and before.private and before.schema is not None:
        return before
    try:
        marks = {str(row[0]): str(row[1]) for row in connection.execute("SELECT key, value FROM _clm_meta")}
    except sqlite3.OperationalError as error:
        if "no such" not in str(error):  # locked, say: that it is not ours is not known
            raise
        return Seen(version=version)
    schema = marks.get("schema_version", "")
    private = marks.get("application") == APPLICATION and PUBLISHED not in marks
    if marks.get("application") != APPLICATION or not schema.isdigit():
        return Seen(version=version, private=private)
    if before is not None and before.version == version and before.schema == int(schema):
        return replace(before, private=private)
    found = {table: tuple(row[1] for row in connection.execute(f"PRAGMA table_xinfo([{table}])")) for table in TABLES}
    columns = {table: names for table, names in found.items() if names}
    return Seen(version=version, schema=int(schema), private=private, columns=columns)


async def refresh(datasette: Datasette, found: Callable[[str], Awaitable[None]]) -> None:
    """Look at the databases not known to be ours and private, and call ``found`` for each that turns out to be ours.

    Databases may be attached, and imports may fill them, after the start.
    """
    for name, database in _files(datasette):
        seen = state(datasette).seen.get(name)
        if seen is None or seen.schema is None or not (seen.private or not database.is_mutable):
            known = is_ours(datasette, name)
            await look(datasette, database)
            if is_ours(datasette, name) and not known:
                await found(name)


def holds_private(datasette: Datasette) -> bool:
    """Whether one of the databases was last seen to be private, or could not be looked at."""
    seen = state(datasette).seen
    return any(name not in seen or seen[name].private for name, _database in _files(datasette))


def _files(datasette: Datasette) -> list[tuple[str, Database]]:
    """The databases, without those that Datasette keeps in memory for itself (one of them may show the others)."""
    return [(n, database) for n, database in datasette.databases.items() if not (database.is_memory and n[0] == "_")]
