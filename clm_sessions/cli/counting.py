"""``clm-sessions stats``: tokens, sessions, prompts, replies, tool calls by whatever you like."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from datetime import tzinfo
from pathlib import Path
from typing import Any

import click

from clm_sessions import times
from clm_sessions.cli import options
from clm_sessions.cli.common import default_database, line, on_terminal
from clm_sessions.cli.tables import Column, table
from clm_sessions.library import open_db
from clm_sessions.sources import bundle_key
from clm_sessions.stats import BLOCK, BYS, By, Stats, Totals, stats
from clm_sessions.view.words import count as short
from clm_sessions.view.words import money

_NUMBERS = (
    ("sessions", "SESSIONS", 4), ("prompts", "PROMPTS", 3), ("replies", "REPLIES", 2), ("tool_calls", "CALLS", 1),
    ("errors", "ERRORS", 5),
)  # fmt: skip
_TOKENS = (
    ("input", "INPUT", 0), ("output", "OUTPUT", 0), ("cache_read", "CACHE READ", 0), ("cache_creation", "CACHE WRITTEN", 6),
)  # fmt: skip
_WIDE = ("model", "project", "session", "tool")


@click.command("stats")
@options.database
@click.option("--by", type=click.Choice(BYS), default="day", show_default=True, help="What a row stands for.")
@options.narrowing("project", "model", "format", "tool", "day", "since", "until")
@click.option("--exact", is_flag=True, help="Tokens to the last digit, not 1.2M.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def stats_(database: Path | None, by: By, exact: bool, as_json: bool, **asked: Any) -> None:  # noqa: ANN401 - see options.narrow
    """Count tokens, prompts, replies, tool calls.

    Everything is counted once: what a fork or a resumed session copied is counted where it was first said. ? means unknown, never zero; what has no
    time stands in a row of its own. Hours are those of the day. A block lasts 5 hours from the full hour of its first
    activity. Weeks begin on Monday. Costs are estimates (see: clm-sessions prices --help); + means that some replies have
    no price.
    """
    narrow, tz = options.narrow(**asked)
    with open_db(database or default_database()) as db:
        found = stats(db.db, by, narrow=narrow, tz=tz)
        ids = {bundle_key(sid): short for sid, short in db.short_ids().items()} if by == "session" else {}
        ids = ids if on_terminal() else {}
    if as_json:
        click.echo(json.dumps(_data(found)))
    elif not found.rows:
        click.echo("nothing was recorded of what you asked for", err=True)
    else:
        _table(found, tz, exact, ids)


def _table(found: Stats, tz: tzinfo, exact: bool, ids: Mapping[str, str]) -> None:
    used = [each for each in _NUMBERS if any(getattr(row, each[0]) is not None for row in found.rows)]
    used = [each for each in used if each[0] != "sessions" or found.by != "session"]
    tokens = () if found.total.replies is None else _TOKENS
    first = [Column(title="ID", style=(("fg", "cyan"),))] if found.by == "session" else []
    columns = [*first, Column(title=found.by.upper(), least=16 if found.by in _WIDE else None, style=(("fg", "cyan"),))]
    columns += [Column(title=title, right=True, drop=drop) for _name, title, drop in (*used, *tokens)]
    priced = bool(tokens) and any(row.cost is not None for row in found.rows)
    columns += [Column(title="COST EST.", right=True, drop=7)] if priced else []

    def cells(row: Totals, label: str) -> list[str]:
        start = [line(ids.get(row.key or "", row.key or "")) if row is not found.total else ""] if first else []
        numbers = [_number(getattr(row, name), True) for name, _title, _drop in used]
        counts = [_number(getattr(row.usage, name), exact) for name, _title, _drop in tokens]
        return [*start, label, *numbers, *counts, *([_cost(row, exact)] if priced else [])]

    names = _names(found, tz)
    rows = [cells(row, name) for row, name in zip(found.rows, names, strict=True)]
    table(columns, rows, cells(found.total, "total"))


def _number(value: int | None, exact: bool) -> str:
    return "?" if value is None else f"{value:,}" if exact else short(value)


def _cost(row: Totals, exact: bool) -> str:
    """With a + where some replies have no price."""
    if row.cost is None:
        return "?"
    return (f"${row.cost:.6f}" if exact else money(row.cost)) + ("+" if row.unpriced else "")


def _names(found: Stats, tz: tzinfo) -> list[str]:
    """What each row is called; projects of one name by as much of their paths as tells them apart."""
    ends = Counter(end for row in found.rows for end in _ends(row.path or row.label or ""))
    names = []
    for row in found.rows:
        if row.key is None:
            name = "unknown"
        elif found.by == "block" and row.start is not None:
            name = f"{options.clock(row.start, tz)}\u2013{options.clock(row.start + BLOCK, tz)[11:]}"
        elif found.by == "project" and row.label is not None:
            name = line(
                next((end for end in _ends(row.path or row.label) if ends[end] == 1), row.path or row.label), 200
            )
        else:
            name = line(f"{row.label or row.key}", 200)
        names.append(name)
    return names


def _ends(path: str) -> list[str]:
    """What a path ends with: its last part, its last two, and so on."""
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    return ["/".join(parts[-size:]) for size in range(1, min(len(parts), 20) + 1)]


def _data(found: Stats) -> dict[str, Any]:
    return {"by": found.by, "rows": [_row(row) for row in found.rows], "total": _row(found.total)}


def _row(row: Totals) -> dict[str, Any]:
    return {
        "key": row.key,
        "label": row.label,
        "path": row.path,
        "start": times.iso(row.start),
        **{name: getattr(row, name) for name, _title, _drop in _NUMBERS},
        "tokens": row.usage.counts(),
        "cost_usd": row.cost,
        "unpriced_replies": row.unpriced,
    }
