"""Images that a log names by the hash of their bytes, and that lie in files of that name beside it."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import PurePath

from clm_sessions.errors import DatabaseError
from clm_sessions.ingest.discover import LogFile
from clm_sessions.ingest.ledger import Source
from clm_sessions.model import Block, Image, Message, Stream, Unknown
from clm_sessions.packed import open_plain, plain_name
from clm_sessions.store import raw

LIMIT = 64 << 20
"""Bytes of a file beside a log that is looked at as an image."""
_NAME = re.compile(r"([0-9a-f]{64})\.\w{1,8}")
Load = Callable[[], bytes]
"""Gives the bytes that may be those of the name. May raise OSError, DatabaseError."""


def hash_of(path: str) -> str | None:
    """The hash that a file is named by."""
    found = _NAME.fullmatch(plain_name(PurePath(path).name))
    return found[1] if found is not None else None


def in_files(logs: Iterable[LogFile]) -> dict[str, Load]:
    """Images among the files beside a log, by hash."""

    def loader(path: str) -> Load:
        def load() -> bytes:
            with closing(open_plain(path)) as file:
                return file.read(LIMIT)

        return load

    named = ((hash_of(log.found.path), log) for log in logs if log.role == "side")
    return {sha256: loader(log.found.path) for sha256, log in named if sha256 is not None}


def in_archive(db: sqlite3.Connection, sources: Iterable[Source]) -> dict[str, Load]:
    """Images among the archived files beside a log, by hash; else those that its messages had (``--no-raw``)."""

    def loader(source: Source, sha256: str) -> Load:
        def load() -> bytes:
            data = b"".join(raw.read(db, source["id"], source["generation"] or 0))
            return data or _stored(db, source["id"], sha256)

        return load

    named = ((hash_of(source["path"]), source) for source in sources if source["role"] == "side")
    return {sha256: loader(source, sha256) for sha256, source in named if sha256 is not None}


def _stored(db: sqlite3.Connection, source: str, sha256: str) -> bytes:
    row = db.execute(
        "SELECT a.data FROM attachments a JOIN message_attachments m ON m.sha256 = a.sha256 "
        "WHERE a.sha256 = ? AND m.session_id = ? LIMIT 1",
        (sha256, source.partition("/")[0]),
    ).fetchone()
    return bytes(row[0]) if row is not None and row[0] is not None else b""


def with_images(stream: Stream, found: Mapping[str, Load]) -> Stream:
    """The stream with the images in it that were found. What is missing stays as the log names it."""
    if not found:
        return stream
    return replace(stream, messages=[_with_images(message, found) for message in stream.messages])


def _with_images(message: Message, found: Mapping[str, Load]) -> Message:
    if not any(isinstance(block, Unknown) for block in message.blocks):
        return message
    return replace(message, blocks=tuple(_image(block, found) for block in message.blocks))


def _image(block: Block, found: Mapping[str, Load]) -> Block:
    named = block.data if isinstance(block, Unknown) and block.type == "image" else None
    sha256 = named.get("sha256") if isinstance(named, dict) else None
    if not isinstance(sha256, str) or sha256 not in found:
        return block
    try:
        data = found[sha256]()
    except (OSError, DatabaseError):
        return block
    if hashlib.sha256(data).hexdigest() != sha256:
        return block
    media_type = named.get("media_type") if isinstance(named, dict) else None
    kind = media_type if isinstance(media_type, str) else "application/octet-stream"
    return Image(media_type=kind, sha256=sha256, size=len(data), data=data)
