"""Where Codex keeps its rollouts, and what a file could be by its path (spec other-formats 1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

from clm_sessions.formats.base import Located
from clm_sessions.frames import decode_strict
from clm_sessions.text import trim

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ROLLOUT = re.compile(rf"rollout-.*?({_UUID.pattern})", re.IGNORECASE)
_HISTORY, _INDEX = "history.jsonl", "session_index.jsonl"


def roots(home: Path, env: Mapping[str, str]) -> Iterable[Path]:
    """``sessions``, ``archived_sessions`` and the names of threads in ``$CODEX_HOME``, else in ``~/.codex``."""
    named = env.get("CODEX_HOME", "").strip()
    folder = Path(named).expanduser() if named else home / ".codex"
    return folder / "sessions", folder / "archived_sessions", folder / _INDEX


def locate(path: PurePath) -> Located | None:
    """Any ``.jsonl`` could be a rollout, for copies of them are given other names; only its records tell."""
    if path.name == _INDEX:
        return Located(role="index")
    if path.name == _HISTORY:  # the prompts of all threads
        return Located(role="known")
    if path.suffix != ".jsonl" or not path.stem:
        return None
    return Located(role="main", session=session_of(path.stem), folder=None)


def locate_document(path: PurePath) -> Located | None:
    """``rollout-*.json``, one object, as the first versions wrote it."""
    if path.suffix != ".json" or not path.stem.startswith("rollout-"):
        return None
    return Located(role="main", session=session_of(path.stem), folder=None)


def session_of(stem: str) -> str:
    """The id in a rollout's name; else the whole name."""
    found = _ROLLOUT.fullmatch(stem)
    return found[1] if found is not None else stem


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID: an id nobody else gives."""
    return _UUID.fullmatch(text) is not None


def thread_names(data: bytes) -> dict[str, str]:
    """The names in a ``session_index.jsonl`` by thread: a line each time one was given, so the last one counts."""
    names: dict[str, str] = {}
    for line in data.split(b"\n"):
        for entry in decode_strict(line, first=False).values:
            thread, name = (entry.get("id"), entry.get("thread_name")) if isinstance(entry, dict) else (None, None)
            if isinstance(thread, str) and thread and isinstance(name, str) and trim(name):
                names[thread] = name
    return names
