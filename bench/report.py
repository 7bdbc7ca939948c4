"""Goals as values, and how they read: on a terminal, and as bench/RESULTS.md."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

NOTE = """# Results

Written by `bench/run --write`. Every ratio is to floors and peers measured in the same run, by turns; each figure is the
median of its rounds. `met` and `missed` judge a row by its goal; rows without a goal are there to explain.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure of a goal. ``limit``: the goal, at most (or ``at_least``) so much; None where it only explains."""

    what: str
    value: float | None = None
    limit: float | None = None
    unit: str = "x"
    at_least: bool = False
    detail: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the figure keeps the goal; None if there is none, or it was not measured."""
        if self.limit is None or self.value is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def cells(self) -> tuple[str, str, str, str, str]:
        """What, figure, goal, verdict, detail."""
        goal = "" if self.limit is None else f"{'≥' if self.at_least else '≤'} {number(self.limit)} {self.unit}"
        figure = "" if self.limit is None else "not measured"
        if self.value is not None:
            figure = f"{number(self.value)} {self.unit}"
        verdict = {True: "met", False: "missed", None: "" if self.limit is None else "open"}[self.met]
        return self.what, figure, goal, verdict, self.detail


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One of the goals with its figures."""

    number: int
    title: str
    rows: Sequence[Row] = ()
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def verdict(self) -> str:
        """missed if any row is, else open if any was not measured, else met."""
        verdicts = [row.cells()[3] for row in self.rows if row.limit is not None]
        return "missed" if "missed" in verdicts else "open" if "open" in verdicts or not verdicts else "met"


def number(value: float) -> str:
    """A figure with three digits that matter."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def text(goal: Goal) -> str:
    """A goal for the terminal."""
    lines = [f"Goal {goal.number}: {goal.title} — {goal.verdict}"]
    for row in goal.rows:
        what, figure, limit, verdict, detail = row.cells()
        lines.append(f"  {what:<58} {figure:>14}  {limit:<12} {verdict:<7} {detail}".rstrip())
    return "\n".join([*lines, *(f"  {note}" for note in goal.notes)])


def machine(versions: Iterable[str]) -> str:
    """The machine and the versions in one line, with the day."""
    day = datetime.now(timezone.utc).date().isoformat()
    return ", ".join([day, platform.platform(), _cpu(), f"load {os.getloadavg()[0]:.1f}", *versions])


def _cpu() -> str:
    name = ""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    except OSError:
        name = platform.processor()
    return f"{os.cpu_count()} cores {name}".strip()


def markdown(goals: Sequence[Goal], about: str, how: str) -> str:
    """The page bench/RESULTS.md."""
    parts = [NOTE, f"{about}.\n\n`{how}`\n", "| goal | | verdict |\n|---|---|---|"]
    parts[-1] += "".join(f"\n| {g.number} | {g.title} | {g.verdict} |" for g in goals) + "\n"
    for goal in goals:
        rows = "".join("| " + " | ".join(row.cells()) + " |\n" for row in goal.rows)
        table = "| what | figure | goal | | measured |\n|---|---|---|---|---|\n" + rows
        notes = "".join(f"\n{note}\n" for note in goal.notes)
        parts.append(f"## {goal.number}. {goal.title}\n\n{table}{notes}")
    return "\n".join(parts)
