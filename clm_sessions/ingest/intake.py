"""How the bytes of a file get into the raw archive while they are read, and whether a file is still the one archived."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from clm_sessions.errors import DatabaseError, PluginError
from clm_sessions.ingest.ledger import Source, prints_of
from clm_sessions.packed import is_packed
from clm_sessions.sources import changed
from clm_sessions.store import raw

_PIECE = 1 << 20


class Intake:
    """Takes what is read of one file, for the raw archive if there is one. ``end``: the offset behind the last byte."""

    def __init__(
        self, archive: raw.Archive | None, file: BinaryIO, offset: int, advance: Callable[[int], None]
    ) -> None:
        self._archive, self._file, self._advance = archive, file, advance
        self._begun = self.end = offset
        self._fill()

    def take(self, data: bytes) -> None:
        """These bytes were read."""
        self.end += len(data)
        self._advance(len(data))
        if self._archive is not None:
            self._archive.write(data)

    def rest(self, archive: raw.Archive) -> None:
        """Take everything from the beginning of this reading to the end of the file, whatever was taken."""
        self._archive = archive
        self._fill()
        while data := self._file.read(_PIECE):
            archive.write(data)

    def close(self) -> None:
        """All was taken."""
        if self._archive is not None:
            self._archive.close()

    def _fill(self) -> None:
        """Give the archive what it lacks of the bytes before this reading; then the file stands where it begins."""
        at = self._begun if self._archive is None else self._archive.start
        self._file.seek(at)
        while self._archive is not None and at < self._begun:
            data = self._file.read(min(_PIECE, self._begun - at))
            if not data:
                raise OSError("the file shrank while it was read")
            self._archive.write(data)
            at += len(data)


@contextmanager
def intake(
    db: sqlite3.Connection | None,
    source: str,
    generation: int,
    file: BinaryIO,
    offset: int,
    advance: Callable[[int], None],
) -> Iterator[Intake]:
    """Archive in ``db`` (None: nowhere) what is read of ``file`` from ``offset`` on.

    An OSError inside leaves the archive as it was; a PluginError keeps all the bytes nevertheless.
    """
    if db is None:
        yield Intake(None, file, offset, advance)
        return
    db.execute("SAVEPOINT intake")
    try:
        taken = Intake(raw.Archive(db, source, generation, offset), file, offset, advance)
        try:
            yield taken
        except PluginError:
            taken.rest(raw.Archive(db, source, generation, offset))
            taken.close()
            raise
        taken.close()
    except OSError:
        db.execute("ROLLBACK TO intake")
        raise
    finally:
        if db.in_transaction:  # a full disk takes back the whole transaction
            db.execute("RELEASE intake")


def still_begins(db: sqlite3.Connection, source: Source, file: BinaryIO, size: int) -> bool:
    """Whether a touched file begins with what was read of it.

    A grown file is known by hashes of its first and its last consumed block (decision 3), and by the last line without
    an end that stood behind them. One that did not grow, yet was written to, is compared whole as far as it was
    archived: somebody may have changed a word in its midst.
    """
    if changed(file, size, prints_of(source)) != "grown":
        return False
    if size > source["size"] and not is_packed(source["path"]):
        return _has_tail(db, source, file)
    return begins_as_archived(db, source["id"], source["generation"], file)


def _has_tail(db: sqlite3.Connection, source: Source, file: BinaryIO) -> bool:
    consumed = source["consumed"]
    try:
        tail = raw.read_range(db, source["id"], source["generation"], consumed, source["size"] - consumed)
    except DatabaseError:
        return True
    file.seek(consumed)
    return file.read(len(tail)) == tail


def begins_as_archived(db: sqlite3.Connection, source: str, generation: int, file: BinaryIO) -> bool:
    """Whether a file begins with all that was archived of one generation. A damaged archive says nothing against it."""
    file.seek(0)
    try:
        return all(file.read(len(data)) == data for data in raw.read(db, source, generation))
    except DatabaseError:
        return True


def next_generation(db: sqlite3.Connection, source: str, file: BinaryIO) -> int:
    """The generation of a file that is read from its beginning: the last one archived, if the file goes on from it."""
    count = len(raw.sizes(db, source))
    return max(0, count - 1) if count == 0 or begins_as_archived(db, source, count - 1, file) else count
