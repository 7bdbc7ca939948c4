"""Rows back to the same values that ``load`` gives, whole or a page at a time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clm_sessions import times
from clm_sessions.frames import parse_args
from clm_sessions.model import (
    Chunk,
    ChunkContent,
    ChunkLine,
    Command,
    Context,
    Fact,
    Issue,
    Message,
    Phase,
    Place,
    Request,
    Session,
    SessionInfo,
    ToolCall,
    Usage,
)
from clm_sessions.store.codec import unpack, unpack_result
from clm_sessions.store.costs import SUMS
from clm_sessions.store.rows import COLUMNS

_ROWS = {table: f"SELECT {', '.join(names)} FROM {table} WHERE session_id = ?" for table, names in COLUMNS.items()}
_Record = dict[str, Any]


def session_infos(db: sqlite3.Connection, where: str = "1", arguments: Sequence[Any] = ()) -> list[SessionInfo]:
    """The facts of the sessions that meet an SQL condition (over alias ``s``), newest first."""
    columns = (*COLUMNS["sessions"], *SUMS)
    names = [f"s.{name}" for name in columns]
    cursor = db.execute(
        f"SELECT {', '.join(names)}, p.path FROM sessions s LEFT JOIN projects p ON p.id = s.project_id "
        f"WHERE {where} ORDER BY s.started_at DESC, s.id",
        arguments,
    )
    return [_info(dict(zip((*columns, "project"), row, strict=True))) for row in cursor]


def load_sessions(db: sqlite3.Connection, sid: str, *, images: bool = True) -> list[Session]:
    """One session and its subagents at any depth, flat, parents before children. KeyError if there is none."""
    order = {sid: None}
    waiting = [sid]
    for each in waiting:
        fresh = [child for child in children(db, each) if child not in order]
        waiting += fresh
        order |= dict.fromkeys(fresh)
    return [load_session(db, each, images=images) for each in order]


def load_session(db: sqlite3.Connection, sid: str, *, images: bool = True) -> Session:
    """One session alone. KeyError if there is none."""
    found = session_infos(db, "s.id = ?", (sid,))
    if not found:
        raise KeyError(sid)
    calls = tool_calls(db, sid, images=images)
    return Session(
        info=found[0],
        messages=list(messages(db, sid, calls=dict(enumerate(calls)), images=images).values()),
        chunks=chunks(db, sid),
        tool_calls=calls,
        requests=requests(db, sid),
        facts=facts(db, sid),
        issues=issues(db, sid),
    )


def children(db: sqlite3.Connection, sid: str) -> list[str]:
    """Keys of the direct subagents of a session that are shown, in start order."""
    rows = db.execute(
        "SELECT id FROM sessions WHERE parent_id = ? AND role = 'subagent' ORDER BY started_at IS NULL, started_at, id",
        (sid,),
    )
    return [row[0] for row in rows]


def contents(
    db: sqlite3.Connection, info: SessionInfo, start: int = 0, stop: int | None = None, *, images: bool = True
) -> list[ChunkContent]:
    """Chunks ``start`` to ``stop`` of a session with their messages, calls and subagents; reads only these."""
    page = chunks(db, info.id, start, stop)
    if not page:
        return []
    first, last = page[0].seq, page[-1].seq
    span = " AND chunk_seq BETWEEN ? AND ?"
    calls = dict(_calls(db, info.id, span, (first, last), images))
    wanted = sorted({m for chunk in page for m in (*chunk.messages, *chunk.sidechain)})
    linked = _Linked(calls, lambda seq: _calls(db, info.id, " AND seq = ?", (seq,), images))
    found = messages(db, info.id, calls=linked, seqs=wanted, images=images)
    agents = {a.agent_id: a for a in session_infos(db, "s.parent_id = ?", (info.id,))}
    return [
        ChunkContent(
            session=info,
            chunk=chunk,
            messages={s: found[s] for s in (*chunk.messages, *chunk.sidechain) if s in found},
            tool_calls=tuple(c for _s, c in sorted(calls.items()) if c.chunk == chunk.seq),
            subagents=tuple(agents[a] for a in chunk.subagents if a in agents),
        )
        for chunk in page
    ]


def chunk_lines(db: sqlite3.Connection, sid: str) -> list[ChunkLine]:
    """All chunks of a session, in order, with as much of each as a list of them shows."""
    names = ", ".join(ChunkLine._fields)
    return list(
        map(ChunkLine._make, db.execute(f"SELECT {names} FROM chunks WHERE session_id = ? ORDER BY seq", (sid,)))
    )


def copied_chunks(db: sqlite3.Connection, sid: str, inherited: int) -> frozenset[int]:
    """The seqs of the chunks of a session that hold nothing but the ``inherited`` messages it begins with."""
    if not inherited:
        return frozenset()
    rows = db.execute(
        "SELECT chunk_seq FROM messages WHERE session_id = ? AND chunk_seq IS NOT NULL GROUP BY chunk_seq HAVING max(seq) < ?",
        (sid, inherited),
    )
    return frozenset(row[0] for row in rows)


def chunks(
    db: sqlite3.Connection, sid: str, start: int = 0, stop: int | None = None, *, members: bool = True
) -> list[Chunk]:
    """Chunks ``start`` to ``stop`` of a session, in order; without ``members`` they do not say which messages they hold."""
    limit = -1 if stop is None else max(0, stop - start)
    names = COLUMNS["chunks"]
    cursor = db.execute(f"{_ROWS['chunks']} AND seq >= ? ORDER BY seq LIMIT ?", (sid, start, limit))
    records = [dict(zip(names, row, strict=True)) for row in cursor]
    held = _members(db, sid, records[0]["seq"], records[-1]["seq"]) if records and members else {}
    return [_chunk(record, tuple(held.get(record["seq"], ()))) for record in records]


def _members(db: sqlite3.Connection, sid: str, first: int, last: int) -> dict[int, list[int]]:
    """The messages of each chunk from ``first`` to ``last``, by seq."""
    found: dict[int, list[int]] = {}
    rows = db.execute(
        "SELECT chunk_seq, seq FROM messages WHERE session_id = ? AND chunk_seq BETWEEN ? AND ? ORDER BY chunk_seq, seq",
        (sid, first, last),
    )
    for chunk, seq in rows:
        found.setdefault(chunk, []).append(seq)
    return found


def messages(
    db: sqlite3.Connection,
    sid: str,
    *,
    calls: Mapping[int, ToolCall],
    seqs: Sequence[int] | None = None,
    images: bool = True,
) -> dict[int, Message]:
    """Messages of a session by seq; all, or those in ``seqs``. ``calls``: the tool calls they refer to."""
    load = _image_loader(db, images)
    names = COLUMNS["messages"]
    found: dict[int, Message] = {}
    for part, arguments in _in_parts("seq", seqs):
        for row in db.execute(f"{_ROWS['messages']}{part} ORDER BY seq", (sid, *arguments)):
            record = dict(zip(names, row, strict=True))
            found[record["seq"]] = _message(record, calls, load)
    return found


def each_message(db: sqlite3.Connection, sid: str, *, at_once: int = 500) -> Iterator[Message]:
    """All messages of a session in order, so many ``at_once`` in memory with the calls they refer to."""
    last = db.execute("SELECT max(seq) FROM messages WHERE session_id = ?", (sid,)).fetchone()[0]
    for start in range(0, 0 if last is None else last + 1, at_once):
        calls = _Linked({}, lambda seq: _calls(db, sid, " AND seq = ?", (seq,), images=True))
        yield from messages(db, sid, calls=calls, seqs=range(start, start + at_once)).values()


def tool_calls(
    db: sqlite3.Connection, sid: str, *, seqs: Sequence[int] | None = None, images: bool = True
) -> list[ToolCall]:
    """Tool calls of a session in order; all, or those in ``seqs`` (ascending)."""
    parts = _in_parts("seq", seqs)
    return [call for part, arguments in parts for _seq, call in _calls(db, sid, part, arguments, images)]


def requests(db: sqlite3.Connection, sid: str) -> list[Request]:
    """All API replies of a session, in order."""
    names = COLUMNS["requests"]
    rows = (dict(zip(names, row, strict=True)) for row in db.execute(f"{_ROWS['requests']} ORDER BY seq", (sid,)))
    return [
        Request(
            reply_id=r["reply_id"],
            model=r["model"],
            message=r["message_seq"],
            usage=_usage_or_none(r),
            at=times.parse(r["at"]),
            chunk=r["chunk_seq"],
            inherited=bool(r["inherited"]),
        )
        for r in rows
    ]


def facts(db: sqlite3.Connection, sid: str) -> list[Fact]:
    """Facts that the log of a session states, in order."""
    rows = db.execute("SELECT name, value, line FROM facts WHERE session_id = ? AND side IS NULL ORDER BY seq", (sid,))
    return [Fact(name=name, value=json.loads(value), line=line) for name, value, line in rows]


def side_facts(db: sqlite3.Connection, sid: str) -> list[tuple[str, Fact]]:
    """Facts from files beside the logs of a bundle, each with the name of its source."""
    rows = db.execute(
        "SELECT side, name, value FROM facts WHERE (session_id = ? OR (session_id > ? AND session_id < ?)) "
        "AND side IS NOT NULL ORDER BY session_id, seq",
        (sid, f"{sid}:", f"{sid};"),
    )
    return [(side, Fact(name=name, value=json.loads(value))) for side, name, value in rows]


def inherited(db: sqlite3.Connection, sid: str) -> int:
    """How many messages at the beginning of a session were copied from another one."""
    row = db.execute("SELECT coalesce(inherited_messages, 0) FROM sessions WHERE id = ?", (sid,)).fetchone()
    return int(row[0]) if row else 0


def issues(db: sqlite3.Connection, sid: str) -> list[Issue]:
    """What was wrong with the log of a session."""
    rows = db.execute(
        "SELECT kind, reason, line, byte_offset FROM ingest_issues WHERE session_id = ? ORDER BY source_id, seq", (sid,)
    )
    return [Issue(kind=kind, reason=reason, line=line, offset=offset) for kind, reason, line, offset in rows]


# -- rows to values ---------------------------------------------------------------------------------------------


def _in_parts(column: str, values: Sequence[int] | None) -> Iterable[tuple[str, Sequence[int]]]:
    """SQL conditions for ``column in values``, few enough variables at a time."""
    if values is None:
        return [("", ())]
    return [
        (f" AND {column} IN ({', '.join('?' * len(part))})", part)
        for part in (values[i : i + 500] for i in range(0, len(values), 500))
    ]


class _Linked(dict[int, ToolCall]):
    """The calls of some chunks by seq. One made in another chunk is read when a message turns out to refer to it."""

    def __init__(self, calls: Mapping[int, ToolCall], read: Callable[[int], list[tuple[int, ToolCall]]]) -> None:
        super().__init__(calls)
        self._read = read

    def __missing__(self, seq: int) -> ToolCall:
        self.update(self._read(seq))
        if seq not in self:
            raise KeyError(seq)
        return self[seq]


def _image_loader(db: sqlite3.Connection, images: bool) -> Callable[[str], bytes | None]:
    def load(sha256: str) -> bytes | None:
        if not images:
            return None
        row = db.execute("SELECT data FROM attachments WHERE sha256 = ?", (sha256,)).fetchone()
        return bytes(row[0]) if row and row[0] is not None else None

    return load


def _calls(
    db: sqlite3.Connection, sid: str, where: str, arguments: Sequence[Any], images: bool
) -> list[tuple[int, ToolCall]]:
    load = _image_loader(db, images)
    names = (*COLUMNS["tool_calls"], "detail")
    columns = ", ".join(f"t.{name}" for name in COLUMNS["tool_calls"])
    where = where.replace(" AND ", " AND t.", 1)
    cursor = db.execute(
        f"SELECT {columns}, m.detail FROM tool_calls t LEFT JOIN messages m "
        "ON m.session_id = t.session_id AND m.seq = t.result_message_seq "
        f"WHERE t.session_id = ?{where} ORDER BY t.seq",
        (sid, *arguments),
    )
    return [(row[1], _call(dict(zip(names, row, strict=True)), load)) for row in cursor]


def _call(r: _Record, load: Callable[[str], bytes | None]) -> ToolCall:
    args = r["input"] if r["input_is_text"] else None
    return ToolCall(
        id=r["tool_use_id"],
        name=r["name"],
        input=parse_args(args) if args is not None else json.loads(r["input"]),
        args=args,
        status=r["status"],
        message=r["message_seq"],
        result=unpack_result(r["result"], r["result_layout"], load),
        is_error=None if r["is_error"] is None else bool(r["is_error"]),
        result_message=r["result_message_seq"],
        chunk=r["chunk_seq"],
        started_at=times.parse(r["started_at"]),
        ended_at=times.parse(r["ended_at"]),
        duration_ms=r["duration_ms"],
        detail=_json(r["detail"]),
        subagent_id=r["subagent_id"],
    )


def _json(text: str | None) -> Any:  # noqa: ANN401 - a JSON value
    return None if text is None else json.loads(text)


def _message(r: _Record, calls: Mapping[int, ToolCall], load: Callable[[str], bytes | None]) -> Message:
    usage, command = _json(r["usage"]), _json(r["command"])
    return Message(
        place=Place(
            line=r["line"], offset=r["byte_offset"], length=r["byte_length"], part=r["part"], earlier=r["earlier"]
        ),
        role=r["role"],
        kind=r["kind"],
        origin=r["origin"],
        blocks=unpack(r["text"], r["thinking"], r["layout"], calls, load),
        at=times.parse(r["at"]),
        uuid=r["uuid"],
        parent_uuid=r["parent_uuid"],
        text=r["display"],
        model=r["model"],
        usage=Usage(**dict(zip((*_USAGE, _HOUR), usage, strict=True))) if usage else None,
        reply_id=r["reply_id"],
        is_sidechain=bool(r["is_sidechain"]),
        is_meta=bool(r["is_meta"]),
        agent_id=r["agent_id"],
        source_tool_use_id=r["source_tool_use_id"],
        command=Command(name=command[0], message=command[1], args=command[2]) if command else None,
        detail=_json(r["detail"]),
    )


_USAGE = tuple(Usage().counts())
_HOUR = "cache_creation_1h"


def _usage(r: _Record) -> Usage:
    return Usage(**{name: r[f"{name}_tokens"] for name in _USAGE})


def _usage_or_none(r: _Record) -> Usage | None:
    usage = replace(_usage(r), cache_creation_1h=r[f"{_HOUR}_tokens"])
    return None if usage == Usage() else usage


def _chunk(r: _Record, members: tuple[int, ...]) -> Chunk:
    return Chunk(
        seq=r["seq"],
        kind=r["kind"],
        key=r["key"],
        messages=members,
        sidechain=tuple(_json(r["sidechain"]) or ()),
        subagents=tuple(_json(r["subagents"]) or ()),
        started_at=times.parse(r["started_at"]),
        ended_at=times.parse(r["ended_at"]),
        duration_ms=r["duration_ms"],
        span_ms=r["span_ms"],
        usage=_usage(r),
        status=r["status"],
        preview=r["preview"],
        tool_calls=r["tool_calls"],
        tool_errors=r["tool_errors"],
        context_before=r["context_before"],
        context_after=r["context_after"],
    )


_SAME = (
    "id", "native_id", "format", "role", "agent_id", "parent_id", "parent_agent_id", "link", "description",
    "agent_type", "team", "member", "color", "forked_from", "project", "project_name", "cwd", "git_branch", "version",
    "provider", "agent", "title", "duration_ms", "messages", "chunks", "prompts", "tool_calls", "tool_errors",
    "unanswered", "interruptions", "compactions", "subagents", "images", "requests", *SUMS,
)  # fmt: skip


def _info(r: _Record) -> SessionInfo:
    phases = _json(r["context_phases"]) or ()
    return SessionInfo(
        **{name: r[name] for name in _SAME},
        parent_call=r["parent_tool_call_id"],
        parallel=bool(r["parallel"]),
        ongoing=r["status"] == "ongoing",
        models=tuple(_json(r["models"]) or ()),
        started_at=times.parse(r["started_at"]),
        ended_at=times.parse(r["ended_at"]),
        usage=_usage(r),
        context=Context(
            consumption=r["context_tokens"],
            phases=tuple(Phase(number=n, contribution=c, peak=p, after=a) for n, c, p, a in phases),
        ),
    )
