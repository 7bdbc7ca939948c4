"""What replies cost, worked out in the database from the prices that it keeps.

A cost follows from its row and the table ``prices`` alone. So it can be explained, it does not change because a library
was updated, and it does not depend on the order of imports. Prices are asked for once a model.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence

from clm_sessions.prices import Book, Price

_FIELDS = (
    "from_day", "until_day", "input_above", "input_up_to", "input", "output", "cache_read", "cache_creation",
    "cache_creation_1h", "reasoning", "source",
)  # fmt: skip
SUMS = ("cost_usd", "own_cost_usd", "unpriced_requests")
"""What is added up for each session: over all replies, over its own, and how many of its own have no price."""
COSTS: dict[str, tuple[str, ...]] = {"requests": ("cost_usd",), "sessions": SUMS}
"""The columns that are worked out here, by table. They stand beside those that follow from the logs."""
_SIZE = "r.input_tokens + coalesce(r.cache_read_tokens, 0) + coalesce(r.cache_creation_tokens, 0)"
_WRITTEN = "coalesce(r.cache_creation_tokens, 0)"
_HOUR = f"min(coalesce(r.cache_creation_1h_tokens, 0), {_WRITTEN})"
_THOUGHT = "min(coalesce(r.reasoning_tokens, 0), r.output_tokens)"
COST = f"""(SELECT (r.input_tokens * p.input_usd + coalesce(r.cache_read_tokens, 0) * p.cache_read_usd
    + ({_WRITTEN} - {_HOUR}) * p.cache_creation_usd + {_HOUR} * p.cache_creation_1h_usd
    + (r.output_tokens - {_THOUGHT}) * p.output_usd + {_THOUGHT} * p.reasoning_usd) / 1e6
    FROM prices p WHERE p.model = r.model AND min(r.input_tokens, r.output_tokens, {_WRITTEN},
        coalesce(r.cache_read_tokens, 0)) >= 0
    AND (p.from_day IS NULL OR r.day >= p.from_day) AND (p.until_day IS NULL OR r.day < p.until_day)
    AND (p.input_above IS NULL OR {_SIZE} > p.input_above) AND (p.input_up_to IS NULL OR {_SIZE} <= p.input_up_to)
    ORDER BY p.seq LIMIT 1)"""
"""The cost of a reply ``r``: the one price that holds, times its tokens. The same as ``prices.cost``."""
_ADDED = """(SELECT sum(r.cost_usd), sum(CASE WHEN r.inherited = 0 THEN r.cost_usd END),
    count(CASE WHEN r.inherited = 0 AND r.cost_usd IS NULL THEN 1 END) FROM requests r WHERE r.session_id = sessions.id)"""
_USED = """SELECT session_id, day, model, count(*), sum(input_tokens), sum(output_tokens), sum(cache_read_tokens),
    sum(cache_creation_tokens), sum(reasoning_tokens), sum(cost_usd), count(*) - count(cost_usd)
    FROM requests WHERE inherited = 0"""
"""The rows of ``daily_usage``, to be grouped by session, day and model."""
_MODELS = """WITH RECURSIVE m(name) AS (SELECT min(model) FROM requests UNION ALL
    SELECT (SELECT min(model) FROM requests WHERE model > m.name) FROM m WHERE m.name IS NOT NULL)
    SELECT name FROM m WHERE name IS NOT NULL"""
"""Each model once, by jumps in its index."""


def models(db: sqlite3.Connection) -> list[str]:
    """All models that answered."""
    return [name for (name,) in db.execute(_MODELS) if isinstance(name, str)]


def news(db: sqlite3.Connection, book: Book) -> list[str]:
    """The models that have no prices yet, though the book has something to say of them."""
    if book.empty:
        return []
    known = {model for (model,) in db.execute("SELECT DISTINCT model FROM prices")}
    return [model for model in models(db) if model not in known and book.prices(model)]


def settle(db: sqlite3.Connection, sessions: Iterable[str], book: Book) -> None:
    """Work out the costs of sessions whose rows changed, and of all replies of a model that got its prices just now.

    Runs inside the caller's transaction. Prices of models that nobody uses any more go.
    """
    gone = db.execute(
        "DELETE FROM prices WHERE NOT EXISTS (SELECT 1 FROM requests r WHERE r.model = prices.model)"
    ).rowcount
    fresh = news(db, book)
    if fresh or gone:
        _put(db, book.all(fresh))
    waiting = {*sessions}
    for model in fresh:
        waiting |= {sid for (sid,) in db.execute("SELECT DISTINCT session_id FROM requests WHERE model = ?", (model,))}
    _work_out(db, waiting)


def settle_all(db: sqlite3.Connection, book: Book) -> None:
    """Forget all prices, ask for them anew, and work out all costs. Runs inside the caller's transaction."""
    db.execute("DELETE FROM prices")
    settle(db, [sid for (sid,) in db.execute("SELECT id FROM sessions")], book)


def _work_out(db: sqlite3.Connection, sessions: Collection[str]) -> None:
    some = db.execute("SELECT 1 FROM prices LIMIT 1").fetchone() is not None
    for sid in sorted(sessions):
        db.execute(
            f"UPDATE requests AS r SET cost_usd = {COST if some else 'NULL'} WHERE session_id = ?"
            + ("" if some else " AND cost_usd IS NOT NULL"),
            (sid,),
        )
        db.execute(f"UPDATE sessions SET ({', '.join(SUMS)}) = {_ADDED} WHERE id = ?", (sid,))
        db.execute("DELETE FROM daily_usage WHERE session_id = ?", (sid,))
        db.execute(f"INSERT INTO daily_usage {_USED} AND session_id = ? GROUP BY day, model", (sid,))


def _put(db: sqlite3.Connection, prices: Sequence[Price]) -> None:
    """Add prices, and seal the table."""
    seqs: dict[str, int] = {}
    for price in prices:
        seq = seqs[price.model] = seqs.get(price.model, -1) + 1
        row = (price.model, seq, *(getattr(price, name) for name in _FIELDS))
        db.execute(f"INSERT INTO prices VALUES ({', '.join('?' * len(row))}, NULL)", row)
    db.execute("UPDATE prices SET checksum = ?", (checksum(db),))


def checksum(db: sqlite3.Connection) -> str:
    """A digest of all prices: each row carries it, so that none can change or go unnoticed."""
    names = [row[1] for row in db.execute("PRAGMA table_info(prices)")][:-1]
    rows = db.execute(f"SELECT {', '.join(names)} FROM prices ORDER BY model, seq").fetchall()
    return hashlib.sha256(repr(rows).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def sound(db: sqlite3.Connection) -> bool:
    """Whether the prices are those that were put there."""
    want = checksum(db)
    return all(have == want for (have,) in db.execute("SELECT checksum FROM prices"))


def wrong(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """(table, key) of each cost that does not follow from the prices. A sum may differ by what adding up rounds away."""
    rows = db.execute(f"SELECT session_id, seq, cost_usd, {COST} AS want FROM requests r")
    for sid, seq, have, want in rows:
        if _differ(have, want):
            yield "requests", f"{(sid, seq)}: cost_usd is {have!r}, not {want!r}"
    sums = db.execute(
        "SELECT s.id, s.cost_usd, s.own_cost_usd, s.unpriced_requests, sum(r.cost_usd), "
        "sum(CASE WHEN r.inherited = 0 THEN r.cost_usd END), "
        "count(CASE WHEN r.inherited = 0 AND r.session_id IS NOT NULL AND r.cost_usd IS NULL THEN 1 END) "
        "FROM sessions s LEFT JOIN requests r ON r.session_id = s.id GROUP BY s.id"
    )
    for sid, *numbers in sums:
        for name, have, want in zip(SUMS, numbers[:3], numbers[3:], strict=True):
            if _differ(have, want):
                yield "sessions", f"{sid}: {name} is {have!r}, not {want!r}"
    yield from _wrong_days(db)


def _wrong_days(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """The same for what is added up by day."""
    width = 3
    rows = db.execute(f"{_USED} GROUP BY session_id, day, model")
    want = {tuple(row[:width]): row[width:] for row in rows}
    for row in db.execute("SELECT * FROM daily_usage"):
        numbers = want.pop(row[:width], None)
        if numbers is None or any(_differ(a, b) for a, b in zip(row[width:], numbers, strict=True)):
            yield "daily_usage", f"{row[:width]}: {row[width:]}, not {numbers}"
    for key in want:
        yield "daily_usage", f"{key} is missing"


def _differ(have: object, want: object) -> bool:
    if isinstance(have, int | float) and isinstance(want, int | float):
        return abs(have - want) > 1e-9 * max(1.0, abs(want))
    return have is not want
