"""Read one log, from its beginning or from where it was left, by the framing its format names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from clm_sessions.errors import ClmError, PluginError
from clm_sessions.formats.base import Located, LogFormat, StreamContext
from clm_sessions.frames import rows
from clm_sessions.ingest.discover import LogFile
from clm_sessions.model import Fact, Stream
from clm_sessions.packed import open_plain, plain_name
from clm_sessions.read import Checkpoint, read_document, read_rows, read_stream
from clm_sessions.sources import FileStat, file_stat
from clm_sessions.spool import Spool

Tee = Callable[[bytes], None]
SIDE_LIMIT = 1 << 20


class _TeeFile:
    """A file whose every read is also handed to ``tee``: how the raw archive gets the bytes without a second pass."""

    def __init__(self, file: BinaryIO, tee: Tee) -> None:
        self._file, self._tee = file, tee

    def seek(self, offset: int) -> int:
        return self._file.seek(offset)

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if data:
            self._tee(data)
        return data


def read_log(
    log: LogFile,
    file: BinaryIO,
    *,
    so_far: Stream | None = None,
    start: Checkpoint | None = None,
    tee: Tee | None = None,
    spool: Spool | None = None,
) -> tuple[Stream, Checkpoint]:
    """The stream of a log and where it stands. ``spool``: as of ``read_stream``.

    Raises OSError where the file cannot be read, PluginError where its format raises.
    """
    context = StreamContext(role="agent" if log.role == "agent" else "main", session=log.session, agent=log.agent)
    source: BinaryIO = _TeeFile(file, tee) if tee is not None else file  # type: ignore[assignment]
    return read_file(log.format, context, source, Path(log.found.path), so_far=so_far, start=start, spool=spool)


def read_file(
    fmt: LogFormat,
    context: StreamContext,
    file: BinaryIO,
    path: Path,
    *,
    so_far: Stream | None = None,
    start: Checkpoint | None = None,
    spool: Spool | None = None,
) -> tuple[Stream, Checkpoint]:
    """The same for an open file. ``path``: where its bytes are, for a format that reads databases."""
    with border(fmt, "reader"):
        if fmt.framer == "jsonl":
            return read_stream(fmt, context, file, so_far=so_far, start=start, spool=spool)
        return _read_whole(fmt, context, file, path)


@contextmanager
def border(fmt: LogFormat, what: str) -> Iterator[None]:
    """Whatever a format raises while it does ``what`` becomes a PluginError that names it."""
    try:
        yield
    except (OSError, ClmError):
        raise
    except (Exception, SystemExit) as error:
        raise PluginError.of(fmt.plugin or fmt.name, what, error) from error


def open_log(log: LogFile) -> tuple[BinaryIO, FileStat]:
    """The open file (its content, if it is packed) and its stat, taken of the open file itself."""
    file = open_plain(log.found.path)
    return file, file_stat(os.fstat(file.fileno()))


def read_side(log: LogFile, file: BinaryIO, tee: Tee | None = None) -> list[Fact]:
    """The facts in a file beside the logs, all of which goes to ``tee``. Raises as ``read_log`` does."""
    data = file.read(SIDE_LIMIT)
    if tee is not None:
        for piece in (data, *iter(lambda: file.read(SIDE_LIMIT), b"")):
            tee(piece)
    place = Located(role="side", session=log.session, agent=log.agent, folder=log.folder)
    return side_facts(log.format, place, plain_name(os.path.basename(log.found.path)), data)


def side_facts(fmt: LogFormat, place: Located, name: str, data: bytes) -> list[Fact]:
    """The facts in the first ``SIDE_LIMIT`` bytes of a file of that name beside the logs. PluginError as ``read_log``."""
    with border(fmt, "side"):
        return list(fmt.side(place, name, data))


def _read_whole(fmt: LogFormat, context: StreamContext, file: BinaryIO, path: Path) -> tuple[Stream, Checkpoint]:
    """Formats that are one JSON document, or a database: read anew each time, each record a line of the account."""
    data = file.read()
    stream = read_document(fmt, context, data) if fmt.framer == "json" else read_rows(fmt, context, _rows(fmt, path))
    return stream, Checkpoint(offset=len(data), line=1)


def _rows(fmt: LogFormat, path: Path) -> Iterator[tuple[Any, ...]]:
    for query in fmt.queries:
        yield from rows(path, query)
