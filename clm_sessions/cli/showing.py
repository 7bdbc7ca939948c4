"""``clm-sessions list``, ``show`` and ``plugins``: look without a browser."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import click

from clm_sessions import times
from clm_sessions.cli.common import default_database, split_arguments
from clm_sessions.errors import NotALogError
from clm_sessions.library import StoredSession, load, open_db
from clm_sessions.model import Session, SessionInfo
from clm_sessions.plugins import Registry
from clm_sessions.sources import looks_like_database


@click.command("list")
@click.argument("arguments", nargs=-1, metavar="[DB]")
@click.option("--limit", default=50, show_default=True, help="How many sessions, newest first; 0 for all.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_(arguments: tuple[str, ...], limit: int, as_json: bool) -> None:
    """List the sessions of a database, newest first."""
    database, _paths = split_arguments(arguments)
    with open_db(database) as db:
        infos = [s.info for s in db.sessions]
    for info in infos[: limit or None]:
        click.echo(json.dumps(facts(info)) if as_json else _line(info))
    if limit and len(infos) > limit and not as_json:
        click.echo(f"… {len(infos) - limit} more, see them with --limit 0")


@click.command("show")
@click.argument("session")
@click.argument("database", required=False, type=click.Path(path_type=Path))
@click.option("--from", "start", default=1, show_default=True, help="First chunk to show.")
@click.option("--chunks", default=0, help="How many chunks; 0 for all.")
@click.option("--full", is_flag=True, help="Unfold every step.")
@click.pass_obj
def show(obj: dict[str, Registry], session: str, database: Path | None, start: int, chunks: int, full: bool) -> None:
    """Show the chunks of a SESSION: its id (or the beginning of it) in DATABASE, or the path of a log."""
    from clm_sessions.render import text
    from clm_sessions.view import chunk_view

    registry = obj["registry"]
    found = _find(session, database, registry)
    click.echo(_heading(found.info))
    first = max(0, start - 1)
    for content in found.contents(first, first + chunks if chunks else None):
        view = chunk_view(content, registry.describe)
        click.echo(text(view, colour=sys.stdout.isatty(), full=full), nl=False)


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
        click.echo(f"{plugin.name}  [{plugin.origin}]  {state}{note}")


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
    }


def _find(name: str, database: Path | None, registry: Registry) -> Session | StoredSession:
    path = Path(name)
    if database is None and path.is_file() and not looks_like_database(path):
        return load(path, registry=registry)
    where = database or default_database()
    if not where.exists() and path.exists():
        raise NotALogError(f"{name}: name a session, or the path of one log")
    return open_db(where).session(name)


def _line(info: SessionInfo) -> str:
    start = (times.iso(info.started_at) or "").replace("T", " ")[:16] or "time unknown    "
    name = _plain(info.project_name or "")[:20]
    return f"{start}  {info.id[:20]:20}  {name:20}  {info.prompts:>4} prompts  {_plain(info.title or '')[:60]}"


def _heading(info: SessionInfo) -> str:
    when = (times.iso(info.started_at) or "time unknown").replace("T", " ")[:16]
    facts_ = [info.format, when, _plain(info.project or ""), ", ".join(map(_plain, info.models))]
    return f"{_plain(info.title or info.id)}\n{' · '.join(f for f in facts_ if f)}\n"


def _plain(text: str) -> str:
    """Text that cannot move the cursor or reorder a line."""
    return "".join(c if c.isprintable() else "\N{SYMBOL FOR NULL}" if c == "\0" else " " for c in text)
