"""Give logs back byte for byte out of the raw archive, whatever became of the files."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from clm_sessions.errors import NoSessionError, UsageError
from clm_sessions.packed import plain_name
from clm_sessions.sources import bundle_key, path_of
from clm_sessions.store import raw


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A file of a session. ``sizes``: bytes archived of each generation; ``newest``: the one that was read last.

    ``whole``: of each, whether the archive reaches as far as was read.
    """

    id: str
    role: str
    state: str
    path: str
    folder: str | None
    newest: int
    sizes: tuple[int, ...]
    whole: tuple[bool, ...]

    def lines(self) -> Iterator[str]:
        """Its generations for a person, one a line."""
        for number, size in enumerate(self.sizes):
            mark = "newest" if number == self.newest else "earlier"
            kept = f"{size:,} bytes" if self.whole[number] else f"not kept whole, {size:,} bytes of it (--no-raw)"
            yield f"{self.id}  {self.role}  {self.state}  generation {number} ({mark})  {kept}"
        if not self.sizes:
            yield f"{self.id}  {self.role}  {self.state}  not kept (--no-raw)"

    def generation(self, wanted: int | None = None) -> int:
        """The generation ``wanted``, or the newest. UsageError if it was not archived."""
        number = self.newest if wanted is None else wanted
        if wanted is not None and not 0 <= wanted < max(len(self.sizes), self.newest + 1):
            raise UsageError(f"{self.id}: there is no generation {number}; see them with --list")
        if number >= len(self.sizes) or not self.whole[number]:
            raise UsageError(f"{self.id}: its bytes were not kept whole, for it was imported with --no-raw")
        return number


def find(db: sqlite3.Connection, name: str) -> list[Kept]:
    """The files of the one session whose id is or begins with ``name``, its log first; of a subagent only its log.

    NoSessionError if there is no such session, or more than one.
    """
    rows = db.execute(
        "SELECT id, role, state, path, folder, generation, archived FROM sources "
        "WHERE state NOT IN ('copy', 'unrecognised') AND substr(id, 1, ?) = ? ORDER BY id",
        (len(name), name),
    ).fetchall()
    agents = [row for row in rows if row[0] == name and row[1] == "agent"]
    keys = {bundle_key(row[0]) for row in rows} if not agents else set()
    if name in keys:
        keys = {name}
    if not agents and len(keys) != 1:
        raise NoSessionError(f"{len(keys) or 'no'} sessions with an id that is or begins with {name!r}")
    chosen = agents or [row for row in rows if bundle_key(row[0]) in keys]
    return [_kept(db, *row) for row in sorted(chosen, key=lambda row: row[1] != "main")]


def _kept(
    db: sqlite3.Connection,
    sid: str,
    role: str,
    state: str,
    path: str,
    folder: str | None,
    newest: int | None,
    archived: str | None,
) -> Kept:
    sizes, told = tuple(raw.sizes(db, sid)), raw.told_sizes(archived)
    return Kept(
        id=sid,
        role=role,
        state=state,
        path=os.path.normpath(plain_name(path_of(path))),
        folder=folder,
        newest=newest or 0,
        sizes=sizes,
        whole=tuple(number < len(told) and told[number] == size for number, size in enumerate(sizes)),
    )


def read(db: sqlite3.Connection, file: Kept, generation: int | None = None) -> Iterator[bytes]:
    """The bytes of a file, checked. UsageError if they were not archived, DatabaseError if they are damaged."""
    return raw.read(db, file.id, file.generation(generation))


def write(db: sqlite3.Connection, file: Kept, path: Path, generation: int | None = None) -> int:
    """Write a file to a new ``path``, readable by its owner alone; how many bytes. UsageError if that cannot be."""
    data = read(db, file, generation)
    try:
        for folder in reversed(path.parents):
            folder.mkdir(exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise UsageError(f"{path}: is there already; name another place") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot write: {error.strerror or error}") from error
    try:
        with os.fdopen(descriptor, "wb") as out:
            return sum(map(out.write, data))
    except BaseException as error:
        path.unlink()
        if isinstance(error, OSError):
            raise UsageError(f"{path}: cannot write: {error.strerror or error}") from error
        raise


def write_all(
    db: sqlite3.Connection, files: Sequence[Kept], folder: Path, generation: int | None = None
) -> Iterator[tuple[Path, int]]:
    """Write the files of a session below ``folder``, laid out as they were, so that importing it gives the session again.

    ``generation`` is that of the log; of other files the newest is written. Yields each path with its size.
    """
    base = Path(os.path.commonpath([Path(file.path).parent for file in files]))
    if files[0].folder is not None and base.name == files[0].folder:
        base = base.parent
    taken: set[Path] = set()
    for number, file in enumerate(files):
        path = folder / Path(file.path).relative_to(base)
        if path in taken:  # one was packed, and both have one name when they are not
            path = path.with_name(f"{path.stem}~{len(taken)}{path.suffix}")
        taken.add(path)
        if number == 0 or file.sizes:
            yield path, write(db, file, path, generation if number == 0 else None)
