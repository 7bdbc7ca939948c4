"""Which key a session gets, and what to do when two files claim the same session.

The key is the agent's own session id. A second file of that id is the same session moved (the first is gone, or the
second begins with all of it), a copy of it (it is the beginning of the first), or, if it says something else, a
session of its own: then the key gets a digest of its place below the root, never of an absolute path.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import Literal

from clm_sessions.ingest.discover import Files, LogFile
from clm_sessions.sources import Prints, prints

Verdict = Literal["same", "copy", "other"]


def session_key(bundle: Files, taken: Mapping[str, tuple[str, Prints | None]]) -> tuple[str, Verdict]:
    """The key of a bundle and how its main log relates to the file that holds the plain key.

    ``taken``: by key, the path of its main log and what was consumed of it (None: nothing yet).
    """
    key = bundle.session
    main = bundle.main
    if main is None or key not in taken or taken[key][0] == main.found.path:
        return key, "same"
    verdict = _compare(main, *taken[key])
    if verdict == "other":
        return f"{key}~{hashlib.sha256(main.found.relative.encode('utf-8', 'replace')).hexdigest()[:8]}", "other"
    return key, verdict


def _compare(log: LogFile, path: str, consumed: Prints | None) -> Verdict:
    if consumed is not None and not os.path.exists(path):
        return "same" if _begins_with(log.found.path, consumed) else "other"
    try:
        size = os.path.getsize(path)
        small, large = sorted(((size, path), (log.found.stat.size, log.found.path)))
        with open(small[1], "rb") as file:
            shorter = prints(file, small[0])
    except OSError:
        return "other"
    if not _begins_with(large[1], shorter):
        return "other"
    return "copy" if large[1] == path else "same"


def _begins_with(path: str, before: Prints) -> bool:
    try:
        with open(path, "rb") as file:
            return os.fstat(file.fileno()).st_size >= before.consumed and prints(file, before.consumed) == before
    except OSError:
        return False
