"""The raw archive: the bytes of every source in compressed blocks, so that rows can be traced and logs given back.

Blocks are byte ranges of one generation of a source. Generation 0 is the first content seen; a rewritten source
begins another. The bytes of a provisional tail are written again when the source has grown.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from clm_sessions.errors import DatabaseError

BLOCK = 256 * 1024
INSERT = "INSERT OR REPLACE INTO raw_blocks VALUES (?, ?, ?, ?, ?, ?)"


class Archive:
    """Takes in the bytes of one source from ``offset`` on and writes them as blocks. ``close`` writes the rest."""

    def __init__(self, db: sqlite3.Connection, source: str, generation: int, offset: int) -> None:
        self._db, self._source, self._generation = db, source, generation
        self._offset = offset
        self._held = bytearray()
        self._compress = _compressor()
        _cut(db, source, generation, offset)

    def write(self, data: bytes) -> None:
        """Take in the next bytes."""
        self._held += data
        whole = len(self._held) // BLOCK * BLOCK
        if whole:
            self._write(whole)

    def close(self) -> None:
        """Write what is held."""
        if self._held:
            self._write(len(self._held))

    def _write(self, size: int) -> None:
        view = memoryview(self._held)
        for start in range(0, size, BLOCK):
            piece = bytes(view[start : min(start + BLOCK, size)])
            codec, packed = self._compress(piece)
            row = (self._source, self._generation, self._offset, len(piece), codec, packed)
            self._db.execute(INSERT, row)
            self._offset += len(piece)
        view.release()
        del self._held[:size]


def _cut(db: sqlite3.Connection, source: str, generation: int, offset: int) -> None:
    """Drop the bytes from ``offset`` on: a provisional tail that is about to be read again."""
    where = "source_id = ? AND generation = ?"
    row = db.execute(
        f"SELECT byte_offset, codec, byte_length, data FROM raw_blocks WHERE {where} AND byte_offset < ? "
        "AND byte_offset + byte_length > ?",
        (source, generation, offset, offset),
    ).fetchone()
    db.execute(f"DELETE FROM raw_blocks WHERE {where} AND byte_offset >= ?", (source, generation, offset))
    if row:
        at, codec, length, data = row
        codec, packed = _compressor()(unpack(codec, length, data)[: offset - at])
        db.execute(INSERT, (source, generation, at, offset - at, codec, packed))


def read(db: sqlite3.Connection, source: str, generation: int | None = None) -> Iterator[bytes]:
    """The bytes of a source, block by block; the newest generation unless told. DatabaseError on a damaged block."""
    if generation is None:
        generation = db.execute("SELECT max(generation) FROM raw_blocks WHERE source_id = ?", (source,)).fetchone()[0]
    rows = db.execute(
        "SELECT codec, byte_length, data FROM raw_blocks WHERE source_id = ? AND generation = ? ORDER BY byte_offset",
        (source, generation),
    )
    for codec, length, data in rows:
        yield unpack(codec, length, data)


def read_range(db: sqlite3.Connection, source: str, generation: int, offset: int, length: int) -> bytes:
    """``length`` bytes from ``offset`` of one generation of a source (fewer if the archive ends before)."""
    rows = db.execute(
        "SELECT byte_offset, codec, byte_length, data FROM raw_blocks WHERE source_id = ? AND generation = ? "
        "AND byte_offset < ? AND byte_offset + byte_length > ? ORDER BY byte_offset",
        (source, generation, offset + length, offset),
    )
    found = [(at, unpack(codec, size, data)) for at, codec, size, data in rows]
    if not found:
        return b""
    skip = offset - found[0][0]
    return b"".join(data for _at, data in found)[skip : skip + length]


def unpack(codec: str, length: int, data: bytes) -> bytes:
    """The bytes of one block. DatabaseError if it cannot be unpacked, naming the extra where one is missing."""
    try:
        if codec == "zlib":
            return zlib.decompress(data)
        if codec == "zstd":
            return bytes(_zstandard().ZstdDecompressor().decompress(data, max_output_size=length))
    except ImportError as error:
        raise DatabaseError(
            "this raw archive is packed with zstd; pip install 'clm-sessions[fast]' to read it"
        ) from error
    except (zlib.error, _zstandard_error()) as error:
        raise DatabaseError(f"a block of the raw archive is damaged: {error}") from error
    raise DatabaseError(f"unknown codec {codec!r} in the raw archive")


def _compressor() -> Callable[[bytes], tuple[str, bytes]]:
    """Packs with zstd where that optional package is there, else with zlib of the standard library."""
    try:
        packer = _zstandard().ZstdCompressor(level=1)
    except ImportError:
        return lambda data: ("zlib", zlib.compress(data, 1))
    return lambda data: ("zstd", packer.compress(data))


def _zstandard() -> Any:  # noqa: ANN401 - a module
    return import_module("zstandard")


def _zstandard_error() -> type[Exception]:
    try:
        error: type[Exception] = _zstandard().ZstdError
    except ImportError:
        return zlib.error
    return error
