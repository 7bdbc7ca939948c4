"""``clm-sessions verify`` and ``export-log``: is all that was imported still there, and give it back."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from clm_sessions.cli import options
from clm_sessions.cli.common import count, default_database, line, on_terminal
from clm_sessions.errors import UsageError
from clm_sessions.plugins import Registry


@click.command("verify")
@options.database
@click.option("--full", is_flag=True, help="Read the log files too that are still there.")
@click.pass_obj
def verify(obj: dict[str, Registry], database: Path | None, full: bool) -> None:
    """Check that a database is whole and says what the logs said. Writes nothing; exit code 1 if something is wrong.

    Every row is made anew from the raw archive and compared; every archived byte, search index and key is checked.
    """
    from clm_sessions.verify import verify as check

    database = database or default_database()
    result = check(database, obj["registry"], full=full)
    for finding in result.findings:
        click.echo(line(f"{finding.where}: {finding.what}"))
    if result.total > len(result.findings):
        click.echo(f"… and {result.total - len(result.findings):,} more")
    for note in result.notes:
        click.echo(line(f"note: {note}"), err=True)
    click.echo(f"{database}: checked {', '.join(count(n, what) for what, n in result.checked.items())}", err=True)
    for remedy in dict.fromkeys(finding.remedy for finding in result.findings):
        click.echo(f"{database}: what to do: {remedy}", err=True)
    click.echo(f"{database}: {count(result.total) if result.total else 'nothing'} wrong", err=True)
    sys.exit(1 if result.total else 0)


@click.command("export-log")
@options.session
@options.database
@click.option("--generation", type=int, help="An earlier content of a log that was rewritten; see --list.")
@click.option(
    "-o", "--output", metavar="PATH", help="A file; a folder, or NAME/ for a new one, gets all files of the session."
)
@click.option("--list", "listing", is_flag=True, help="Say what the database keeps of the session, and end.")
def export_log(session: str, database: Path | None, generation: int | None, output: str | None, listing: bool) -> None:
    """Give back the log of a SESSION byte for byte, also if it was deleted since.

    SESSION is an id, or the beginning of one. Without -o the log goes to standard output; with a folder the logs of
    its subagents and the files beside them come too, laid out as they were.
    """
    from clm_sessions import giveback
    from clm_sessions.library import open_db

    with open_db(database or default_database()) as opened:
        files = giveback.find(opened.db, session)
        if listing:
            click.echo("\n".join(line(each) for file in files for each in file.lines()))
        elif output is None and on_terminal():
            raise UsageError("a log as it is could act on this terminal; name a file with -o, or a pipe")
        elif output is None:
            for data in giveback.read(opened.db, files[0], generation):
                sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        elif Path(output).is_dir() or output.endswith(os.sep):
            for path, size in giveback.write_all(opened.db, files, Path(output), generation):
                click.echo(f"{path}: {count(size, 'bytes')}", err=True)
        else:
            size = giveback.write(opened.db, files[0], Path(output), generation)
            click.echo(f"{output}: {count(size, 'bytes')}", err=True)
