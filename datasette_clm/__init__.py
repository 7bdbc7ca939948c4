"""The Datasette plugin: hook implementations only, each one line to where the work is done.

Works on 0.65.5 and on the 1.0 alphas; hooks that one line does not know are ignored there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import click

from datasette_clm import (
    cells,
    defaults,
    detect,
    functions,
    incoming,
    links,
    pricing,
    private,
    queries,
    results,
    routes,
    shadow,
)
from datasette_clm._compat import (
    Datasette,
    Request,
    hookimpl,
    hookimpl_first,
    hookimpl_last,
    nothing_allowed,
    permission_rule,
)
from datasette_clm.urls import SCRIPTS, STYLE, Urls

_TABS = (
    "clm_timeline.html",
    "clm_context.html",
    "clm_files.html",
    "clm_raw.html",
    "clm_record.html",
    "clm_compare.html",
)
_PAGES = {
    "clm_session.html": ("clm.js", "transcript.js", "live.js"),
    "clm_chunk.html": ("clm.js", "chunk.js"),
    "clm_search.html": ("clm.js", "search.js"),
    "clm_overview.html": ("clm.js",),
    **dict.fromkeys(("clm_cookbook.html", "clm_review.html", *_TABS), ("clm.js",)),
}
"""Our pages by template, with the scripts that each loads."""


@hookimpl
def prepare_connection(conn: Any, database: str | None, datasette: Datasette) -> None:  # noqa: ANN401 - of SQLite
    """SQL functions."""
    functions.register(conn, datasette, database)


@hookimpl
def canned_queries(datasette: Datasette, database: str) -> dict[str, dict[str, Any]]:
    """Ready queries (0.65)."""
    return queries.canned(datasette, database)


@hookimpl
def permission_resources_sql(datasette: Datasette, actor: Mapping[str, Any] | None, action: str) -> Any:  # noqa: ANN401
    """1.0: nobody without a name from elsewhere; ready queries follow their tables; indexes without text are for nobody."""
    if private.closed_to(actor):
        return nothing_allowed()
    if action == "view-table":
        return permission_rule(*shadow.unspaced(datasette))
    return queries.denied(datasette, actor, action)


@hookimpl
def startup(datasette: Datasette) -> Callable[[], Awaitable[None]]:
    """Read the settings, find our databases."""
    private.rule(datasette)
    pricing.read_settings(datasette)
    return lambda: incoming.refresh(datasette)


@hookimpl_last
def asgi_wrapper(datasette: Datasette) -> Callable[[incoming.Asgi], incoming.Asgi]:
    """Prepare each request."""
    return lambda app: incoming.wrap(datasette, app)


@hookimpl
def get_metadata(datasette: Datasette, key: str | None) -> dict[str, Any]:
    """Defaults for 0.65."""
    return defaults.metadata(datasette, key)


@hookimpl
def register_routes() -> list[tuple[str, Callable[..., Awaitable[Any]]]]:
    """Our pages."""
    return routes.routes()


@hookimpl
def render_cell(row: Any, value: Any, column: str, table: str | None, database: str, datasette: Datasette) -> Any:  # noqa: ANN401
    """Cells that lead to the transcript."""
    if not detect.is_ours(datasette, database):
        return None
    if table is None:
        return results.cell(row, value, column, Urls(datasette, database))
    return cells.cell(row, value, column, table, Urls(datasette, database), whole=incoming.on_row_page())


@hookimpl_last
def permission_allowed(datasette: Datasette, actor: Mapping[str, Any] | None, action: str, resource: Any) -> Any:  # noqa: ANN401
    """0.65: nobody without a name from elsewhere; text indexes follow the table they index, ready queries those they read."""
    if private.closed_to(actor):
        return False
    if action == "view-query" and isinstance(resource, tuple):
        return lambda: queries.verdict(datasette, actor, *resource)
    if action != "view-table" or not isinstance(resource, tuple) or shadow.source(resource[1]) is None:
        return None
    return lambda: shadow.verdict(datasette, actor, *resource)


@hookimpl_first
def extra_css_urls(template: str, database: str | None, datasette: Datasette) -> list[str]:
    """The stylesheet, on our pages, on those of our databases, and on the start page that names them."""
    names = [database] if database is not None else datasette.databases if template == "index.html" else []
    address = f"{STYLE}?v={routes.style_version()}"
    return [address] if template in _PAGES or any(detect.is_ours(datasette, name) for name in names) else []


@hookimpl
def extra_js_urls(template: str) -> list[dict[str, Any]]:
    """Our scripts, on our pages."""
    return [{"url": SCRIPTS + name, "module": True} for name in _PAGES.get(template, ())]


@hookimpl
def database_actions(
    datasette: Datasette, actor: Mapping[str, Any] | None, database: str
) -> Callable[[], Awaitable[links.Links]]:
    """Menu of a database."""
    return lambda: links.for_database(datasette, actor, database)


@hookimpl
def table_actions(
    datasette: Datasette, actor: Mapping[str, Any] | None, database: str
) -> Callable[[], Awaitable[links.Links]]:
    """Menu of a table."""
    return lambda: links.for_database(datasette, actor, database)


@hookimpl
def menu_links(datasette: Datasette, actor: Mapping[str, Any] | None) -> Callable[[], Awaitable[links.Links]]:
    """Menu of every page."""
    return lambda: links.for_menu(datasette, actor)


@hookimpl
def top_database(datasette: Datasette, request: Request, database: str) -> Callable[[], Awaitable[Any]]:
    """Search box on the page of a database (1.0)."""
    return lambda: links.banner(datasette, request.actor, database)


@hookimpl
def top_homepage(datasette: Datasette, request: Request) -> Callable[[], Awaitable[Any]]:
    """The same on the start page (1.0)."""
    return lambda: links.start_banner(datasette, request.actor)


@hookimpl
def register_mcp_tools(datasette: Datasette, mcp: Any) -> None:  # noqa: ANN401
    """Tools for agents, if datasette-mcp is installed."""
    from datasette_clm.mcp_tools import register

    register(datasette, mcp)


@hookimpl
def register_commands(cli: click.Group) -> None:
    """``datasette clm …``: the commands of clm-sessions."""
    from clm_sessions.cli import command_group

    cli.add_command(command_group(), name="clm")
