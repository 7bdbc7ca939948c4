"""The raw archive: the bytes of every source in compressed blocks, so that rows can be traced and logs given back.

Blocks are byte ranges of one generation of a source, without holes between them. Generation 0 is the first content
seen; a rewritten source begins another. The bytes of a provisional tail are written again when the source has grown.
Each block carries a digest of its place, its packed and its unpacked bytes, for nothing else would notice one changed
byte of a log that is no longer there.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any, NamedTuple

from clm_sessions.errors import DatabaseError

BLOCK = 256 * 1024
_COLUMNS = "byte_offset, byte_length, codec, digest, CAST(data AS BLOB)"
_INSERT = (
    "INSERT OR REPLACE INTO raw_blocks (source_id, generation, byte_offset, byte_length, codec, digest, data) "
    "VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_ONE = "source_id = ? AND generation = ?"


class Block(NamedTuple):
    """A block as it is stored: ``length`` bytes of the source from ``offset`` on."""

    offset: int
    length: int
    codec: str
    digest: str
    data: bytes


class Archive:
    """Takes in the bytes of one source and writes them as blocks. ``close`` writes the rest.

    ``start``: the offset of the byte it wants first. It is ``offset``, or less where the archive does not reach so far
    (an import that did not keep it, a damaged last block). What was stored from there on is dropped.
    """

    def __init__(self, db: sqlite3.Connection, source: str, generation: int, offset: int) -> None:
        self._db, self._source, self._generation = db, source, generation
        self._compress = _compressor()
        self._held = bytearray()
        self._offset = self._reopen(offset)
        self.start = self._offset + len(self._held)

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

    def _reopen(self, offset: int) -> int:
        """Where the next block begins. A block that is not full is taken up again, so that small appends do not pile up."""
        one = (self._source, self._generation)
        row = self._db.execute(
            f"SELECT {_COLUMNS} FROM raw_blocks WHERE {_ONE} AND byte_offset < ? ORDER BY byte_offset DESC LIMIT 1",
            (*one, offset),
        ).fetchone()
        last = Block(*row) if row else Block(0, 0, "", "", b"")
        end = last.offset + last.length
        if last.length < BLOCK or end > offset:
            end = last.offset
            with suppress(DatabaseError):  # what is damaged is asked for again: the source is still there
                self._held += unpack(*one, last)[: offset - end] if row else b""
        self._db.execute(f"DELETE FROM raw_blocks WHERE {_ONE} AND byte_offset >= ?", (*one, end))
        return end

    def _write(self, size: int) -> None:
        one = (self._source, self._generation)
        view = memoryview(self._held)
        for start in range(0, size, BLOCK):
            piece = bytes(view[start : min(start + BLOCK, size)])
            codec, packed = self._compress(piece)
            digest = _digest(*one, self._offset, codec, packed, piece)
            self._db.execute(_INSERT, (*one, self._offset, len(piece), codec, digest, packed))
            self._offset += len(piece)
        view.release()
        del self._held[:size]


def sizes(db: sqlite3.Connection, source: str) -> list[int]:
    """How many bytes of each generation of a source reach from its beginning without a hole; [] if none was kept."""
    found: list[int] = []
    rows = db.execute(
        "SELECT generation, byte_offset, byte_length FROM raw_blocks WHERE source_id = ? "
        "ORDER BY generation, byte_offset",
        (source,),
    )
    for generation, offset, length in rows:
        found += [0] * (generation + 1 - len(found))
        if found[generation] == offset:
            found[generation] += length
    return found


def told_sizes(text: object) -> list[int | None]:
    """What ``sources.archived`` says of each generation: its bytes in the archive, below zero if more of it were read.

    None: nothing of it was kept. [] where the column makes no sense.
    """
    try:
        found = json.loads(text) if isinstance(text, str) else []
    except ValueError:
        return []
    return found if isinstance(found, list) and all(n is None or type(n) is int for n in found) else []


def blocks(db: sqlite3.Connection, source: str, generation: int) -> Iterator[Block]:
    """The blocks of one generation of a source in order, as they are stored."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM raw_blocks WHERE {_ONE} ORDER BY byte_offset",
        (source, generation),
    )
    return (Block(*row) for row in rows)


def rename(db: sqlite3.Connection, source: str, new: str) -> None:
    """Give all blocks of a source another name. Damaged ones stay damaged."""
    places = db.execute("SELECT generation, byte_offset FROM raw_blocks WHERE source_id = ?", (source,)).fetchall()
    for generation, offset in places:
        one = (source, generation, offset)
        block = Block(
            *db.execute(f"SELECT {_COLUMNS} FROM raw_blocks WHERE {_ONE} AND byte_offset = ?", one).fetchone()
        )
        digest = block.digest
        with suppress(DatabaseError):
            content = unpack(source, generation, block)
            digest = _digest(new, generation, offset, block.codec, block.data, content)
        db.execute(
            f"UPDATE raw_blocks SET source_id = ?, digest = ? WHERE {_ONE} AND byte_offset = ?", (new, digest, *one)
        )


def read(db: sqlite3.Connection, source: str, generation: int | None = None) -> Iterator[bytes]:
    """The bytes of a source, block by block; the newest generation unless told.

    DatabaseError on a damaged or missing block, after the good ones before it.
    """
    if generation is None:
        generation = db.execute("SELECT max(generation) FROM raw_blocks WHERE source_id = ?", (source,)).fetchone()[0]
    at = 0
    for block in blocks(db, source, generation or 0):
        if block.offset != at:
            raise DatabaseError(f"the raw archive of {source} has a hole at byte {at}")
        yield unpack(source, generation or 0, block)
        at += block.length


class Stored:
    """What was archived of a source as a file to read from its beginning; at most ``limit`` bytes of it.

    Raises DatabaseError as ``read`` does.
    """

    def __init__(self, db: sqlite3.Connection, source: str, generation: int, limit: int) -> None:
        self._one = (db, source, generation)
        self._limit = limit
        self.seek(0)

    def seek(self, offset: int) -> int:
        """Go to the beginning; there is nowhere else to go."""
        if offset:
            raise ValueError(f"cannot begin at byte {offset} of the archive")
        self._blocks, self._rest, self._left = read(*self._one), b"", self._limit
        self._breaks, self._ended = 0, True
        return 0

    @property
    def lines(self) -> int:
        """How many physical lines have been read, an unfinished last one too."""
        return self._breaks + (not self._ended)

    def read(self, size: int = -1) -> bytes:
        """The next bytes, all of them where no size is given."""
        wanted = self._left if size < 0 else min(size, self._left)
        pieces = [self._rest]
        have = len(self._rest)
        while have < wanted and (block := next(self._blocks, b"")):
            pieces.append(block)
            have += len(block)
        joined = b"".join(pieces)
        data, self._rest = joined[:wanted], joined[wanted:]
        self._left -= len(data)
        if data:
            self._breaks += data.count(b"\n")
            self._ended = data.endswith(b"\n")
        return data


def read_range(db: sqlite3.Connection, source: str, generation: int, offset: int, length: int) -> bytes:
    """``length`` bytes from ``offset`` of one generation of a source (fewer if the archive ends before)."""
    rows = db.execute(
        f"SELECT {_COLUMNS} FROM raw_blocks WHERE {_ONE} AND byte_offset < ? AND byte_offset + byte_length > ? "
        "ORDER BY byte_offset",
        (source, generation, offset + length, offset),
    )
    found = [Block(*row) for row in rows]
    if not found:
        return b""
    skip = offset - found[0].offset
    return b"".join(unpack(source, generation, block) for block in found)[skip : skip + length]


def unpack(source: str, generation: int, block: Block) -> bytes:
    """The bytes of one block.

    DatabaseError if they are not those that were archived, or (naming the extra) if what unpacks them is missing.
    """
    where = f"the raw archive of {source} is damaged at byte {block.offset}"
    try:
        content = _unpacked(block)
    except ImportError as error:
        raise DatabaseError(
            "this raw archive is packed with zstd; pip install 'clm-sessions[fast]' to read it"
        ) from error
    except (zlib.error, _zstandard_error(), TypeError, ValueError, MemoryError, OverflowError) as error:
        raise DatabaseError(f"{where}: {error}") from error
    digest = _digest(source, generation, block.offset, block.codec, block.data, content)
    if len(content) != block.length or digest != block.digest:
        raise DatabaseError(f"{where}: its bytes have changed")
    return content


def _unpacked(block: Block) -> bytes:
    if block.codec == "zlib":
        return zlib.decompressobj().decompress(block.data, BLOCK + 1)
    if block.codec == "zstd":
        return bytes(_zstandard().ZstdDecompressor().decompress(block.data, max_output_size=BLOCK))
    raise ValueError(f"unknown codec {block.codec!r}")


def _digest(source: str, generation: int, offset: int, codec: str, packed: bytes, content: bytes) -> str:
    """A fast checksum of the content and a strong one of all that is stored: the content is five times as large."""
    place = f"{source}\0{generation}\0{offset}\0{codec}\0{len(content)}\0{zlib.crc32(content)}\0"
    return hashlib.blake2b(place.encode("utf-8", "surrogatepass") + packed, digest_size=16).hexdigest()


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
