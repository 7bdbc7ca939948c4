"""Claude Code entries for tests, as small as a test can say them, and the way from entries to sessions."""

from __future__ import annotations

import io
import json
from typing import Any

from clm_sessions.derive import Bundle, derive
from clm_sessions.formats.base import StreamContext
from clm_sessions.formats.claude_code import ClaudeCode
from clm_sessions.model import Fact, Session, Stream
from clm_sessions.read import read_stream

FORMAT = ClaudeCode()
_START = 9 * 60


def clock(seconds: float | None) -> str | None:
    """An ISO time so many seconds after 2026-03-02 09:00 UTC."""
    if seconds is None:
        return None
    minutes, rest = divmod(seconds, 60)
    total = _START + int(minutes)
    return f"2026-03-02T{total // 60:02d}:{total % 60:02d}:{rest:06.3f}Z"


def entry(kind: str, uuid: str | None, at: float | None = None, **more: Any) -> dict[str, Any]:
    found = {"type": kind, "uuid": uuid, "timestamp": clock(at), **more}
    return {key: value for key, value in found.items() if value is not None}


def user(uuid: str, content: Any, at: float | None = None, **more: Any) -> dict[str, Any]:
    return entry("user", uuid, at, message={"role": "user", "content": content}, **more)


def reply(
    uuid: str,
    content: Any,
    at: float | None = None,
    *,
    usage: Any = None,
    reply_id: str | None = None,
    model="m",
    **more,
):
    content = [{"type": "text", "text": content}] if isinstance(content, str) else content
    message = {"role": "assistant", "model": model, "id": reply_id or f"msg_{uuid}", "content": content}
    if usage is not None:
        message["usage"] = usage
    return entry("assistant", uuid, at, message=message, **more)


def call(use: str, name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": use, "name": name, "input": given}


def result(use: str, content: Any = "done", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": use, "content": content, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def stream(*entries: Any, agent: str | None = None) -> Stream:
    data = "".join(json.dumps(e) + "\n" for e in entries).encode()
    context = StreamContext(role="agent" if agent else "main", session="s", agent=agent)
    return read_stream(FORMAT, context, io.BytesIO(data))[0]


def sessions(
    *main: Any, agents: dict[str, list[Any]] | None = None, side: list[Fact] | None = None
) -> dict[str, Session]:
    """The flat sessions by agent id ("" for the main one); no main log where no entry is given."""
    bundle = Bundle(
        format="claude-code",
        key="s",
        session="s",
        main=stream(*main) if main else None,
        agents={name: stream(*entries, agent=name) for name, entries in (agents or {}).items()},
        side=side or [],
    )
    return {s.info.agent_id or "": s for s in derive(bundle, FORMAT.dialect)}


def session(*entries: Any) -> Session:
    return sessions(*entries)[""]
