"""Against the naive way: every line of the same files into one wide table by sqlite-utils, then its full-text search."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from ground import Cost, Ground, database_size, fresh, size_of
from measure import by_turns, middle, run, typical
from report import Row

TITLE = (
    "Wall ≤ 0.5 x sqlite-utils insert --nl --alter + enable-fts; database ≤ 0.8 x source, ≤ 1.15 x with the raw archive"
)
WALL, BARE, WHOLE = 0.5, 0.8, 1.15


def rows(ground: Ground) -> Iterator[Row]:
    logs = ground.logs()
    command = str(ground.ours() / "clm-sessions")
    with ground.scratch("goal2") as folder:
        naive, bare, whole = (folder / f"{name}.db" for name in ("naive", "bare", "whole"))
        lines = together(logs, folder / "all.jsonl")
        steps: dict[str, Callable[[], Cost]] = {
            "naive": lambda: insert(ground, naive, lines),
            "bare": lambda: imported(command, bare, logs, "--no-raw"),
            "whole": lambda: imported(command, whole, logs),
        }
        rounds = by_turns(ground.rounds, steps)
        source, pictures = size_of(logs), images(bare)
        sizes = {path.stem: database_size(path) for path in (naive, bare, whole)}
    for name, label in (("bare", "wall, no raw archive"), ("whole", "wall, with the raw archive")):
        one, other = typical(rounds, name), typical(rounds, "naive")
        detail = (
            f"{one.wall:.2f} / {other.wall:.2f} s; CPU {one.cpu / other.cpu:.2f} x; {source / 1e6 / one.wall:.0f} MB/s"
        )
        yield Row(
            what=label, value=middle(rounds, lambda r, n=name: r[n].wall / r["naive"].wall), limit=WALL, detail=detail
        )
    for name, label, limit in (
        ("bare", "database / source", BARE),
        ("whole", "database / source, with the raw archive", WHOLE),
    ):
        detail = f"{sizes[name] / 1e6:.0f} / {source / 1e6:.0f} MB; naive {sizes['naive'] / source:.2f} x"
        yield Row(
            what=label,
            value=(sizes[name] - pictures) / source,
            limit=limit,
            detail=f"{detail}; without {pictures / 1e6:.1f} MB of images",
        )


def together(logs: Path, out: Path) -> Path:
    """The JSON objects of all logs in one file, which is what sqlite-utils takes; damaged lines would stop it."""
    with out.open("wb") as file:
        for path in sorted(logs.rglob("*.jsonl")):
            for text in path.read_bytes().split(b"\n"):
                try:
                    if isinstance(json.loads(text), dict):
                        file.write(text + b"\n")
                except ValueError:
                    continue
    return out


def insert(ground: Ground, database: Path, lines: Path) -> Cost:
    fresh(database)
    command = str(ground.ours() / "sqlite-utils")
    first = run(command, "insert", str(database), "lines", str(lines), "--nl", "--alter")
    then = run(command, "enable-fts", str(database), "lines", "message", "toolUseResult")
    return Cost(wall=first.wall + then.wall, cpu=first.cpu + then.cpu, peak=max(first.peak, then.peak))


def imported(command: str, database: Path, logs: Path, *options: str) -> Cost:
    fresh(database)
    return run(command, "import", str(database), str(logs), *options)


def images(database: Path) -> int:
    """Bytes of the images that a database holds; they are reported apart."""
    with closing(sqlite3.connect(database)) as db:
        return int(db.execute("SELECT coalesce(sum(length(data)), 0) FROM attachments").fetchone()[0])
