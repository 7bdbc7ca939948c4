"""``clm-sessions export`` and ``export-table``: a session or a table as a file."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clm_sessions import zones
from clm_sessions.cli import options
from clm_sessions.cli.common import default_database, line, on_terminal, write
from clm_sessions.cli.publishing import choices, redacting
from clm_sessions.cli.showing import find
from clm_sessions.errors import UsageError
from clm_sessions.library import open_db
from clm_sessions.plugins import Registry
from clm_sessions.store.columns import NAMES

if TYPE_CHECKING:
    from clm_sessions.export import Written
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
@click.option("--html", "form", flag_value="html", help="One HTML page that needs nothing else and loads nothing.")
@_output
@click.option("--private", "as_written", is_flag=True, help="As it was written, secrets included: redact nothing.")
@redacting
@options.utc
@click.pass_obj
def export(
    obj: dict[str, Registry], /, session: str, database: Path | None, form: str | None, output: Path | None,
    as_written: bool, utc: bool, **choice: Any,  # noqa: ANN401 - see choices
) -> None:  # fmt: skip
    """Write a SESSION, redacted, as Markdown, JSON or HTML.

    SESSION is an id in DB, or the path of a log. It goes to standard output, or to the file that -o names.

    Keys, tokens, passwords, personal data and images are not in it, unless it is --private; the file says which it is. No
    program knows every secret: read it before others do.

    Without --md, --json or --html the ending of the file decides.
    """
    from clm_sessions.export import Written, redacted

    form = form or _ENDINGS.get(output.suffix.lower() if output else "")
    if form is None:
        raise UsageError("which form? name one of --md, --json, --html, or a file that ends so")
    chosen = None if as_written else choices(**choice)
    if as_written and (asked := [name for name, value in choice.items() if value]):
        raise UsageError(f"--private redacts nothing: leave out --{asked[0].replace('_', '-')}")
    registry = obj["registry"]
    found = find(session, database, registry)
    written = Written(session=found) if chosen is None else redacted(found, registry.redactors(), chosen)
    _write(_pieces(form, written, registry, utc=utc, ascii_only=output is None and on_terminal()), output)
    if output is not None:
        click.echo(f"{output}: {line(written.note)}", err=True)


def _pieces(form: str, written: Written, registry: Registry, *, utc: bool, ascii_only: bool) -> Iterator[str]:
    """The document. Times are those of this machine's zone only in what stays on it."""
    from clm_sessions.export import to_html, to_json, to_markdown

    session, note = written.session, written.note
    if form == "md":
        return to_markdown(session, registry.describe, note=note)
    if form == "json":
        return to_json(session, registry.describe, note=note, ascii_only=ascii_only)
    known = registry.formats.get(session.info.format)
    tz = zones.LOCAL if written.private and not utc else zones.UTC
    return to_html(session, registry.describe, note=note, agent=known.label if known else None, tz=tz)


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
    from clm_sessions.export import files

    if output is None:
        write(pieces)
    else:
        files.write(pieces, output)


def _write_parquet(table: Table, output: Path | None) -> None:
    from clm_sessions.export import files, parquet

    if output is None:
        if on_terminal():
            raise UsageError("Parquet is no text for a terminal; name a file with -o, or a pipe")
        parquet.write(table, sys.stdout.buffer)
        return
    with files.private(output) as file:
        parquet.write(table, file)
