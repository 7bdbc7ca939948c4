"""``clm-sessions watch``: import, then go on importing what agents write until somebody ends it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import click

from clm_sessions.cli.common import count, plain, settings, split_arguments
from clm_sessions.cli.importing import choosing, chosen, run_import, summary
from clm_sessions.ingest import Report
from clm_sessions.plugins import Registry
from clm_sessions.prices import Book
from clm_sessions.sources import unique
from clm_sessions.watch import Tally, require, watch


@click.command("watch")
@click.argument("arguments", nargs=-1, metavar="DB [PATH]...")
@click.option("--format", "only", help="Read every file as this format, whatever it looks like.")
@click.option("--no-raw", is_flag=True, help="Do not keep the bytes of the logs in the database.")
@choosing
@click.pass_obj
def watch_(
    obj: dict[str, Registry], arguments: tuple[str, ...], only: str | None, no_raw: bool,
    since: str | None, exclude: Sequence[str], project: Sequence[str],
) -> None:  # fmt: skip
    """Import logs, and then every line as it is written, until Ctrl-C.

    Without PATH the default folder of every known agent is watched. A PATH may appear later, vanish and come back.
    """
    require()
    if not arguments and settings().database is None:
        raise click.UsageError("name the database, e.g.: clm-sessions watch sessions.db")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: end whole, and say how far it got
    database, paths = split_arguments(arguments)
    registry, choice = obj["registry"], chosen(since, exclude, project)
    first = Report()
    watched = roots(paths, registry)
    for path in paths:
        if not path.exists():
            click.echo(f"{plain(str(path))}: not there yet; waiting for it", err=True)
    here = [root for root in watched if root.exists()]
    if here:
        first = run_import(database, here, registry, only=only, choice=choice, keep_raw=not no_raw)
        click.echo(summary(first, database))
    if first.interrupted:
        sys.exit(130)
    tally = watch(
        database,
        watched,
        registry,
        stop=threading.Event(),
        tell=lambda line: click.echo(plain(line), err=True),
        imported=lambda report: click.echo(told(report)),
        told=first.notices,
        only=only,
        choice=choice,
        keep_raw=not no_raw,
        book=Book(own=settings().prices),
    )
    click.echo(ended(tally, database))
    sys.exit(130 if tally.interrupted else 0)


def roots(paths: list[Path], registry: Registry) -> list[Path]:
    """What is watched: as ``roots_of``, but whether it is there or not."""
    return unique(paths or settings().roots or registry.roots(Path.home(), dict(os.environ)))


def told(report: Report) -> str:
    """An import that changed something in one line."""
    did = ", ".join(
        f"{report.sessions[change]} {change}" for change in ("new", "changed", "gone") if report.sessions[change]
    )
    return f"{time.strftime('%H:%M:%S')}  sessions: {did}; {count(report.bytes, 'bytes')} read, {report.seconds:.2f} s"


def ended(tally: Tally, database: Path) -> str:
    """How far it got."""
    did = ", ".join(f"{tally.sessions[change]} {change}" for change in ("new", "changed", "gone"))
    how = "interrupted: not all was read; run it again to go on" if tally.interrupted else "ended"
    return f"{database}: {how}; imports since the first: {tally.imports}, sessions: {did}"
