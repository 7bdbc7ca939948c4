"""The recipes of the cookbook as canned queries of Datasette, for those who may see what they read.

A canned query would show a table that is denied, and run without the permission to run SQL. Ours do neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clm_sessions.cookbook import RECIPES
from clm_sessions.cookbook.recipe import PARAMETERS
from datasette_clm import detect
from datasette_clm._compat import Datasette, add_query, deny_queries, may_execute, may_view, user_queries

Actor = Mapping[str, Any] | None
_BY_NAME = {recipe.name: recipe for recipe in RECIPES}


def canned(datasette: Datasette, database: str) -> dict[str, dict[str, Any]]:
    """All recipes in the form 0.65 wants. A query that the user gave the same name stays."""
    if not detect.is_ours(datasette, database):
        return {}
    taken = user_queries(datasette, database)
    return {
        recipe.name: {
            "sql": recipe.sql,
            "title": recipe.title,
            "description": about(recipe.name),
            "params": list(recipe.parameters),
            "hide_sql": True,
        }
        for recipe in RECIPES
        if recipe.name not in taken
    }


def about(name: str) -> str:
    """What a recipe answers, and what it may be asked with."""
    recipe = _BY_NAME[name]
    asked = "; ".join(f"{parameter}: {PARAMETERS[parameter].replace(';', ',')}" for parameter in recipe.parameters)
    return recipe.about + (f" ({asked})" if asked else "")


async def configure(datasette: Datasette, database: str) -> None:
    """Add the recipes to a database on 1.0. On 0.65 there is nothing to do: it asks."""
    for name, query in canned(datasette, database).items():
        await add_query(datasette, database, name, query)


async def allowed(datasette: Datasette, actor: Actor, database: str) -> set[str]:
    """The recipes whose results the actor may see."""
    if not await may_execute(datasette, actor, database):
        return set()
    tables = {table for recipe in RECIPES for table in recipe.tables}
    seen = {table for table in tables if await may_view(datasette, actor, database, table)}
    return {recipe.name for recipe in RECIPES if seen.issuperset(recipe.tables)}


async def verdict(datasette: Datasette, actor: Actor, database: str, query: str) -> bool | None:
    """0.65: False if ``query`` is ours and would show what the actor may not see; None: nothing to say."""
    if query not in canned(datasette, database):
        return None
    return None if query in await allowed(datasette, actor, database) else False


async def denied(datasette: Datasette, actor: Actor, action: str) -> Any:  # noqa: ANN401 - see ``_compat``
    """The same for 1.0, over all databases at once."""
    if action != "view-query":
        return None
    refused = [
        (database, name)
        for database in datasette.databases
        if detect.is_ours(datasette, database)
        for name in canned(datasette, database).keys() - await allowed(datasette, actor, database)
    ]
    return deny_queries(refused)
