"""Read one log, from its beginning or from where it was left, by the framing its format names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from clm_sessions.errors import ClmError, PluginError
from clm_sessions.formats.base import Located, LogFormat, StreamContext
from clm_sessions.frames import rows
from clm_sessions.ingest.discover import LogFile
from clm_sessions.model import Fact, Stream
from clm_sessions.read import Checkpoint, read_document, read_rows, read_stream
from clm_sessions.sources import FileStat, file_stat

Tee = Callable[[bytes], None]


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
) -> tuple[Stream, Checkpoint]:
    """The stream of a log and where it stands.

    Raises OSError where the file cannot be read, PluginError where its format raises.
    """
    context = StreamContext(role="agent" if log.role == "agent" else "main", session=log.session, agent=log.agent)
    with border(log.format, "reader"):
        if log.format.framer != "jsonl":
            return _read_whole(log, context, file, tee)
        source: BinaryIO = _TeeFile(file, tee) if tee is not None else file  # type: ignore[assignment]
        return read_stream(log.format, context, source, so_far=so_far, start=start)


@contextmanager
def border(fmt: LogFormat, what: str) -> Iterator[None]:
    """Whatever a format raises while it does ``what`` becomes a PluginError that names it."""
    try:
        yield
    except (OSError, ClmError):
        raise
    except Exception as error:
        raise PluginError.of(fmt.plugin or fmt.name, what, error) from error


def open_log(log: LogFile) -> tuple[BinaryIO, FileStat]:
    """The open file and its stat, taken of the open file itself."""
    file = open(log.found.path, "rb", buffering=0)  # noqa: SIM115 - the caller closes it
    return file, file_stat(os.fstat(file.fileno()))


def read_side(log: LogFile, limit: int = 1 << 20) -> Sequence[Fact]:
    """The facts in the first ``limit`` bytes of a file beside the logs. Raises as ``read_log`` does."""
    with open(log.found.path, "rb") as file:
        data = file.read(limit)
    place = Located(role="side", session=log.session, agent=log.agent, folder=log.folder)
    with border(log.format, "side"):
        return tuple(log.format.side(place, os.path.basename(log.found.path), data))


def _read_whole(log: LogFile, context: StreamContext, file: BinaryIO, tee: Tee | None) -> tuple[Stream, Checkpoint]:
    """Formats that are one JSON document, or a database: read anew each time, each record a line of the account."""
    data = file.read()
    if tee is not None:
        tee(data)
    stream = (
        read_document(log.format, context, data)
        if log.format.framer == "json"
        else read_rows(log.format, context, _rows(log))
    )
    return stream, Checkpoint(offset=len(data), line=1)


def _rows(log: LogFile) -> Iterator[tuple[Any, ...]]:
    for query in log.format.queries:
        yield from rows(Path(log.found.path), query)
