"""Small invented Codex rollouts."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

from clm_sessions.formats.base import StreamContext
from clm_sessions.formats.codex import Codex
from clm_sessions.model import Stream
from clm_sessions.read import read_stream

THREAD = "01980000-0000-7000-8000-{:012x}"
TURN = "01990000-0000-7000-8000-{:012x}"
Record = dict[str, Any]


def thread_id(number: int = 1) -> str:
    """The id of a thread."""
    return THREAD.format(number)


def turn_id(number: int) -> str:
    """The id of a turn."""
    return TURN.format(number)


def record(kind: str, payload: Record, second: int = 0) -> Record:
    """A record in its envelope."""
    stamp = f"2026-03-02T{10 + second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}.000Z"
    return {"timestamp": stamp, "type": kind, "payload": payload}


def meta(number: int = 1, second: int = 0, **more: Any) -> Record:
    """The first record of a thread."""
    payload = {
        "id": thread_id(number), "timestamp": "2026-03-02T10:00:00.000Z", "cwd": "/home/dev/garden",
        "originator": "codex_cli_rs", "cli_version": "0.140.0", "source": "cli", "model_provider": "openai",
        "git": {"branch": "main"}, **more,
    }  # fmt: skip
    return record("session_meta", payload, second)


def started_by(number: int, **more: Any) -> Record:
    """What the ``session_meta`` of a sub-agent says of the thread that started it."""
    spawn = {"parent_thread_id": thread_id(number), "depth": 1, "agent_role": "explorer"}
    return {"source": {"subagent": {"thread_spawn": spawn}}, "forked_from_id": thread_id(number), **more}


def item(kind: str, second: int = 0, **payload: Any) -> Record:
    """A ``response_item``."""
    return record("response_item", {"type": kind, **payload}, second)


def event(kind: str, second: int = 0, **payload: Any) -> Record:
    """An ``event_msg``."""
    return record("event_msg", {"type": kind, **payload}, second)


def says(role: str, *texts: str, second: int = 0) -> Record:
    """A message item."""
    part = "output_text" if role == "assistant" else "input_text"
    return item("message", second, role=role, content=[{"type": part, "text": text} for text in texts])


def opens(turn: int | str, second: int = 0, **more: Any) -> list[Record]:
    """The records that open a turn."""
    name = turn_id(turn) if isinstance(turn, int) else turn
    context = {"turn_id": name, "cwd": "/home/dev/garden", "model": "gpt-test-1", "effort": "low", **more}
    return [event("task_started", second, turn_id=name), record("turn_context", context, second)]


def asks(text: str, second: int = 0) -> list[Record]:
    """A prompt in both voices."""
    return [says("user", text, second=second), event("user_message", second, message=text, images=[])]


def answers(text: str, second: int = 0) -> list[Record]:
    """A reply in both voices."""
    return [event("agent_message", second, message=text), says("assistant", text, second=second)]


def calls(call: str, name: str = "exec_command", second: int = 0, **args: Any) -> Record:
    """A call."""
    return item("function_call", second, name=name, call_id=call, arguments=json.dumps(args))


def gives(call: str, output: Any, second: int = 0) -> Record:
    """The output of a call."""
    return item("function_call_output", second, call_id=call, output=output)


def usage(given: int, cached: int, output: int, reasoning: int = 0) -> Record:
    """Token counts as Codex writes them."""
    return {
        "input_tokens": given, "cached_input_tokens": cached, "output_tokens": output,
        "reasoning_output_tokens": reasoning, "total_tokens": given + output,
    }  # fmt: skip


def counts(total: Record, last: Record | None = None, second: int = 0) -> Record:
    """A ``token_count``."""
    return event("token_count", second, info={"total_token_usage": total, "last_token_usage": last or total})


def turn(number: int, prompt: str, reply: str, total: Record, second: int = 0) -> list[Record]:
    """A whole turn: prompt, reply, count."""
    return [
        *opens(number, second),
        *asks(prompt, second + 1),
        *answers(reply, second + 2),
        counts(total, second=second + 3),
        event("task_complete", second + 4, turn_id=turn_id(number)),
    ]


def restamped(records: list[Record], second: int) -> list[Record]:
    """A copy with new times."""
    return [record(r["type"], r["payload"], second) for r in records]


def data(records: list[Record]) -> bytes:
    """The bytes of a rollout."""
    return b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in records)


def write(folder: Path, number: int, records: list[Record]) -> Path:
    """A rollout where Codex would keep it."""
    path = folder / "sessions" / "2026" / "03" / "02" / f"rollout-2026-03-02T10-00-00-{thread_id(number)}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data(records))
    return path


def stream(*records: Record) -> Stream:
    """What these records say."""
    context = StreamContext(role="main", session=thread_id())
    return read_stream(Codex(), context, BytesIO(data(list(records))))[0]
