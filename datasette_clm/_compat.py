"""What differs between Datasette 0.65 and 1.0, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from datasette.utils import StartupError, add_cors_headers, tilde_decode, tilde_encode  # type: ignore[import-untyped]

import datasette as _datasette  # type: ignore[import-untyped]
from datasette import Forbidden, NotFound, Response

__all__ = [
    "Database",
    "Datasette",
    "Forbidden",
    "NotFound",
    "Request",
    "Response",
    "StartupError",
    "add_cors_headers",
    "add_query",
    "deny_queries",
    "describe",
    "hookimpl",
    "hookimpl_first",
    "hookimpl_last",
    "is_modern",
    "may_execute",
    "may_view",
    "nothing_allowed",
    "permission_rule",
    "tilde_decode",
    "tilde_encode",
    "user_queries",
    "user_tables",
]

F = TypeVar("F", bound=Callable[..., Any])
Datasette = Any
Database = Any
Request = Any
"""Objects of Datasette. Neither line ships types."""


def hookimpl(function: F) -> F:
    """Datasette's own marker, with a type."""
    marked: F = _datasette.hookimpl(function)
    return marked


def hookimpl_first(function: F) -> F:
    """The same for a hook whose answer stands before those of other plugins: a stylesheet that a theme overrides."""
    marked: F = _datasette.hookimpl(tryfirst=True)(function)
    return marked


def hookimpl_last(function: F) -> F:
    """The same for a hook that has the last word: the outermost ASGI wrapper, the deciding permission of 0.65."""
    marked: F = _datasette.hookimpl(trylast=True)(function)
    return marked


def is_modern(datasette: Datasette) -> bool:
    """Whether this is the 1.0 line: resources with cascading permissions, settings in ``config``."""
    return hasattr(datasette, "allowed")


async def may_view(datasette: Datasette, actor: Mapping[str, Any] | None, database: str, table: str) -> bool:
    """Whether the actor may see a table, by Datasette's own rules: table, then database, then instance.

    On 0.65 ``view-table`` alone does not cascade, so the whole chain is asked, as the table page itself does.
    """
    if is_modern(datasette):
        from datasette.resources import TableResource  # type: ignore[import-untyped]

        allowed: bool = await datasette.allowed(
            action="view-table", resource=TableResource(database=database, table=table), actor=actor
        )
        return allowed
    visible, _private = await datasette.check_visibility(
        actor, permissions=[("view-table", (database, table)), ("view-database", database), "view-instance"]
    )
    return bool(visible)


def permission_rule(sql: str, parameters: Mapping[str, str]) -> Any:  # noqa: ANN401 - Datasette's PermissionSQL
    """A rule on permissions for 1.0."""
    from datasette.permissions import PermissionSQL  # type: ignore[import-untyped]

    return PermissionSQL(sql=sql, params=dict(parameters))


async def may_execute(datasette: Datasette, actor: Mapping[str, Any] | None, database: str) -> bool:
    """Whether the actor may run SQL of their own on a database."""
    if is_modern(datasette):
        from datasette.resources import DatabaseResource

        allowed: bool = await datasette.allowed(
            action="execute-sql", resource=DatabaseResource(database=database), actor=actor
        )
        return allowed
    visible, _private = await datasette.check_visibility(
        actor, permissions=[("execute-sql", database), ("view-database", database), "view-instance"]
    )
    return bool(visible)


async def add_query(datasette: Datasette, database: str, name: str, query: Mapping[str, Any]) -> None:
    """Store a query where 1.0 keeps them, unless the user has one of that name. Running it needs the permission to run SQL."""
    if not is_modern(datasette):
        return
    known = await datasette.get_query(database, name)
    if known is not None and known.source != "plugin":
        return
    words = {key: query[key] for key in ("title", "description", "hide_sql")}
    await datasette.add_query(database, name, query["sql"], parameters=query["params"], **words)


def deny_queries(refused: Iterable[tuple[str, str]]) -> Any:  # noqa: ANN401 - a class of 1.0
    """What 1.0 is told so that nobody sees these queries: (database, name). None if there are none."""
    from datasette.permissions import PermissionSQL

    pairs = list(refused)
    if not pairs:
        return None
    values: dict[str, str] = {}
    rules = []
    for number, (database, name) in enumerate(pairs):
        values |= {f"clm_database_{number}": database, f"clm_query_{number}": name}
        rules.append(
            f"SELECT :clm_database_{number} AS parent, :clm_query_{number} AS child, 0 AS allow, 'it reads a table that is denied' AS reason"
        )
    return PermissionSQL(sql=" UNION ALL ".join(rules), params=values)


def user_queries(datasette: Datasette, database: str) -> Mapping[str, Any]:
    """The queries in the user's own file; empty if there are none."""
    source = (datasette.config if is_modern(datasette) else getattr(datasette, "_metadata_local", None)) or {}
    queries = ((source.get("databases") or {}).get(database) or {}).get("queries") or {}
    return queries if isinstance(queries, Mapping) else {}


def nothing_allowed() -> Any:  # noqa: ANN401 - an object of Datasette
    """What 1.0 takes from ``permission_resources_sql`` as: nothing, whatever other rules say."""
    from datasette.permissions import PermissionSQL

    return PermissionSQL(restriction_sql="SELECT NULL AS parent, NULL AS child WHERE 0")


def user_tables(datasette: Datasette, database: str) -> Mapping[str, Any]:
    """What the user's own file says about the tables of a database; empty if nothing."""
    source = (datasette.config if is_modern(datasette) else getattr(datasette, "_metadata_local", None)) or {}
    tables = ((source.get("databases") or {}).get(database) or {}).get("tables") or {}
    return tables if isinstance(tables, Mapping) else {}


async def describe(datasette: Datasette, database: str, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Store descriptions where 1.0 keeps them; what is there already (the user's) stays.

    ``tables``: by name, ``title``, ``description`` or ``description_html``, and ``columns`` as name to text.
    """
    resources = []
    for table, about in tables.items():
        known = await datasette.get_resource_metadata(database, table)
        resources += [
            (database, table, key, text) for key, text in about.items() if key != "columns" and not _said(known, key)
        ]
    columns = [
        (database, table, column, "description", text)
        for table, about in tables.items()
        for column, text in about.get("columns", {}).items()
    ]
    internal = datasette.get_internal_database()
    # One statement for all: the documented setters cost a write each, some 200 of them for every database.
    await internal.execute_write_many(
        "INSERT OR IGNORE INTO metadata_resources (database_name, resource_name, key, value) VALUES (?, ?, ?, ?)",
        resources,
    )
    await internal.execute_write_many(
        "INSERT OR IGNORE INTO metadata_columns (database_name, resource_name, column_name, key, value) VALUES (?, ?, ?, ?, ?)",
        columns,
    )


def _said(known: Mapping[str, Any], key: str) -> bool:
    """Whether the user said this already, in either form of a description."""
    return key in known or (key.startswith("description") and not {"description", "description_html"}.isdisjoint(known))
