"""``clm-sessions import``."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from clm_sessions import zones
from clm_sessions.cli import options
from clm_sessions.cli.common import count, plain, settings, split_arguments
from clm_sessions.cli.dates import moment
from clm_sessions.errors import NotALogError, UsageError
from clm_sessions.ingest import Choice, Progress, Report, default_roots, ingest
from clm_sessions.plugins import Registry
from clm_sessions.prices import Book

F = TypeVar("F", bound=Callable[..., Any])


def choosing(function: F) -> F:
    """The options that say which sessions to take; see ``chosen``."""
    for option in (
        click.option("--project", multiple=True, help="Take only sessions of this project: its name, or its folder."),
        click.option(
            "--exclude",
            multiple=True,
            metavar="GLOB",
            help="Leave out sessions whose log, or a folder above it, is named so.",
        ),
        click.option(
            "--since", metavar="DATE", help="Take only sessions whose logs were written to since: 2026-03-02, 7d …"
        ),
    ):
        function = option(function)
    return function


def chosen(since: str | None = None, exclude: Sequence[str] = (), project: Sequence[str] = ()) -> Choice:
    """What these options and the settings choose."""
    now = int(time.time() * 1000)
    patterns = (*settings().exclude, *exclude)
    return Choice(
        since=None if since is None else moment(since, "--since", now=now, tz=zones.LOCAL),
        exclude=tuple(os.path.expanduser(pattern) for pattern in patterns),  # noqa: PTH111 - a pattern, not a path
        projects=options.projects(project),
    )


def roots_of(paths: Sequence[Path], registry: Registry) -> list[Path]:
    """What is read: the paths that were named, else the roots of the settings, else the folders of all known agents.

    UsageError if there is nothing to read.
    """
    named = [*paths] or [*settings().roots]
    if named:
        return named
    roots = default_roots(registry, Path.home(), dict(os.environ))
    if not roots:
        places = ", ".join(map(str, registry.roots(Path.home(), dict(os.environ))))
        raise UsageError(f"no known agent has logs here (looked in {places}); name a folder or a log")
    return roots


@click.command("import")
@click.argument("arguments", nargs=-1, metavar="DB [PATH]...")
@click.option("--format", "only", help="Read every file as this format, whatever it looks like.")
@click.option("--no-raw", is_flag=True, help="Do not keep the bytes of the logs in the database.")
@click.option("--again", is_flag=True, help="Read and write everything anew, as after a finding of verify.")
@choosing
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the summary.")
@click.pass_obj
def import_(
    obj: dict[str, Registry], arguments: tuple[str, ...], only: str | None, no_raw: bool, again: bool, as_json: bool,
    since: str | None, exclude: Sequence[str], project: Sequence[str],
) -> None:  # fmt: skip
    """Import logs into a database, reading only what changed.

    Without PATH the default folder of every known agent is read. Rows outlive the logs. A session is taken with all its
    files or left out with all of them; what is left out stays in the database as it is, and comes in with a later import
    that does not leave it out.
    """
    if not arguments and settings().database is None:
        raise click.UsageError("name the database, e.g.: clm-sessions import sessions.db")
    database, paths = split_arguments(arguments)
    report = run_import(
        database, paths, obj["registry"], only=only, choice=chosen(since, exclude, project), keep_raw=not no_raw,
        again=again, quiet=as_json,
    )  # fmt: skip
    click.echo(json.dumps(report.json()) if as_json else summary(report, database))
    if report.interrupted:
        sys.exit(130)


def run_import(
    database: Path,
    paths: list[Path],
    registry: Registry,
    *,
    only: str | None = None,
    choice: Choice | None = None,
    keep_raw: bool = True,
    again: bool = False,
    quiet: bool = False,
) -> Report:
    """Import with a progress bar on a terminal. NotALogError if a named file is no log and nothing else was done."""
    if only is not None:
        registry.format(only)
    roots = roots_of(paths, registry)
    bar = None if quiet else _bar()
    try:
        report = ingest(
            database, roots, registry, only=only, choice=choice, keep_raw=keep_raw, again=again, progress=bar,
            book=Book(own=settings().prices),
        )  # fmt: skip
    finally:
        if isinstance(bar, _Bar):
            bar.close()
    done = sum(report.sources[c] for c in ("new", "changed", "unchanged", "gone", "unreadable")) + sum(report.left_out)
    if paths and not done and all(p.is_file() for p in paths) and not report.interrupted:
        raise NotALogError(f"{paths[0]}: no format recognises it; name one with --format, see: clm-sessions plugins")
    return report


def summary(report: Report, database: Path) -> str:
    """The report for a person."""
    s, t = report.sessions, report.totals
    tokens = t["tokens"]
    holds = [
        ("sessions", "sessions and subagents"),
        ("messages", "messages"),
        ("tool_calls", "tool calls"),
        ("chunks", "chunks"),
    ]
    lines = [
        f"{database}: {', '.join(count(t[key], name) for key, name in holds)}",
        f"sessions  {s['new']} new, {s['changed']} changed, {s['unchanged']} unchanged, {s['gone']} gone",
        *_left_out(report),
        f"tokens    {', '.join(count(tokens[key], key.replace('_', ' ')) for key in tokens)}",
    ]
    if report.issues:
        listed = ", ".join(f"{n} {kind}" for kind, n in report.issues.items())
        lines.append(f"issues    {listed} (each with its line in the table ingest_issues)")
    lines += [f"note      {plain(path)}: {plain(issue.reason)}" for path, issue in report.notices[:20]]
    lines.append(
        f"{report.seconds:.1f} s"
        + (", interrupted: the rest was not read; run it again to go on" if report.interrupted else "")
    )
    return "\n".join(lines)


def _left_out(report: Report) -> list[str]:
    sessions, files = report.left_out
    kept_out = [f"forgotten {report.forgotten:,} of them stay out; see clm-sessions forget --undo"]
    if not sessions and not files:
        return kept_out if report.forgotten else []
    from clm_sessions.view.words import plural

    return [
        *(kept_out if report.forgotten else []),
        f"left out  {plural(sessions, 'session')} ({plural(files, 'file')}), as --since, --exclude, --project or the settings say",
    ]


class _Bar(Progress):
    """A progress bar on stderr, drawn from the first bytes on."""

    __slots__ = ("_bar", "_shown")

    def __init__(self) -> None:
        super().__init__(show=self._draw, waiting=_say_waiting)
        self._bar: Any = None

    def _draw(self, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = click.progressbar(length=total, label="reading", file=sys.stderr)
            self._bar.__enter__()
            self._shown = 0
        self._bar.update(done - self._shown)
        self._shown = done

    def close(self) -> None:
        """End its line."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)


def _say_waiting() -> None:
    click.echo("waiting for another program to be done with the database …", err=True)


def _bar() -> Progress:
    return _Bar() if sys.stderr.isatty() else Progress(waiting=_say_waiting)
