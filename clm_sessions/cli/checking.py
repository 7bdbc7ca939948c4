"""``clm-sessions check-log``: report how a clm file stands to the published schema; nothing is filtered by it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from clm_sessions.checklog import check
from clm_sessions.cli.common import plain


@click.command("check-log")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def check_log(file: Path) -> None:
    """Report the lines of a clm log that are not valid under the session schema. Exit code 1 if there are any.

    A reader takes more than the schema allows, and skips some that it allows: this is a report, not a filter.
    """
    findings = check(file)
    for line, message in findings:
        click.echo(f"{file}:{line}: {plain(message)}")
    click.echo(f"{file}: {len(findings) or 'no'} line{'s' if len(findings) != 1 else ''} outside the schema", err=True)
    sys.exit(1 if findings else 0)
