"""Options and arguments that several commands have."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from clm_sessions import zones
from clm_sessions.cli.common import default_database, line
from clm_sessions.cli.dates import span
from clm_sessions.errors import ClmError
from clm_sessions.sources import looks_like_database
from clm_sessions.store.narrow import Narrow

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])
_OFFERED = 200


def _session_ids(context: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the database that begin so, newest first, for the shell to complete."""
    from click.shell_completion import CompletionItem

    from clm_sessions.library import open_db

    del param
    try:
        with open_db(context.params.get("database") or default_database()) as opened:
            rows = opened.db.execute(
                "SELECT id, title FROM sessions WHERE role IN ('main', 'orphan') AND substr(id, 1, ?) = ? "
                "ORDER BY started_at DESC LIMIT ?",
                (len(incomplete), incomplete, _OFFERED),
            ).fetchall()
    except (ClmError, OSError):
        return []
    return [CompletionItem(sid, help=line(title or "", 60)) for sid, title in rows if line(sid) == sid]


session = click.argument("session", shell_complete=_session_ids)
database = click.argument("database", required=False, metavar="[DB]", type=click.Path(path_type=Path))
utc = click.option("--utc", is_flag=True, help="Days and times in UTC, not in the zone of this machine.")
as_json = click.option("--json", "as_json", is_flag=True, help="JSON, for programs.")
_NARROWING: dict[str, Callable[[F], F]] = {
    "project": click.option("--project", multiple=True, help="Only of this project: its name, or its folder."),
    "model": click.option("--model", multiple=True, help="Only of this model, or any whose name holds this."),
    "format": click.option("--format", "formats", multiple=True, metavar="NAME", help="Only of this kind of agent."),
    "tool": click.option("--tool", multiple=True, help="Only calls of this tool; * and ? stand for anything."),
    "day": click.option("--day", metavar="DATE", help="Only of this day."),
    "since": click.option("--since", metavar="DATE", help="From then on: 2026-03-02, yesterday, 7d …"),
    "until": click.option("--until", metavar="DATE", help="Until then; a day is taken whole."),
}


def narrowing(*names: str) -> Callable[[F], F]:
    """The options of those names, in that order, and ``--utc``."""

    def add(function: F) -> F:
        for option in (utc, *(_NARROWING[name] for name in reversed(names))):
            function = option(function)
        return function

    return add


def narrow(
    *,
    utc: bool,
    project: Sequence[str] = (),
    model: Sequence[str] = (),
    formats: Sequence[str] = (),
    tool: Sequence[str] = (),
    day: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> tuple[Narrow, tzinfo]:
    """What these options ask for, and the zone they are meant in."""
    tz = zones.UTC if utc else zones.LOCAL
    start, end = span(since, until, day, now=int(time.time() * 1000), tz=tz)
    asked = Narrow(
        projects=projects(project),
        models=tuple(model),
        formats=tuple(formats),
        tools=tuple(tool),
        since=start,
        until=end,
    )
    return asked, tz


def projects(named: Sequence[str]) -> tuple[str, ...]:
    """Names of projects; what looks like a folder is made absolute."""
    return tuple(
        str(Path(name).expanduser().absolute()) if name == "." or "/" in name or name.startswith("~") else name
        for name in named
    )


def words_and_database(arguments: Sequence[str]) -> tuple[str, Path]:
    """(text, database). The last of several arguments is the database if its first bytes or its ending say so."""
    if len(arguments) > 1 and looks_like_database(Path(arguments[-1])):
        return " ".join(arguments[:-1]), Path(arguments[-1])
    return " ".join(arguments), default_database()


def clock(ms: int | None, tz: tzinfo) -> str:
    """``2026-03-02 09:14`` in a zone; empty if there is no time."""
    return "" if ms is None else zones.at(ms, tz).isoformat(" ")[:16]
