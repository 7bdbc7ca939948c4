"""``clm-sessions prices``: what replies are reckoned to have cost, and by which prices."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from clm_sessions.cli import options
from clm_sessions.cli.common import default_database, line, settings
from clm_sessions.cli.tables import Column, table
from clm_sessions.errors import UsageError
from clm_sessions.library import open_db
from clm_sessions.prices import Book
from clm_sessions.store import costs
from clm_sessions.store.connect import begin, close_writer, open_writer, write_ahead
from clm_sessions.view.words import money

_COLUMNS = (
    Column(title="MODEL", least=16, style=(("fg", "cyan"),)),
    Column(title="FROM", drop=4),
    Column(title="INPUT OVER", right=True, drop=5),
    *(
        Column(title=title, right=True, drop=drop)
        for title, drop in (("IN", 0), ("OUT", 0), ("CACHE READ", 2), ("CACHE WRITTEN", 3))
    ),
    Column(title="REPLIES", right=True),
    Column(title="COST EST.", right=True),
    Column(title="SOURCE", least=16, drop=1),
)
_QUERY = """SELECT p.model, p.from_day, p.input_above, p.input_usd, p.output_usd, p.cache_read_usd,
    p.cache_creation_usd, p.source, (SELECT count(*) FROM requests r WHERE r.model = p.model AND r.inherited = 0),
    (SELECT sum(r.cost_usd) FROM requests r WHERE r.model = p.model AND r.inherited = 0), p.seq
    FROM prices p ORDER BY 10 DESC, p.model, p.seq"""
_NAMES = (
    "model",
    "from_day",
    "input_above",
    "input",
    "output",
    "cache_read",
    "cache_creation",
    "source",
    "replies",
    "cost_usd",
)


@click.command("prices")
@options.database
@click.option("--show", is_flag=True, help="Only show the prices that are in the database.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def prices_(database: Path | None, show: bool, as_json: bool) -> None:
    """Price all replies of a database anew, and show the prices, in US dollars per million tokens.

    An import asks once for the prices of each model. Run this after an update of genai-prices, or after a change of your
    own prices in the settings. Costs are estimates by list prices; what is not known has no price.
    """
    database = database or default_database()
    if not show:
        reprice(database, Book(own=settings().prices))
    with open_db(database) as db:
        rows = db.db.execute(_QUERY).fetchall()
    if as_json:
        for row in rows:
            click.echo(json.dumps(dict(zip(_NAMES, row, strict=False))))
    elif not rows:
        click.echo("no prices: install clm-sessions[prices], or put your own into the settings", err=True)
    else:
        table(_COLUMNS, [_cells(*row) for row in rows])


def reprice(database: Path, book: Book) -> None:
    """Forget the prices that a database has, ask for them anew, and work out all costs, all or nothing."""
    if not database.is_file():
        raise UsageError(f"{database}: no such database; run: clm-sessions import {database}")
    if book.empty:
        raise UsageError("nobody to ask for prices: install clm-sessions[prices], or put your own into the settings")
    with closing(open_writer(database)) as db:
        write_ahead(db)
        begin(lambda: db.execute("BEGIN IMMEDIATE"), lambda: None)
        try:
            costs.settle_all(db, book)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        finally:
            close_writer(db)


def _cells(model: str, day: str | None, above: int | None, *more: Any) -> list[str]:  # noqa: ANN401 - columns of a row
    *rates, source, replies, usd, seq = more
    first = seq == 0
    return [
        line(model) if first else "",
        day or "",
        "" if above is None else f"{above:,}",
        *("?" if rate is None else f"{rate:g}" for rate in rates),
        f"{replies:,}" if first else "",
        ("?" if usd is None else money(usd)) if first else "",
        line(source),
    ]
