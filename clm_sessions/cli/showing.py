"""``clm-sessions show``: the transcript of a session in the terminal."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from pathlib import Path

import click

from clm_sessions import zones
from clm_sessions.cli import options
from clm_sessions.cli.common import colour, default_database, line, on_terminal, paint, write
from clm_sessions.errors import NotALogError, UsageError
from clm_sessions.library import StoredSession, load, open_db
from clm_sessions.model import CHUNK_KINDS, Session, SessionInfo
from clm_sessions.plugins import Registry
from clm_sessions.sources import looks_like_database
from clm_sessions.view import ChunkView
from clm_sessions.view.pick import Pick, pick
from clm_sessions.view.words import plural

_RANGE = re.compile(r"(\d{1,9})?(-)?(\d{1,9})?")
_WIDEST = 120


@click.command("show")
@options.session
@options.database
@click.option("--chunks", "numbers", metavar="RANGE", help="Only these chunks: 12, 10-20, 10- or -20.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(CHUNK_KINDS), help="Only chunks of this kind.")
@click.option("--tool", "tools", multiple=True, help="Only calls of this tool; * and ? stand for anything.")
@click.option("--errors", is_flag=True, help="Only what failed, was interrupted or got no answer.")
@click.option("--grep", metavar="PATTERN", help="Only what holds this regular expression, in any case.")
@click.option("--thinking/--no-thinking", default=None, help="Unfold thinking, or leave it out.")
@click.option("--full", is_flag=True, help="Unfold every step.")
@click.option("--pager/--no-pager", default=None, help="Through $PAGER; by default where the output is a terminal.")
@options.utc
@click.pass_obj
def show(
    obj: dict[str, Registry], session: str, database: Path | None, numbers: str | None, kinds: Sequence[str],
    tools: Sequence[str], errors: bool, grep: str | None, thinking: bool | None, full: bool, pager: bool | None, utc: bool,
) -> None:  # fmt: skip
    """Show the transcript of a SESSION.

    SESSION is an id in DB, or the beginning of one, or the path of a log. Filters add up: --tool Bash --errors shows the failed calls of Bash.
    """
    from clm_sessions.export.session import views

    registry = obj["registry"]
    asked = Pick(kinds=frozenset(kinds), tools=tuple(tools), errors=errors, pattern=_pattern(grep), thinking=thinking)
    found = find(session, database, registry)
    start, stop = _range(numbers, found.info.chunks)
    tz = zones.UTC if utc else zones.LOCAL
    chosen = (pick(view, asked) for view in views(found, registry.describe, start, stop))
    _page(_document(found.info, chosen, (start, stop), tz, full, narrowed=asked.narrows), pager)


def find(name: str, database: Path | None, registry: Registry) -> Session | StoredSession:
    """The session of that id in a database, or of the log of that path. NoSessionError or NotALogError if there is none."""
    path = Path(name)
    if database is None and path.is_file() and not looks_like_database(path):
        return load(path, registry=registry)
    where = database or default_database()
    if not where.exists() and path.exists():
        raise NotALogError(f"{name}: name a session, or the path of one log")
    return open_db(where).session(name)


def _pattern(grep: str | None) -> re.Pattern[str] | None:
    try:
        return None if grep is None else re.compile(grep, re.IGNORECASE | re.MULTILINE)
    except re.error as error:
        raise UsageError(f"--grep {grep!r}: no regular expression: {error}") from None


def _range(text: str | None, chunks: int) -> tuple[int, int]:
    """Where to start and stop, from 0. UsageError for what is no range, or lies beyond the session."""
    if text is None:
        return 0, chunks
    found = _RANGE.fullmatch(text.strip())
    first, dash, last = found.groups() if found else (None, None, None)
    if first is None and last is None:
        raise UsageError(f"--chunks {text!r}: no range of chunks; write 12, 10-20, 10- or -20")
    start = int(first or 1)
    stop = int(last) if last is not None else chunks if dash else start
    if not 1 <= start <= min(stop, chunks):
        raise UsageError(f"--chunks {text!r}: the session has the chunks 1 to {chunks:,}")
    return start - 1, min(stop, chunks)


def _document(
    info: SessionInfo,
    chosen: Iterable[ChunkView | None],
    part: tuple[int, int],
    tz: tzinfo,
    full: bool,
    *,
    narrowed: bool,
) -> Iterator[str]:
    """The transcript in pieces. What is not shown is said at its end."""
    from clm_sessions.render import text

    yield _heading(info, tz)
    width = min(shutil.get_terminal_size().columns, _WIDEST) if on_terminal() else None
    shown = 0
    for view in chosen:
        if view is not None:
            shown += 1
            yield text(view, colour=colour(), full=full, tz=tz, width=width)
    start, stop = part
    notes = [f"{plural(shown, 'chunk')} of {stop - start:,} hold what was asked for"] if narrowed else []
    if stop - start < info.chunks:
        place = f"chunk {stop:,}" if stop - start == 1 else f"chunks {start + 1:,} to {stop:,}"
        notes.append(f"{place} of {info.chunks:,}")
    if notes:
        yield f"\n{paint('; '.join(notes), dim=True)}\n"


def _heading(info: SessionInfo, tz: tzinfo) -> str:
    when = options.clock(info.started_at, tz) or "time unknown"
    about = [info.format, when, info.project or "", ", ".join(info.models), info.id]
    title = paint(line(info.title or info.id), bold=True)
    return f"{title}\n{paint(' · '.join(line(part) for part in about if part), dim=True)}\n"


def _page(pieces: Iterable[str], wanted: bool | None) -> None:
    """Through a pager on a terminal, straight out otherwise."""
    if wanted is False or not (on_terminal() and sys.stdin.isatty()):
        write(pieces)
        return
    os.environ.setdefault("LESS", "FRX")  # as git does: colours through, no pager for what fits on the screen
    click.echo_via_pager(iter(pieces), color=colour())
