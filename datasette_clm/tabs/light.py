"""Rows without their long texts, as values of the core: enough for a timeline, quick for the longest session."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clm_sessions import times
from clm_sessions.frames import parse_args
from clm_sessions.model import Message, Place, SessionInfo, ToolCall
from clm_sessions.store import reader
from clm_sessions.view.timeline import Log, Turn

_INPUT = 20_000
"""Arguments longer than this (characters) are not read: nothing of them would fit on a row."""
_PLACE = Place(line=0, offset=0, length=0)
MESSAGES, NESTED, AGENTS, DEPTH = 2_000, 120, 60, 5


class Lights:
    """Reads the logs that bars are made of. ``tools``: whether calls may be read. At most ``AGENTS`` subagents in all."""

    def __init__(self, db: sqlite3.Connection, info: SessionInfo, *, tools: bool) -> None:
        self._db, self._info, self._tools = db, info, tools
        self._left = AGENTS

    def turn(self, turn: Turn, limit: int = MESSAGES) -> Log:
        """The part of the session that is one turn; at most ``limit`` of its messages."""
        log = self._log(self._info, turn.first, turn.last, limit, turn.subagents, 0)
        row = self._db.execute(
            "SELECT at FROM messages WHERE session_id = ? AND chunk_seq = ? AND at IS NOT NULL ORDER BY seq DESC LIMIT 1",
            (self._info.id, turn.first - 1),
        ).fetchone()
        return replace(log, before=times.parse(row[0]) if row else None)

    def _log(self, info: SessionInfo, first: int, last: int, limit: int, wanted: Sequence[str], depth: int) -> Log:
        span = (info.id, first, last)
        messages, chunks = _messages(self._db, span, limit + 1, own=depth > 0)
        left = 0
        if len(messages) > limit:
            total = "SELECT count(*) FROM messages WHERE session_id = ? AND chunk_seq BETWEEN ? AND ?"
            left = int(self._db.execute(total, span).fetchone()[0]) - limit
            messages.popitem()
        return Log(
            info=info,
            messages=messages,
            chunks=chunks,
            calls=[call for call in self._calls(span, messages) if call.message in messages],
            agents=self._agents(info, wanted, depth) if wanted and depth < DEPTH else (),
            left=left,
        )

    def _calls(self, span: tuple[str, int, int], messages: Mapping[int, Message]) -> list[ToolCall]:
        return _calls(self._db, span, max(messages, default=-1)) if self._tools else []

    def _agents(self, info: SessionInfo, wanted: Sequence[str], depth: int) -> list[Log]:
        found = {a.agent_id: a for a in reader.session_infos(self._db, "s.parent_id = ?", (info.id,))}
        logs = []
        for agent in (found[name] for name in wanted if name in found):
            if self._left <= 0:
                break
            self._left -= 1
            nested = [a for chunk in reader.chunks(self._db, agent.id, 0, 200, members=False) for a in chunk.subagents]
            logs.append(self._log(agent, 0, 1 << 31, NESTED, nested, depth + 1))
        return logs


def _messages(
    db: sqlite3.Connection, span: tuple[str, int, int], limit: int, *, own: bool
) -> tuple[dict[int, Message], dict[int, int]]:
    """Messages of some chunks by seq, without content, and the chunk of each; ``own``: not those copied from elsewhere."""
    rows = db.execute(
        "SELECT seq, chunk_seq, kind, origin, role, at, reply_id, model FROM messages "
        "WHERE session_id = ? AND chunk_seq BETWEEN ? AND ? AND (NOT ? OR coalesce(inherited, 0) = 0) "
        "ORDER BY chunk_seq, seq LIMIT ?",
        (*span, own, limit),
    ).fetchall()
    found = {
        seq: Message(
            place=_PLACE, role=role, kind=kind, origin=origin, at=times.parse(at), reply_id=reply_id, model=model
        )
        for seq, _chunk, kind, origin, role, at, reply_id, model in rows
    }
    return found, {row[0]: row[1] for row in rows}


def _calls(db: sqlite3.Connection, span: tuple[str, int, int], last: int) -> list[ToolCall]:
    """The tool calls of some chunks up to message ``last``, without their results and without very long arguments."""
    rows = db.execute(
        "SELECT tool_use_id, name, CASE WHEN length(input) <= ? THEN input END, input_is_text, status, "
        "message_seq, chunk_seq, started_at, ended_at, duration_ms, subagent_id FROM tool_calls "
        "WHERE session_id = ? AND chunk_seq BETWEEN ? AND ? AND message_seq <= ? ORDER BY seq",
        (_INPUT, *span, last),
    )
    return [
        ToolCall(
            id=id, name=name, input=_given(given, is_text), status=status, message=message, chunk=chunk,
            started_at=times.parse(start), ended_at=times.parse(end), duration_ms=took, subagent_id=agent,
        )
        for id, name, given, is_text, status, message, chunk, start, end, took, agent in rows  # noqa: A001 - the field's name
    ]  # fmt: skip


def _given(text: str | None, is_text: int | None) -> Any:  # noqa: ANN401 - a JSON value
    if text is None:
        return {}
    return parse_args(text) if is_text else json.loads(text)
