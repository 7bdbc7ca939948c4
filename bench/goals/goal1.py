"""Ingest against its floors: what any importer that ends with the same rows and the same search must do at the least."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from ground import HERE, Cost, Ground, database_size, fresh, size_of
from measure import by_turns, middle, run, typical
from report import Row

TITLE = "Import CPU ≤ 1.35 x its floors (JSON + bare insert + indexes + search index), with and without search"
LIMIT = 1.35
BARE = ("parse", "insert", "index")


def rows(ground: Ground) -> Iterator[Row]:
    logs = ground.logs()
    with ground.scratch("goal1") as folder:
        database, out = folder / "sessions.db", folder / "floor.db"
        importing = Importing(ground, logs, database)
        importing("--no-raw")
        steps: dict[str, Callable[[], Cost]] = {
            "floors": lambda: importing.floors(out),
            "bare": lambda: importing("--no-raw", search=False),
            "search": lambda: importing("--no-raw"),
            "raw": importing,
        }
        rounds = by_turns(ground.rounds, steps)
        found = counted(database)
    size = size_of(logs) / 1e6
    for label, name, parts, limit in (
        ("with search", "search", (*BARE, "search"), LIMIT),
        ("without search", "bare", BARE, LIMIT),
        ("with search and raw archive, floors + zstd + its rows", "raw", (*BARE, "search", "pack", "archive"), None),
    ):
        ratio = middle(rounds, lambda r, n=name, p=parts: r[n].said["cpu"] / sum(r["floors"].said[x] for x in p))
        low, high = (
            f(r[name].said["cpu"] / sum(r["floors"].said[x] for x in parts) for r in rounds) for f in (min, max)
        )
        cpu = middle(rounds, lambda r, n=name: r[n].said["cpu"])
        floor = middle(rounds, lambda r, p=parts: sum(r["floors"].said[x] for x in p))
        detail = f"{cpu:.2f} / {floor:.2f} s CPU ({low:.2f} to {high:.2f}); {size / cpu:.0f} MB/s; peak {typical(rounds, name).peak:.0f} MB"
        yield Row(what=label, value=ratio, limit=limit, detail=detail)
    each = {name: middle(rounds, lambda r, n=name: r["floors"].said[n]) for name in rounds[0]["floors"].said}
    detail = ", ".join(f"{name} {seconds:.3f}" for name, seconds in each.items())
    yield Row(what=f"floors, CPU s: {detail}", value=size, unit="MB", detail=found)


class Importing:
    """Imports the same logs into a fresh database each time, on a clock that starts after the imports of modules."""

    def __init__(self, ground: Ground, logs: Path, database: Path) -> None:
        self._python, self._logs, self._database = ground.python(), logs, database
        self._rows = database.with_name("rows.db")

    def __call__(self, *options: str, search: bool = True) -> Cost:
        fresh(self._database)
        switch = () if search else ("--no-search",)
        words = ("import", str(self._database), str(self._logs), "--json", *options)
        cost = run(self._python, str(HERE / "inside.py"), *switch, *words)
        self._check(search)
        return cost

    def floors(self, out: Path) -> Cost:
        """The floors of the rows that a full import leaves; imported once, outside of all clocks."""
        fresh(out)
        if not self._rows.exists():
            words = ("import", str(self._rows), str(self._logs), "--json")
            run(self._python, str(HERE / "inside.py"), *words)
        return run(self._python, str(HERE / "floors.py"), str(self._logs), str(self._rows), str(out))

    def _check(self, search: bool) -> None:
        with sqlite3.connect(self._database) as db:
            there = db.execute("SELECT count(*) FROM sqlite_master WHERE name = 'messages_fts_docsize'").fetchone()[0]
            indexed = db.execute("SELECT count(*) FROM messages_fts_docsize").fetchone()[0] if there else 0
            messages = db.execute("SELECT count(*) FROM messages").fetchone()[0]
        if indexed != (messages if search else 0):
            raise RuntimeError(f"{indexed} of {messages} messages are in the search index: the switch no longer works")


def counted(database: Path) -> str:
    """How many rows of the main tables a database holds, and its size."""
    with sqlite3.connect(database) as db:
        tables = ("sessions", "chunks", "messages", "tool_calls", "requests")
        counts = [f"{db.execute(f'SELECT count(*) FROM {t}').fetchone()[0]:,} {t}" for t in tables]
    return f"{', '.join(counts)}; database {database_size(database) / 1e6:.0f} MB"
