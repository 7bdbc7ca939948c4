"""Reads Claude Code folders with the product's loader and tells the outcome in the shape of the vectors.

See ``tests/vectors/claude/README.md`` for that shape.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from clm_sessions.derive import Bundle, derive
from clm_sessions.derive.steps import correspondence, items, last_output, steps
from clm_sessions.derive.usage import total
from clm_sessions.formats.base import StreamContext
from clm_sessions.formats.claude_code import ClaudeCode
from clm_sessions.library import load_all
from clm_sessions.model import Image, Session, Stream, Text, ToolCall, ToolUse, Unknown, Usage
from clm_sessions.read import read_stream
from clm_sessions.times import iso

TESTS = Path(__file__).parents[1]
FOLDER = Path(os.environ.get("CLM_VECTORS") or TESTS / "vectors") / "claude"
LONG = 2000
FORMAT = ClaudeCode()
DIALECT = FORMAT.dialect


def vectors() -> list[Path]:
    """The folders that are one vector each."""
    return sorted(p.parent for p in FOLDER.glob("*/expected.json"))


def expected(vector: Path) -> dict[str, Any]:
    """The answer for the default profile: ``expected_spec.json`` where it differs from what was measured."""
    spec = vector / "expected_spec.json"
    return json.loads((spec if spec.exists() else vector / "expected.json").read_text(encoding="utf-8"))


def outcome(vector: Path) -> dict[str, Any]:
    """``sessions`` of a vector folder as our loader sees them."""
    sessions: dict[str, Any] = {}
    for folder in sorted((vector / "projects").iterdir()):
        if not folder.is_dir():
            continue
        loaded = {s.info.native_id: s for s in load_all(folder) if s.info.role == "main"}
        for log in sorted(folder.glob("*.jsonl")):
            located = FORMAT.locate(log)
            if located is None or located.role != "main":
                continue
            session = loaded.get(log.stem) if log.stat().st_size else _empty(log)
            if session is not None:
                sessions[f"{folder.name}/{log.stem}"] = told(session, log)
    return sessions


def _empty(log: Path) -> Session:
    """A file without a byte is no log of any format; the vectors list it as a session without messages."""
    return derive(Bundle(format="claude-code", key=log.stem, session=log.stem, main=Stream()), DIALECT)[0]


def told(session: Session, log: Path) -> dict[str, Any]:
    agents = sorted(_below(session), key=lambda s: (s.info.started_at is None, s.info.started_at, s.info.agent_id))
    texts = [session.messages[c.messages[0]].display for c in session.chunks if c.kind == "user"]
    title = next((text[:100] for text in texts if text), None)
    phases = session.info.context.phases
    return {
        "parse_errors": _parse_errors(session, log),
        "messages": [
            [m.uuid, m.role, "hardNoise" if m.kind == "hard_noise" else m.kind, iso(m.at)] for m in session.messages
        ],
        "chunks": _chunks(session),
        "subagents": [_agent(agent) for agent in agents],
        "subagent_chunks": {agent.info.agent_id: _agent_chunks(agent) for agent in agents},
        "metrics": _metrics(session, list(range(len(session.messages)))),
        "ongoing": session.info.ongoing,
        "title": title,
        "meta": {
            "context_consumption": session.info.context.consumption,
            "compaction_count": session.info.compactions,
            "phases": [
                # Where nothing follows a compaction the peer writes 0.
                [
                    p.number,
                    p.contribution,
                    p.peak,
                    0 if p.after is None and p.number <= session.info.compactions else p.after,
                ]
                for p in phases
            ],
        },
    }


def _below(session: Session) -> list[Session]:
    found = list(session.subagents)
    for each in found:
        found.extend(each.subagents)
    return found


def _parse_errors(session: Session, log: Path) -> int:
    """Bad lines, each once, and a torn tail that is still pending (decision 2)."""
    with log.open("rb") as file:
        stream, _ = read_stream(FORMAT, StreamContext(role="main", session=log.stem), file)
    bad = {i.line for i in session.issues if i.kind == "bad_line"}
    return len(bad) + stream.lines.get("pending", 0)


def _tokens(usage: Usage) -> dict[str, int]:
    counts = {
        "input_tokens": usage.input or 0,
        "output_tokens": usage.output or 0,
        "cache_read_tokens": usage.cache_read or 0,
        "cache_creation_tokens": usage.cache_creation or 0,
    }
    return {**counts, "total_tokens": sum(counts.values())}


def _metrics(session: Session, seqs: list[int], usage: Usage | None = None) -> dict[str, Any]:
    known = [at for seq in seqs if (at := session.messages[seq].at) is not None]
    return {
        "message_count": len(seqs),
        **_tokens(session.info.usage if usage is None else usage),
        "duration_ms": max(known) - min(known) if known else (None if seqs else 0),
    }


def _chunks(session: Session) -> list[dict[str, Any]]:
    calls = {call.id: call for call in reversed(session.tool_calls) if call.id is not None}
    answers = correspondence(enumerate(session.messages), DIALECT)
    contents = session.contents()
    found = []
    for number, content in enumerate(contents):
        chunk = content.chunk
        first = content.messages[chunk.messages[0]]
        assert chunk.usage == total((seq, content.messages[seq]) for seq in chunk.messages)
        told_chunk: dict[str, Any] = {
            "type": chunk.kind,
            "id": chunk.key,
            "start": iso(chunk.started_at),
            "end": iso(chunk.ended_at),
            "duration_ms": chunk.duration_ms,
            "metrics": _metrics(session, list(chunk.messages), chunk.usage),
            "message_uuids": [content.messages[seq].uuid for seq in chunk.messages],
        }
        assert told_chunk["metrics"]["duration_ms"] == chunk.span_ms
        if chunk.kind == "user":
            command = first.command
            told_chunk |= {
                "display_text": short(first.display),
                "slash": command and {"name": command.name, "message": command.message, "args": command.args},
                "image_count": sum(_is_image(block) for block in first.blocks),
            }
        elif chunk.kind == "system":
            told_chunk["command_output"] = short(first.display)
        elif chunk.kind == "ai":
            before = contents[number - 1] if number and contents[number - 1].chunk.kind == "user" else None
            told_chunk |= {
                "tool_executions": [_execution(call) for call in content.tool_calls],
                "subagents": list(chunk.subagents),
                "sidechain_uuids": [content.messages[seq].uuid for seq in chunk.sidechain],
                "steps": [[s.kind, s.id, iso(s.at), iso(s.ends_at)] for s in steps(content, DIALECT)],
                "last_output": _last(content),
                "items": [
                    _item(item)
                    for item in items(
                        content,
                        DIALECT,
                        before=before and before.messages[before.chunk.messages[0]],
                        calls=calls,
                        answers=answers,
                    )
                ],
            }
        found.append(told_chunk)
    return found


def _is_image(block: Any) -> bool:
    return isinstance(block, Image) or (isinstance(block, Unknown) and block.type == "image")


def _is_task(call: ToolCall) -> bool:
    return DIALECT.spawn(ToolUse(id=call.id, name=call.name, input=call.input)) is not None


def _execution(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "name": call.name,
        "input": call.input,
        "is_task": _is_task(call),
        "answered": call.result is not None,
        "result": call.result if call.result is None else _content(call.result),
        "is_error": call.is_error,
        "start": iso(call.started_at),
        "end": iso(call.ended_at),
        "duration_ms": call.duration_ms,
    }


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return short(content)
    return [shortened(_raw(block)) for block in content]


def _raw(block: Any) -> Any:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text, **(block.extra or {})}
    if isinstance(block, Image):
        data = base64.b64encode(block.data or b"").decode()
        source = {"type": "base64", "media_type": block.media_type, "data": data}
        return {"type": "image", "source": source, **(block.extra or {})}
    return block.data


def _last(content: Any) -> dict[str, str] | None:
    last = last_output(content, DIALECT)
    return None if last is None else {"type": last.kind, "text": short(last.text)}


def _item(item: Any) -> list[Any]:
    if item.kind == "tool":
        return ["tool", item.id, item.name, item.status]
    if item.kind == "subagent":
        return ["subagent", item.id]
    if item.kind == "slash":
        return ["slash", item.command.name, item.command.args, item.has_body]
    if item.kind == "teammate_message":
        return ["teammate_message", item.id, short(item.summary), short(item.text), item.answers]
    return ["output" if item.kind == "interruption" else item.kind, short(item.text)]


def _agent(session: Session) -> dict[str, Any]:
    info = session.info
    team = {"team_name": info.team, "member_name": info.member, "color": info.color} if info.team else None
    return {
        "agent_id": info.agent_id,
        "parent_tool_use_id": info.parent_call,
        "description": info.description,
        "subagent_type": info.agent_type,
        "parallel": info.parallel,
        "ongoing": info.ongoing,
        "team": team,
        "start": iso(info.started_at),
        "end": iso(info.ended_at),
        "duration_ms": info.duration_ms,
        "parent_agent_id": info.parent_agent_id,
        "metrics": _metrics(session, list(range(len(session.messages)))),
        "message_uuids": [m.uuid for m in session.messages],
    }


def _agent_chunks(session: Session) -> list[dict[str, Any]]:
    return [
        {
            "type": content.chunk.kind,
            "id": content.chunk.key,
            "message_uuids": [content.messages[seq].uuid for seq in content.chunk.messages],
            "tools": [[call.id, call.name, call.result is not None] for call in content.tool_calls],
        }
        for content in session.contents()
    ]


def short(text: str) -> Any:
    """A long string as the vectors give it: by hash and length."""
    if len(text) <= LONG:
        return text
    return {"sha256": hashlib.sha256(text.encode()).hexdigest(), "chars": len(text)}


def shortened(value: Any) -> Any:
    if isinstance(value, str):
        return short(value)
    if isinstance(value, list):
        return [shortened(item) for item in value]
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    return value


def differences(ours: Any, theirs: Any, where: str = "") -> list[str]:
    """Where an outcome differs from the answer. Keys of ``meta`` that only the peer has are passed over."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = ours.keys() if where.endswith(".meta") else ours.keys() | theirs.keys()
        return [
            line
            for key in sorted(keys, key=str)
            for line in (
                differences(ours[key], theirs[key], f"{where}.{key}")
                if key in ours and key in theirs
                else [f"{where}.{key}: only {'ours' if key in ours else 'in the answer'}"]
            )
        ]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, f"{where}[{i}]")]
    return [] if _same(ours, theirs) else [f"{where}: {ours!r} instead of {theirs!r}"]


def _same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    if isinstance(ours, int) and isinstance(theirs, int):
        return ours == theirs or (abs(ours) > 2**53 and float(ours) == float(theirs))
    return ours == theirs
