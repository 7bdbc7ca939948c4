"""``clm-sessions forget``."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import click

from clm_sessions import times, zones
from clm_sessions.cli import options
from clm_sessions.cli.common import default_database, line
from clm_sessions.cli.dates import moment
from clm_sessions.errors import NoSessionError, UsageError
from clm_sessions.library import open_db
from clm_sessions.sources import looks_like_database
from clm_sessions.store.narrow import Narrow
from clm_sessions.view.words import plural

_LISTED = 20


@click.command("forget")
@click.argument("arguments", nargs=-1, metavar="[DB] [SESSION]...")
@click.option("--project", multiple=True, help="All sessions of this project: its name, or its folder.")
@click.option("--before", metavar="DATE", help="All sessions that ended before: 2026-03-02, 90d …")
@click.option("--undo", is_flag=True, help="Let the sessions of these whole ids come back with the next import.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.utc
def forget_(
    arguments: Sequence[str], project: Sequence[str], before: str | None, undo: bool, yes: bool, utc: bool
) -> None:
    """Forget sessions: rows, search, raw archive and free pages; no later import brings them back.

    SESSION is an id, or the beginning of one. Their subagents, and all logs of the same id, go too. The logs of the
    agent stay where they are: delete those yourself. All other programs must be done with the database.
    """
    from clm_sessions import forget

    database, ids = _split(arguments)
    if undo:
        if project or before or not ids:
            raise click.UsageError("--undo takes the whole ids of sessions, and nothing else")
        back = forget.undo(database, ids)
        if not back:
            raise NoSessionError(f"{database}: no session of these ids is forgotten; --undo takes whole ids, for only digests of them are kept")  # fmt: skip
        click.echo(f"{database}: {plural(back, 'session')} may come back; import again")
        return
    chosen = _chosen(database, ids, project, before, utc)
    if not chosen:
        raise NoSessionError(f"{database}: no session is what you asked for")
    _ask(chosen, yes)
    done = forget.forget(database, list(chosen), times.iso(int(time.time() * 1000)) or "", _say_waiting)
    click.echo(
        f"{database}: forgot {plural(done.sessions, 'session')} (subagents included) and the bytes of "
        f"{plural(done.sources, 'file')}; {done.size:,} bytes are left"
    )
    _tell("these logs are still there, delete them yourself", done.logs)
    _tell("these sessions hold what they copied of them", done.copies)
    _tell("these files name many sessions, and are kept whole", done.indexes)


def _split(arguments: Sequence[str]) -> tuple[Path, list[str]]:
    if arguments and looks_like_database(Path(arguments[0])):
        return Path(arguments[0]), list(arguments[1:])
    return default_database(), list(arguments)


def _chosen(
    database: Path, ids: Sequence[str], project: Sequence[str], before: str | None, utc: bool
) -> dict[str, str]:  # fmt: skip
    """The sessions that are asked for: key to title. UsageError if nothing is asked for."""
    if not (ids or project or before):
        raise UsageError("which sessions? name their ids, or --project, or --before")
    with open_db(database) as db:
        found = [db.session(sid) for sid in ids]
        if project or before:
            until = None if before is None else _moment(before, utc)
            found += [
                session
                for session in db.select(Narrow(projects=options.projects(project), until=until))
                if until is None or _over(session.info.ended_at or session.info.started_at, until)
            ]
        return {session.id: session.info.title or "" for session in found}


def _moment(before: str, utc: bool) -> int:
    now = int(time.time() * 1000)
    return moment(before, "--before", now=now, tz=zones.UTC if utc else zones.LOCAL)


def _over(ended: int | None, before: int) -> bool:
    """Whether a session was over by then; one that has no time is not."""
    return ended is not None and ended < before


def _ask(chosen: dict[str, str], yes: bool) -> None:
    """Say what goes, and ask. UsageError where nobody can be asked."""
    if yes:
        return
    for sid, title in list(chosen.items())[:_LISTED]:
        click.echo(f"  {line(sid)}  {line(title, 80)}", err=True)
    if len(chosen) > _LISTED:
        click.echo(f"  … and {len(chosen) - _LISTED:,} more", err=True)
    if not sys.stdin.isatty():
        raise UsageError("forgetting cannot be taken back: say --yes")
    click.confirm(f"Forget {plural(len(chosen), 'session')} for good?", abort=True, err=True)


def _tell(what: str, listed: Sequence[str]) -> None:
    for each in listed[:_LISTED]:
        click.echo(f"{what}: {line(each)}", err=True)
    if len(listed) > _LISTED:
        click.echo(f"{what}: {len(listed) - _LISTED:,} more", err=True)


def _say_waiting() -> None:
    click.echo("waiting for another program to be done with the database …", err=True)
