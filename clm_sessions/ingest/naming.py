"""Which key each of the files gets that claim one session id: what they say and where they lie decides it, nothing else.

A file that is the beginning of another one is a copy of it. Main logs that say different things are sessions of their
own, numbered by what they say, as bytes are compared (``ID``, ``ID~2`` …). A file beside logs belongs to the main log
that it lies by; of several of one name the one that lies nearest to the log of the session keeps the name, and the others
get a digest of their place behind it. What is gone is compared as it was archived, so neither the order of imports nor
their number changes a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from functools import cache, cmp_to_key
from itertools import count
from typing import Any, Literal, Protocol

from clm_sessions.errors import DatabaseError
from clm_sessions.ingest.discover import LogFile, nearness, place_mark
from clm_sessions.ingest.keys import name_beside, numbered, place_digest
from clm_sessions.packed import content_size, is_packed, open_plain
from clm_sessions.sources import Prints, bundle_key, prints

_PIECE = 1 << 20
_GROWING = frozenset(("main", "agent"))
"""Roles of files that go on: of these the beginning is a copy, of others only what says the same."""
_Names = Callable[["Claim"], Iterator[str]]


class Readable(Protocol):
    """Bytes from their beginning on."""

    def read(self, size: int) -> bytes:
        """The next bytes, fewer only at the end."""


@dataclass(eq=False, slots=True, kw_only=True)
class Claim:
    """A file of a session, or what is known of one. ``log``: as it was found now; ``sid``: the key of its row, if it has one.

    ``there``: it is where it was. ``archived`` opens what was archived of it, ``read`` tells what was read of it.
    ``spare``: what its rows and its archive say is all in the file. ``copy_of``: the key it was a copy of, if it has not
    changed since. ``problem``: why it could not be compared.
    """

    path: str
    role: str
    format: str
    session: str
    folder: str | None
    agent: str | None
    log: LogFile | None = None
    sid: str | None = None
    there: bool = True
    archived: Callable[[], AbstractContextManager[Any]] | None = None
    read: Prints | None = None
    spare: bool = False
    copy_of: str | None = None
    problem: OSError | None = None

    def open(self) -> AbstractContextManager[Any]:
        """Its content: of a file that was found as it is now, else as it was archived."""
        if self.archived is not None and (self.log is None or self.problem is not None):
            return self.archived()
        return closing(open_plain(self.path))

    def is_readable(self) -> bool:
        """Whether its content can be compared with that of others; if not now, it may be as it was archived."""
        if self.log is None:
            return self.archived is not None or self.there
        try:
            open_plain(self.path).close()
            if is_packed(self.path):  # it may be damaged behind what is compared
                content_size(self.path)
        except OSError as error:
            self.problem = error
        return self.problem is None or self.archived is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """The key of a file's row: ``sid``, in the session ``key``. ``was``: the key that its rows had so far.

    ``how``: the file is to be read; it is a copy of the one of that key; there are only rows and bytes, which stay; or
    rows that another file brings, too, and which go.
    """

    claim: Claim
    key: str
    sid: str
    was: str | None = None
    how: Literal["read", "copy", "kept", "spare"] = "read"


def named(claims: Sequence[Claim], plain: str) -> list[Named]:
    """The names of all files that claim a session id. ``plain``: its key. Those with a ``problem`` may have none."""
    mains = [claim for claim in claims if claim.role == "main"]
    found = [*_share(mains, lambda _claim: (numbered(plain, n) for n in count(1)))]
    heads = {one.key: one.claim for one in found if one.how == "read"}
    logs = [(one.key, one.claim) for one in sorted(found, key=lambda one: (one.how != "read", one.key, one.claim.path))]
    groups: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        if claim.role != "main":
            near = [(key, main) for key, main in logs if main.format == claim.format]
            key = max(near, key=lambda one: nearness(one[1].path, claim.path))[0] if near else plain
            groups.setdefault((key, _name(claim)), []).append(claim)
    for (key, name), group in groups.items():
        found += _share(group, lambda claim: _beside(key, name, claim), key, heads.get(key))  # noqa: B023 - used at once
    return found


def _share(
    claims: Sequence[Claim], names: _Names, key: str | None = None, head: Claim | None = None
) -> Iterator[Named]:
    """Names for those that claim the same one. ``key``: of the session they are in, if they are no main logs.

    ``head``: the log of that session.
    """
    alone = [claim for claim in claims if len(claims) > 1 and not claim.is_readable()]
    chains = _chains([claim for claim in claims if claim not in alone])
    lost = set(_join(alone, chains))
    rows = [claim for chain in chains for claim in [one for one in chain if one.sid is not None][1:] if not claim.spare]
    kept = [
        (claim, claim.sid)
        for claim in (*alone, *rows)
        if claim.sid is not None and (claim in rows or claim.sid in lost)
    ]
    taken = {sid for _claim, sid in kept}
    if key is not None:
        chains.sort(key=lambda chain: _rank(chain[0], head))
    for chain in chains:
        if chain[0].copy_of in lost and not any(claim.sid for claim in chain):
            yield from _copies(chain, chain[0].copy_of or "", key)
            continue
        sid = next(name for name in names(chain[0]) if name not in taken)
        taken.add(sid)
        own = next((claim.sid for claim in chain if claim.sid is not None), None)
        yield Named(claim=chain[0], key=key or sid, sid=sid, was=own)
        yield from _copies(chain[1:], sid, key)
        for claim in chain[1:]:
            if claim.spare and claim.sid is not None and claim.sid != own:
                yield Named(claim=claim, key=bundle_key(claim.sid), sid=claim.sid, how="spare")
    for claim, sid in kept:
        here = claim.log is not None and claim in alone
        yield Named(claim=claim, key=bundle_key(sid), sid=sid, was=sid, how="read" if here else "kept")


def _join(alone: Iterable[Claim], chains: Sequence[list[Claim]]) -> Iterator[str]:
    """Put those whose content is known by its hashes only behind what goes on from them; the keys of the others."""
    for claim in alone:
        chain = next((c for c in chains if claim.read is not None and _begins_with(c[0], claim.read)), None)
        if chain is not None:
            chain.append(claim)
        elif claim.sid is not None:
            yield claim.sid


def _copies(claims: Iterable[Claim], sid: str, key: str | None) -> Iterator[Named]:
    for claim in claims:
        if claim.log is not None:
            yield Named(claim=claim, key=key or sid, sid=f"{sid}@{place_digest(claim.path)}", how="copy")


def _name(claim: Claim) -> str:
    """What tells a file from the others beside a main log."""
    return f":{claim.agent}" if claim.role == "agent" else f"/{name_beside(claim.path, claim.session)}"


def _beside(key: str, name: str, claim: Claim) -> Iterator[str]:
    sid = f"{key}{name}"
    while True:
        yield sid
        sid += place_mark(claim.folder, claim.path)


def _rank(claim: Claim, head: Claim | None) -> tuple[int, int, str]:
    return -nearness(head.path if head else None, claim.path), -claim.path.count("/"), claim.path


def _chains(claims: Sequence[Claim]) -> list[list[Claim]]:
    """The claims by what they say, each with those that are its beginning behind it, the longer ones first."""
    if len(claims) < 2:
        return [[claim] for claim in claims]
    compare = cache(_compare)

    def order(one: Claim, other: Claim) -> int:
        sign = compare(one, other)[0]  # of equal ones the last is the log
        return sign or (1 if (one.there, other.path) > (other.there, one.path) else -1)

    chains: list[list[Claim]] = []
    for claim in sorted(claims, key=cmp_to_key(order), reverse=True):  # the order is total
        sign, begins = compare(claim, chains[-1][-1]) if chains else (1, False)
        if begins and (not sign or claim.role in _GROWING):
            chains[-1].append(claim)
        else:
            chains.append([claim])
    return chains[::-1]


def _compare(one: Claim, other: Claim) -> tuple[int, bool]:
    """-1, 0 or 1 as their bytes are compared, and whether one is the beginning of the other."""
    try:
        with one.open() as mine, other.open() as theirs:
            while (a := mine.read(_PIECE)) == (b := theirs.read(_PIECE)) and a:
                continue
    except (OSError, DatabaseError):
        return (one.path > other.path) - (one.path < other.path), False
    return (a > b) - (a < b), a.startswith(b) or b.startswith(a)


def _begins_with(claim: Claim, read: Prints) -> bool:
    try:
        with claim.open() as file:
            return claim.log is not None and prints(file, read.consumed) == read
    except (OSError, DatabaseError):
        return False


def sort_beside(logs: Iterable[LogFile], main: LogFile | None) -> list[tuple[str, LogFile]]:
    """The logs beside one main log that are no copies, each with the id of its agent (empty: a file beside the logs)."""
    claims = [claim_of(log) for log in (*([] if main is None else [main]), *logs)]
    return [
        (one.sid[1:] if one.claim.role == "agent" else "", one.claim.log)
        for one in named(claims, "")
        if one.claim.role != "main" and one.how == "read" and one.claim.log is not None
    ]


def claim_of(log: LogFile, **known: Any) -> Claim:  # noqa: ANN401 - the fields that a row tells
    """The claim of a file that was found."""
    return Claim(
        path=log.found.path,
        role=log.role,
        format=log.format.name,
        session=log.session,
        folder=log.folder,
        agent=log.agent,
        log=log,
        **known,
    )
