"""The query side at a million messages of about 1 KB: facets, transcript pages, search."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from ground import CHECKOUT, HERE, Ground, fresh
from measure import run
from report import Row

TITLE = "A million messages: every default facet ≤ 100 ms, no page times out on either Datasette; transcript page ≤ 10 ms of SQL; search ≤ 300 ms"
FACET, PAGE, SEARCH = 100.0, 10.0, 300.0
LINES = {"stable": "datasette<1.0", "next": "datasette>=1.0a41"}
"""The two lines of Datasette: a name for the environment, and what is installed in it."""


def rows(ground: Ground) -> Iterator[Row]:
    database, copy = million(ground, 50_000 if ground.quick else 1_000_000)
    pythons = [
        str(ground.environment(f"ours-{name}", "-e", f"{CHECKOUT}[datasette,fast]", line) / "python")
        for name, line in LINES.items()
    ]
    found = dict(run(pythons[0], str(HERE / "queries.py"), str(database), str(copy), str(ground.rounds)).said)
    yield Row(what=f"the database: {described(database)}")
    for name, limit in (("facet", FACET), ("transcript", PAGE), ("search", SEARCH), ("table", None), ("count", None)):
        yield from figures(name, {k: v for k, v in found.items() if k.startswith(name)}, limit)
    for python in pythons:
        yield from pages(run(python, str(HERE / "pages.py"), str(database)).said)


def pages(said: Mapping[str, Any]) -> Iterator[Row]:
    """What one line of Datasette showed: failures are counted, the slowest pages named."""
    version, found = said["datasette"], said["pages"]
    late = [f"{name}: {facets}" for name, (_ms, facets, _status) in found.items() if facets]
    failed = [name for name, (_ms, _facets, status) in found.items() if status != 200]
    what = f"Datasette {version}: of {len(found)} pages, those "
    yield Row(what=what + "on which a facet timed out", value=len(late), limit=0, unit="pages", detail="; ".join(late))
    yield Row(what=what + "that failed", value=len(failed), limit=0, unit="pages", detail=", ".join(failed))
    for name, (ms, _late, _status) in sorted(found.items(), key=lambda item: -item[1][0])[:5]:
        shown = "the longest session" if name.startswith("-") else name
        yield Row(what=f"  {version}: page {shown}, whole", value=ms, unit="ms", detail="wall, warm")


def figures(kind: str, found: dict[str, list[float]], limit: float | None) -> Iterator[Row]:
    """The slowest of a kind is judged; each that takes more than a hundredth of a second is shown."""
    slowest = max(found.values(), key=lambda v: v[0])[0]
    yield Row(what=f"{kind}: the slowest of {len(found)}", value=slowest, limit=limit, unit="ms", detail="CPU, warm")
    for name, (ms, *rest) in sorted(found.items(), key=lambda item: -item[1][0]):
        if ms < 10 and kind != "transcript" and kind != "search":
            continue
        without = f"without indexes {rest[0]:.0f} ms, {rest[0] / ms:.1f} x" if len(rest) > 1 else ""
        yield Row(what=f"  {name}", value=ms, unit="ms", detail=without)


def million(ground: Ground, messages: int) -> tuple[Path, Path]:
    """The database, imported from generated logs by this checkout, and a copy whose indexes were dropped; made once.

    It is made anew when the tables or the generator have changed.
    """
    basis = (CHECKOUT / "clm_sessions/store/schema.py").read_bytes() + (HERE / "gen_many.py").read_bytes()
    home = ground.keep / "databases" / f"{messages}-{hashlib.sha256(basis).hexdigest()[:8]}"
    database, copy = home / "sessions.db", home / "index-free.db"
    if not copy.exists():
        logs = ground.corpus(f"many-{messages}", "gen_many.py", "--messages", str(messages), "--out", "OUT")
        home.mkdir(parents=True, exist_ok=True)
        ground.say(f"importing {messages:,} messages")
        fresh(database)
        run(str(ground.ours() / "clm-sessions"), "import", str(database), str(logs), "--no-raw")
        partial = home / "partial.db"
        shutil.copy(database, partial)
        drop_indexes(partial)
        partial.rename(copy)
    return database, copy


def drop_indexes(database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        names = db.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL").fetchall()
        for (name,) in names:
            db.execute(f"DROP INDEX {name}")


def described(database: Path) -> str:
    with closing(sqlite3.connect(database)) as db:
        counts = [
            f"{db.execute(f'SELECT count(*) FROM {t}').fetchone()[0]:,} {t}"
            for t in ("messages", "sessions", "tool_calls", "chunks")
        ]
        text = db.execute("SELECT sum(length(text)) FROM messages").fetchone()[0]
        text += db.execute("SELECT sum(length(input)) + sum(length(result)) FROM tool_calls").fetchone()[0]
    return f"{', '.join(counts)}, {text / 1e6:,.0f} MB of text, {database.stat().st_size / 1e6:,.0f} MB"
