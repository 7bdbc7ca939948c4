"""Parse and chunk one large session of two shapes, cold: many chunks, and one that never ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ground import HERE, Cost, Ground, size_of
from measure import by_turns, middle, run
from report import Row

TITLE = "Parse + chunk a 50 MB session, cold: faster than claude-devtools under Node 20 (64 to 70 MB/s and 24 to 26 MB/s there)"
SHAPES = {"chunks": ("1,000 chunks", 70.0), "giant": ("one giant AI chunk", 26.0)}
"""The upper end of what claude-devtools did on files of these shapes, in MB/s; it is measured elsewhere."""


def rows(ground: Ground) -> Iterator[Row]:
    mb = 5 if ground.quick else 50
    logs = {
        shape: ground.corpus(f"{shape}-{mb}", "gen_many.py", "--shape", shape, "--mb", str(mb), "--out", "OUT")
        for shape in SHAPES
    }
    sizes = {shape: size_of(folder) / 1e6 for shape, folder in logs.items()}
    files = {shape: str(next(folder.rglob("*.jsonl"))) for shape, folder in logs.items()}
    steps: dict[str, Callable[[], Cost]] = {
        shape: partial(run, ground.python(), str(HERE / "parsing.py"), file) for shape, file in files.items()
    }
    rounds = by_turns(ground.rounds, steps)
    for shape, (label, limit) in SHAPES.items():
        speed = middle(rounds, lambda r, s=shape: sizes[s] / r[s].said["wall"])
        said = rounds[-1][shape].said
        detail = f"CPU {middle(rounds, lambda r, s=shape: sizes[s] / r[s].said['cpu']):.0f} MB/s; "
        detail += f"{said['chunks']:,} chunks, {said['messages']:,} messages; peak {said['peak']:.0f} MB"
        yield Row(what=label, value=speed, limit=limit, unit="MB/s", at_least=True, detail=detail)
