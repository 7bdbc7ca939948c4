"""``clm-sessions check``: is anything in it that others must not see."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import click

from clm_sessions.cli import options
from clm_sessions.cli.common import count, line
from clm_sessions.plugins import Registry


@click.command("check")
@click.argument("targets", nargs=-1, required=True, metavar="FILE|FOLDER|URL...")
@click.option("--limit", default=200, show_default=True, help="How many findings are listed; 0 for all.")
@options.as_json
@click.pass_obj
def check_(obj: dict[str, Registry], targets: Sequence[str], limit: int, as_json: bool) -> None:
    """Look for secrets, private data and open doors in what others will see. Exit code 1 if there is anything.

    Databases, HTML, notebooks, JSON, Markdown, CSV, packed files, folders of them, or a site served on this machine
    (http://127.0.0.1:8001/). Secrets are not shown, only where they are. Nothing is written.
    """
    from clm_sessions.check import check

    kinds: Counter[str] = Counter()
    for target in targets:
        for finding in check(target, obj["registry"].redactors()):
            kinds[finding.kind] += 1
            if not limit or kinds.total() <= limit:
                words = (
                    json.dumps(asdict(finding)) if as_json else line(f"{finding.place}: {finding.kind}: {finding.what}")
                )
                click.echo(words)
    told = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
    click.echo(f"{count(kinds.total(), 'findings')}: {told}" if kinds else "nothing found", err=True)
    sys.exit(1 if kinds else 0)
