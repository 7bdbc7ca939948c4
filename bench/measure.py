"""Run programs and say what each cost: wall and CPU seconds, peak memory; several by turns, so that drift hits all alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

LAUNCH = Path(__file__).resolve().parent / "launch.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds of wall clock and of CPU (user and system, children too), peak resident memory in MB, and what it said."""

    wall: float
    cpu: float
    peak: float
    said: Mapping[str, Any] = field(default_factory=dict)


class ProgramError(RuntimeError):
    """A measured program failed; the message ends with what it wrote to stderr."""


def run(*command: str, env: Mapping[str, str] | None = None, cwd: str | None = None) -> Cost:
    """The cost of one run of a command; ``said`` is the JSON object on the last line of its output, if there is one.

    Raises ProgramError if it fails.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        result = Path(folder) / "cost.json"
        subprocess.run(
            (sys.executable, "-I", "-S", str(LAUNCH), str(result), *command),
            stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env={**os.environ, **(env or {})}, cwd=cwd, check=False,
        )  # fmt: skip
        errors.seek(0)
        tail = errors.read()[-2000:].decode(errors="replace").strip()
        cost = json.loads(result.read_bytes()) if result.exists() else {"code": "none"}
        if cost.pop("code") != 0:
            raise ProgramError(f"{' '.join(command)}: it failed: {tail}")
        out.seek(0)
        return Cost(**cost, said=_object(out.read()))


def _object(text: bytes) -> dict[str, Any]:
    lines = text.strip().rsplit(b"\n", 1)
    try:
        found = json.loads(lines[-1])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def by_turns(rounds: int, steps: Mapping[str, Callable[[], Cost]]) -> list[dict[str, Cost]]:
    """Each step once a round, in the order given. The first round warms the caches and is left out."""
    measured = []
    for number in range(rounds + 1):
        costs = {name: step() for name, step in steps.items()}
        if number:
            measured.append(costs)
    return measured


def middle(rounds: list[dict[str, Cost]], value: Callable[[dict[str, Cost]], float]) -> float:
    """The median over the rounds of a value worked out within each: ratios are of one round."""
    return median(value(one) for one in rounds)


def typical(rounds: list[dict[str, Cost]], name: str) -> Cost:
    """The median wall, CPU and peak of one step."""
    return Cost(
        wall=middle(rounds, lambda r: r[name].wall),
        cpu=middle(rounds, lambda r: r[name].cpu),
        peak=max(r[name].peak for r in rounds),
        said=rounds[-1][name].said,
    )
