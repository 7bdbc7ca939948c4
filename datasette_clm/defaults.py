"""The defaults of a database of ours, in the form each line of Datasette wants. What the user's own file says wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import escape

from datasette_clm import detect, tables
from datasette_clm._compat import Datasette, describe, is_modern, user_tables
from datasette_clm.table import Table, only
from datasette_clm.urls import Urls


def settings(table: Table, own: Mapping[str, Any]) -> dict[str, Any]:
    """Facets, sort order, label and visibility of a table. ``own``: what the user says of it.

    A user's sort order replaces ours whole: ``sort`` from one and ``sort_desc`` from the other is an error page.
    """
    given: dict[str, Any] = {}
    if table.facets:
        given["facets"] = list(table.facets)
    if not {"sort", "sort_desc"} & own.keys():
        given |= {key: value for key, value in (("sort", table.sort), ("sort_desc", table.sort_desc)) if value}
    if table.label:
        # Datasette 0.65 shows the label of a row to those who may not see its table: where there is a rule, no label.
        given["label_column"] = "id" if "allow" in own and "id" in table.columns else table.label
    if table.hidden:
        given["hidden"] = True
    return given


def words(name: str, table: Table, columns: Iterable[str], page: str) -> dict[str, Any]:
    """Description of a table and of those of its columns that are there. ``page``: the address of the table."""
    about: dict[str, Any] = {"columns": tables.column_words(name, columns)}
    if not table.main and not table.ways:
        return {**about, "description": table.about}
    links = [("Main columns only", only(*table.main))] if table.main else []
    shown = " · ".join(
        f'<a href="{escape(page)}?{escape(query)}">{escape(words)}</a>' for words, query in (*table.ways, *links)
    )
    return {**about, "description_html": f'{escape(table.about)}<br><span class="clm-ways">{shown}</span>'}


def metadata(datasette: Datasette, key: str | None) -> dict[str, Any]:
    """All defaults as 0.65 metadata, a fresh copy (Datasette merges the user's own into it in place).

    Only where tables are asked for: a permission question must not find our table settings in the place of rules
    that the user put at the top of the file.
    """
    if key not in {None, "databases"} or is_modern(datasette):
        return {}
    ours = {name: _metadata(datasette, name) for name in datasette.databases if detect.is_ours(datasette, name)}
    return {"databases": ours} if ours else {}


def _metadata(datasette: Datasette, database: str) -> dict[str, Any]:
    found = {}
    own, urls = user_tables(datasette, database), Urls(datasette, database)
    for name, columns in detect.columns(datasette, database).items():
        table, mine = tables.TABLES[name], own.get(name) or {}
        about = words(name, table, columns, urls.table(name))
        if {"description", "description_html"} & mine.keys():
            about = {"columns": about["columns"]}
        units = {column: unit for column, unit in tables.UNITS.items() if column in about["columns"]}
        found[name] = {**settings(table, mine), **about, "units": units}
    return {"tables": found}


async def configure(datasette: Datasette, database: str) -> None:
    """Put the defaults of one database where 1.0 looks for them. On 0.65 there is nothing to do: it asks."""
    if not is_modern(datasette):
        return
    own, urls = user_tables(datasette, database), Urls(datasette, database)
    datasette.config = datasette.config or {}
    target = datasette.config.setdefault("databases", {}).setdefault(database, {}).setdefault("tables", {})
    about = {}
    for name, columns in detect.columns(datasette, database).items():
        table, mine = tables.TABLES[name], target.setdefault(name, {})
        for key, value in settings(table, own.get(name) or {}).items():
            mine.setdefault(key, value)
        about[name] = words(name, table, columns, urls.table(name))
    await describe(datasette, database, about)
