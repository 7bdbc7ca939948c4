"""The cookbook page: every ready query that the reader may know of, and a form to run it where they may run SQL."""

from __future__ import annotations

import sqlite3
from typing import Any

from clm_sessions.cookbook import GROUPS, RECIPES, Recipe
from clm_sessions.cookbook.recipe import PARAMETERS
from datasette_clm.urls import Urls
from datasette_clm.visit import Answer, Page, Visit

NEEDS = ("sessions",)
WANTS = tuple(sorted({table for recipe in RECIPES for table in recipe.tables} - {*NEEDS}))
_HINTS = {"project": "all", "since": "2026-03-02", "model": "all"}


def answer(db: sqlite3.Connection, visit: Visit) -> Answer:
    """The page. It reads nothing: a recipe is left out if one of its tables is denied."""
    del db
    known = [recipe for recipe in RECIPES if visit.tables.issuperset(recipe.tables)]
    groups = [
        {"title": group, "recipes": [_recipe(one, visit.urls, runs=visit.sql) for one in known if one.group == group]}
        for group in GROUPS
    ]
    page = {"title": "Cookbook", "groups": [group for group in groups if group["recipes"]], "runs": visit.sql}
    return Page(template="clm_cookbook.html", page={**page, "tables": visit.urls.table("sessions")})


def _recipe(recipe: Recipe, urls: Urls, *, runs: bool) -> dict[str, Any]:
    return {
        "name": recipe.name,
        "title": recipe.title,
        "about": recipe.about,
        "sql": recipe.sql,
        "href": urls.query(recipe.name) if runs else None,
        "parameters": [{"name": name, "about": PARAMETERS[name], "hint": _HINTS[name]} for name in recipe.parameters],
    }
