"""On Datasette 0.65 the tables behind a full-text index can be read though the table they index is denied: close that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clm_sessions.store.schema import FTS
from datasette_clm import detect
from datasette_clm._compat import Datasette, may_view


def source(table: str) -> str | None:
    """The table whose text stands in ``table``, if that is one of an index: ``messages`` for ``messages_fts_data``."""
    lowered = table.lower()
    return next((name for name in FTS if lowered == f"{name}_fts" or lowered.startswith(f"{name}_fts_")), None)


async def verdict(datasette: Datasette, actor: Mapping[str, Any] | None, database: str, table: str) -> bool | None:
    """False if ``table`` holds text of a table the actor may not view; None: nothing to say."""
    indexed = source(table)
    if indexed is None or not detect.is_ours(datasette, database):
        return None
    return None if await may_view(datasette, actor, database, indexed) else False
