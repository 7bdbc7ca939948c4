"""Where a benchmark stands: the folder it keeps, its corpora, and the programs it measures in environments of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from measure import Cost, ProgramError, run

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent


@dataclass(slots=True, kw_only=True)
class Ground:
    """Choices of one run and what it keeps between runs. ``mb``: size of the corpus of goals 1 and 2."""

    keep: Path
    mb: int = 200
    rounds: int = 5
    quick: bool = False
    large: bool = False
    seed: int = 7
    say: Callable[[str], None] = lambda _text: None
    _python: dict[str, str] = field(default_factory=dict)

    def environment(self, name: str, *packages: str) -> Path:
        """The bin folder of a virtual environment of that name with these packages, made when it is not there.

        Raises ProgramError, with pip's reason, where they cannot be installed.
        """
        home = self.keep / "environments" / name
        wanted = " ".join(packages)
        marker = home / "installed.txt"
        if not marker.is_file() or marker.read_text(encoding="utf-8") != wanted:
            self.say(f"making the environment {name}: {wanted}")
            shutil.rmtree(home, ignore_errors=True)
            run(sys.executable, "-m", "venv", str(home))
            run(str(home / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages)
            marker.write_text(wanted, encoding="utf-8")
        return home / "bin"

    def ours(self, extra: str = "fast") -> Path:
        """The bin folder of an environment with this checkout and one extra ('' for none), and nothing else."""
        wanted = f"{CHECKOUT}[{extra}]" if extra else str(CHECKOUT)
        return self.environment(f"ours-{extra or 'base'}", "-e", wanted)

    def python(self) -> str:
        """The interpreter with this checkout."""
        return str(self.ours() / "python")

    def corpus(self, name: str, *command: str) -> Path:
        """The folder that a generator of this folder writes, made once: ``command`` with OUT in the place of the folder."""
        home = self.keep / "corpora" / name
        done = home.with_suffix(".done")
        if not done.exists():
            self.say(f"making the corpus {name}")
            shutil.rmtree(home, ignore_errors=True)
            home.parent.mkdir(parents=True, exist_ok=True)
            words = [str(home) if word == "OUT" else word for word in command]
            subprocess.run([sys.executable, str(HERE / words[0]), *words[1:]], check=True, stdout=subprocess.DEVNULL)
            done.touch()
        return home

    def logs(self, mb: int | None = None, *more: str) -> Path:
        """Mixed made-up logs of about so many million bytes."""
        size = self.mb if mb is None else mb
        name = "-".join(["logs", str(size), str(self.seed), *(word.strip("-") for word in more)])
        return self.corpus(name, "gen_claude.py", "--seed", str(self.seed), "--mb", str(size), "--out", "OUT", *more)

    @contextmanager
    def scratch(self, name: str) -> Iterator[Path]:
        """An empty folder that is gone afterwards."""
        home = self.keep / "scratch" / f"{name}-{os.getpid()}"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        try:
            yield home
        finally:
            shutil.rmtree(home, ignore_errors=True)


def size_of(*roots: Path, suffix: str = ".jsonl") -> int:
    """Bytes of the logs below some folders."""
    return sum(p.stat().st_size for root in roots for p in root.rglob(f"*{suffix}"))


def fresh(database: Path) -> None:
    """Remove a database and its journals."""
    for path in (database, Path(f"{database}-wal"), Path(f"{database}-shm")):
        path.unlink(missing_ok=True)


def database_size(database: Path) -> int:
    """Bytes of a database and of what its journals hold."""
    return sum(p.stat().st_size for p in database.parent.glob(f"{database.name}*"))


__all__ = ["CHECKOUT", "HERE", "Cost", "Ground", "Mapping", "ProgramError", "database_size", "fresh", "json", "size_of"]
