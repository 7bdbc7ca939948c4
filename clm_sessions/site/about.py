"""What a site says of itself, from what the database says of itself."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from clm_sessions.errors import UsageError
from clm_sessions.store.schema import PUBLISHED

_WARNING = "Private: what the logs say stands here as it was written, secrets included; nothing was redacted"
_PARTS = {"outputs": "tool outputs", "system": "system texts"}


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """``title`` of the site, plain text; ``warning`` above every page, None for none; ``colophon`` below it, HTML of ours."""

    title: str
    warning: str | None
    colophon: str


def about(db: sqlite3.Connection, title: str, *, private: bool) -> About:
    """What to say. UsageError if the database is no published copy and nobody said aloud that this is meant (``private``)."""
    row = db.execute("SELECT value FROM _clm_meta WHERE key = ?", (PUBLISHED,)).fetchone()
    if row is None and not private:
        raise UsageError(
            "the database is private, and a site is for others: make a redacted copy first (clm-sessions publish DB OUT.db), "
            "or say --private for a site that you alone read"
        )
    made = "Made by clm-sessions."
    if row is None:
        return About(title=title, warning=_WARNING, colophon=made)
    return About(title=title, warning=None, colophon=f"{_redacted(row[0])} {made}")


def _redacted(told: Any) -> str:  # noqa: ANN401 - what stands in the database
    try:
        parts = [_PARTS.get(part, part) for part in json.loads(told)["left_out"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        parts = []
    known = sorted(part for part in parts if part in {*_PARTS.values(), "images", "thinking", "subagents"})
    left_out = f"; left out: {', '.join(known)}" if known else ""
    return f"Secrets and personal data were redacted before this was published{left_out}."
