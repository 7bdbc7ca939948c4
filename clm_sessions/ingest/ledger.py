"""The account of sources: one row a file, its lines by disposition, its record types, its issues, its checkpoint."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from clm_sessions import times
from clm_sessions.ingest.discover import LogFile
from clm_sessions.model import Issue, Stream
from clm_sessions.read import Checkpoint
from clm_sessions.sources import FileStat, Found, Prints
from clm_sessions.store import reader
from clm_sessions.store.codec import clean, dumps
from clm_sessions.store.writer import replace_rows

Source = dict[str, Any]
COLUMNS = (
    "id", "session_id", "format", "role", "state", "path", "relative_path", "folder", "native_id", "agent_id", "device",
    "inode", "size", "mtime_ns", "ctime_ns", "generation", "lines", "consumed", "head_hash", "tail_hash", "first_at",
    "last_at", "refused", "checkpoint",
)  # fmt: skip


def source_id(key: str, log: LogFile) -> str:
    """The key of a file's row: the session's for its log, with the agent's id or the file's place behind it."""
    if log.role == "main":
        return key
    if log.role == "agent":
        return f"{key}:{log.agent}"
    path = log.found.path.replace("\\", "/")
    marker = f"/{log.session}/"
    return f"{key}/{path.rsplit(marker, 1)[1] if marker in path else path.rsplit('/', 1)[1]}"


def stored(db: sqlite3.Connection, key: str) -> dict[str, Source]:
    """The source rows of a bundle by id."""
    rows = db.execute(
        f"SELECT {', '.join(COLUMNS)} FROM sources WHERE id = ? OR (id > ? AND id < ?) OR (id > ? AND id < ?)",
        (key, f"{key}:", f"{key};", f"{key}/", f"{key}0"),
    )
    return {row[0]: dict(zip(COLUMNS, row, strict=True)) for row in rows}


def by_path(db: sqlite3.Connection) -> dict[str, Source]:
    """Every source row by path."""
    rows = db.execute(f"SELECT {', '.join(COLUMNS)} FROM sources")
    return {row[5]: dict(zip(COLUMNS, row, strict=True)) for row in rows}


def place_digest(log: LogFile) -> str:
    """Eight characters that tell files of one name apart by their place, without saying the place."""
    return hashlib.sha256(log.found.path.encode("utf-8", "replace")).hexdigest()[:8]


def unrecognised_row(file: Found, sid: str) -> Source:
    """The row of a file that no format recognises."""
    given: Source = dict.fromkeys(COLUMNS)
    stat = file.stat
    given.update(
        id=sid, state="unrecognised", path=file.path, relative_path=clean(file.relative), device=stat.device,
        inode=stat.inode, size=stat.size, mtime_ns=stat.mtime_ns, ctime_ns=stat.ctime_ns,
    )  # fmt: skip
    return given


def stat_of(source: Source) -> FileStat:
    """The stat of a file when its row was written."""
    return FileStat(
        device=source["device"],
        inode=source["inode"],
        size=source["size"],
        mtime_ns=source["mtime_ns"],
        ctime_ns=source["ctime_ns"],
    )


def untouched(source: Source | None, log: LogFile) -> bool:
    """Whether a file is as it was when its row was written."""
    return (
        source is not None
        and source["state"] in ("present", "copy")
        and source["path"] == log.found.path
        and stat_of(source) == log.found.stat
    )


def prints_of(source: Source) -> Prints:
    """What was consumed of a source when it was last read."""
    return Prints(consumed=source["consumed"], head=source["head_hash"], tail=source["tail_hash"])


def row(log: LogFile, sid: str, stat: FileStat, **rest: Any) -> Source:  # noqa: ANN401 - column values
    """A source row for a file that is there."""
    given: Source = dict.fromkeys(COLUMNS)
    given.update(
        id=sid, format=log.format.name, role=log.role, state="present", path=log.found.path,
        relative_path=clean(log.found.relative), folder=clean(log.folder), native_id=clean(log.session),
        agent_id=clean(log.agent), device=stat.device, inode=stat.inode, size=stat.size, mtime_ns=stat.mtime_ns,
        ctime_ns=stat.ctime_ns, **rest,
    )  # fmt: skip
    return given


def read_row(
    log: LogFile, sid: str, stat: FileStat, generation: int, stream: Stream, checkpoint: Checkpoint, seen: Prints
) -> Source:
    """The row of a log that was just read."""
    return row(
        log, sid, stat, generation=generation, lines=sum(stream.lines.values()), consumed=seen.consumed,
        head_hash=seen.head, tail_hash=seen.tail, first_at=times.iso(stream.first_at), last_at=times.iso(stream.last_at),
        refused=stream.refused, checkpoint=encode_checkpoint(checkpoint),
    )  # fmt: skip


def write(db: sqlite3.Connection, source: Source, stream: Stream, session: str | None) -> None:
    """Write the account of a log: its row, lines, record types and issues. ``session``: its key, if it has one."""
    sid = source["id"]
    put(db, {**source, "session_id": session})
    replace_rows(db, "source_lines", "source_id", sid, [(sid, d, n) for d, n in sorted(stream.lines.items()) if n])
    types = [(sid, clean(kind), d, n) for (kind, d), n in sorted(stream.types.items())]
    replace_rows(db, "record_types", "source_id", sid, types)
    write_issues(db, sid, stream.issues, session)


def put(db: sqlite3.Connection, source: Source) -> None:
    """Write one source row."""
    replace_rows(db, "sources", "id", source["id"], [tuple(source[name] for name in COLUMNS)])


def forget(db: sqlite3.Connection, sid: str) -> None:
    """Drop the row and the issues of a source that turned out to be something else."""
    for table, column in (("ingest_issues", "source_id"), ("sources", "id")):
        replace_rows(db, table, column, sid, [])


def write_issues(db: sqlite3.Connection, sid: str, issues: Any, session: str | None) -> None:  # noqa: ANN401 - issues
    """Make the issues of a source exactly these."""
    rows = [(sid, n, i.kind, clean(i.reason), i.line, i.offset, session) for n, i in enumerate(issues)]
    replace_rows(db, "ingest_issues", "source_id", sid, rows)


def stored_stream(db: sqlite3.Connection, source: Source) -> Stream:
    """The stream of a log as its rows have it, without reading the log."""
    sid = source["id"]
    calls = dict(enumerate(reader.tool_calls(db, sid)))
    rows = db.execute(
        "SELECT kind, reason, line, byte_offset FROM ingest_issues WHERE source_id = ? ORDER BY seq", (sid,)
    )
    types = db.execute("SELECT type, disposition, records FROM record_types WHERE source_id = ?", (sid,))
    return Stream(
        messages=list(reader.messages(db, sid, calls=calls).values()),
        facts=reader.facts(db, sid),
        issues=[Issue(kind=kind, reason=reason, line=line, offset=offset) for kind, reason, line, offset in rows],
        first_at=times.parse(source["first_at"]),
        last_at=times.parse(source["last_at"]),
        lines=dict(db.execute("SELECT disposition, lines FROM source_lines WHERE source_id = ?", (sid,)).fetchall()),
        types={(kind, disposition): n for kind, disposition, n in types},
        refused=source["refused"],
    )


def encode_checkpoint(point: Checkpoint) -> str:
    """A checkpoint as JSON."""
    types = [[kind, disposition, n] for (kind, disposition), n in sorted(point.types.items())]
    return dumps(
        {
            "offset": point.offset, "line": point.line, "state": point.state, "lines": point.lines, "types": types,
            "first_at": point.first_at, "last_at": point.last_at, "refused": point.refused,
        }
    )  # fmt: skip


def decode_checkpoint(text: str) -> Checkpoint:
    """The checkpoint of that JSON."""
    value: Mapping[str, Any] = json.loads(text)
    types = {(kind, disposition): n for kind, disposition, n in value["types"]}
    return Checkpoint(**{**value, "types": types})
