"""The recipes as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from clm_sessions.cookbook.recipe import GROUPS, PARAMETERS, Recipe

HEAD = """# Cookbook

Ready queries over a database that `clm-sessions import` made. In Datasette each is a page of its own (`/{database}/{name}`),
and `/{database}/-/cookbook` lists them all; anywhere else, bind every parameter, to an empty text where you want all.
They count owned rows only: what a fork or a resumed session copied counts once. Costs are estimates by list prices.

"""


def markdown(recipes: Iterable[Recipe]) -> str:
    """The page."""
    recipes = list(recipes)
    said = "".join(f"- `:{name}`: {what}\n" for name, what in PARAMETERS.items())
    parts = [HEAD + said]
    for group in GROUPS:
        parts.append(f"\n## {group}\n")
        parts += [
            f"\n### {one.title}\n\n{one.about} (`{one.name}`)\n\n```sql\n{one.sql}\n```\n"
            for one in recipes
            if one.group == group
        ]
    return "".join(parts)
