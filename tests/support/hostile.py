"""Logs in which every text field that a log may have holds an attack."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support.attacks import ALL
from support.logs import entry, session_id, write_log

FOLDER = "-home-dev-hostile"
FIRST = 0x1000


def hostile_id(number: int) -> str:
    """The session that holds attack ``number``."""
    return session_id(FIRST + number)


def write_hostile(folder: Path, attacks: Sequence[str] = ALL) -> None:
    """One session for each attack, with the attack in every field; and one with all of them, turn by turn."""
    for number, attack in enumerate(attacks):
        sid = hostile_id(number)
        write_log(folder / FOLDER / f"{sid}.jsonl", [_plain(one) for one in _session(sid, attack)])
        agent = folder / FOLDER / sid / "subagents" / f"agent-a{number:08x}.jsonl"
        side = {"isSidechain": True, "agentId": f"a{number:08x}"}
        write_log(agent, [_plain(one) for one in _turn(sid, attack, 500, side)])
    write_log(
        folder / FOLDER / f"{session_id(0xFFF)}.jsonl",
        [_plain(one) for n, attack in enumerate(attacks) for one in _turn(session_id(0xFFF), attack, n * 10, {})],
    )
    for number, attack in enumerate(attacks[:20]):
        write_log(
            folder / "clm" / f"20260301-1200{number:02d}-{number:08x}.jsonl",
            [_plain(one) for one in _clm(number, attack)],
        )


def _session(sid: str, attack: str) -> list[Any]:
    about = {"cwd": f"/home/{attack}", "gitBranch": attack, "version": attack}
    spawn = {
        "type": "tool_use",
        "id": f"{attack}-spawn",
        "name": "Task",
        "input": {"description": attack, "prompt": attack, "subagent_type": attack},
    }
    back = {
        "type": "tool_result",
        "tool_use_id": spawn["id"],
        "content": [{"type": "text", "text": attack}, {"type": attack, "x": attack}],
    }
    return [
        {"type": "summary", "summary": attack, "leafUuid": attack},
        {"type": "custom-title", "customTitle": attack, "sessionId": sid},
        *_turn(sid, attack, 0, about),
        entry("assistant", 20, [spawn], session=sid, model=attack, reply=attack, **about),
        entry(
            "user", 21, [back], session=sid, toolUseResult={"agentId": "", "status": attack, attack: attack}, **about
        ),
        {"type": attack, "content": attack},
        f"{{{attack}".encode("utf-8", "replace"),
        entry("system", 22, attack, session=sid, subtype=attack, **about),
    ]


def _turn(sid: str, attack: str, number: int, about: dict[str, Any]) -> list[Any]:
    tools = [
        ("Bash", {"command": attack, "description": attack}),
        ("Edit", {"file_path": attack, "old_string": attack, "new_string": f"{attack} new"}),
        ("Read", {"file_path": attack}),
        ("TodoWrite", {"todos": [{"content": attack, "status": attack, "activeForm": attack}]}),
        ("WebFetch", {"url": attack, "prompt": attack}),
        (attack, {attack: attack, "deep": [{attack: [attack]}]}),
    ]
    uses = [
        {"type": "tool_use", "id": f"{sid[-4:]}{number}{name}"[:60], "name": name, "input": given}
        for name, given in tools
    ]
    results = [
        {"type": "tool_result", "tool_use_id": use["id"], "content": attack, "is_error": n % 2 == 0}
        for n, use in enumerate(uses)
    ]
    image = {"type": "image", "source": {"type": "base64", "media_type": attack, "data": "PHN2Zy8+"}}
    return [
        entry("user", number, [{"type": "text", "text": attack}, image], session=sid, **about),
        entry("assistant", number + 1, [{"type": "thinking", "thinking": attack}, {"type": "text", "text": attack}], session=sid, model=attack, **about),
        entry("assistant", number + 2, uses, session=sid, model=attack, **about),
        entry("user", number + 3, results, session=sid, toolUseResult=attack, **about),
        entry("assistant", number + 4, [{"type": "text", "text": f"# {attack}\n\n- {attack}\n\n```{attack}\n{attack}\n```"}], session=sid, **about),
        entry("user", number + 5, f"<command-name>/{attack}</command-name><command-args>{attack}</command-args>", session=sid, **about),
        entry("user", number + 6, f"<local-command-stdout>{attack}</local-command-stdout>", session=sid, **about),
    ]  # fmt: skip


def _clm(number: int, attack: str) -> list[Any]:
    sid = f"20260301-1200{number:02d}-{number:08x}"
    call = {"id": attack, "function": {"name": attack, "arguments": json.dumps({attack: attack})}}
    return [
        {"type": "meta", "v": 1, "id": sid, "created": 1_772_000_000, "model": attack, "agent": attack, "title": attack, "cwd": attack},
        {"type": "message", "role": "user", "content": attack},
        {"type": "message", "role": "assistant", "content": attack, "tool_calls": [call]},
        {"type": "message", "role": "tool", "tool_call_id": attack, "content": attack},
    ]  # fmt: skip


def _plain(one: Any) -> Any:
    """Lone surrogates as JSON escapes, for they cannot be written otherwise."""
    return one if isinstance(one, bytes) else json.dumps(one).encode()
