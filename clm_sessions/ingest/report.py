"""Where an import stands, and what it did, as values and as the one JSON object of ``import --json``."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from clm_sessions.model import Issue

CHANGES = ("new", "changed", "unchanged", "gone")


@dataclass(slots=True, kw_only=True)
class Progress:
    """Where an import stands, for whoever shows it. ``show`` is called with (bytes done, bytes in all)."""

    show: Callable[[int, int], None] = lambda _done, _total: None
    waiting: Callable[[], None] = lambda: None
    done: int = 0
    total: int = 0

    def advance(self, size: int) -> None:
        """Some bytes more were read."""
        self.done += size
        self.show(self.done, max(self.total, self.done))


@dataclass(slots=True, kw_only=True)
class Report:
    """Sources and sessions by what happened to them, totals of the whole database, issues by reason.

    ``left_out``: sessions and files that were not chosen; ``forgotten``: sessions that ``forget`` keeps out.
    """

    sources: Counter[str] = field(default_factory=Counter)
    sessions: Counter[str] = field(default_factory=Counter)
    totals: dict[str, Any] = field(default_factory=dict)
    issues: dict[str, int] = field(default_factory=dict)
    notices: list[tuple[str, Issue]] = field(default_factory=list)
    formats: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    left_out: tuple[int, int] = (0, 0)
    forgotten: int = 0

    def json(self) -> dict[str, Any]:
        """Counts of new, changed, unchanged, gone; what was left out; totals; issues by kind over the whole database; seconds."""
        return {
            "sources": {change: self.sources[change] for change in CHANGES},
            "sessions": {change: self.sessions[change] for change in CHANGES},
            "left_out": dict(zip(("sessions", "sources"), self.left_out, strict=True)),
            "forgotten": self.forgotten,
            "totals": self.totals,
            "issues": self.issues,
            "seconds": round(self.seconds, 3),
        }


def totals(db: sqlite3.Connection) -> dict[str, Any]:
    """Totals of the whole database: owned rows, subagents included; tokens null where never recorded."""
    sessions, messages, calls, chunks, *tokens = db.execute(
        "SELECT count(*), total(messages - inherited_messages), total(own_tool_calls), total(own_chunks), "
        "sum(own_input_tokens), sum(own_output_tokens), sum(own_cache_read_tokens), sum(own_cache_creation_tokens) "
        "FROM sessions"
    ).fetchone()
    return {
        "sessions": sessions,
        "messages": int(messages),
        "tool_calls": int(calls),
        "chunks": int(chunks),
        "tokens": dict(zip(("input", "output", "cache_read", "cache_creation"), tokens, strict=True)),
    }


def issues(db: sqlite3.Connection) -> dict[str, int]:
    """Issues of the whole database by kind."""
    return dict(db.execute("SELECT kind, count(*) FROM ingest_issues GROUP BY kind ORDER BY kind").fetchall())
