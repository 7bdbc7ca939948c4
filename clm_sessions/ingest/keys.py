"""Which key a session gets, and what to do when two files claim the same session.

The key is the agent's own session id. A second file of that id is the same session moved (the first is gone, or the
second begins with all of it), a copy of it (it is the beginning of the first), or, if it says something else, a
session of its own: then keys are numbered, ``ID``, ``ID~2`` …, by what the logs say. Where two logs part is where they
are compared, and a log only grows, so neither the order of imports nor their number changes a key.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import PurePath
from typing import Literal

from clm_sessions.ingest.discover import Files, LogFile
from clm_sessions.packed import content_size, is_packed, open_plain
from clm_sessions.sources import Prints, prints

Verdict = Literal["same", "copy", "other"]
KEY_LIMIT = 200
_PIECE = 1 << 20
_SPECIAL = re.compile(r"[\x00-\x1f\x7f%/:@~]")


def plain_key(session: str) -> str:
    """The key of a session with that id: the id, but what has a meaning in keys is written as ``%3A``.

    Otherwise the id of one session could be that of another one's subagent. Very long ids are cut, with a digest.
    """
    key = _SPECIAL.sub(lambda found: f"%{ord(found[0]):02X}", session)
    return key if len(key) <= KEY_LIMIT else f"{key[:KEY_LIMIT]}%{_digest(session)}"


def numbered(key: str, number: int) -> str:
    """The key of the ``number``-th of the logs that say different things under one id, from 1."""
    return key if number == 1 else f"{key}~{number}"


def session_key(bundle: Files, taken: Mapping[str, tuple[str, Prints | None]]) -> tuple[str, Verdict]:
    """The key of a bundle and how its main log relates to those that have the key, or one of its numbers.

    ``taken``: by key, the path of its main log and what was consumed of it (None: nothing yet). An "other" log may get
    a key that is taken: then that one, and all behind it, must make room (``behind``).
    """
    key = plain_key(bundle.session)
    main = bundle.main
    if main is None:
        return key, "same"
    number, place = 1, None
    while (name := numbered(key, number)) in taken:
        if taken[name][0] == main.found.path:
            return name, "same"
        verdict = _compare(main, *taken[name])
        if verdict != "other":
            return name, verdict
        if place is None and _comes_before(main.found.path, taken[name][0]):
            place = name
        number += 1
    return place or name, "same" if number == 1 else "other"


def behind(key: str, session: str, taken: Collection[str]) -> list[tuple[str, str]]:
    """Which key becomes which, the last one first, so that ``key`` is free. ``session``: the agent's own id."""
    plain = plain_key(session)
    names = [plain]
    while names[-1] in taken:
        names.append(numbered(plain, len(names) + 1))
    return [*zip(reversed(names[:-1]), reversed(names[1:]), strict=True)][: len(names) - 1 - names.index(key)]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def sort_copies(bundle: Files) -> None:
    """Of several logs of one agent, those that are not the beginning of another are agents of their own.

    Such an agent's id gets a digest of its place (name and folder, whatever root it was found below). The longer of two copies is the log.
    """
    copies, bundle.copies = bundle.copies, []
    for log in copies:
        first = bundle.agents.get(log.agent) if log.agent is not None and log.role == "agent" else None
        if first is None or log.agent is None:
            bundle.copies.append(log)
            continue
        verdict = _compare(log, first.found.path, None)
        if verdict == "other":
            agent = f"{log.agent}~{_digest('/'.join(PurePath(log.found.path).parts[-2:]))}"
            bundle.agents[agent] = replace(log, agent=agent)
        elif verdict == "same":
            bundle.agents[log.agent] = log
            bundle.copies.append(first)
        else:
            bundle.copies.append(log)


def _compare(log: LogFile, path: str, consumed: Prints | None) -> Verdict:
    if consumed is not None and not os.path.exists(path):
        return "same" if _begins_with(log.found.path, consumed) else "other"
    try:
        ours, theirs = content_size(log.found.path), content_size(path)
        # Of two that say the same the first one stays.
        small, size, large = (log.found.path, ours, path) if ours <= theirs else (path, theirs, log.found.path)
        with closing(open_plain(small)) as file:
            shorter = prints(file, size)
    except OSError:
        return "other"
    if not _begins_with(large, shorter):
        return "other"
    return "copy" if large == path else "same"


def _comes_before(path: str, other: str) -> bool:
    """Whether what one file says comes before what the other says, byte by byte. What is gone stays where it is."""
    try:
        with closing(open_plain(path)) as one, closing(open_plain(other)) as two:
            while (mine := one.read(_PIECE)) == (theirs := two.read(_PIECE)) and mine:
                continue
            return mine < theirs
    except OSError:
        return False


def _begins_with(path: str, before: Prints) -> bool:
    try:
        if not is_packed(path) and os.path.getsize(path) < before.consumed:
            return False
        with closing(open_plain(path)) as file:
            return prints(file, before.consumed) == before
    except OSError:
        return False
