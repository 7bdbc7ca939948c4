"""Physical lines of a binary stream, split at LF and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from clm_sessions.frames.decoded import Decoded

BLOCK = 1 << 20
LINE_LIMIT = 100 << 20
"""Bytes of a line that are kept for reading. A longer line is named, not read: its bytes stay in the raw archive."""
STUB = 1024
HEAD = 64 << 10
HEAD_LIMIT = 4 << 20
_EMPTY = b"\0\t\n\v\f\r "
HEAD_RECORDS = 64
"""Records that are enough to know a format by: the first chat record of a real log may be its 28th."""


class RawLine(NamedTuple):
    """One physical line. A named tuple, for one is made per record of a million.

    ``number`` counts from 1, ``offset`` is in bytes from the start of the file, ``data`` lacks the LF, ``ended`` says
    whether there was one. ``skipped``: bytes after ``data`` that were not kept because the line passes the limit;
    then ``data`` is only its beginning.
    """

    number: int
    offset: int
    data: bytes
    ended: bool
    skipped: int = 0

    @property
    def length(self) -> int:
        """Bytes the line takes in the file, its LF included."""
        return len(self.data) + self.skipped + self.ended


def lines(
    file: BinaryIO, *, offset: int = 0, number: int = 1, block: int = BLOCK, limit: int = LINE_LIMIT
) -> Iterator[RawLine]:
    """The lines of ``file`` from byte ``offset`` on (0: from where it stands), the first called ``number``.

    Linear in the bytes read, whatever the length of a line; holds at most one block and one line of at most
    ``limit`` bytes. The bytes after the last LF come as a line that is not ended; there is none when they are none.
    """
    if offset:
        file.seek(offset)
    start = _Start()
    while data := file.read(block):
        first, *rest = data.split(b"\n")
        if not rest:
            start.add(first, limit)
            continue
        *whole, tail = rest
        line = start.finish(first, number, offset, ended=True)
        yield line
        number, offset = number + 1, offset + line.length
        for each in whole:
            yield RawLine(number, offset, each, True)
            number, offset = number + 1, offset + len(each) + 1
        start = _Start()
        start.add(tail, limit)
    if start.size:
        yield start.finish(b"", number, offset, ended=False)


class _Start:
    """The beginning of a line whose end has not been read: its pieces, joined once at the end."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0
        self.full = False

    def add(self, piece: bytes, limit: int) -> None:
        if not piece:
            return
        self.size += len(piece)
        if self.full:
            return
        self.pieces.append(piece)
        if self.size > limit:
            self.full = True
            self.pieces = [b"".join(piece[:STUB] for piece in self.pieces)[:STUB]]

    def finish(self, last: bytes, number: int, offset: int, *, ended: bool) -> RawLine:
        if not self.full:
            self.pieces.append(last)
        data = b"".join(self.pieces)
        return RawLine(number, offset, data, ended, self.size + len(last) - len(data))


def read_head(file: BinaryIO) -> bytes:
    """The bytes to sniff at: 64 KB; more, up to 4 MB, while they hold too few whole lines to tell by (decision 25).

    Blank lines and runs of NUL bytes tell nothing.
    """
    data = file.read(HEAD)
    while (
        _told(data) < HEAD_RECORDS
        and len(data) < HEAD_LIMIT
        and (more := file.read(min(len(data), HEAD_LIMIT - len(data))))
    ):
        data += more
    return data


def _told(data: bytes) -> int:
    """How many whole lines there are that hold anything; if there are few at all, just how many there are."""
    if (breaks := data.count(b"\n")) < HEAD_RECORDS:
        return breaks
    return sum(1 for line in data.split(b"\n")[:-1] if line.strip(_EMPTY))


class Records(Sequence[Any]):
    """The first records of a file, each read when somebody first looks at it: most formats know by the first few."""

    def __init__(self, records: Iterator[Any]) -> None:
        self._unread = records
        self._read: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        at = 0
        while self._has(at):
            yield self._read[at]
            at += 1

    def __len__(self) -> int:
        self._read += self._unread
        return len(self._read)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - a JSON value, or a list of them
        self._read += self._unread
        return self._read[index]

    def _has(self, at: int) -> bool:
        while at >= len(self._read):
            found = next(self._unread, _END)
            if found is _END:
                return False
            self._read.append(found)
        return True


_END = object()


def head(data: bytes, decode: Callable[[bytes, bool], Decoded], *, limit: int = HEAD_RECORDS) -> Sequence[Any]:
    """The records in the first bytes of a file, read by a format's own ``decode(line, first)``: ``limit`` or a few more.

    What follows the last LF counts only if it is whole.
    """
    return Records(_records(data, decode, limit))


def _records(data: bytes, decode: Callable[[bytes, bool], Decoded], limit: int) -> Iterator[Any]:
    *ended, tail = data.split(b"\n")
    for number, line in enumerate(ended):
        values = decode(line, number == 0).values
        yield from values
        limit -= len(values)
        if limit <= 0:
            return
    last = decode(tail, not ended)
    if last.usable:
        yield from last.values
