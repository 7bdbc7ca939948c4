"""Where Codex keeps its rollouts, and what a file could be by its path (spec other-formats 1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

from clm_sessions.formats.base import Located

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ROLLOUT = re.compile(rf"rollout-.*?({_UUID.pattern})", re.IGNORECASE)
_NOT_LOGS = frozenset(("history.jsonl", "session_index.jsonl"))


def roots(home: Path, env: Mapping[str, str]) -> Iterable[Path]:
    """``sessions`` and ``archived_sessions`` in ``$CODEX_HOME``, else in ``~/.codex``."""
    named = env.get("CODEX_HOME", "").strip()
    folder = Path(named).expanduser() if named else home / ".codex"
    return folder / "sessions", folder / "archived_sessions"


def locate(path: PurePath) -> Located | None:
    """Any ``.jsonl`` could be a rollout, for copies of them are given other names; only its records tell."""
    if path.suffix != ".jsonl" or path.name in _NOT_LOGS or not path.stem:
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
