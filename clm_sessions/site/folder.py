"""The folder of a site: written whole or not at all, and never over what somebody else put there.

A site is made in a hidden folder beside its place. A new one is put there by one renaming; over an earlier one its files are
moved one by one, while the list in ``MARKER`` names old and new. Only files on that list are ever replaced or removed.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from clm_sessions.errors import UsageError
from clm_sessions.site.names import FOLDERS, MADE

MARKER = "clm-site.json"
Write = Callable[[str, str], None]
"""Writes a file of the site: its name below the folder, with slashes, and its text."""


@contextmanager
def site_folder(folder: Path, *, private: bool) -> Iterator[Write]:
    """Gives what writes the files of a site, which stands in ``folder`` when the block ends without an exception.

    ``private``: readable by its owner alone. UsageError if there is something in the folder that is no site of ours, or a
    file in the way that it did not make.
    """
    folder = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow a link
    before = _made_before(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
    fresh.chmod(0o700 if private else 0o755)
    names: list[str] = []

    mode = 0o600 if private else 0o644

    def write(name: str, text: str) -> None:
        path = fresh / name
        path.parent.mkdir(exist_ok=True, mode=0o700 if private else 0o755)
        _new(path, text, mode)
        names.append(name)

    try:
        yield write
        _in_the_way(folder, names, before)
        if folder.exists():
            _replace(fresh, folder, names, before)
        else:
            _new(fresh / MARKER, _marker(names), mode)
            fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _made_before(folder: Path) -> list[str]:
    """The files of the site that is there; none if there is nothing. Names that are not ours are not believed."""
    if not os.path.lexists(folder):
        return []
    if folder.is_symlink() or not folder.is_dir():
        raise UsageError(f"{folder}: it is no folder; name a new one")
    try:
        told = json.loads((folder / MARKER).read_text("utf-8"))
        files = told["files"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        if any(folder.iterdir()):
            raise UsageError(
                f"{folder}: it holds something else than a site of ours; name a new folder, or an empty one"
            ) from None
        return []
    return [name for name in files if isinstance(name, str) and MADE.fullmatch(name)] if isinstance(files, list) else []


def _in_the_way(folder: Path, names: list[str], before: list[str]) -> None:
    """UsageError where a file is to stand that another program made, or a folder of ours is a link to elsewhere."""
    known = set(before)
    odd = [path for path in map(folder.joinpath, FOLDERS) if path.is_symlink() or (path.exists() and not path.is_dir())]
    for name in names if not odd else ():
        path = folder / name
        if path.is_symlink() or (path.exists() and (name not in known or not path.is_file())):
            odd.append(path)
    if odd:
        raise UsageError(f"{odd[0]}: it was not made by this command and is in the way; move it, or name a new folder")


def _replace(fresh: Path, folder: Path, names: list[str], before: list[str]) -> None:
    """Put the new files over the old ones, and take away those old ones that the new site does not have."""
    mode = fresh.stat().st_mode & 0o777
    _list(fresh, folder, {*names, *before})
    for each in (folder, *map(folder.joinpath, FOLDERS)):
        each.mkdir(exist_ok=True)
        each.chmod(mode)
    for name in names:
        (fresh / name).replace(folder / name)
    for name in sorted(set(before) - set(names)):
        if not (folder / name).is_symlink():
            (folder / name).unlink(missing_ok=True)
    _list(fresh, folder, names)


def _marker(names: Collection[str]) -> str:
    return json.dumps({"made_by": "clm-sessions", "files": sorted(names)}, indent=0) + "\n"


def _list(fresh: Path, folder: Path, names: Collection[str]) -> None:
    """Write the list of files over the one that is there, through a file beside the new ones, as readable as they are."""
    _new(fresh / MARKER, _marker(names), fresh.stat().st_mode & 0o666)
    (fresh / MARKER).replace(folder / MARKER)


def _new(path: Path, text: str, mode: int) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(text.encode("utf-8", "replace"))
