"""Small invented logs, and databases made of them by the real importer."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clm_sessions import plugins
from clm_sessions.ingest import Report, ingest
from clm_sessions.prices import Book, parse_own

SESSION = "5e550000-0000-4000-8000-00000000{:04x}"
# A migration notes when it ran; sqlite_stat1 depends on when the planner looked; prices name the version of a library.
VOLATILE = {"_sqlite_migrations", "sqlite_stat1", "sqlite_stat4", "prices"}


NO_PRICES = Book(packaged=False)


def own_prices(**models: dict[str, float]) -> Book:
    """A book of these prices alone."""
    return Book(own=parse_own(models, "test"), packaged=False)


def session_id(number: int = 1) -> str:
    """A session id for tests."""
    return SESSION.format(number)


def entry(kind: str, number: int, content: Any, *, session: str | None = None, **more: Any) -> dict[str, Any]:
    """A user or assistant entry of a Claude Code log, one second after another."""
    sid = session or session_id()
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {
            "id": more.pop("reply", f"msg_{sid[-4:]}_{number}"),
            "type": "message",
            "model": more.pop("model", "claude-test-1"),
            "usage": more.pop("usage", {"input_tokens": 10, "output_tokens": number}),
        }
    return {
        "type": kind, "uuid": f"{sid[-4:]}-{number}", "parentUuid": None, "sessionId": sid, "isSidechain": False,
        "cwd": "/home/dev/garden", "gitBranch": "main", "version": "2.1.100",
        "timestamp": f"2026-03-02T09:{number // 60:02d}:{number % 60:02d}.000Z", "message": message, **more,
    }  # fmt: skip


def text(value: str) -> list[dict[str, Any]]:
    """One text block."""
    return [{"type": "text", "text": value}]


def turn(number: int, prompt: str, reply: str, **more: Any) -> list[dict[str, Any]]:
    """A prompt and its reply."""
    return [entry("user", 2 * number, prompt, **more), entry("assistant", 2 * number + 1, text(reply), **more)]


def write_log(path: Path, entries: Iterable[dict[str, Any] | bytes], *, end: bytes = b"\n") -> Path:
    """Write entries as lines; bytes stand as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [e if isinstance(e, bytes) else json.dumps(e, ensure_ascii=False).encode() for e in entries]
    path.write_bytes(b"\n".join(lines) + end if lines else b"")
    return path


def import_logs(database: Path, *roots: Path, **options: Any) -> Report:
    """Import with the built-in formats. No prices but those named: what the library has changes with its version."""
    return ingest(database, list(roots), plugins.build(entry_points=False), **{"book": NO_PRICES, **options})


def dump(database: Path, *, sources: bool = True) -> dict[str, list[str]]:
    """Every row of every table as sorted text. ``sources=False`` leaves out what depends on where the files lie."""
    with sqlite3.connect(database) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        shadow = {name for name in names if "_fts" in name}
        skipped = VOLATILE | shadow | (set() if sources else {"sources", "raw_blocks"})
        return {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for name in names if name not in skipped}


def query(database: Path, sql: str, *arguments: Any) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    with sqlite3.connect(database) as db:
        return db.execute(sql, arguments).fetchall()


def check_search_index(database: Path) -> None:
    """Raise if a search index does not agree with its table."""
    with sqlite3.connect(database) as db:
        for table in ("messages", "tool_calls", "sessions"):
            db.execute(f"INSERT INTO {table}_fts({table}_fts, rank) VALUES ('integrity-check', 1)")
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
