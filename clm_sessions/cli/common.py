"""What several commands share: which argument is the database, and how numbers read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from clm_sessions.errors import UsageError
from clm_sessions.sources import looks_like_database


def default_database() -> Path:
    """``sessions.db`` in the user's data folder."""
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


def plain(text: str) -> str:
    """Text on one line that cannot move the cursor or reorder what stands beside it."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def count(number: int | None, what: str = "") -> str:
    """``1,234 messages``; an unknown number is ``?``."""
    text = "?" if number is None else f"{number:,}"
    return f"{text} {what}".strip()
