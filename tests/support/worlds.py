"""Random small trees of logs that get into each other's way, and databases made of them in random orders and steps."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from support.logs import entry, query, session_id, text

Files = dict[str, bytes]
FOLDERS = ("-x", "-y", "-z")
_NOT_CONTENT = {"device", "inode", "mtime_ns", "ctime_ns", "checksum"}
_NOT_COMPARED = {"_sqlite_migrations", "sqlite_stat1", "sqlite_stat4"}


def world(random: random.Random) -> Files:
    """By path: sessions with forks, copies that end earlier, logs of agents in both layouts, files of one name beside them."""
    files: Files = {}
    for number in range(1, random.choice((1, 1, 2)) + 1):
        sid = session_id(number)
        histories = _histories(random, sid)
        for folder in random.sample(FOLDERS, random.choice((1, 2, 2, 3))):
            if random.random() < 0.85:
                history = random.choice(histories)
                cut = random.choice((len(history), len(history), random.randint(1, len(history))))
                files[f"{folder}/{sid}.jsonl"] = _lines(history[:cut])
            _add_beside(random, files, folder, sid)
    return files


def _histories(random: random.Random, sid: str) -> list[list[dict[str, Any]]]:
    """What logs of one session say: beginnings are shared."""
    shared = [_say(sid, n, "main") for n in range(random.randint(0, 3))]
    ends = [[_say(sid, n, voice) for n in range(len(shared), len(shared) + random.randint(1, 4))] for voice in "pq"]
    other = [_say(session_id(9), n, "main") for n in range(2)]  # copied out of a session that is not there
    return [shared + ends[0], shared + ends[1], other + ends[0]]


def _say(sid: str, number: int, voice: str, **more: Any) -> dict[str, Any]:
    if number % 2:
        return entry("assistant", number, text(f"{voice} says {number}"), session=sid, **more)
    return entry("user", number, f"{voice} asks {number}", session=sid, **more)


def _add_beside(random: random.Random, files: Files, folder: str, sid: str) -> None:
    for _ in range(random.choice((0, 1, 2, 3))):
        name = random.choice(("a1", "a2"))
        below = random.choice((f"{folder}/{sid}/subagents", f"{folder}/{sid}/subagents", folder))
        kind = random.choice(("log", "log", "meta", "result"))
        if kind == "log":
            voice, length = random.choice("rs"), random.randint(1, 4)
            said = [_say(sid, 40 + n, voice, isSidechain=True, agentId=name) for n in range(length)]
            files[f"{below}/agent-{name}.jsonl"] = _lines(said)
        elif kind == "meta":
            told = {"agentType": random.choice(("gardener", "cook")), "description": random.choice("uvw")}
            files[f"{folder}/{sid}/subagents/agent-{name}.meta.json"] = json.dumps(told).encode()
        else:
            files[f"{folder}/{sid}/tool-results/toolu_{name}.txt"] = random.choice((b"long", b"longer", b"other"))


def _lines(entries: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in entries)


def steps(random: random.Random, files: Files, growing: float = 0.3) -> list[Files]:
    """The files in a random order, several at once at times, some of them at first only as far as a line end."""
    waiting = [*files]
    random.shuffle(waiting)
    later: Files = {}
    out: list[Files] = []
    while waiting or later:
        step: Files = {}
        for _ in range(random.choice((1, 1, 2, 3))):
            if waiting and (not later or random.random() < 0.7):
                path = waiting.pop()
                ends = [n + 1 for n, byte in enumerate(files[path]) if byte == 10][:-1]
                if ends and random.random() < growing:
                    step[path] = files[path][: random.choice(ends)]
                    later[path] = files[path]
                else:
                    step[path] = files[path]
            elif later:
                path = random.choice([*later])
                step[path] = later.pop(path)
        out.append(step)
    return out


def put(root: Path, files: Files) -> None:
    """Write files below a folder."""
    root.mkdir(exist_ok=True)
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def content(database: Path) -> dict[str, list[str]]:
    """All rows of all tables but what depends on the file system: sorted text, by table."""
    names = [name for (name,) in query(database, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {}
    for name in sorted(names):
        if "_fts" not in name and name not in _NOT_COMPARED:
            columns = [one for (one,) in query(database, f"SELECT name FROM pragma_table_info('{name}')")]
            kept = ", ".join(one for one in columns if name != "sources" or one not in _NOT_CONTENT)
            found[name] = sorted(map(repr, query(database, f"SELECT {kept} FROM {name}")))
    return found
