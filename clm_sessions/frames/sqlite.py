"""Rows of a foreign SQLite file, read without writing a byte of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from clm_sessions.errors import Refused


def rows(path: Path, query: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
    """The rows of ``query``; text that is no UTF-8 is read with replacement.

    Opened read-only; while there is no write-ahead log beside the file it is opened as immutable too, so that SQLite
    makes none. Raises ``errors.Refused`` where the file cannot be read or the query does not fit it.
    """
    live = path.with_name(f"{path.name}-wal").exists()
    uri = f"{path.absolute().as_uri()}?mode=ro{'' if live else '&immutable=1'}"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as db:
            db.text_factory = lambda data: data.decode("utf-8", "replace")
            db.execute("PRAGMA query_only = ON")
            db.execute("PRAGMA trusted_schema = OFF")
            yield from db.execute(query, parameters)
    except sqlite3.Error as error:
        raise Refused(f"{path.name}: not readable as SQLite: {error}") from error
