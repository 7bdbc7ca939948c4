"""``clm-sessions list`` and ``plugins``."""

from __future__ import annotations

import dataclasses
import json
from datetime import tzinfo
from pathlib import Path
from typing import Any

import click

from clm_sessions import times
from clm_sessions.cli import options
from clm_sessions.cli.common import count, default_database, line, on_terminal, plain
from clm_sessions.cli.tables import DIM, Column, records, table
from clm_sessions.library import open_db
from clm_sessions.model import SessionInfo
from clm_sessions.plugins import Registry
from clm_sessions.view.words import count as short
from clm_sessions.view.words import money

_COLUMNS = (
    Column(title="STARTED", drop=1, style=DIM),
    Column(title="ID", style=(("fg", "cyan"),)),
    Column(title="PROJECT", least=8, drop=2),
    Column(title="AGENT", drop=5),
    Column(title="MODEL", least=12, drop=6),
    Column(title="PROMPTS", right=True, drop=4),
    Column(title="CALLS", right=True, drop=3),
    Column(title="OUT", right=True, drop=7),
    Column(title="COST", right=True, drop=8),
    Column(title="TITLE", least=32),
)


@click.command("list")
@options.database
@options.narrowing("project", "model", "format", "day", "since", "until")
@click.option("--limit", default=50, show_default=True, help="How many sessions, newest first; 0 for all.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_(database: Path | None, limit: int, as_json: bool, **asked: Any) -> None:  # noqa: ANN401 - see options.narrow
    """List the sessions of a database, newest first.

    In a pipe it is a line for each, with tabs between: start, id, project, agent, model, prompts, tool calls, output
    tokens, estimated cost in US dollars, title; what is unknown is empty. With --since and --until: sessions that were going on in that time.
    """
    narrow, tz = options.narrow(**asked)
    with open_db(database or default_database()) as db:
        found = db.select(narrow)
        infos = [session.info for session in found[: limit or None]]
        short_ids = db.short_ids() if on_terminal() and not as_json else {}
    if as_json:
        for info in infos:
            click.echo(json.dumps(facts(info)))
    elif not on_terminal():
        records(_cells(info, info.id, tz, exact=True) for info in infos)
    else:
        table(_COLUMNS, [_cells(info, short_ids.get(info.id, info.id), tz) for info in infos])
        if len(found) > len(infos):
            click.echo(f"… {len(found) - len(infos):,} more, see them with --limit 0")


def _cells(info: SessionInfo, sid: str, tz: tzinfo, *, exact: bool = False) -> list[str]:
    unknown = "" if exact else "?"
    out, usd = info.usage.output, info.cost_usd
    return [
        options.clock(info.started_at, tz) or unknown,
        line(sid),
        line(info.project_name or "") or unknown,
        line(info.format),
        line(", ".join(info.models)) or unknown,
        count(info.prompts) if not exact else str(info.prompts),
        count(info.tool_calls) if not exact else str(info.tool_calls),
        unknown if out is None else str(out) if exact else short(out),
        unknown if usd is None else f"{usd:.6f}" if exact else money(usd),
        line(info.title or "", 2_000 if exact else 200),
    ]


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_obj
def plugins_(obj: dict[str, Registry], as_json: bool) -> None:
    """List formats, the hooks each plugin implements, where it came from, and what failed."""
    registry = obj["registry"]
    formats = [{"name": f.name, "label": f.label, "framer": f.framer} for f in registry.formats.values()]
    listed = [dataclasses.asdict(plugin) for plugin in registry.plugins]
    if as_json:
        click.echo(json.dumps({"formats": formats, "plugins": listed}))
        return
    click.echo("formats  " + ", ".join(f"{f['name']} ({f['label']})" for f in formats))
    for plugin in registry.plugins:
        state = f"FAILED: {plugin.failure}" if plugin.failure else ", ".join(plugin.hooks) or "format"
        note = f"  (warning: {plugin.note})" if plugin.note else ""
        click.echo(plain(f"{plugin.name}  [{plugin.origin}]  {state}{note}"))


def facts(info: SessionInfo) -> dict[str, Any]:
    """The facts of a session as JSON: times as ISO text, tokens null where not recorded."""
    usage = info.usage
    return {
        "id": info.id,
        "format": info.format,
        "title": info.title,
        "project": info.project,
        "model": info.models[0] if info.models else None,
        "started_at": times.iso(info.started_at),
        "ended_at": times.iso(info.ended_at),
        "ongoing": info.ongoing,
        "chunks": info.chunks,
        "prompts": info.prompts,
        "tool_calls": info.tool_calls,
        "tool_errors": info.tool_errors,
        "subagents": info.subagents,
        "tokens": {
            "input": usage.input,
            "output": usage.output,
            "cache_read": usage.cache_read,
            "cache_creation": usage.cache_creation,
        },
        "cost_usd": info.cost_usd,
        "unpriced_requests": info.unpriced_requests,
    }
