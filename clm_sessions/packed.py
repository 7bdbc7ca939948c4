"""Logs that were compressed since they were written: ``.gz``, and ``.zst`` where the extra ``fast`` is installed.

Everywhere but in its ``stat`` such a file is what it holds: hashes, offsets and the raw archive are of the content.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

CONTENT_LIMIT = 512 << 20
"""Bytes of a content that is asked for at one go."""
_SUFFIXES = (".gz", ".zst")
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)


class _Codec(NamedTuple):
    """How to unpack. ``piece``: packed bytes at a time, so few that what comes of them stays below some 64 MB."""

    frame: Callable[[], Any]
    error: type[Exception]
    piece: int


def is_packed(path: str) -> bool:
    """Whether a file is packed, by its name."""
    return path.endswith(_SUFFIXES)


def plain_name(path: str) -> str:
    """The name a file had before it was packed; that of a plain file as it is."""
    return path[: path.rindex(".")] if is_packed(path) else path


def open_plain(path: str) -> BinaryIO:
    """The content of a file, to be read from its beginning; ``seek`` goes anywhere, but backwards costs a new start.

    Raises OSError (also while reading) where the file cannot be read, is damaged, or needs an extra that is missing.
    """
    if not is_packed(path):
        return _open(path, buffering=0)
    codec = _zstandard() if path.endswith(".zst") else _Codec(lambda: zlib.decompressobj(wbits=31), zlib.error, 16384)
    return _Unpacked(_open(path), codec)  # type: ignore[return-value]


def _open(path: str, buffering: int = -1) -> BinaryIO:
    """Open a file that was one when it was listed; a FIFO that stands in its place now would be waited for."""
    file = open(path, "rb", buffering, opener=lambda name, flags: os.open(name, flags | _AT_ONCE))  # noqa: SIM115 - the caller closes it
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError("it is not a file any more")
    return file


def content_size(path: str) -> int:
    """Bytes of the content. Raises OSError as ``open_plain``."""
    if not is_packed(path):
        return Path(path).stat().st_size
    file = open_plain(path)
    try:
        return sum(map(len, iter(lambda: file.read(1 << 20), b"")))
    finally:
        file.close()


def _zstandard() -> _Codec:
    try:
        module: Any = import_module("zstandard")
    except ImportError as error:
        raise OSError("packed with zstd; pip install 'clm-sessions[fast]' to read it") from error
    return _Codec(lambda: module.ZstdDecompressor().decompressobj(), module.ZstdError, 2048)


class _Unpacked:
    """The content of a packed file, frame after frame. Holds one piece of it."""

    def __init__(self, file: BinaryIO, codec: _Codec) -> None:
        self._file, self._codec = file, codec
        self._at = 0
        self._held = self._left = b""
        self._frame: Any = None

    def fileno(self) -> int:
        """That of the packed file."""
        return self._file.fileno()

    def close(self) -> None:
        """Close the packed file."""
        self._file.close()

    def seek(self, offset: int) -> int:
        """Go to a byte of the content, or to its end if that comes before."""
        if offset < self._at:
            self._file.seek(0)
            self._at, self._held, self._left, self._frame = 0, b"", b"", None
        while self._at < offset and self.read(min(1 << 20, offset - self._at)):
            pass
        return self._at

    def read(self, size: int = -1) -> bytes:
        """The next ``size`` bytes, fewer only at the end. All of them where no size is given: OSError if too many."""
        wanted = CONTENT_LIMIT + 1 if size < 0 else size
        pieces, have = [self._held], len(self._held)
        while have < wanted and (more := self._more()):
            pieces.append(more)
            have += len(more)
        content = b"".join(pieces)
        data, self._held = content[:wanted], content[wanted:]
        self._at += len(data)
        if len(data) > CONTENT_LIMIT:
            raise OSError(f"unpacks to more than {CONTENT_LIMIT} bytes")
        return data

    def _more(self) -> bytes:
        """The next piece of the content; empty at its end."""
        while data := self._left or self._file.read(self._codec.piece):
            frame = self._frame or self._codec.frame()
            try:
                content = bytes(frame.decompress(data))
            except (self._codec.error, ValueError, MemoryError) as error:
                raise OSError(f"damaged: {error}") from error
            self._frame, self._left = (None, frame.unused_data) if frame.eof else (frame, b"")
            if content:
                return content
        if self._frame is not None:
            raise OSError("the packed file ends too early")
        return b""
