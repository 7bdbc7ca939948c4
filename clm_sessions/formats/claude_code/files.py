"""Where Claude Code keeps its logs, and what a file could be by its path (spec claude-code 1 and 9.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

from clm_sessions.formats.base import Located

_SESSION = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_AGENT_LOG = re.compile(r"agent[-_](.+)\.jsonl")
_AGENT_META = re.compile(r"agent[-_](.+)\.meta\.json")
_NOT_LOGS = frozenset(("history.jsonl", "journal.jsonl"))
"""The prompts of all sessions; the steps of a workflow, beside the logs of its agents."""
_SEARCHED = 5
"""Folders above an agent log among which its session folder is looked for."""


def roots(home: Path, env: Mapping[str, str]) -> Iterable[Path]:
    """The ``projects`` folder of each configuration folder."""
    named = env.get("CLAUDE_CONFIG_DIR", "")
    configs = [Path(part.strip()).expanduser() for part in named.split(",") if part.strip()]
    for config in dict.fromkeys((*configs, home / ".claude", home / ".config" / "claude")):
        yield config / "projects"


def locate(path: PurePath) -> Located | None:
    """What the file could be by path alone; None: not ours."""
    name = path.name
    session = session_folder(path)
    folder = (session.parent if session is not None else path.parent).name
    sid = session.name if session is not None else None
    agent = _AGENT_LOG.fullmatch(name)
    if agent is not None:
        return Located(role="agent", session=sid, agent=agent[1], folder=folder)
    meta = _AGENT_META.fullmatch(name)
    if meta is not None:
        return Located(role="side", session=sid, agent=meta[1], folder=folder)
    if session is not None and path.parent.name == "tool-results":
        return Located(role="side", session=sid, folder=folder)
    # Any folder with logs is read, whatever its name; only what lies in a session's own folder must be named like one.
    if name in _NOT_LOGS:
        return Located(role="known", folder=folder)
    could_be = session is None or _is_session(path.stem) or not _is_session(session.name)
    if could_be and path.suffix == ".jsonl" and path.stem:
        return Located(role="main", session=path.stem, folder=path.parent.name)
    return None


def _is_session(name: str) -> bool:
    return _SESSION.fullmatch(name) is not None


def session_folder(path: PurePath) -> PurePath | None:
    """The folder of a session in which a file lies: above ``subagents``, or named as a session; None at a project root.

    A folder directly below ``projects`` is a project, whatever its name.
    """
    above = path.parents
    for number, folder in enumerate(above[: _SEARCHED + 1]):
        if folder.name == "projects" or not folder.name:
            return None
        if folder.name in ("subagents", "tool-results") and number + 1 < len(above) and above[number + 1].name:
            return above[number + 1]
        if _is_session(folder.name):
            return None if above[number + 1].name == "projects" else folder
    return None


def folder_name(folder: str) -> str:
    """The last part of the working directory a project folder stands for. A guess, for display only: it is lossy."""
    if folder.startswith("-"):
        return folder.replace("-", "/").rstrip("/").rsplit("/", 1)[-1] or folder
    drive = re.match(r"([A-Za-z])--(.*)", folder)
    if drive is not None:
        rest = drive[2].replace("-", "/").rstrip("/")
        return rest.rsplit("/", 1)[-1] or f"{drive[1].upper()}:/"
    return folder
