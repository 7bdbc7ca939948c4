"""``clm-sessions site``: a published copy as a folder of pages."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clm_sessions.cli.common import ending_whole
from clm_sessions.library import open_db
from clm_sessions.plugins import Registry
from clm_sessions.view.words import plural


@click.command("site")
@click.argument("database", metavar="DB", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--title", default="Agent sessions", show_default=True, help="What the site is called.")
@click.option(
    "--private", is_flag=True, help="Also of a database that is no published copy; the files are yours alone."
)
@click.pass_obj
def site_(obj: dict[str, Registry], database: Path, folder: Path, title: str, private: bool) -> None:
    """Write a static site of a published copy DB into FOLDER: a list with facets and search, a page for each session.

    It needs no server: open FOLDER/index.html, or put the folder on any web server. DB is made by clm-sessions publish.
    FOLDER is a new one, or one that this command wrote before: then its pages are replaced, and nothing else.
    """
    from clm_sessions.site import build

    registry = obj["registry"]
    agents = {name: known.label for name, known in registry.formats.items() if known.label}
    with (
        ending_whole(),
        open_db(database) as opened,
        click.progressbar(length=1, label="sessions", file=sys.stderr, hidden=not sys.stderr.isatty()) as bar,
    ):

        def progress(done: int, everything: int) -> None:
            bar.length = everything
            bar.update(done - bar.pos)

        built = build(
            opened.db, folder, registry.describe, agents=agents, title=title, private=private, progress=progress
        )
    below = f" and {plural(built.subagents, 'subagent')}" if built.subagents else ""
    click.echo(f"{plural(built.sessions, 'session')}{below} on {plural(built.pages, 'page')}: {folder / 'index.html'}")
