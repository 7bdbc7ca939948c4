"""What an import did, as values and as the one JSON object of ``import --json``."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from clm_sessions.model import Issue

CHANGES = ("new", "changed", "unchanged", "gone")


@dataclass(slots=True, kw_only=True)
class Report:
    """Sources and sessions by what happened to them, totals of the whole database, issues by reason."""

    sources: Counter[str] = field(default_factory=Counter)
    sessions: Counter[str] = field(default_factory=Counter)
    totals: dict[str, Any] = field(default_factory=dict)
    issues: dict[str, int] = field(default_factory=dict)
    notices: list[tuple[str, Issue]] = field(default_factory=list)
    formats: Counter[str] = field(default_factory=Counter)
    bytes: int = 0
    seconds: float = 0.0
    interrupted: bool = False

    def json(self) -> dict[str, Any]:
        """Counts of new, changed, unchanged, gone; totals; issues by kind over the whole database; seconds."""
        return {
            "sources": {change: self.sources[change] for change in CHANGES},
            "sessions": {change: self.sessions[change] for change in CHANGES},
            "totals": self.totals,
            "issues": self.issues,
            "seconds": round(self.seconds, 3),
        }


def totals(db: sqlite3.Connection) -> dict[str, Any]:
    """Totals of the whole database: owned rows, subagents included; tokens null where never recorded."""
    one = db.execute(
        "SELECT (SELECT count(*) FROM messages WHERE inherited = 0), "
        "(SELECT count(*) FROM tool_calls WHERE inherited = 0), (SELECT count(*) FROM chunks), "
        "(SELECT count(*) FROM sessions)"
    ).fetchone()
    tokens = db.execute(
        "SELECT sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_creation_tokens) "
        "FROM requests WHERE inherited = 0"
    ).fetchone()
    return {
        "sessions": one[3],
        "messages": one[0],
        "tool_calls": one[1],
        "chunks": one[2],
        "tokens": dict(zip(("input", "output", "cache_read", "cache_creation"), tokens, strict=True)),
    }


def issues(db: sqlite3.Connection) -> dict[str, int]:
    """Issues of the whole database by kind."""
    return dict(db.execute("SELECT kind, count(*) FROM ingest_issues GROUP BY kind ORDER BY kind").fetchall())
