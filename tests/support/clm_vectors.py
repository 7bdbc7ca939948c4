"""Reads clm logs with the product's loader and tells the outcome in the shape of the clm vectors."""

from __future__ import annotations

import io
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clm_sessions.formats.base import StreamContext
from clm_sessions.formats.clm import Clm
from clm_sessions.model import Message, Stream, Text, ToolResult, ToolUse
from clm_sessions.read import read_stream

TESTS = Path(__file__).parents[1]
FOLDER = Path(os.environ.get("CLM_VECTORS") or TESTS / "vectors") / "clm"


@dataclass(frozen=True)
class Vector:
    """One input with its answer. ``expected`` is the answer file; the input lies beside it."""

    name: str
    folder: Path
    expected: dict[str, Any]

    @property
    def input(self) -> Path:
        return self.folder / f"{self.name}.jsonl"


def vectors() -> list[Vector]:
    """All vectors of the folder but the listing, by name."""
    found = sorted(FOLDER.glob("*.expected.json"))
    all_of_them = [Vector(p.name.removesuffix(".expected.json"), p.parent, json.loads(p.read_text())) for p in found]
    return [v for v in all_of_them if "rows" not in v.expected]


def listings() -> list[Vector]:
    """The vectors that are a folder and the rows of its listing."""
    found = sorted(FOLDER.glob("*.expected.json"))
    all_of_them = [Vector(p.name.removesuffix(".expected.json"), p.parent, json.loads(p.read_text())) for p in found]
    return [v for v in all_of_them if "rows" in v.expected]


VECTORS = vectors()
LISTINGS = listings()


def stream(data: bytes, session: str = "x") -> Stream:
    return read_stream(Clm(), StreamContext(role="main", session=session), io.BytesIO(data))[0]


def outcome(data: bytes) -> dict[str, Any]:
    """``meta``, ``messages``, ``lines``, or ``error``, ``error_line``, ``lines`` of a log."""
    read = stream(data)
    physical = data.removesuffix(b"\n").split(b"\n") if data else []
    if read.refused is not None:
        line = next(i.line for i in read.issues if i.kind == "refused")
        before = stream(b"".join(each + b"\n" for each in physical[: line - 1]))
        lines = [*_lines(before, line - 1), "unsupported-version"]
        return {"error": "unsupported-version", "error_line": line, "lines": lines}
    meta = next((f.value for f in read.facts if f.name == "meta"), None)
    return {
        "meta": meta,
        "messages": [_message(m) for m in read.messages],
        "lines": _lines(read, len(physical)),
    }


def expected(vector: Vector) -> dict[str, Any]:
    """The part of the answer that a reader of text can give: raw bytes (``*_hex``) are left out."""
    keys = ("meta", "messages", "lines", "error", "error_line")
    return _without_hex({k: v for k, v in vector.expected.items() if k in keys})


def listing(folder: Path) -> list[dict[str, Any]]:
    """The rows of a folder of logs, in the order of the vectors."""
    rows = []
    for path in folder.iterdir():
        located = Clm().locate(path)
        if located is None or located.role != "main" or not path.is_file():
            continue
        read = stream(path.read_bytes(), located.session)
        if read.refused is None:
            rows.append({"id": located.session, **_row(read)})
    return sorted(rows, key=lambda row: (row["created"], row["id"].encode()), reverse=True)


def _row(read: Stream) -> dict[str, Any]:
    facts = {f.name: f.value for f in read.facts}
    created = facts.get("created")
    prompts = (m.joined for m in read.messages if m.role == "user" and m.blocks and m.origin != "context")
    first = next(prompts, None)
    if first is not None:
        first = first.encode()[:80].decode(errors="replace").replace("\r", " ").replace("\n", " ")
    return {
        "created": 0 if created is None else int(created / 1000),
        "model": facts.get("model"),
        "agent": facts.get("agent"),
        "first_user": first,
    }


def _lines(read: Stream, count: int) -> list[str]:
    kept = {m.place.line: "msg" for m in read.messages}
    kept |= {f.line: "meta" for f in read.facts if f.name == "meta"}
    return [kept.get(number, "skip") for number in range(1, count + 1)]


def _message(message: Message) -> dict[str, Any]:
    texts = [b.text for b in message.blocks if isinstance(b, Text)]
    results = [b for b in message.blocks if isinstance(b, ToolResult)]
    calls = [b for b in message.blocks if isinstance(b, ToolUse)]
    content = "".join(texts) if texts else None
    if results:
        content = results[0].content if isinstance(results[0].content, str) else None
    return {
        "role": message.role,
        "content": content,
        "tool_calls": [{"id": c.id, "name": c.name, "args": c.args} for c in calls],
        "tool_call_id": results[0].tool_use_id if results else None,
        "tool_name": results[0].name if results else None,
    }


def _without_hex(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_hex(v) for v in value]
    if isinstance(value, dict):
        return {k: _without_hex(v) for k, v in value.items() if not k.endswith("_hex")}
    return value
