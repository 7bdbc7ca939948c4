"""What a piece of code asks of the system, as Python's audit events tell it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import NoReturn
from unittest import mock

_ASKS = ("open", "os.", "socket.", "subprocess.", "sqlite3.", "shutil.", "urllib.", "tempfile.", "glob.")


class _Ear:
    """Listens while ``thread`` is set. There is one for the process: an audit hook can never be taken away."""

    def __init__(self) -> None:
        self.thread: int | None = None
        self.heard: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.thread is not None and event.startswith(_ASKS) and threading.get_ident() == self.thread:
            self.heard.append(f"{event} {arguments[0] if arguments else ''}".strip())


_ear = cache(_Ear)


@contextmanager
def no_io(who: str) -> Iterator[None]:
    """AssertionError if the code inside opens, lists, looks at or connects to anything. Nested use is not meant."""
    ear = _ear()
    ear.heard, ear.thread = [], threading.get_ident()
    try:
        with mock.patch.object(os, "stat", _refuse), mock.patch.object(os, "lstat", _refuse):
            yield
    finally:
        ear.thread = None
    if ear.heard:
        raise AssertionError(f"{who} does I/O: {', '.join(ear.heard[:3])}")


def _refuse(*arguments: object, **_options: object) -> NoReturn:
    raise AssertionError(f"a format asks the file system: os.stat {arguments[0] if arguments else ''}")
