"""The account of sources: one row a file, its lines by disposition, its record types, its issues, its checkpoint."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clm_sessions import times
from clm_sessions.ingest.discover import Known, LogFile
from clm_sessions.ingest.keys import name_beside
from clm_sessions.model import Issue, Stream
from clm_sessions.packed import is_packed
from clm_sessions.sources import FileStat, Found, Prints, path_of, path_text
from clm_sessions.store.codec import clean, dumps

if TYPE_CHECKING:  # most imports find nothing new: what reads and writes is loaded by those that do
    from clm_sessions.read import Checkpoint
    from clm_sessions.spool import Spool

Source = dict[str, Any]
COLUMNS = (
    "id", "session_id", "format", "role", "state", "path", "relative_path", "folder", "native_id", "agent_id", "device",
    "inode", "size", "mtime_ns", "ctime_ns", "generation", "lines", "consumed", "head_hash", "tail_hash", "first_at",
    "last_at", "refused", "checkpoint", "archived", "checksum",
)  # fmt: skip
_ACCOUNT = ("source_lines", "record_types", "ingest_issues")
_HERE = frozenset(("present", "unreadable"))
_END = re.compile("[~:/@]")
FILE_ISSUES = frozenset(("unreadable", "plugin", "unrecognised"))
"""Kinds of issue that say a whole file could not be read; they end when it can."""


def source_id(key: str, log: LogFile) -> str:
    """The key of a file's row: the session's for its log, with the agent's id or the file's place behind it."""
    if log.role == "main":
        return key
    if log.role == "agent":
        return f"{key}:{log.agent}"
    return f"{key}/{name_beside(log.found.path, log.session)}{log.mark}"


def stored(db: sqlite3.Connection, key: str) -> dict[str, Source]:
    """The source rows of a bundle by id, copies left out."""
    rows = db.execute(
        f"SELECT {', '.join(COLUMNS)} FROM sources WHERE (id = ? OR (id > ? AND id < ?) OR (id > ? AND id < ?)) "
        "AND state NOT IN ('copy', 'unrecognised') ORDER BY id",
        (key, f"{key}:", f"{key};", f"{key}/", f"{key}0"),
    )
    return {row[0]: _source(row) for row in rows}


def has_session(db: sqlite3.Connection, key: str) -> bool:
    """Whether there is a session of that key, or one of its agents."""
    sql = "SELECT 1 FROM sessions WHERE id = ? OR (id > ? AND id < ?) LIMIT 1"
    return db.execute(sql, (key, f"{key}:", f"{key};")).fetchone() is not None


def of_id(db: sqlite3.Connection, plain: str) -> list[Source]:
    """The source rows of all sessions of one id, copies too; those of files that are gone last. ``plain``: its key."""
    rows = db.execute(f"SELECT {', '.join(COLUMNS)} FROM sources WHERE id >= ? AND id < ?", (plain, f"{plain}\x7f"))
    found = [_source(row) for row in rows if _END.split(row[0], maxsplit=1)[0] == plain]
    return sorted(found, key=lambda source: (source["state"] == "gone", source["id"]))


def by_path(db: sqlite3.Connection, paths: Iterable[str] | None = None) -> dict[str, Source]:
    """Source rows by path: every one, or those of ``paths`` and what lies below them."""
    return {source["path"]: source for source in map(_source, _select(db, ", ".join(COLUMNS), paths))}


def here(db: sqlite3.Connection, paths: Iterable[str] | None = None) -> list[tuple[str, str, str | None, str | None]]:
    """(id, path, role, key of its session) of the sources that were there when last looked at, of ``paths`` or all."""
    rows = _select(db, "id, path, role, session_id, state", paths)
    return [
        (sid, path_of(text), role, key)
        for sid, text, role, key, state in rows
        if state in _HERE and isinstance(sid, str) and isinstance(text, str)  # what is damaged leads nowhere
    ]


def _select(db: sqlite3.Connection, columns: str, paths: Iterable[str] | None) -> list[tuple[Any, ...]]:
    sql, order = f"SELECT {columns} FROM sources", "state <> 'gone', id"  # of two at one path, the one that is there
    if paths is None:
        return db.execute(f"{sql} ORDER BY {order}").fetchall()
    texts = [(path_text(path), path_text(path + os.sep)) for path in paths]
    where = f"WHERE path = ? OR (path > ? AND path < ?) ORDER BY {order}"
    return [row for at, below in texts for row in db.execute(f"{sql} {where}", (at, below, f"{below[:-1]}0"))]


def known(sources: Mapping[str, Source]) -> dict[str, Known]:
    """What finding need not learn anew of the files that are there. ``sources``: by path."""
    return {
        path: Known(
            stat=stat_of(s),
            format=s["format"],
            role=s["role"],
            session=s["native_id"],
            agent=s["agent_id"],
            folder=s["folder"],
        )
        for path, s in sources.items()
        if s["state"] in ("present", "copy")
    }


def one(db: sqlite3.Connection, sid: str) -> Source:
    """The row of a source that is there."""
    return _source(db.execute(f"SELECT {', '.join(COLUMNS)} FROM sources WHERE id = ?", (sid,)).fetchone())


def _source(row: tuple[Any, ...]) -> Source:
    source = dict(zip(COLUMNS, row, strict=True))
    if isinstance(source["path"], str):
        source["path"] = path_of(source["path"])
    return source


def unrecognised_row(file: Found, sid: str) -> Source:
    """The row of a file that no format recognises."""
    given: Source = dict.fromkeys(COLUMNS)
    stat = file.stat
    given.update(
        id=sid, state="unrecognised", path=file.path, relative_path=clean(file.relative), device=stat.device,
        inode=stat.inode, size=stat.size, mtime_ns=stat.mtime_ns, ctime_ns=stat.ctime_ns,
    )  # fmt: skip
    return given


def forget_unrecognised(db: sqlite3.Connection, path: str) -> None:
    """Drop the row of a file that was not recognised, for there is another one for it now."""
    rows = db.execute("SELECT id FROM sources WHERE path = ? AND state = 'unrecognised'", (path_text(path),)).fetchall()
    for (sid,) in rows:
        forget(db, sid)


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
        and source["format"] == log.format.name
        and stat_of(source) == log.found.stat
    )


def outlives(db: sqlite3.Connection, copy: Source) -> bool:
    """Whether a file that is a copy may be all that is left of its original."""
    sql = "SELECT path, consumed FROM sources WHERE id = ?"
    row = db.execute(sql, (copy["id"].rpartition("@")[0],)).fetchone()
    if row is None:
        return True
    path, consumed = row
    if consumed is not None and copy["size"] < consumed and not is_packed(copy["path"]):
        return False  # what is gone said more
    return not os.path.exists(path_of(path))


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
    return row(log, sid, stat, generation=generation, **account(stream, checkpoint, seen))


def account(stream: Stream, checkpoint: Checkpoint, seen: Prints) -> dict[str, Any]:
    """The columns of a source that follow from its bytes."""
    return {
        "lines": sum(stream.lines.values()), "consumed": seen.consumed, "head_hash": seen.head, "tail_hash": seen.tail,
        "first_at": times.iso(stream.first_at), "last_at": times.iso(stream.last_at), "refused": stream.refused,
        "checkpoint": encode_checkpoint(checkpoint),
    }  # fmt: skip


def side_row(log: LogFile, sid: str, stat: FileStat, generation: int, seen: Prints) -> Source:
    """The row of a file beside the logs that was just read."""
    return row(log, sid, stat, generation=generation, consumed=seen.consumed, head_hash=seen.head, tail_hash=seen.tail)


def write(db: sqlite3.Connection, source: Source, stream: Stream, session: str | None) -> None:
    """Write the account of a log: its row, lines, record types and issues. ``session``: its key, if it has one."""
    for table, rows in account_rows(source["id"], stream, session).items():
        _replace(db, table, "source_id", source["id"], rows)
    put(db, {**source, "session_id": session}, stream.issues)


def account_rows(sid: str, stream: Stream, session: str | None) -> dict[str, list[tuple[Any, ...]]]:
    """The rows beside a source: its lines by disposition, its record types, its issues."""
    return {
        "source_lines": [(sid, d, n) for d, n in sorted(stream.lines.items()) if n],
        "record_types": [(sid, kind, d, n) for (kind, d), n in sorted(_cleaned(stream.types).items())],
        "ingest_issues": _issue_rows(sid, stream.issues, session),
    }


def _cleaned(types: Mapping[tuple[str, str], int]) -> Counter[tuple[str, str]]:
    """Counts by type as a column holds it: two types may differ by a NUL only."""
    merged: Counter[tuple[str, str]] = Counter()
    for (kind, disposition), count in types.items():
        merged[clean(kind) or "", disposition] += count
    return merged


def _issue_rows(sid: str, issues: Iterable[Issue], session: str | None) -> list[tuple[Any, ...]]:
    return [(sid, n, i.kind, clean(i.reason), i.line, i.offset, session) for n, i in enumerate(issues)]


def put(db: sqlite3.Connection, source: Source, issues: Iterable[Issue] = ()) -> None:
    """Write one source row, and make its issues exactly these."""
    sid = source["id"]
    _replace(db, "ingest_issues", "source_id", sid, _issue_rows(sid, issues, source["session_id"]))
    given = {**source, "path": path_text(source["path"]), "archived": _archived(db, source)}
    _replace(db, "sources", "id", sid, [tuple(given[name] for name in COLUMNS)])
    seal(db, sid)


def _archived(db: sqlite3.Connection, source: Source) -> str | None:
    """The column ``archived``: how many bytes of each generation there are; below zero if more were read, null if none."""
    from clm_sessions.store import raw

    row = db.execute("SELECT archived FROM sources WHERE id = ?", (source["id"],)).fetchone()
    told = raw.told_sizes(row[0] if row else None)
    reach = source["consumed"] if is_packed(source["path"]) else source["size"]
    found: list[int | None] = []
    for generation, size in enumerate(raw.sizes(db, source["id"])):
        if generation == (source["generation"] or 0):
            found.append(size if size >= (reach or 0) else -size or None)
        elif generation < len(told) and abs(told[generation] or 0) == size:
            found.append(told[generation])
        else:
            found.append(size or None)
    return dumps(found) if found else None


def _replace(db: sqlite3.Connection, table: str, key: str, value: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Make ``table`` hold exactly ``rows`` where column ``key`` is ``value``."""
    db.execute(f"DELETE FROM {table} WHERE {key} = ?", (value,))
    if rows:
        db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def put_failed(db: sqlite3.Connection, source: Source, issue: Issue) -> None:
    """Record that a file could not be read, beside the issues that are known of its lines."""
    rows = db.execute(
        "SELECT kind, reason, line, byte_offset FROM ingest_issues WHERE source_id = ? ORDER BY seq", (source["id"],)
    )
    kept = [Issue(kind=k, reason=r, line=n, offset=o) for k, r, n, o in rows if k not in FILE_ISSUES]
    put(db, {**source, "state": "unreadable"}, [*kept, issue])
    if source["state"] == "gone":
        db.execute("UPDATE sessions SET source_state = 'present' WHERE id = ?", (source["session_id"],))


def set_state(db: sqlite3.Connection, sid: str, state: str) -> None:
    """Change the state of a source."""
    db.execute("UPDATE sources SET state = ? WHERE id = ?", (state, sid))
    seal(db, sid)


def seal(db: sqlite3.Connection, sid: str) -> None:
    """Make the checksum of a source row right, after it was changed on purpose."""
    db.execute("UPDATE sources SET checksum = ? WHERE id = ?", (checksum(db, sid), sid))


def checksum(db: sqlite3.Connection, sid: str) -> str:
    """What ``sources.checksum`` should be: a digest of the row and of all that the account says of the source.

    Much of it stands nowhere else: the stat of the file, and the issues of files that no format reads.
    """
    told = [db.execute(f"SELECT {', '.join(COLUMNS[:-1])} FROM sources WHERE id = ?", (sid,)).fetchall()]
    told += [
        db.execute(f"SELECT * FROM {table} WHERE source_id = ? ORDER BY 1, 2, 3", (sid,)).fetchall()
        for table in _ACCOUNT
    ]
    return hashlib.blake2b(json.dumps(told, default=repr).encode(), digest_size=16).hexdigest()


def forget(db: sqlite3.Connection, sid: str) -> None:
    """Drop the row and the issues of a source that turned out to be something else."""
    for table, column in (("ingest_issues", "source_id"), ("sources", "id")):
        _replace(db, table, column, sid, [])


def drop(db: sqlite3.Connection, sid: str) -> None:
    """Drop all that is said of a source, and its bytes: another one says and has the same."""
    for table, column in (*((one, "source_id") for one in (*_ACCOUNT, "raw_blocks")), ("sources", "id")):
        _replace(db, table, column, sid, [])


def stored_stream(db: sqlite3.Connection, source: Source, spool: Spool | None = None) -> Stream:
    """The stream of a log as its rows have it, without reading the log. ``spool``: where its long texts are kept."""
    from clm_sessions.store import reader

    sid = source["id"]
    if spool is None:
        calls = dict(enumerate(reader.tool_calls(db, sid)))
        messages = list(reader.messages(db, sid, calls=calls).values())
    else:
        messages = list(map(spool.keep, reader.each_message(db, sid)))
    rows = db.execute(
        "SELECT kind, reason, line, byte_offset FROM ingest_issues WHERE source_id = ? ORDER BY seq", (sid,)
    )
    types = db.execute("SELECT type, disposition, records FROM record_types WHERE source_id = ?", (sid,))
    return Stream(
        messages=messages,
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
    from clm_sessions.read import Checkpoint

    value: Mapping[str, Any] = json.loads(text)
    types = {(kind, disposition): n for kind, disposition, n in value["types"]}
    return Checkpoint(**{**value, "types": types})
