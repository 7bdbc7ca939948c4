"""What changed below the roots: the system tells of it (watchfiles), and where it cannot, somebody has to look."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from clm_sessions.errors import UsageError
from clm_sessions.ingest.discover import siblings
from clm_sessions.sources import identity

if TYPE_CHECKING:
    from watchfiles.main import FileChange

TICK = 0.2
"""Seconds between two looks at whether a root came or went."""
DEBOUNCE, STEP = 200, 50
"""Milliseconds: changes are told when there was none for a step, or after this time."""
RECURSIVE = sys.platform in ("darwin", "win32")
"""Whether the system watches what is below a folder too. On Linux each folder is watched by itself: so no link is
followed, and the folders are those that an import reads."""
_LIMIT = "cannot watch {folders:,} folders: {error}; looking at all files again and again instead{remedy}"
_REMEDIES = {
    "OS file watch limit": "; to raise the limit: sysctl fs.inotify.max_user_watches=1000000",
    "Too many open files": "; to raise the limit: sysctl fs.inotify.max_user_instances=1024",
}


def require() -> None:
    """UsageError that names the extra where watchfiles is not installed."""
    if importlib.util.find_spec("watchfiles") is None:
        raise UsageError("watching needs watchfiles: pip install 'clm-sessions[watch]'")


class Changes:
    """An iterator over sets of absolute paths that changed; None where anything may have changed, as at the beginning.

    There is one at least every second, empty if need be, until ``stop`` is set. ``polling``: the system tells nothing,
    so sets are empty. ``present``: the roots that are there. ``watched``: how many folders the system watches.
    """

    def __init__(self, roots: Sequence[Path], stop: threading.Event, tell: Callable[[str], None]) -> None:
        self._roots = [Path(os.path.abspath(root)) for root in roots]
        self._stop, self._tell = stop, tell
        self._identities: list[tuple[int, int] | None] = []
        self._missing = {root for root in self._roots if not root.exists()}
        self._open: Generator[set[FileChange], None, None] | None = None
        self.polling = False
        self.present: list[Path] = []
        self.mode: Literal["waiting", "watching", "looking"] = "waiting"
        self.watched = 0

    def __iter__(self) -> Iterator[set[str] | None]:
        while not self._stop.is_set():
            self._identities = self._identify()
            self.present = [root for root, seen in zip(self._roots, self._identities, strict=True) if seen]
            self._say_missing()
            folders = [] if self.polling else _folders(self.present)
            yield from self._listen(folders) if folders else self._poll()

    def close(self) -> None:
        """Let the system forget it."""
        if self._open is not None:
            self._open.close()
            self._open = None

    def _poll(self) -> Iterator[set[str] | None]:
        self.mode = "looking" if self.polling else "waiting"
        yield None
        while not self._stop.wait(TICK) and self._identify() == self._identities:
            yield set()

    def _listen(self, folders: Sequence[str]) -> Iterator[set[str] | None]:
        """What the system tells, until the folders are others: then they have to be named to it anew."""
        from watchfiles import Change, watch

        self._open = watch(
            *folders, watch_filter=None, debounce=DEBOUNCE, step=STEP, stop_event=self._stop, rust_timeout=int(TICK * 1000),
            yield_on_timeout=True, force_polling=False, recursive=RECURSIVE, ignore_permission_denied=False,
        )  # fmt: skip
        self.mode, self.watched = "watching", len(folders)
        begun = False
        try:
            for told in self._open:
                paths = {path for _change, path in told}
                yield paths if begun and self._are_below(paths) else None
                begun = True
                if self._identify() != self._identities:
                    return
                if not RECURSIVE and any(change == Change.added and _is_folder(path) for change, path in told):
                    return
        except FileNotFoundError:  # a folder is gone already: look again which there are
            self._stop.wait(TICK)
        except (OSError, RuntimeError) as error:
            if begun:  # it met a name that it cannot say
                self._stop.wait(1)
                return
            self.polling = True
            reason = re.split(" about | [(]", str(error))[0].rstrip(".")
            remedy = next((remedy for words, remedy in _REMEDIES.items() if words in reason), "")
            self._tell(_LIMIT.format(folders=len(folders), error=reason, remedy=remedy))
        finally:
            self.close()

    def _are_below(self, paths: set[str]) -> bool:
        """Whether paths are named as an import names them; macOS may name them without links."""
        return not RECURSIVE or all(path.startswith(tuple(map(str, self._roots))) for path in paths)

    def _identify(self) -> list[tuple[int, int] | None]:
        return [identity(root) for root in self._roots]

    def _say_missing(self) -> None:
        for root in self._roots:
            if root not in self.present and root not in self._missing:
                self._missing.add(root)
                self._tell(f"{root}: gone; waiting for it, its rows stay")
            elif root in self.present and root in self._missing:
                self._missing.discard(root)
                self._tell(f"{root}: there now")


def _folders(roots: Sequence[Path]) -> list[str]:
    """The folders in which a change may matter. What is no text in UTF-8 cannot be watched."""
    found: dict[str, None] = {}
    for root in roots:
        tops = [root] if root.is_dir() else [root.parent]
        if RECURSIVE:
            found.update((str(top), None) for top in tops)
            continue
        if not root.is_dir():
            found[str(root.parent)] = None
            tops = [beside for beside in siblings(root) if beside.is_dir()]
        found.update((folder, None) for top in tops for folder, _folders, _files in os.walk(top))
    return [folder for folder in found if _is_text(folder)]


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)
