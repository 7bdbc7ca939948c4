"""What was read last, kept for the next line of it: a log that grows is not read back from its rows each time."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clm_sessions.ingest.ledger import Source
from clm_sessions.model import Session, Stream

LIMIT = 32_000_000
"""Bytes of the logs that are kept at once. In memory they take about three times as much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The logs of a session and what was made of them, as of one state of the database.

    ``checksums``: of the rows of all its sources; ``size``: bytes of its logs.
    """

    version: int
    checksums: Mapping[str, str]
    streams: Mapping[str, Stream]
    sessions: Sequence[Session]
    size: int


class Recent:
    """The sessions that were imported last over one connection, by key."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    def find(self, db: sqlite3.Connection, key: str, sources: Mapping[str, Source]) -> Kept | None:
        """What is kept of a session, if nothing else wrote to its rows. ``sources``: its rows by id."""
        kept = self._kept.get(key)
        if kept is None or kept.version != _version(db) or kept.checksums != _checksums(sources):
            return None
        return kept

    def keep(
        self,
        db: sqlite3.Connection,
        key: str,
        sources: Mapping[str, Source],
        streams: Mapping[str, Stream],
        sessions: Sequence[Session],
    ) -> None:
        """Keep a session, and of the others those that there is room for, the latest first."""
        self._kept.pop(key, None)
        size = sum(source["size"] or 0 for source in sources.values())
        self._kept[key] = Kept(
            version=_version(db), checksums=_checksums(sources), streams=streams, sessions=sessions, size=size
        )
        while sum(kept.size for kept in self._kept.values()) > LIMIT:
            del self._kept[next(iter(self._kept))]


def _version(db: sqlite3.Connection) -> int:
    """It changes when another connection commits."""
    return int(db.execute("PRAGMA data_version").fetchone()[0])


def _checksums(sources: Mapping[str, Source]) -> dict[str, str]:
    return {sid: source["checksum"] for sid, source in sources.items()}
