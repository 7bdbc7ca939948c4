"""Scale: the same speed at any size, and memory that does not grow with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from ground import Cost, Ground, fresh, size_of
from measure import by_turns, middle, run, typical
from report import Row

TITLE = "Throughput at 1 GB ≥ 0.8 x that at 200 MB; peak memory ≤ 160 MB at any size, one 200 MB file included"
SPEED, PEAK = 0.8, 160.0


def rows(ground: Ground) -> Iterator[Row]:
    middling, large = (10, 40) if ground.quick else (200, 1000)
    corpora = {
        f"{middling // 10} MB": ground.logs(middling // 10),
        f"{middling} MB": ground.logs(middling),
        f"one {middling} MB file": ground.logs(middling, "--one-file"),
    }
    if ground.large or ground.quick:
        corpora[f"{large} MB"] = ground.logs(large)
    command = str(ground.ours() / "clm-sessions")
    sizes = {name: size_of(logs) / 1e6 for name, logs in corpora.items()}
    with ground.scratch("goal3") as folder:
        steps: dict[str, Callable[[], Cost]] = {
            name: partial(imported, command, folder / "sessions.db", logs) for name, logs in corpora.items()
        }
        rounds = by_turns(1 if ground.large else min(3, ground.rounds), steps)
    small, big = f"{middling} MB", f"{large} MB"
    speed = None
    if big in corpora:
        speed = middle(rounds, lambda r: (sizes[big] / r[big].wall) / (sizes[small] / r[small].wall))
    missing = "" if speed else "only with --large"
    yield Row(what=f"throughput at {big} / at {small}", value=speed, limit=SPEED, at_least=True, detail=missing)
    for name in corpora:
        one = typical(rounds, name)
        detail = f"{one.wall:.1f} s wall, {one.cpu:.1f} s CPU, {sizes[name] / one.wall:.0f} MB/s"
        yield Row(what=f"peak memory, {name}", value=one.peak, limit=PEAK, unit="MB", detail=detail)


def imported(command: str, database: Path, logs: Path) -> Cost:
    fresh(database)
    return run(command, "import", str(database), str(logs))
