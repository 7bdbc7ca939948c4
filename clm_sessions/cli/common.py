"""What several commands share: which argument is the database, the settings, and how text and numbers read."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from clm_sessions.config import Config, load_config
from clm_sessions.errors import UsageError, plain
from clm_sessions.sources import looks_like_database

__all__ = [
    "colour", "count", "default_database", "ending_whole", "line", "on_terminal", "paint", "plain", "settings", "split_arguments", "write",
]  # fmt: skip


@contextmanager
def ending_whole() -> Iterator[None]:
    """Ends the block as Ctrl-C does where the program is told to end or its terminal goes: what was begun is taken away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told = [each for name in ("SIGTERM", "SIGHUP") if (each := getattr(signal, name, None)) is not None]
    before = {
        each: signal.signal(each, signal.default_int_handler)
        for each in told
        if signal.getsignal(each) is signal.SIG_DFL  # nohup stays
    }
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def settings() -> Config:
    """The settings of this run: of the file that ``--config`` names, else of the default one. Read once."""
    context = click.get_current_context(silent=True)
    shared = context.find_object(dict) if context is not None else None
    kept = shared.get("settings") if shared is not None else None
    if isinstance(kept, Config):
        return kept
    found = load_config(os.environ, Path.home(), shared.get("config") if shared is not None else None)
    if shared is not None:
        shared["settings"] = found
    return found


def default_database() -> Path:
    """The database of the settings, else ``sessions.db`` in the user's data folder."""
    named = settings().database
    if named is not None:
        return named
    base = os.environ.get("CLM_SESSIONS_HOME")
    if base:
        return Path(base) / "sessions.db"
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "clm-sessions" / "sessions.db"


def split_arguments(arguments: Sequence[str]) -> tuple[Path, list[Path]]:
    """(database, paths). The first argument is the database if its first bytes say so.

    One that is not there yet is a database to be made if it is named like one, or if paths follow; else it is a
    mistyped path, and a UsageError. A folder or a log in its place means: the default database.
    """
    paths = [Path(a) for a in arguments]
    if not paths or paths[0].exists():
        named = bool(paths) and looks_like_database(paths[0])
        return (paths[0], paths[1:]) if named else (default_database(), paths)
    if len(paths) > 1 or looks_like_database(paths[0]):
        return paths[0], paths[1:]
    raise UsageError(f"{paths[0]}: no such file or folder; a database to be made is named like sessions.db")


def line(words: str, limit: int = 2_000) -> str:
    """Log text on one line of at most ``limit`` characters that cannot act on a terminal; see ``render.line``."""
    from clm_sessions.render import line as clean  # most commands start without the renderer

    return clean(words, limit)


def count(number: int | None, what: str = "") -> str:
    """``1,234 messages``; an unknown number is ``?``."""
    text = "?" if number is None else f"{number:,}"
    return f"{text} {what}".strip()


def on_terminal() -> bool:
    """Whether a person reads along: the output is a terminal."""
    return sys.stdout.isatty()


def colour() -> bool:
    """Whether to colour: on a terminal, unless ``$NO_COLOR`` or ``$TERM`` says no."""
    return on_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, **style: bool | str) -> str:
    """The text in a style of ``click.style``, where there is colour."""
    return click.style(text, **style) if text and style and colour() else text  # type: ignore[arg-type]


def write(pieces: Iterable[str]) -> None:
    """Write to standard output without a flush for each piece."""
    for piece in pieces:
        sys.stdout.write(piece)
    sys.stdout.flush()
