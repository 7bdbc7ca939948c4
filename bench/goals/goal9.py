"""Publishing: every session redacted into a new file, against a bare copy of the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ground import HERE, Cost, Ground, database_size, fresh
from measure import by_turns, middle, run
from report import Row

TITLE = "Publish, redacted: ≤ 12 times the CPU of copying the same rows with their indexes"
LIMIT = 12.0


def rows(ground: Ground) -> Iterator[Row]:
    logs = ground.logs(10 if ground.quick else 50)
    with ground.scratch("goal9") as folder:
        private = folder / "private.db"
        run(ground.python(), "-m", "clm_sessions", "import", str(private), str(logs))
        rounds = by_turns(ground.rounds, {
            "publish": lambda: one(ground, "publish", private, folder / "public.db"),
            "copy": lambda: one(ground, "copy", private, folder / "copy.db"),
        })  # fmt: skip
        size = database_size(private) / 1e6
    ratio = middle(rounds, lambda r: r["publish"].said["cpu"] / r["copy"].said["cpu"])
    speed = middle(rounds, lambda r: size / r["publish"].said["cpu"])
    peak = middle(rounds, lambda r: r["publish"].peak)
    yield Row(
        what="publish / copy, CPU", value=ratio, limit=LIMIT, detail=f"a database of {size:.0f} MB; peak {peak:.0f} MB"
    )
    yield Row(what="speed", value=speed, unit="MB/s", detail="of the private database, raw archive included")


def one(ground: Ground, what: str, database: Path, out: Path) -> Cost:
    fresh(out)
    return run(ground.python(), str(HERE / "publishing.py"), what, str(database), str(out))
