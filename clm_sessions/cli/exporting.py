"""``clm-sessions export`` and ``export-table``: a session or a table as a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from clm_sessions import zones
from clm_sessions.cli import options
from clm_sessions.cli.common import default_database, on_terminal, write
from clm_sessions.cli.showing import find
from clm_sessions.errors import UsageError
from clm_sessions.library import open_db
from clm_sessions.plugins import Registry
from clm_sessions.store.columns import NAMES

if TYPE_CHECKING:
    from clm_sessions.export.tables import Table

_ENDINGS = {".md": "md", ".json": "json", ".html": "html", ".htm": "html"}
_TABLE_ENDINGS = {".csv": "csv", ".json": "json", ".ndjson": "ndjson", ".jsonl": "ndjson", ".parquet": "parquet"}
_output = click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file, readable by you alone."
)


@click.command("export")
@options.session
@options.database
@click.option("--md", "form", flag_value="md", help="Markdown.")
@click.option("--json", "form", flag_value="json", help="JSON.")
@click.option("--html", "form", flag_value="html", help="One HTML page that needs nothing else and runs nothing.")
@_output
@options.utc
@click.pass_obj
def export(
    obj: dict[str, Registry], session: str, database: Path | None, form: str | None, output: Path | None, utc: bool
) -> None:
    """Write a SESSION as Markdown, JSON or HTML.

    SESSION is an id in DB, or the path of a log. It goes to standard output, or to the file that -o names.

    PRIVATE: nothing is redacted. What the log says is in it, secrets included; do not pass it on unread.

    Without --md, --json or --html the ending of the file decides.
    """
    from clm_sessions.export import to_html, to_json, to_markdown

    form = form or _ENDINGS.get(output.suffix.lower() if output else "")
    if form is None:
        raise UsageError("which form? name one of --md, --json, --html, or a file that ends so")
    registry = obj["registry"]
    found = find(session, database, registry)
    if form == "md":
        pieces = to_markdown(found, registry.describe)
    elif form == "json":
        pieces = to_json(found, registry.describe, ascii_only=output is None and on_terminal())
    else:
        known = registry.formats.get(found.info.format)
        tz = zones.UTC if utc else zones.LOCAL
        pieces = to_html(found, registry.describe, agent=known.label if known else None, tz=tz)
    _write(pieces, output)


@click.command("export-table")
@click.argument("table", type=click.Choice(NAMES), metavar="TABLE")
@options.database
@click.option("--csv", "form", flag_value="csv", help="CSV for spreadsheets.")
@click.option("--json", "form", flag_value="json", help="One JSON array.")
@click.option("--ndjson", "form", flag_value="ndjson", help="One JSON object a line.")
@click.option("--parquet", "form", flag_value="parquet", help="Parquet, with types; needs the extra parquet.")
@click.option("--columns", metavar="A,B", help="Only these columns, in this order.")
@click.option(
    "--exact", is_flag=True, help="CSV as it is: no apostrophe before what a spreadsheet takes for a formula."
)
@_output
def export_table(
    table: str, database: Path | None, form: str | None, columns: str | None, exact: bool, output: Path | None
) -> None:
    """Write a TABLE as CSV, JSON or Parquet.

    It goes to standard output, or to the file that -o names. TABLE is one of sessions, chunks, messages, tool_calls …
    (see docs/schema.md), files (the table sources) or subagents (those rows of sessions).

    PRIVATE: nothing is redacted.

    Without --csv, --json, --ndjson or --parquet the ending of the file decides. In CSV an empty cell is null and "" an
    empty text; a text that a spreadsheet would run as a formula gets an apostrophe in front, unless --exact.
    """
    from clm_sessions.export import tables
    from clm_sessions.render.escape import visible

    form = form or _TABLE_ENDINGS.get(output.suffix.lower() if output else "")
    if form is None:
        raise UsageError("which form? name one of --csv, --json, --ndjson, --parquet, or a file that ends so")
    wanted = [name.strip() for name in columns.split(",")] if columns else []
    with open_db(database or default_database()) as db:
        opened = tables.open_table(db.db, table, wanted)
        if form == "parquet":
            _write_parquet(opened, output)
            return
        ascii_only = output is None and on_terminal()
        if form == "csv":
            pieces = tables.to_csv(opened, exact=exact)
            pieces = map(visible, pieces) if ascii_only else pieces
        else:
            pieces = (tables.to_json if form == "json" else tables.to_ndjson)(opened, ascii_only=ascii_only)
        _write(pieces, output)


def _write(pieces: Iterable[str], output: Path | None) -> None:
    if output is None:
        write(pieces)
        return
    with private(output) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "replace"))


def _write_parquet(table: Table, output: Path | None) -> None:
    from clm_sessions.export import parquet

    if output is None:
        if on_terminal():
            raise UsageError("Parquet is no text for a terminal; name a file with -o, or a pipe")
        parquet.write(table, sys.stdout.buffer)
        return
    with private(output) as file:
        parquet.write(table, file)


@contextmanager
def private(path: Path) -> Iterator[IO[bytes]]:
    """A file that only its owner may read (0600), put in its place when it is whole; nothing is left of a failure.

    What is no plain file (a FIFO, ``/dev/null``) is written to as it is.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    path = Path(os.path.realpath(path))
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
