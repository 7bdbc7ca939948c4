"""What an import costs when there is next to nothing to do: 1,000 files, none changed, or one line appended to one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from ground import HERE, Cost, Ground
from measure import by_turns, middle, run, typical
from report import Row

TITLE = (
    "1,000 files: nothing changed ≤ 2 x a scandir + stat walk plus start; one line appended ≤ 3 x that walk plus start"
)
UNCHANGED, APPENDED = 2.0, 3.0


def rows(ground: Ground) -> Iterator[Row]:
    python, command = ground.python(), str(ground.ours() / "clm-sessions")
    with ground.scratch("goal4") as folder:
        logs, database = folder / "logs", folder / "sessions.db"
        files = small_logs(logs)
        run(command, "import", str(database), str(logs))

        def changed(*words: str) -> Cost:
            append(files[len(files) // 2])
            return run(*words, str(database), str(logs))

        whole = (command, "import")
        inside = (python, str(HERE / "inside.py"), "ingest")
        steps: dict[str, Callable[[], Cost]] = {
            "python": lambda: run(python, "-c", "pass"),
            "start": lambda: run(command, "import", "--help"),
            "walk": lambda: run(python, str(HERE / "walk.py"), str(logs)),
            "unchanged": lambda: run(*inside, str(database), str(logs)),
            "unchanged, whole": lambda: run(*whole, str(database), str(logs)),
            "appended": lambda: changed(*inside),
            "appended, whole": lambda: changed(*whole),
        }
        rounds = by_turns(max(ground.rounds, 7), steps)
    for name, label, limit in (
        ("unchanged", "nothing changed / walk", UNCHANGED),
        ("appended", "one line appended / walk", APPENDED),
    ):
        over = middle(rounds, lambda r, n=name: r[n].said["cpu"] / r["walk"].said["cpu"])
        own = middle(rounds, lambda r, n=name: r[n].said["cpu"])
        yield Row(what=f"{label}, both after the start", value=over, limit=limit, detail=f"{own * 1e3:.1f} ms CPU")
    walk = middle(rounds, lambda r: r["walk"].said["cpu"])
    yield Row(what="the walk", value=walk * 1e3, unit="ms", detail=f"{len(files):,} files")
    for name, label in (
        ("python", "start of Python: python -c pass"),
        ("start", "start of the command: clm-sessions import --help"),
        ("unchanged, whole", "nothing changed, the whole command"),
        ("appended, whole", "one line appended, the whole command"),
    ):
        one = typical(rounds, name)
        yield Row(what=label, value=one.cpu * 1e3, unit="ms", detail=f"CPU; {one.wall * 1e3:.0f} ms wall")
    least = middle(rounds, lambda r: r["unchanged, whole"].cpu / (r["python"].cpu + r["walk"].said["cpu"]))
    yield Row(what="nothing changed, the whole command / (python -c pass + walk)", value=least)


def small_logs(root: Path, count: int = 1000) -> list[Path]:
    """So many small logs in twenty projects."""
    files = []
    for number in range(count):
        session = f"{number:08x}-0000-4000-8000-{number:012x}"
        path = root / "projects" / f"-home-dev-code-p{number % 20:02d}" / f"{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(entry(session, turn) for turn in range(4)))
        files.append(path)
    return files


def append(path: Path) -> None:
    with path.open("ab") as file:
        turn = path.read_bytes().count(b"\n")
        file.write(entry(path.stem, turn))
        file.flush()
        os.fsync(file.fileno())


def entry(session: str, turn: int) -> bytes:
    """One line of a session: prompts and replies by turns."""
    uuid, parent = (f"{session[:8]}-0000-4000-9000-{n:012x}" if n >= 0 else None for n in (turn, turn - 1))
    at = f"2026-03-{1 + turn // 1440 % 28:02d}T{turn // 60 % 24:02d}:{turn % 60:02d}:00.000Z"
    text = f"Step {turn} of the plan: water the beds, then look at the beans."
    message: dict[str, object] = {"role": "user", "content": text}
    if turn % 2:
        usage = {"input_tokens": 10, "output_tokens": 20}
        message = {
            "id": f"msg_{session[:8]}{turn}",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "usage": usage,
        }
        message["content"] = [{"type": "text", "text": text}]
    record = {
        "parentUuid": parent,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/code",
        "sessionId": session,
    }
    record |= {"version": "2.0.0", "type": message["role"], "message": message, "uuid": uuid, "timestamp": at}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"
