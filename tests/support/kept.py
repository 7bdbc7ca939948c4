"""A small database with something in every table: what proofs of keeping are done on."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

from clm_sessions.prices import Book, parse_own
from support.logs import entry, import_logs, session_id, text, turn, write_log

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
MAIN, FORK, REWRITTEN, GONE, LONG = (session_id(n) for n in range(1, 6))

PRICES = {"claude-test-1": {"input": 3, "output": 15}, "*": {"input": 0.5, "output": 1, "reasoning": 2}}
BOOK = Book(own=parse_own(PRICES, "test"), packaged=False)


def image(data: str = PNG) -> dict[str, object]:
    """An image block."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def main_entries() -> list[object]:
    """A session with tools, an image, thinking, a subagent, and lines that are not messages."""
    spawn = {
        "type": "tool_use",
        "id": "t2",
        "name": "Task",
        "input": {"prompt": "count the beds", "description": "Count"},
    }
    change = {"file_path": "/home/dev/garden/beds.csv", "old_string": "kale", "new_string": "leek"}
    edit = {"type": "tool_use", "id": "t3", "name": "Edit", "input": change}
    return [
        *turn(1, "plan the beds", "I will."),
        entry("user", 10, [image(), *text("what is this?")]),
        entry("assistant", 11, [{"type": "thinking", "thinking": "a picture"}, *text("A dot.")]),
        entry("assistant", 12, [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls beds"}}]),
        entry("user", 13, [{"type": "tool_result", "tool_use_id": "t1", "content": "kale.csv", "is_error": True}]),
        entry("assistant", 14, [spawn]),
        entry(
            "user",
            15,
            [{"type": "tool_result", "tool_use_id": "t2", "content": "three"}],
            toolUseResult={"agentId": "a1"},
        ),
        entry("assistant", 16, [edit]),
        entry("user", 17, [{"type": "tool_result", "tool_use_id": "t3", "content": "done"}]),
        b"",
        b"nonsense",
        b"[1]",
        {"type": "novelty", "sessionId": MAIN},
        {"type": "summary", "summary": "Beds", "leafUuid": "x"},
        *turn(1, "plan the beds", "I will."),
        *turn(9, "thanks, 今日は水やりをした", "welcome, 水やり"),
    ]


def write_logs(folder: Path, *, long: bool = True) -> Path:
    """The logs, as they are first seen. ``long``: with one that takes several blocks of the archive."""
    project = folder / "projects" / "-home-dev-garden"
    write_log(project / f"{MAIN}.jsonl", main_entries(), end=b"\n" + json.dumps(turn(10, "tail", "end")[0]).encode())
    agent = [e | {"isSidechain": True, "agentId": "a1"} for e in turn(30, "count the beds", "There are three.")]
    write_log(project / MAIN / "subagents" / "agent-a1.jsonl", agent)
    meta = {"agentType": "counter", "description": "Counts", "toolUseId": "t2"}
    (project / MAIN / "subagents" / "agent-a1.meta.json").write_text(json.dumps(meta))
    side = project / MAIN / "tool-results" / "t1.txt"
    side.parent.mkdir()
    side.write_text("kale\n" * 200)
    write_log(project / f"{FORK}.jsonl", [*turn(1, "plan the beds", "I will."), *turn(20, "own", "yes", session=FORK)])
    write_log(project / f"{REWRITTEN}.jsonl", turn(1, "first words", "one", session=REWRITTEN))
    write_log(project / f"{GONE}.jsonl", turn(1, "going", "gone", session=GONE))
    noise = random.Random(5)
    words = ["".join(noise.choices("abcdefghijklmnopqrstuvwxyz ", k=2000)) for _ in range(150)]
    if long:
        write_log(project / f"{LONG}.jsonl", [e for n, w in enumerate(words) for e in turn(n, w, w, session=LONG)])
    write_log(project / "notes.jsonl", [{"nothing": "known"}])
    shutil.copy(project / f"{FORK}.jsonl", _made(folder / "projects" / "backup") / f"{FORK}.jsonl")
    clm = [
        {"type": "meta", "v": 1, "id": "c1", "created": 1, "model": "m"},
        {"type": "msg", "role": "user", "content": "hi"},
    ]
    write_log(folder / "clm" / "c1.jsonl", [*clm, {"type": "msg", "role": "assistant", "content": "hello"}])
    return folder


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def change_logs(folder: Path) -> None:
    """What happens to the logs later: one grows, one is rewritten, one goes."""
    project = folder / "projects" / "-home-dev-garden"
    write_log(project / f"{MAIN}.jsonl", [*main_entries(), *turn(10, "tail", "end"), *turn(11, "more", "yes")])
    write_log(project / f"{REWRITTEN}.jsonl", turn(1, "second words", "two", session=REWRITTEN))
    (project / f"{GONE}.jsonl").unlink()


def kept_database(folder: Path, **options: object) -> Path:
    """The database after two imports. The logs are below ``folder / "logs"``."""
    database = folder / "kept.db"
    logs = write_logs(folder / "logs")
    import_logs(database, logs, book=BOOK, **options)
    change_logs(logs)
    import_logs(database, logs, book=BOOK, **options)
    return database
