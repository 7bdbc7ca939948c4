"""The logs of a format below a folder, and how the core reads one of them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from random import Random
from typing import Any

from clm_sessions.formats.base import Confidence, Head, Located, LogFormat, StreamContext
from clm_sessions.frames import document, head, read_head, rows
from clm_sessions.model import Stream
from clm_sessions.read import read_document, read_rows, read_stream
from clm_sessions.sources import Found, walk
from clm_sessions.testing import mutate

Content = bytes | Sequence[tuple[Any, ...]]
"""What a log holds: its bytes, or (framer ``sqlite``) the rows of the format's queries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A file the format takes for its own. ``relative``: its place in the folder. ``session``: None for side files."""

    relative: str
    located: Located
    head: Head
    content: Content
    session: str | None = None

    @property
    def context(self) -> StreamContext:
        """Which log a reader is told it reads."""
        return StreamContext(role=self.located.role, session=self.session or "", agent=self.located.agent)


def find(fmt: LogFormat, folder: Path) -> list[Log]:
    """The logs and side files of a format below a folder, by name."""
    found = []
    for item in walk(folder):
        located = fmt.locate(PurePath(item.path)) if isinstance(item, Found) else None
        if isinstance(item, Found) and located is not None and located.role not in ("known", "index"):
            log = _log(fmt, item, located)
            if log is not None:
                found.append(log)
    return found


def _log(fmt: LogFormat, item: Found, located: Located) -> Log | None:
    data = Path(item.path).read_bytes()
    start = make_head(fmt, data)
    if located.role in ("side", "earlier"):
        return Log(relative=item.relative, located=located, head=start, content=data)
    claim = fmt.sniff(located, start)
    session = claim.session or located.session
    if claim.confidence is Confidence.NO or session is None:
        return None
    content: Content = data
    if fmt.framer == "sqlite":
        content = [row for query in fmt.queries for row in rows(Path(item.path), query)]
    return Log(relative=item.relative, located=located, head=start, content=content, session=session)


def make_head(fmt: LogFormat, data: bytes) -> Head:
    """The head of a log with these bytes, as ``sniff`` gets it."""
    start = read_head(io.BytesIO(data))
    if fmt.framer == "json":
        return Head(records=document(data).values, data=start)
    return Head(records=head(start, fmt.decode) if fmt.framer == "jsonl" else (), data=start)


def read(fmt: LogFormat, context: StreamContext, content: Content) -> Stream:
    """All of a log. Whatever the format raises comes through."""
    if not isinstance(content, bytes):
        return read_rows(fmt, context, content)
    if fmt.framer == "json":
        return read_document(fmt, context, content)
    return read_stream(fmt, context, io.BytesIO(content))[0]


def count_lines(fmt: LogFormat, content: Content) -> int | None:
    """The lines an account must add up to; None where only the format knows."""
    if not isinstance(content, bytes):
        return len(content)
    return None if fmt.framer == "json" else len(content.split(b"\n")) - content.endswith(b"\n") - (not content)


def mutant(fmt: LogFormat, random: Random, content: Content) -> Content:
    """The content with some damage."""
    if not isinstance(content, bytes):
        return mutate.mutate_rows(random, content)
    if fmt.framer == "json":
        return mutate.mutate_document(random, content)
    return mutate.mutate_lines(random, mutate.window(random, content))
