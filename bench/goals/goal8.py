"""The peers' corpus: one project of 100 sessions and 60 subagents, imported by us and by two peers from PyPI."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from ground import Cost, Ground, ProgramError, database_size, fresh, size_of
from measure import by_turns, middle, run, typical
from report import Row

TITLE = "The peers' 48 MB corpus: first import with search ≤ 2.0 CPU s, second run ≤ 0.14 CPU s"
FIRST, SECOND = 2.0, 0.14


def rows(ground: Ground) -> Iterator[Row]:
    logs = ground.corpus("peers-48", "gen_peers.py", "OUT", "--sessions", "100", "--mb", "40", "--seed", "7")
    with ground.scratch("goal8") as folder:
        steps: dict[str, Callable[[], Cost]] = {}
        sizes: dict[str, Callable[[], int]] = {}
        reasons = []
        for peer in (Ours, OursWithoutRaw, AgentsView, ClaudeCodeLog):
            try:
                one = peer(ground, folder, logs)
            except ProgramError as error:
                reasons.append(Row(what=f"{peer.name} was left out", detail=str(error).splitlines()[-1][:200]))
                continue
            steps |= {f"{peer.name}, first": one.first, f"{peer.name}, second": one.second}
            sizes[peer.name] = one.size
        rounds = by_turns(ground.rounds, steps)
        stored = {name: size() / size_of(logs) for name, size in sizes.items()}
    yield from figures(rounds, stored)
    yield from reasons


def figures(rounds: list[dict[str, Cost]], stored: dict[str, float]) -> Iterator[Row]:
    for name in rounds[0]:
        peer, run_ = name.rsplit(", ", 1)
        limit = {(Ours.name, "first"): FIRST, (Ours.name, "second"): SECOND}.get((peer, run_))
        one = typical(rounds, name)
        size = f"; stores {stored[peer]:.2f} of the source" if run_ == "first" else ""
        yield Row(
            what=name,
            value=one.cpu,
            limit=limit,
            unit="s",
            detail=f"{one.wall:.2f} s wall, peak {one.peak:.0f} MB{size}",
        )
    for peer in (AgentsView.name, ClaudeCodeLog.name):
        for run_ in ("first", "second"):
            if f"{peer}, {run_}" in rounds[0]:
                cpu, wall = (
                    middle(
                        rounds,
                        lambda r, k=kind, p=peer, n=run_: (
                            getattr(r[f"{Ours.name}, {n}"], k) / getattr(r[f"{p}, {n}"], k)
                        ),
                    )
                    for kind in ("cpu", "wall")
                )
                yield Row(what=f"ours / {peer}, {run_}, CPU", value=cpu, detail=f"wall {wall:.2f}")


class Ours:
    """The command as installed, with its raw archive."""

    name = "clm-sessions"
    options: tuple[str, ...] = ()

    def __init__(self, ground: Ground, folder: Path, logs: Path) -> None:
        self._command, self._logs = str(ground.ours() / "clm-sessions"), str(logs)
        self._database = folder / f"ours{len(self.options)}.db"

    def first(self) -> Cost:
        fresh(self._database)
        return self.second()

    def second(self) -> Cost:
        return run(self._command, "import", str(self._database), self._logs, *self.options)

    def size(self) -> int:
        return database_size(self._database)


class OursWithoutRaw(Ours):
    name = "clm-sessions --no-raw"
    options = ("--no-raw",)


class AgentsView:
    """Syncs into a SQLite database with full-text search, here once and without its server. No raw archive."""

    name = "agentsview"

    def __init__(self, ground: Ground, folder: Path, logs: Path) -> None:
        self._home = folder / "agentsview"
        found = ground.environment("agentsview", "agentsview")
        program = sorted(found.parent.rglob("site-packages/agentsview/bin/agentsview"))
        self._command = str(
            program[0] if program else found / "agentsview"
        )  # the program itself, without its Python door
        self._env = {
            "HOME": str(self._home),
            "AGENTSVIEW_DATA_DIR": str(self._home),
            "CLAUDE_PROJECTS_DIR": str(logs / "projects"),
            "AGENTSVIEW_NO_DAEMON": "1",
            "AGENTSVIEW_TELEMETRY_ENABLED": "0",
            "AGENTSVIEW_DISABLE_UPDATE_CHECK": "1",
        }

    def first(self) -> Cost:
        shutil.rmtree(self._home, ignore_errors=True)
        self._home.mkdir()
        return self.second()

    def second(self) -> Cost:
        return run(self._command, "sync", env=self._env)

    def size(self) -> int:
        return database_size(self._home / "sessions.db")


class ClaudeCodeLog:
    """Writes pages, not tables: here the one combined JSON file, its least, and its cache beside the logs."""

    name = "claude-code-log"

    def __init__(self, ground: Ground, folder: Path, logs: Path) -> None:
        self._command = str(ground.environment("claude-code-log", "claude-code-log") / "claude-code-log")
        self._logs, self._home = logs, folder / "claude-code-log"

    def first(self) -> Cost:
        shutil.rmtree(self._home, ignore_errors=True)
        shutil.copytree(self._logs / "projects", self._home / "projects")
        return self.second()

    def second(self) -> Cost:
        project = next(p for p in (self._home / "projects").iterdir() if p.is_dir())
        words = ("convert", str(project), "--no-individual-sessions", "-f", "json", "-o", str(self._home / "out"))
        return run(self._command, *words, env={"HOME": str(self._home)})

    def size(self) -> int:
        made = [p for p in self._home.rglob("*") if p.is_file() and p.suffix in {".db", ".json", ".html"}]
        return sum(p.stat().st_size for p in made if not p.name.endswith(".meta.json"))
