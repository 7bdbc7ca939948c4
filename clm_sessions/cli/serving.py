"""``clm-sessions serve``: import, then Datasette on this machine alone."""

from __future__ import annotations

import importlib.util
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import click

from clm_sessions.cli.common import settings, split_arguments
from clm_sessions.cli.importing import choosing, chosen, run_import, summary
from clm_sessions.cli.watching import roots
from clm_sessions.errors import UsageError
from clm_sessions.plugins import Registry
from clm_sessions.watch import require
from clm_sessions.watch.background import order

HOST = "127.0.0.1"
PORT = 8001


@click.command("serve")
@click.argument("arguments", nargs=-1, metavar="[DB] [PATH]...")
@click.option("--port", default=PORT, show_default=True, help="Port on 127.0.0.1; another is taken if it is in use.")
@click.option("--no-import", is_flag=True, help="Serve the database as it is.")
@click.option("--watch", "watched", is_flag=True, help="Go on importing: pages show what agents write, as they do.")
@click.option("--open", "browser", is_flag=True, help="Open the page in a browser.")
@choosing
@click.pass_obj
def serve(
    obj: dict[str, Registry], arguments: tuple[str, ...], port: int, no_import: bool, watched: bool, browser: bool,
    since: str | None, exclude: Sequence[str], project: Sequence[str],
) -> None:  # fmt: skip
    """Import logs (default: those of every known agent), then browse them in Datasette on 127.0.0.1."""
    if importlib.util.find_spec("datasette") is None:
        raise UsageError("serve needs Datasette: pip install 'clm-sessions[datasette]'")
    database, paths = split_arguments(arguments)
    choice = chosen(since, exclude, project)
    if watched:
        if no_import:
            raise click.UsageError("--watch imports: leave out --no-import")
        require()
        order(os.environ, database, roots(paths, obj["registry"]), choice, settings().prices)
    if not no_import:
        click.echo(summary(run_import(database, paths, obj["registry"], choice=choice), database), err=True)
    elif not database.exists():
        raise UsageError(f"{database}: no such database; leave out --no-import to make it")
    port = free_port(port)
    click.echo(
        "for this machine alone; to show sessions to others, make a copy for them: clm-sessions publish", err=True
    )
    click.echo(f"http://{HOST}:{port}/{database.stem}/sessions")
    sys.stdout.flush()
    run_datasette(database, port, browser)


def run_datasette(database: Path, port: int, browser: bool) -> NoReturn:
    """Become Datasette, so that whoever stops this process stops the server. Facet suggestions scan whole tables: off."""
    command = [sys.executable, "-m", "datasette", "serve", str(database), "--host", HOST, "--port", str(port)]
    command += ["--setting", "suggest_facets", "off", *(["--open"] if browser else [])]
    os.execv(sys.executable, command)  # noqa: S606 - our own interpreter, arguments as a list


def free_port(wanted: int) -> int:
    """``wanted`` if nothing listens there, else some free port."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise UsageError("no free port on 127.0.0.1")
