"""``clm-sessions publish``: a database that others may see."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from clm_sessions.cli import options
from clm_sessions.cli.common import default_database, ending_whole
from clm_sessions.errors import UsageError
from clm_sessions.library import Database, open_db
from clm_sessions.plugins import Registry
from clm_sessions.store.narrow import Narrow

if TYPE_CHECKING:
    from clm_sessions.publish import Choices

F = TypeVar("F", bound=Callable[..., Any])


def _choosing(function: F) -> F:
    """The options that say which sessions are published."""
    for option in (
        click.option("--where", metavar="SQL", help="Only sessions for which this holds, over the table sessions."),
        options.narrowing("project", "model", "format", "day", "since", "until"),
        click.option("--session", "named", multiple=True, metavar="ID", help="This session, with its subagents."),
        click.option("--all", "everything", is_flag=True, help="All sessions."),
    ):
        function = option(function)
    return function


def redacting(function: F) -> F:
    """The options that say what is left out and what is hidden."""
    for option in (
        click.option("--rules", type=_FILE, metavar="FILE", help="Decisions about findings, from the review page."),
        click.option("--hide-file", type=_FILE, metavar="FILE", help="More of them, one a line."),
        click.option("--hide", multiple=True, metavar="WORD", help="A word or name of your own to hide everywhere."),
        click.option("--keep-personal", multiple=True, metavar="KIND", help="Do not hide: users, emails, addresses, hosts."),
        click.option("--with-images", is_flag=True, help="With images, which no redactor looks into."),
        click.option("--leave-out", multiple=True, metavar="PART", help="Without: thinking, outputs, subagents, system."),
    ):  # fmt: skip
        function = option(function)
    return function


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("publish")
@click.argument("paths", nargs=-1, metavar="[DB] OUT", type=click.Path(path_type=Path, dir_okay=False))
@_choosing
@redacting
@click.option("--dry-run", is_flag=True, help="Write nothing, only say what would be published; OUT may be missing.")
@click.option("--report", "report_file", is_flag=True, help="Write the report beside OUT too, as OUT.report.md.")
@click.option("--with-datasette-config", is_flag=True, help="Write metadata for Datasette, and say the safe command.")
@options.as_json
@click.pass_obj
def publish_(
    obj: dict[str, Registry], /, paths: Sequence[Path], dry_run: bool, report_file: bool, with_datasette_config: bool,
    as_json: bool, leave_out: Sequence[str], with_images: bool, keep_personal: Sequence[str], hide: Sequence[str],
    hide_file: Path | None, rules: Path | None, **choice: Any,  # noqa: ANN401 - see _chosen
) -> None:  # fmt: skip
    """Write chosen sessions, redacted, into the new file OUT, for others to see. The private database is only read.

    Keys, tokens, passwords, personal data, the raw archive, the paths of logs and images are not in it. Name what to
    publish (--project, --session, --since …), or say --all. Read the report before you let the file go.
    """
    from clm_sessions.publish import publish
    from clm_sessions.publish import report as reports
    from clm_sessions.publish.serve import command, write_metadata

    database, out = _database_and_out(paths, needed=not dry_run)
    chosen = choices(leave_out, with_images, keep_personal, hide, hide_file, rules)
    with open_db(database) as opened:
        keys = _chosen(opened, **choice)
        with ending_whole():
            done = publish(
                opened.db, None if dry_run else out, keys, obj["registry"].redactors(), chosen,
                progress=_Bar() if sys.stderr.isatty() else _quiet,
            )  # fmt: skip
    lines = list(reports.report(done, None if dry_run else out))
    click.echo(json.dumps(reports.report_data(done, None if dry_run else out)) if as_json else "\n".join(lines))
    if out is None or dry_run:
        return
    if report_file:
        out.with_name(f"{out.name}.report.md").write_text("\n".join(lines) + "\n", "utf-8")
    if with_datasette_config:
        write_metadata(out)
    click.echo(f"serve it: {command(out, with_metadata=with_datasette_config)}", err=True)


def _database_and_out(paths: Sequence[Path], *, needed: bool) -> tuple[Path, Path | None]:
    """Which database is read, and which file is written."""
    if len(paths) > 2:
        raise click.UsageError("publish takes a database and a new file")
    if len(paths) == 2:
        return paths[0], paths[1]
    if needed:
        if not paths or paths[0].exists():
            raise UsageError("name a new file to write: clm-sessions publish DB OUT.db, or say --dry-run")
        return default_database(), paths[0]
    return (paths[0] if paths else default_database()), None


def _chosen(
    db: Database, *, everything: bool, named: Sequence[str], where: str | None, **asked: Any  # noqa: ANN401 - see options.narrow
) -> list[str]:  # fmt: skip
    """The keys of the sessions that are asked for. UsageError if nothing is: publishing all must be said."""
    narrow, _tz = options.narrow(**asked)
    if not (everything or named or where or narrow != Narrow()):
        raise UsageError("what is to be published? name sessions by --project, --session, --since …, or say --all")
    found = [session.id for session in db.select(narrow)]
    if where:
        meant = _where(db, where)
        found = [sid for sid in found if sid in meant]
    if named:
        wanted = [db.session(sid).id for sid in named]
        narrowed = where or narrow != Narrow()
        found = [sid for sid in wanted if sid in set(found)] if narrowed else wanted
    return found


def _where(db: Database, condition: str) -> set[str]:
    from clm_sessions.publish.where import sessions_where

    return sessions_where(db.path, condition)


def choices(
    leave_out: Sequence[str], with_images: bool, keep_personal: Sequence[str], hide: Sequence[str],
    hide_file: Path | None, rules: Path | None,
) -> Choices:  # fmt: skip
    """What those options say."""
    from clm_sessions.publish import Choices
    from clm_sessions.publish.rules import read_rules
    from clm_sessions.redact import KINDS

    kept = _listed(keep_personal)
    wrong = sorted(kept - set(KINDS))
    if wrong:
        raise UsageError(f"no kind of personal data {wrong[0]!r}; there are: {', '.join(KINDS)}")
    words = [*hide, *(_words(hide_file) if hide_file else ())]
    return Choices(
        left_out=frozenset(_listed(leave_out) | (set() if with_images else {"images"})),
        personal=frozenset(KINDS) - kept,
        hide=tuple(word.strip() for word in words if word.strip()),
        rules=read_rules(rules) if rules else None,
    )


def _words(path: Path) -> list[str]:
    """The lines of a file. UsageError if it is no text: a word that is misread would stay in what is published."""
    try:
        return path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8; save the words as UTF-8, one a line") from None


def _listed(given: Sequence[str]) -> set[str]:
    return {word.strip() for each in given for word in each.split(",") if word.strip()}


def _quiet(_what: str, _done: int, _all: int) -> None:
    pass


class _Bar:
    """A progress bar on stderr for each step of a publication."""

    def __init__(self) -> None:
        self._what: str | None = None
        self._bar: Any = None
        self._done = 0

    def __call__(self, what: str, done: int, everything: int) -> None:
        if what != self._what:
            self._what, self._done = what, 0
            self._bar = click.progressbar(length=everything, label=f"{what:<19}", file=sys.stderr)
            self._bar.__enter__()
        self._bar.update(done - self._done)
        self._done = done
        if done == everything:
            self._bar.__exit__(None, None, None)
