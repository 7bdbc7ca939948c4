"""The SQL functions of the core, and ``clm_url``, on the connections of Datasette. None raises: nonsense gives NULL."""

from __future__ import annotations

import sqlite3

from clm_sessions import functions
from clm_sessions.store.schema import APPLICATION
from datasette_clm import detect
from datasette_clm._compat import Datasette
from datasette_clm.urls import Urls


def register(connection: sqlite3.Connection, datasette: Datasette, database: str | None) -> None:
    """Add the functions to a connection, if its database is ours."""
    if database is None or not _is_ours(connection):
        return
    urls = Urls(datasette, database)

    def url(session: object, chunk: object = None) -> str | None:
        seq = functions.whole(chunk)
        if not isinstance(session, str) or not session or (chunk is not None and (seq is None or seq < 0)):
            return None
        return urls.session(session) if seq is None else urls.at(session, seq)

    functions.register(connection, lambda: detect.state(datasette).book)
    connection.create_function("clm_url", 1, url)
    connection.create_function("clm_url", 2, url)


def _is_ours(connection: sqlite3.Connection) -> bool:
    try:
        row = connection.execute("SELECT value FROM _clm_meta WHERE key = 'application'").fetchone()
    except sqlite3.Error:
        return False
    return row is not None and row[0] == APPLICATION
