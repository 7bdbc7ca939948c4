"""Read a source once more out of the raw archive: for checks, and for rows of files that are gone."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath

from clm_sessions.formats.base import Located, LogFormat, StreamContext
from clm_sessions.ingest.ledger import Source
from clm_sessions.ingest.streams import SIDE_LIMIT, read_file, side_facts
from clm_sessions.model import Fact, Stream
from clm_sessions.packed import is_packed, plain_name
from clm_sessions.read import Checkpoint
from clm_sessions.sources import Prints, prints
from clm_sessions.store import raw


def archived(source: Source) -> list[int]:
    """How many bytes of each generation of a source were archived; [] where the column makes no sense."""
    return [abs(size or 0) for size in raw.told_sizes(source["archived"])]


def extent(source: Source) -> int | None:
    """How many bytes the rows of a source were made of; None if they were not all archived.

    The archive may hold more: what a format failed at was kept, and its rows are older.
    """
    generation, sizes = source["generation"], archived(source)
    if generation is None or generation >= len(sizes):
        return None
    size = sizes[generation]
    if is_packed(source["path"]):  # its size is not that of its content
        return size if size >= source["consumed"] else None
    return source["size"] if size >= source["size"] else None


def stored(db: sqlite3.Connection, source: Source) -> raw.Stored:
    """What the rows of a source were made of, as a file."""
    return raw.Stored(db, source["id"], source["generation"], extent(source) or 0)


def reread(db: sqlite3.Connection, fmt: LogFormat, source: Source) -> tuple[Stream, Checkpoint, int]:
    """The stream of a log, where it stands, and how many physical lines it has.

    PluginError where the format raises, DatabaseError where the archive is damaged.
    """
    context = StreamContext(
        role="agent" if source["role"] == "agent" else "main", session=source["native_id"], agent=source["agent_id"]
    )
    file = stored(db, source)
    with _as_file(fmt, file) as path:
        stream, point = read_file(fmt, context, file, path)  # type: ignore[arg-type] # reads like a file
    return stream, point, file.lines


def reread_side(db: sqlite3.Connection, fmt: LogFormat, source: Source) -> list[Fact]:
    """The facts of a file beside the logs. Raises as ``reread``."""
    place = Located(role="side", session=source["native_id"], agent=source["agent_id"], folder=source["folder"])
    name = PurePath(plain_name(source["path"])).name
    return side_facts(fmt, place, name, stored(db, source).read(SIDE_LIMIT))


def prints_of_archive(db: sqlite3.Connection, source: Source, consumed: int) -> Prints:
    """The prints of the first ``consumed`` bytes of what was archived of a source."""
    return prints(_Range(db, source), consumed)  # type: ignore[arg-type] # reads like a file


class _Range:
    """Any place of what was archived of a source, as ``prints`` reads a file."""

    def __init__(self, db: sqlite3.Connection, source: Source) -> None:
        self._db, self._one, self._at = db, (source["id"], source["generation"]), 0

    def seek(self, offset: int) -> int:
        self._at = offset
        return offset

    def read(self, size: int) -> bytes:
        return raw.read_range(self._db, *self._one, self._at, size)


@contextmanager
def _as_file(fmt: LogFormat, file: raw.Stored) -> Iterator[Path]:
    """A path at which a format that reads databases finds the bytes."""
    if fmt.framer != "sqlite":
        yield Path(os.devnull)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.db")
        with path.open("wb") as copy:
            while data := file.read(raw.BLOCK):
                copy.write(data)
        file.seek(0)
        yield path
