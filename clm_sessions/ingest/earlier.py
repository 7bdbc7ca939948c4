"""What a log said before its program wrote it anew: from the archive, from a file beside it, or from its rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from os import devnull
from pathlib import Path

from clm_sessions.errors import DatabaseError, PluginError
from clm_sessions.formats.base import LogFormat, StreamContext
from clm_sessions.ingest.ledger import Source
from clm_sessions.ingest.streams import read_file
from clm_sessions.model import Stream
from clm_sessions.store import raw


def rejoins(fmt: LogFormat) -> bool:
    """Whether a format keeps what its logs said before they were written anew."""
    return fmt.framer == "jsonl" and type(fmt).rejoin is not LogFormat.rejoin


def marked(stream: Stream, place: str, generation: int | None) -> Stream:
    """The stream with its messages marked as those of an earlier state (see ``Place.earlier``)."""
    mark = f"{place}#{generation or 0}"
    messages = [
        m if m.place.earlier is not None else replace(m, place=replace(m.place, earlier=mark)) for m in stream.messages
    ]
    return replace(stream, messages=messages)


def archived_states(db: sqlite3.Connection, fmt: LogFormat, key: str, sources: Iterable[Source]) -> Iterator[Stream]:
    """Every earlier state that is archived: of the log the generations before the one that is read, of ``earlier`` files all.

    ``sources``: the rows of the session ``key``.
    """
    for source in sorted(sources, key=lambda s: s["role"] != "main"):
        sizes = raw.sizes(db, source["id"]) if source["role"] in ("main", "earlier") else []
        if source["role"] == "main":
            sizes = sizes[: source["generation"] or 0]
        for generation, size in enumerate(sizes):
            file = raw.Stored(db, source["id"], generation, size)
            context = StreamContext(role="main", session=source["native_id"])
            with suppress(DatabaseError, PluginError):
                stream, _point = read_file(fmt, context, file, Path(devnull))  # type: ignore[arg-type] # reads like a file
                yield marked(stream, source["id"][len(key) :], generation)


def stored_states(stream: Stream, generation: int, *, rewritten: bool) -> Iterator[Stream]:
    """The same for a log that was not archived, from its rows, which are of ``generation``.

    Those before each of its compactions; all of them too, if it was ``rewritten`` just now.
    """
    messages = stream.messages
    ends = [n for n, message in enumerate(messages) if message.kind == "compact"]
    for end in (*ends, *([len(messages)] if rewritten else [])):
        if end:
            yield marked(replace(stream, messages=messages[:end]), "", generation)


def is_whole(sizes: Sequence[int], generation: int) -> bool:
    """Whether every generation before this one is archived."""
    return len(sizes) >= generation and all(sizes[:generation])
