"""Walk folders safely, and tell what happened to a file since it was last read."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO, Literal
from urllib.parse import quote_from_bytes, unquote_to_bytes

from clm_sessions.model import Issue

BLOCK = 4096
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_MARK = re.compile("[:/]")
Change = Literal["new", "unchanged", "grown", "rewritten"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStat:
    """What ``stat`` says of a file, as far as it tells a change (decision 3)."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A regular file below a root. ``path`` is absolute; ``relative`` is its place below the root, ``/`` between."""

    path: str
    relative: str
    stat: FileStat


@dataclass(frozen=True, slots=True, kw_only=True)
class Prints:
    """Hashes of the first and the last block of what was consumed of a file, and how much that was."""

    consumed: int
    head: str
    tail: str


def walk(root: Path, at: str | None = None) -> Iterator[Found | tuple[str, Issue]]:
    """Regular files below ``root`` in name order, without following links to folders.

    ``at``: only this absolute path below the root, or what lies below it; nothing if it cannot be reached so.

    Yields (path, Issue) for what cannot be listed, and for what is passed over: links to folders and links that lead
    nowhere, FIFOs, sockets and devices. A root that is a file gives itself.
    """
    top = os.path.abspath(root)
    if not os.path.isdir(top):
        yield from _file(top, os.path.basename(top))
        return
    start = len(top.rstrip(os.sep)) + 1
    if at is not None and at != top:
        if not _reached(top, at):
            return
        if os.path.islink(at) or not os.path.isdir(at):
            yield from _file(at, at[start:])
            return
    pending = [at or top]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda e: e.name)
        except OSError as error:
            yield folder, Issue(kind="unreadable", reason=f"cannot list folder: {error.strerror or error}")
            continue
        below = []
        for entry in listed:
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.path)
                continue
            yield from _file(entry.path, entry.path[start:], entry)
        pending.extend(reversed(below))


def _reached(top: str, at: str) -> bool:
    """Whether a walk from ``top`` comes to ``at``: no folder between the two is a link."""
    folder = os.path.dirname(at)
    while len(folder) > len(top):
        if os.path.islink(folder):
            return False
        folder = os.path.dirname(folder)
    return folder == top


def _file(path: str, relative: str, entry: os.DirEntry[str] | None = None) -> Iterator[Found | tuple[str, Issue]]:
    try:
        info = entry.stat() if entry is not None else os.stat(path)
    except FileNotFoundError:
        if os.path.islink(path):
            yield path, Issue(kind="passed_over", reason="a link that leads nowhere")
    except OSError as error:
        yield path, Issue(kind="passed_over", reason=f"cannot look at it: {error.strerror or error}")
    else:
        if stat.S_ISREG(info.st_mode):
            yield Found(path=path, relative=readable(relative.replace(os.sep, "/")), stat=file_stat(info))
        elif stat.S_ISDIR(info.st_mode):
            yield path, Issue(kind="passed_over", reason="a link to a folder; name that folder to import it")
        else:
            yield path, Issue(kind="passed_over", reason="a FIFO, socket or device, not a file")


def readable(name: str) -> str:
    """A name as text that can be stored: bytes that are no UTF-8, and NUL, are written as ``%FF``."""
    return _UNSTORABLE.sub(lambda found: f"%{ord(found[0]) & 0xFF:02X}", name)


def bundle_key(source_id: str) -> str:
    """The key of the session that a source belongs to, as its log or as a file beside it."""
    return _MARK.split(source_id, maxsplit=1)[0]


def path_text(path: str) -> str:
    """A path as it is stored: as it is, or as a file URI where it holds bytes that are no UTF-8."""
    return path if readable(path) == path else f"file://{quote_from_bytes(os.fsencode(path))}"


def path_of(text: str) -> str:
    """The path of a stored text."""
    return os.fsdecode(unquote_to_bytes(text[len("file://") :])) if text.startswith("file://") else text


def file_stat(info: os.stat_result) -> FileStat:
    """The part of a stat result that tells a change."""
    return FileStat(
        device=info.st_dev,
        inode=info.st_ino,
        size=info.st_size,
        mtime_ns=info.st_mtime_ns,
        ctime_ns=info.st_ctime_ns,
    )


def identity(path: str | PurePath) -> tuple[int, int] | None:
    """Which file or folder is at a path now: its device and inode; None if there is nothing."""
    try:
        info = os.stat(path)
    except OSError:
        return None
    return info.st_dev, info.st_ino


def prints(file: BinaryIO, consumed: int) -> Prints:
    """The hashes that tell whether a file still begins with the ``consumed`` bytes that were read of it."""
    file.seek(0)
    head = file.read(min(BLOCK, consumed))
    file.seek(max(0, consumed - BLOCK))
    tail = file.read(min(BLOCK, consumed))
    return Prints(consumed=consumed, head=_digest(head), tail=_digest(tail))


def changed(file: BinaryIO, size: int, before: Prints) -> Change:
    """Whether a touched file still begins with what was read of it (``grown``, also by nothing) or not."""
    if size < before.consumed:
        return "rewritten"
    return "grown" if prints(file, before.consumed) == before else "rewritten"


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def looks_like_database(path: Path) -> bool:
    """Whether a file begins as a SQLite database does (or is empty and named like one)."""
    try:
        with path.open("rb") as file:
            magic = file.read(16)
    except OSError:
        return path.suffix in {".db", ".sqlite", ".sqlite3"} and not path.is_dir()
    if magic == b"SQLite format 3\x00":
        return True
    return not magic and path.suffix in {".db", ".sqlite", ".sqlite3"}


def real_path(path: str | PurePath) -> str:
    """The path a source is known by: absolute, links resolved."""
    return os.path.realpath(path)


def unique(paths: Iterable[Path]) -> list[Path]:
    """The paths without repeats, in order."""
    return list({real_path(p): p for p in paths}.values())
