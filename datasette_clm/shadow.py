"""Tables behind a full-text index hold words of the table they index: who may not read that may not read them.

Datasette 1.0 sees to it where an index names its table; on 0.65, and for the indexes that hold no text, it is done here.
"""

from __future__ import annotations

import json
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


def unspaced(datasette: Datasette) -> tuple[str, dict[str, str]]:
    """1.0: a rule in SQL that nobody views the indexes of scripts without spaces, in which there is nothing to see."""
    tables = [f"{table}_fts_cjk{part}" for table in FTS for part in ("", "_data", "_idx", "_docsize", "_config")]
    pairs = [(name, table) for name in datasette.databases if detect.is_ours(datasette, name) for table in tables]
    rule = (
        "SELECT json_extract(value, '$[0]') AS parent, json_extract(value, '$[1]') AS child, 0 AS allow, "
        "'a search index' AS reason FROM json_each(:clm_search_indexes)"
    )
    return rule, {"clm_search_indexes": json.dumps(pairs)}
