"""The keys of sessions and sources, as far as ids and places alone decide them (the rest: ``naming``)."""

from __future__ import annotations

import hashlib
import re

KEY_LIMIT = 200
_SPECIAL = re.compile(r"[\x00-\x1f\x7f%/:@~]")


def plain_key(session: str) -> str:
    """The key of a session with that id: the id, but what has a meaning in keys is written as ``%3A``.

    Otherwise the id of one session could be that of another one's subagent. Very long ids are cut, with a digest.
    """
    key = _SPECIAL.sub(lambda found: f"%{ord(found[0]):02X}", session)
    return key if len(key) <= KEY_LIMIT else f"{key[:KEY_LIMIT]}%{place_digest(session)}"


def numbered(key: str, number: int) -> str:
    """The key of the ``number``-th of the logs that say different things under one id, from 1."""
    return key if number == 1 else f"{key}~{number}"


def name_beside(path: str, session: str) -> str:
    """The name of a file beside the logs of a session: its place below the session's folder, else its own name."""
    path = path.replace("\\", "/")
    marker = f"/{session}/"
    return path.rsplit(marker, 1)[1] if marker in path else path.rsplit("/", 1)[1]


def place_digest(path: str) -> str:
    """Eight characters that tell files of one name apart by their place, without saying the place."""
    return hashlib.sha256(path.encode("utf-8", "replace")).hexdigest()[:8]
