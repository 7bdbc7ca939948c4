"""Which key a session gets, and what to do when two files claim the same session.

The key is the agent's own session id. A second file of that id is the same session moved (the first is gone, or the
second begins with all of it), a copy of it (it is the beginning of the first), or, if it says something else, a
session of its own: then the key gets a digest of its place below the root, never of an absolute path.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Literal

from clm_sessions.ingest.discover import Files, LogFile
from clm_sessions.packed import content_size, is_packed, open_plain
from clm_sessions.sources import Prints, prints

Verdict = Literal["same", "copy", "other"]
KEY_LIMIT = 200
_SPECIAL = re.compile(r"[\x00-\x1f\x7f%/:@~]")


def plain_key(session: str) -> str:
    """The key of a session with that id: the id, but what has a meaning in keys is written as ``%3A``.

    Otherwise the id of one session could be that of another one's subagent. Very long ids are cut, with a digest.
    """
    key = _SPECIAL.sub(lambda found: f"%{ord(found[0]):02X}", session)
    return key if len(key) <= KEY_LIMIT else f"{key[:KEY_LIMIT]}%{_digest(session)}"


def session_key(bundle: Files, taken: Mapping[str, tuple[str, Prints | None]]) -> tuple[str, Verdict]:
    """The key of a bundle and how its main log relates to the file that holds the plain key.

    ``taken``: by key, the path of its main log and what was consumed of it (None: nothing yet).
    """
    key = plain_key(bundle.session)
    main = bundle.main
    if main is None or key not in taken or taken[key][0] == main.found.path:
        return key, "same"
    verdict = _compare(main, *taken[key])
    if verdict == "other":
        return f"{key}~{_digest(main.found.relative)}", "other"
    return key, verdict


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def sort_copies(bundle: Files) -> None:
    """Of several logs of one agent, those that are not the beginning of another are agents of their own.

    Such an agent's id gets a digest of its place, as a session's key does. The longer of two copies is the log.
    """
    copies, bundle.copies = bundle.copies, []
    for log in copies:
        first = bundle.agents.get(log.agent) if log.agent is not None and log.role == "agent" else None
        if first is None or log.agent is None:
            bundle.copies.append(log)
            continue
        verdict = _compare(log, first.found.path, None)
        if verdict == "other":
            agent = f"{log.agent}~{_digest(log.found.relative)}"
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


def _begins_with(path: str, before: Prints) -> bool:
    try:
        if not is_packed(path) and os.path.getsize(path) < before.consumed:
            return False
        with closing(open_plain(path)) as file:
            return prints(file, before.consumed) == before
    except OSError:
        return False
