"""Links to our pages on Datasette's own: menus, the pages of databases and tables, the start page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from clm_sessions.render.escape import esc
from datasette_clm import detect, loader
from datasette_clm._compat import Datasette, may_view
from datasette_clm.safe import safe
from datasette_clm.table import only
from datasette_clm.tables import TABLES
from datasette_clm.urls import Urls

Actor = Mapping[str, Any] | None
Links = list[dict[str, str]]


async def visible(datasette: Datasette, actor: Actor, database: str) -> bool:
    """Whether the actor may see the transcripts of a database of ours."""
    if not detect.is_ours(datasette, database):
        return False
    for table in loader.NEEDS:
        if not await may_view(datasette, actor, database, table):
            return False
    return True


async def for_database(datasette: Datasette, actor: Actor, database: str) -> Links:
    """For the menu of a database, and of its tables."""
    if not await visible(datasette, actor, database):
        return []
    urls = Urls(datasette, database)
    return [
        {"href": urls.overview(), "label": "Overview of sessions", "description": "Days, models, tools, projects"},
        {"href": urls.search(), "label": "Search in transcripts", "description": "Prompts, replies, thinking, tools"},
        {"href": sessions(urls), "label": "Browse sessions", "description": "Newest first, main columns"},
        {
            "href": urls.review(),
            "label": "Review before publishing",
            "description": "Secrets and names, value by value",
        },
        {"href": urls.cookbook(), "label": "Cookbook", "description": "Ready queries: cost, tools, files, people"},
    ]


async def for_menu(datasette: Datasette, actor: Actor) -> Links:
    """For the menu of every page: one link for each database of ours."""
    ours = [name for name in datasette.databases if await visible(datasette, actor, name)]
    several = len(ours) > 1
    return [
        {"href": Urls(datasette, name).overview(), "label": f"Agent sessions: {name}" if several else "Agent sessions"}
        for name in ours
    ]


def sessions(urls: Urls) -> str:
    """The sessions table with the columns that a first look needs."""
    return f"{urls.table('sessions')}?{only(*TABLES['sessions'].main)}"


async def start_banner(datasette: Datasette, actor: Actor) -> Markup | None:
    """The banners of all databases of ours, for the start page of 1.0."""
    found = [await banner(datasette, actor, name) for name in datasette.databases]
    return Markup("").join(one for one in found if one is not None) or None


async def banner(datasette: Datasette, actor: Actor, database: str) -> Markup | None:
    """A search box and a link for the top of a page of Datasette 1.0."""
    if not await visible(datasette, actor, database):
        return None
    urls = Urls(datasette, database)
    name = esc(database)
    return safe(
        f'<form class="clm-banner core" action="{esc(urls.search())}" method="get" role="search">'
        f'<a href="{esc(urls.overview())}">Agent sessions in {name}</a> '
        f'<a href="{esc(urls.cookbook())}">Cookbook</a> '
        f'<input type="search" name="q" aria-label="Search the sessions in {name}" placeholder="Search prompts, replies, tools"> '
        '<input type="submit" value="Search"></form>'
    )
