"""The one guard: every route of the plugin passes through ``enter``, every tool through ``admit``, before it says or reads anything."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from clm_sessions.store.schema import SCHEMA_VERSION
from datasette_clm import detect
from datasette_clm._compat import Database, Datasette, Forbidden, NotFound, Request, may_view, tilde_decode

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What one request may read of one database: ``tables`` are those the actor may view, of those asked for."""

    database: Database
    tables: frozenset[str]

    @property
    def name(self) -> str:
        """The name of the database (its place in the address may be another)."""
        return str(self.database.name)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` on a reading connection, all of it on one state of the database."""

        def run(connection: sqlite3.Connection) -> T:
            with _snapshot(connection):
                return work(connection)

        result: T = await self.database.execute_fn(run)
        return result


async def enter(datasette: Datasette, request: Request, needs: Iterable[str], wants: Iterable[str] = ()) -> Access:
    """The access of a request to the database in its address.

    ``needs``: tables without which there is no page; ``wants``: tables whose part of the page is left out if denied.
    Raises Forbidden if a needed table is denied, and only then NotFound if the database is not ours.
    """
    route = tilde_decode(request.url_vars["database"])
    try:
        name = datasette.get_database(route=route).name
    except KeyError:
        raise NotFound("Database not found") from None
    return await admit(datasette, request.actor, name, needs, wants)


async def admit(
    datasette: Datasette, actor: Mapping[str, Any] | None, name: str, needs: Iterable[str], wants: Iterable[str] = ()
) -> Access:
    """The access of an actor to the database of that name; arguments and errors as for ``enter``."""
    if name not in datasette.databases:
        raise NotFound("Database not found")
    database = datasette.get_database(name)
    allowed = set()
    for table in needs:
        if not await may_view(datasette, actor, name, table):
            raise Forbidden("You do not have permission to see this")
        allowed.add(table)
    for table in wants:
        if await may_view(datasette, actor, name, table):
            allowed.add(table)
    schema = await detect.look(datasette, database)
    if schema is None:
        raise NotFound("This database holds no agent sessions")
    if schema > SCHEMA_VERSION:
        raise NotFound(f"This database has schema {schema}; upgrade clm-sessions to open it")
    return Access(database=database, tables=frozenset(allowed))


@contextmanager
def _snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """One read transaction: an import that commits meanwhile cannot show half of itself."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.rollback()
