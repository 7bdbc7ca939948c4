"""Files that only their owner may read, and that are whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


def write(pieces: Iterable[str], path: Path) -> None:
    """Write pieces of text to a file as ``private`` does; half surrogates become question marks."""
    with private(path) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "replace"))


@contextmanager
def private(path: Path) -> Iterator[IO[bytes]]:
    """A file that only its owner may read (0600), put in its place when it is whole; nothing is left of a failure.

    What is no plain file (a FIFO, ``/dev/null``) is written to as it is.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    path = Path(os.path.realpath(path))
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
