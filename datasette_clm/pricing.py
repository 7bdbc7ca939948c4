"""Prices in the configuration of Datasette (``plugins: clm-sessions: prices:``), which win where costs are shown.

The SQL function ``clm_price`` and the head of a session go by them. What tables and ready queries show was worked out
when it was imported: ``clm-sessions prices`` does that anew.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from datasette.utils import StartupError  # type: ignore[import-untyped]

from clm_sessions import times
from clm_sessions.errors import UsageError
from clm_sessions.model import SessionInfo
from clm_sessions.prices import Book, parse_own
from clm_sessions.store import reader
from datasette_clm import detect
from datasette_clm._compat import Datasette
from datasette_clm.visit import Visit


def read_settings(datasette: Datasette) -> None:
    """Take the prices out of the configuration. StartupError in one line if they are no prices."""
    given = datasette.plugin_config("clm-sessions") or {}
    try:
        own = parse_own(given.get("prices") or {}, "plugins: clm-sessions")
    except UsageError as error:
        raise StartupError(str(error)) from None
    detect.state(datasette).book = Book(own=own)


def priced(db: sqlite3.Connection, info: SessionInfo, visit: Visit) -> SessionInfo:
    """The facts of a session with the cost that configured prices give; as stored where there are none."""
    if not visit.book.own or "requests" not in visit.tables:
        return info
    costs = [
        (visit.book.cost(request.model, times.day(request.at), request.usage), request.inherited)
        for request in reader.requests(db, info.id)
    ]
    known = [usd for usd, _copied in costs if usd is not None]
    own = [usd for usd, copied in costs if usd is not None and not copied]
    return replace(
        info,
        cost_usd=sum(known) if known else None,
        own_cost_usd=sum(own) if own else None,
        unpriced_requests=sum(usd is None and not copied for usd, copied in costs),
    )
