"""Which key a session gets, and what to do when two files claim the same session.

The key is the agent's own session id. A second file of that id is the same session moved (it begins with all that was
read of the first, and goes on, or the first is gone), a copy of it (it is the beginning of what was read of the first),
or, if it says something else, a session of its own: then keys are numbered, ``ID``, ``ID~2`` …, by what the logs say.
Where two logs part is where they are compared, and a log only grows, so neither the order of imports nor their number
changes a key.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from typing import Literal

from clm_sessions.errors import DatabaseError
from clm_sessions.ingest.discover import Files, LogFile, marked
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


def session_key(
    bundle: Files, taken: Mapping[str, tuple[str, Prints | None]], kept: Callable[[str], Iterator[bytes]]
) -> tuple[str, Verdict]:
    """The key of a bundle and how its main log relates to those that have the key, or one of its numbers.

    ``taken``: by key, the path of its main log and what was consumed of it (None: it is read by this very import).
    ``kept``: the bytes that were archived of the main log of a key. An "other" log may get a key that is taken: then
    that one, and all behind it, must make room (``behind``). OSError where the log cannot be read as far as it takes.
    """
    key = plain_key(bundle.session)
    main = bundle.main
    if main is None:
        return key, "same"
    number, place = 1, None
    while (name := numbered(key, number)) in taken:
        if taken[name][0] == main.found.path:
            return name, "same"
        path, consumed = taken[name]
        verdict = _compare(main, path) if consumed is None else _compare_read(main, path, consumed, kept(name))
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

    Such an agent's id is ``marked``. The longer of two copies is the log.
    """
    copies, bundle.copies = bundle.copies, []
    for log in copies:
        first = bundle.agents.get(log.agent) if log.agent is not None and log.role == "agent" else None
        if first is None or log.agent is None:
            bundle.copies.append(log)
            continue
        verdict = compare(log, first.found.path)
        if verdict == "other":
            other = marked(log)
            while other.agent in bundle.agents:
                other = marked(other)
            bundle.agents[str(other.agent)] = other
        elif verdict == "same":
            bundle.agents[log.agent] = log
            bundle.copies.append(first)
        else:
            bundle.copies.append(log)


def compare(log: LogFile, path: str) -> Verdict:
    """The same where neither is read into the database now; "other" if one cannot be read."""
    try:
        return _compare(log, path)
    except OSError:
        return "other"


def _compare(log: LogFile, path: str) -> Verdict:
    """What a file is to another one, both as they are now. Of two that say the same the other one stays."""
    ours = content_size(log.found.path)
    try:
        theirs = content_size(path)
        with closing(open_plain(log.found.path)) as one, closing(open_plain(path)) as two:
            for _ in range(0, min(ours, theirs), _PIECE):
                if not _agree(one.read(_PIECE), two.read(_PIECE)):
                    return "other"
    except OSError:
        return "other"
    return "copy" if ours <= theirs else "same"


def _compare_read(log: LogFile, path: str, consumed: Prints, kept: Iterator[bytes]) -> Verdict:
    """What a file is to a log that an earlier import read, of which there are the bytes in the archive, if any."""
    there = os.path.exists(path)
    length = 0
    content_size(log.found.path)  # what is packed may be damaged behind what is compared
    try:
        with closing(open_plain(log.found.path)) as file:
            for data in kept:
                mine = file.read(len(data))
                if mine != data:
                    return "copy" if data.startswith(mine) and not file.read(1) else "other"
                length += len(data)
            if length >= consumed.consumed and length:
                return "same" if file.read(1) or not there else "copy"
    except (OSError, DatabaseError):
        return "other"
    return _compare_consumed(log, path, consumed, there=there)


def _compare_consumed(log: LogFile, path: str, consumed: Prints, *, there: bool) -> Verdict:
    """The same without an archive: by the hashes of what was read, and by the file itself where it is still there."""
    if _begins_with(log.found.path, consumed):
        grown = not is_packed(log.found.path) and log.found.stat.size > consumed.consumed
        return "same" if grown or not there else "copy"
    return _compare(log, path) if there else "other"


def _agree(one: bytes, two: bytes) -> bool:
    """Whether one of two pieces begins with the other."""
    return one.startswith(two) if len(two) < len(one) else two.startswith(one)


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
