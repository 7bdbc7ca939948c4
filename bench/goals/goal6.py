"""The core with nothing but its base dependencies: the json of the standard library, zlib instead of zstd."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from ground import CHECKOUT, Cost, Ground, database_size, fresh, size_of
from measure import ProgramError, by_turns, middle, run
from report import Row

TITLE = (
    "The core works whole with the standard library's json and no zstd; orjson and zstandard make it faster and smaller"
)
ABSENT = (
    "import importlib.util as u, json; print(json.dumps({n: u.find_spec(n) is None for n in ('orjson', 'zstandard')}))"
)
TESTS = (
    "tests/core/test_vectors_claude.py",
    "tests/core/test_vectors_clm.py",
    "tests/core/test_frames.py",
    "tests/core/test_store_codec.py",
)
ROWS = ("sessions", "chunks", "messages", "tool_calls", "requests", "facts")


def rows(ground: Ground) -> Iterator[Row]:
    plain, fast = ground.ours(""), ground.ours("fast")
    absent = run(str(plain / "python"), "-c", ABSENT).said
    yield Row(
        what="orjson and zstandard are absent", value=float(sum(absent.values())), limit=2, unit="of 2", at_least=True
    )
    logs = ground.logs(10)
    with ground.scratch("goal6") as folder:
        costs = by_turns(ground.rounds, {
            "plain": lambda: imported(plain, folder / "plain.db", logs),
            "fast": lambda: imported(fast, folder / "fast.db", logs),
        })  # fmt: skip
        different = sum(contents(folder / "plain.db", t) != contents(folder / "fast.db", t) for t in ROWS)
        verified = [succeeds(plain, "verify", str(folder / "plain.db")), gives_back(plain, folder / "plain.db")]
        sizes = [database_size(folder / name) for name in ("plain.db", "fast.db")]
    yield Row(what="tables whose rows differ from those made with both", value=float(different), limit=0, unit="tables")
    yield Row(
        what="verify finds nothing wrong, export-log gives back a log",
        value=float(sum(verified)),
        limit=2,
        unit="of 2",
        at_least=True,
    )
    yield tested(ground)
    ratio = middle(costs, lambda r: r["plain"].cpu / r["fast"].cpu)
    detail = f"database {sizes[0] / size_of(logs):.2f} and {sizes[1] / size_of(logs):.2f} of the source"
    yield Row(what="import without them / with them, CPU", value=ratio, detail=detail)


def tested(ground: Ground) -> Row:
    """The format vectors, the framing and the codec, run in an environment that has pytest and neither of the two."""
    home = ground.environment(
        "ours-tests", "-e", str(CHECKOUT), "pytest>=8", "hypothesis>=6.100", "pytest-asyncio>=0.24", "jsonschema>=4.21"
    )
    label = "vectors, framing and codec pass"
    try:
        cost = run(str(home / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS, cwd=str(CHECKOUT))
    except ProgramError as error:
        return Row(what=label, value=0, limit=1, unit="of 1", at_least=True, detail=str(error)[-200:])
    return Row(what=label, value=1, limit=1, unit="of 1", at_least=True, detail=f"{cost.wall:.0f} s")


def imported(home: Path, database: Path, logs: Path) -> Cost:
    fresh(database)
    return run(str(home / "clm-sessions"), "import", str(database), str(logs))


def contents(database: Path, table: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(database) as db:
        return db.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()


def succeeds(home: Path, *words: str) -> bool:
    try:
        run(str(home / "clm-sessions"), *words)
    except ProgramError:
        return False
    return True


def gives_back(home: Path, database: Path) -> bool:
    """Whether the largest log comes back byte for byte."""
    with sqlite3.connect(database) as db:
        session, path = db.execute(
            "SELECT session_id, path FROM sources WHERE role = 'main' ORDER BY size DESC LIMIT 1"
        ).fetchone()
    out = database.with_suffix(".out")
    return (
        succeeds(home, "export-log", session, str(database), "-o", str(out))
        and out.read_bytes() == Path(path).read_bytes()
    )
