"""Values to rows: what the tables should hold for a bundle of sessions, as tuples in column order.

Columns that depend on other sessions (``inherited``, ``own_*``, ``forked_from``) get the answer of a session
that shares nothing; ``lineage`` corrects them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

from clm_sessions import times
from clm_sessions.model import (
    Chunk,
    Fact,
    Image,
    Message,
    Request,
    Session,
    SessionInfo,
    ToolCall,
    ToolResult,
    Usage,
)
from clm_sessions.store import brief, touched
from clm_sessions.store.codec import Packer, clean, dumps, pack_result

Row = tuple[Any, ...]
Rows = dict[str, Iterable[Row]]
Only = Mapping[str, Mapping[str, Sequence[int]]]
"""By session and table, the seqs of the rows that may differ from the stored ones, in order. None named: all may."""

COLUMNS: dict[str, tuple[str, ...]] = {
    "projects": ("id", "name", "path"),
    "sessions": (
        "id", "title", "project_id", "format", "role", "status", "model", "git_branch", "started_at", "ended_at", "day",
        "duration_ms", "prompts", "chunks", "messages", "tool_calls", "tool_errors", "unanswered", "interruptions",
        "compactions", "subagents", "images", "requests", "input_tokens", "output_tokens", "cache_read_tokens",
        "cache_creation_tokens", "reasoning_tokens", "own_input_tokens", "own_output_tokens", "own_cache_read_tokens",
        "own_cache_creation_tokens", "own_chunks", "own_tool_calls", "inherited_messages", "context_tokens", "context_phases", "parent_id",
        "parent_tool_call_id", "parent_agent_id", "link", "agent_id", "agent_type", "description", "team", "member",
        "color", "parallel", "forked_from", "native_id", "cwd", "project_name", "version", "provider", "agent", "models",
        "source_state",
    ),
    "chunks": (
        "session_id", "seq", "kind", "preview", "status", "started_at", "ended_at", "day", "duration_ms", "span_ms",
        "messages", "tool_calls", "tool_errors", "input_tokens", "output_tokens", "cache_read_tokens",
        "cache_creation_tokens", "reasoning_tokens", "context_before", "context_after", "key", "sidechain", "subagents",
    ),
    "messages": (
        "session_id", "seq", "chunk_seq", "preview", "kind", "origin", "role", "model", "at", "day", "inherited", "is_sidechain",
        "is_meta", "agent_id", "uuid", "parent_uuid", "reply_id", "source_tool_use_id", "line", "byte_offset",
        "byte_length", "part", "earlier", "usage", "command", "layout", "detail", "display", "text", "thinking",
    ),
    "tool_calls": (
        "session_id", "seq", "chunk_seq", "message_seq", "name", "subject", "status", "started_at", "ended_at", "day",
        "duration_ms", "project_id", "is_error", "path", "inherited", "subagent_id", "tool_use_id", "result_message_seq",
        "input_is_text", "result_layout", "input", "result",
    ),
    "requests": (
        "session_id", "seq", "chunk_seq", "message_seq", "model", "at", "day", "project_id", "inherited", "input_tokens",
        "output_tokens", "cache_read_tokens", "cache_creation_tokens", "reasoning_tokens", "cache_creation_1h_tokens",
        "reply_id",
    ),
    "session_models": ("session_id", "model", "requests", "output_tokens"),
    "session_tools": ("session_id", "tool", "calls", "errors"),
    "session_files": (
        "session_id", "path", "file", "access", "reads", "edits", "writes", "lines_added", "lines_removed", "first_chunk",
        "last_chunk", "first_at", "last_at", "day", "project_id", "own_reads", "own_changes", "inherited",
        "read_by", "changed_by",
    ),
    "facts": ("session_id", "seq", "name", "value", "line", "side"),
    "message_attachments": ("session_id", "message_seq", "position", "sha256"),
}  # fmt: skip
KEYS: dict[str, int] = {
    "projects": 1, "sessions": 1, "chunks": 2, "messages": 2, "tool_calls": 2, "requests": 2, "session_models": 2,
    "session_tools": 2, "session_files": 2, "facts": 2, "message_attachments": 3,
}  # fmt: skip
"""How many leading columns make the key of each table."""

HEAVY = frozenset(("messages", "tool_calls"))
"""The tables that hold the long texts."""
_SQLITE_INTEGER = 1 << 63


def bundle_rows(
    sessions: Sequence[Session],
    side: Sequence[tuple[str, Fact]] = (),
    gone: Collection[str | None] = (),
    *,
    lazily: bool = False,
    only: Only | None = None,
) -> Rows:
    """All rows of a bundle by table. ``side``: facts from files beside the logs, by source, of the first session.

    ``gone``: keys of the sessions whose log is no longer there. ``lazily``: the rows that hold the long texts are made
    one by one, as they are asked for, once. ``only``: rows to leave the others out.
    """
    parts = [
        _tables(
            session,
            side if number == 0 else (),
            "gone" if session.id in gone else "present",
            {} if only is None else only.get(session.id, {}),
        )
        for number, session in enumerate(sessions)
    ]
    rows: Rows = {}
    for table in COLUMNS:
        joined = chain.from_iterable([part[table] for part in parts])
        rows[table] = joined if lazily and table in HEAVY else list(joined)
    return rows


def images(sessions: Sequence[Session]) -> dict[str, Image]:
    """Every image of the sessions by hash."""
    return {i.sha256: i for s in sessions for m in s.messages for i in message_images(m)}


def message_images(message: Message) -> list[Image]:
    """The images of a message in order, those inside tool results too."""
    found: list[Image] = []
    for block in message.blocks:
        if isinstance(block, Image):
            found.append(block)
        elif isinstance(block, ToolResult) and not isinstance(block.content, str):
            found += [part for part in block.content if isinstance(part, Image)]
    return found


def project_id(path: str) -> str:
    """A readable key that holds no path: the last part of the path and a digest of all of it."""
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in project_name(path)).strip("-").lower()
    return f"{name[:40] or 'project'}-{hashlib.sha256(path.encode('utf-8', 'replace')).hexdigest()[:8]}"


def project_name(path: str) -> str:
    """The last part of a working directory, on any platform."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or path


def unlike(session: Session, before: Session) -> dict[str, list[int]]:
    """By table, the seqs whose rows may differ between two states of a session that share the values of what is the same."""
    states = (session, before)
    same = (session.info.cwd, session.info.project) == (before.info.cwd, before.info.project)  # they stand in rows
    other = {n for n, (a, b) in enumerate(zip_longest(session.messages, before.messages)) if a is not b or not same}
    calls = [
        n
        for n, (a, b) in enumerate(zip_longest(session.tool_calls, before.tool_calls))
        if a != b or a.message in other or a.result_message in other
    ]
    chunks = _differing(session.chunks, before.chunks)
    for state in states:
        for call in (state.tool_calls[n] for n in calls if n < len(state.tool_calls)):
            other |= {call.message} | ({call.result_message} if call.result_message is not None else set())
        other.update(seq for n in chunks if n < len(state.chunks) for seq in state.chunks[n].messages)
    requests = [n for n, (a, b) in enumerate(zip_longest(session.requests, before.requests)) if a != b or not same]
    return {"messages": sorted(other), "tool_calls": calls, "chunks": chunks, "requests": requests}


def _differing(new: Sequence[Any], old: Sequence[Any]) -> list[int]:
    return [n for n, (a, b) in enumerate(zip_longest(new, old)) if a != b]


def _tables(
    session: Session, side: Sequence[tuple[str, Fact]], source_state: str, only: Mapping[str, Sequence[int]]
) -> Rows:
    info, sid = session.info, session.info.id
    project = [] if info.project is None else [_project_row(info.project, info.project_name)]
    pid = None if info.project is None else project_id(info.project)
    facts = [(None, f) for f in session.facts] + list(side)
    return {
        "projects": project,
        "sessions": [_session_row(info, session, source_state)],
        "chunks": (_chunk_row(sid, chunk) for _seq, chunk in _picked(session.chunks, only.get("chunks"))),
        "messages": _message_rows(sid, session, only.get("messages")),
        "tool_calls": (
            _call_row(sid, seq, call, pid, info.cwd)
            for seq, call in _picked(session.tool_calls, only.get("tool_calls"))
        ),
        "requests": (_request_row(sid, seq, one, pid) for seq, one in _picked(session.requests, only.get("requests"))),
        "session_models": _model_rows(sid, session.requests),
        "session_tools": tool_rows(sid, session.tool_calls),
        "session_files": [_file_row(sid, file, info.cwd, pid) for file in touched.files(session)],
        "facts": ((sid, n, f.name, dumps(f.value), f.line, name) for n, (name, f) in enumerate(facts)),
        "message_attachments": (
            (sid, seq, n, image.sha256)
            for seq, message in enumerate(session.messages)
            if message.blocks
            for n, image in enumerate(message_images(message))
        ),
    }


def _picked(values: Sequence[Any], only: Sequence[int] | None) -> Iterator[tuple[int, Any]]:
    """The values by seq; those of ``only``, if there are such."""
    if only is None:
        yield from enumerate(values)
    else:
        yield from ((seq, values[seq]) for seq in only if seq < len(values))


def _project_row(path: str, name: str | None) -> Row:
    return project_id(path), clean(name or project_name(path)), clean(path)


def _message_rows(sid: str, session: Session, only: Sequence[int] | None) -> Iterator[Row]:
    chunk_of = {m: c.seq for c in session.chunks for m in c.messages}
    packer = Packer(session.tool_calls)
    for seq, message in _picked(session.messages, only):
        yield _message_row(sid, seq, chunk_of.get(seq), message, packer, session.info.cwd)


def _tokens(usage: Usage | None) -> Row:
    if usage is None:
        return (None,) * 5
    return _stored((usage.input, usage.output, usage.cache_read, usage.cache_creation, usage.reasoning))


def _stored(counts: Row) -> Row:
    for n in counts:
        if n is not None and not -_SQLITE_INTEGER < n < _SQLITE_INTEGER:
            return tuple(n if n is not None and abs(n) < _SQLITE_INTEGER else None for n in counts)
    return counts


def _hour(usage: Usage | None) -> Row:
    """Of a reply: what the cache keeps for an hour."""
    return (None,) if usage is None else _stored((usage.cache_creation_1h,))


def _numbers(counts: Row) -> str:
    return f"[{','.join('null' if n is None else str(n) for n in counts)}]"


def status(session: Session) -> str:
    """How the session stands: ongoing, interrupted, error (it ended in an API error), unanswered, complete, empty."""
    if session.info.ongoing:
        return "ongoing"
    for chunk in reversed(session.chunks):
        last = session.messages[chunk.messages[-1]]
        if chunk.kind == "user" and last.origin == "prompt":
            return "unanswered"
        if chunk.kind == "ai":
            if chunk.status == "interrupted":
                return "interrupted"
            return "error" if last.origin == "synthetic" else "complete"
    return "empty" if not session.chunks else "complete"


def _owned(session: Session) -> Row:
    """Tokens of the replies, each once: what a session owns as long as it shares nothing."""
    counts = [_tokens(r.usage)[:4] for r in session.requests]
    known = [[n for n in column if n is not None] for column in zip(*counts, strict=True)] or [[]] * 4
    return tuple(sum(column) if column else None for column in known)


def _session_row(info: SessionInfo, session: Session, source_state: str) -> Row:
    tokens = _tokens(info.usage)
    phases = [[p.number, p.contribution, p.peak, p.after] for p in info.context.phases]
    return (
        info.id, clean(info.title), project_id(info.project) if info.project is not None else None, info.format,
        info.role, status(session), info.models[0] if info.models else None, clean(info.git_branch),
        times.iso(info.started_at), times.iso(info.ended_at), times.day(info.started_at), info.duration_ms,
        info.prompts, info.chunks, info.messages, info.tool_calls, info.tool_errors, info.unanswered,
        info.interruptions, info.compactions, info.subagents, info.images, info.requests, *tokens, *_owned(session), info.chunks, len(session.tool_calls), 0,
        info.context.consumption, dumps(phases) if phases else None, info.parent_id, info.parent_call,
        info.parent_agent_id, info.link, info.agent_id, clean(info.agent_type), clean(info.description),
        clean(info.team), clean(info.member), clean(info.color), int(info.parallel), None, info.native_id,
        clean(info.cwd), clean(info.project_name), clean(info.version), clean(info.provider), clean(info.agent),
        dumps(info.models), source_state,
    )  # fmt: skip


def _chunk_row(sid: str, chunk: Chunk) -> Row:
    return (
        sid, chunk.seq, chunk.kind, clean(chunk.preview), chunk.status, times.iso(chunk.started_at),
        times.iso(chunk.ended_at), times.day(chunk.started_at), chunk.duration_ms, chunk.span_ms, len(chunk.messages),
        chunk.tool_calls, chunk.tool_errors, *_tokens(chunk.usage), chunk.context_before, chunk.context_after,
        chunk.key, dumps(chunk.sidechain) if chunk.sidechain else None,
        dumps(chunk.subagents) if chunk.subagents else None,
    )  # fmt: skip


def _message_row(sid: str, seq: int, chunk: int | None, m: Message, packer: Packer, folder: str | None) -> Row:
    text, thinking, layout = packer.pack(seq, m.blocks)
    usage = None if m.usage is None else _numbers(_tokens(m.usage) + _hour(m.usage))
    command = dumps((m.command.name, m.command.message, m.command.args)) if m.command is not None else None
    return (
        sid, seq, chunk, brief.preview(m, text, thinking, folder), m.kind, m.origin, m.role, clean(m.model), times.iso(m.at), times.day(m.at), 0,
        int(m.is_sidechain), int(m.is_meta), clean(m.agent_id), clean(m.uuid), clean(m.parent_uuid),
        clean(m.reply_id), clean(m.source_tool_use_id), m.place.line, m.place.offset, m.place.length, m.place.part,
        m.place.earlier, usage, command, layout, None if m.detail is None else dumps(m.detail), clean(m.text), text, thinking,
    )  # fmt: skip


def _call_row(sid: str, seq: int, call: ToolCall, project: str | None, folder: str | None) -> Row:
    result, layout = pack_result(call.result)
    return (
        sid, seq, call.chunk, call.message, clean(call.name), brief.subject(call, folder), call.status,
        times.iso(call.started_at), times.iso(call.ended_at), times.day(call.started_at), call.duration_ms, project,
        None if call.is_error is None else int(call.is_error), clean(touched.path_of(call)), 0, call.subagent_id,
        clean(call.id), call.result_message, int(call.args is not None), layout,
        clean(call.args) if call.args is not None else dumps(call.input), result,
    )  # fmt: skip


def _request_row(sid: str, seq: int, r: Request, project: str | None) -> Row:
    return (
        sid, seq, r.chunk, r.message, clean(r.model), times.iso(r.at), times.day(r.at), project, 0, *_tokens(r.usage),
        *_hour(r.usage), clean(r.reply_id),
    )  # fmt: skip


def _file_row(sid: str, file: touched.File, cwd: str | None, project: str | None) -> Row:
    changes = file.edits + file.writes
    return (
        sid, file.path, touched.below(file.path, clean(cwd)), "changed" if changes else "read", file.reads, file.edits,
        file.writes, file.added, file.removed, file.first_chunk, file.last_chunk, times.iso(file.first_at),
        times.iso(file.last_at), times.day(file.last_at), project, file.reads, changes, 0,
        dumps(file.read_by), dumps(file.changed_by),
    )  # fmt: skip


def _model_rows(sid: str, requests: Sequence[Request]) -> list[Row]:
    count: Counter[str] = Counter()
    output: dict[str, int | None] = {}
    for request in requests:
        model = clean(request.model)
        if model is None:
            continue
        count[model] += 1
        tokens = _tokens(request.usage)[1]
        before = output.get(model)
        output[model] = before if tokens is None else (before or 0) + tokens
    return [(sid, model, n, output[model]) for model, n in count.items()]


def tool_rows(sid: str, calls: Sequence[ToolCall]) -> list[Row]:
    """The rows of ``session_tools``: each tool that was called, with its calls and those that failed."""
    count = Counter(clean(call.name) for call in calls if call.name is not None)
    errors = Counter(clean(call.name) for call in calls if call.status == "error")
    return [(sid, name, n, errors[name]) for name, n in count.items()]
