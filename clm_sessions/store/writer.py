"""Bring the tables to what they should hold, writing only what differs.

A transaction takes in several bundles; the search index is brought up to date once, at its end: feeding FTS5
between other writes makes it flush its pending terms each time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from clm_sessions.model import Image
from clm_sessions.prices import Book
from clm_sessions.store import costs, lineage, projects, unspaced
from clm_sessions.store.rows import COLUMNS, HEAVY, KEYS, Only, Row, Rows
from clm_sessions.store.schema import FTS

OF_SESSION = tuple(t for t in COLUMNS if t not in ("projects", "sessions"))
FROM_LINEAGE = {
    "sessions": {"own_input_tokens", "own_output_tokens", "own_cache_read_tokens", "own_cache_creation_tokens", "own_chunks", "own_tool_calls",
                 "inherited_messages", "forked_from"},
    "messages": {"inherited"},
    "tool_calls": {"inherited"},
    "requests": {"inherited"},
    "session_files": {"own_reads", "own_changes", "inherited"},
}  # fmt: skip


class Writer:
    """Writes bundles into one open transaction at a time. The caller begins and commits through this object.

    ``again``: what is there already under its key is written again, for it may be damaged. ``book``: who is asked for
    the prices of models that have none yet.
    """

    def __init__(self, connection: sqlite3.Connection, *, again: bool = False, book: Book | None = None) -> None:
        self._db = connection
        self._book = book or Book()
        self._again = again
        self._on_conflict = "REPLACE" if again else "IGNORE"
        self._base: dict[str, int] = {}
        self._next: dict[str, int] = {}
        self._unspaced: dict[str, list[int]] = {}
        self._touched: set[str] = set()
        self._fresh: set[str] = set()
        self._pictures: set[str] = set()

    def begin(self) -> None:
        """Begin a transaction that may write, waiting for another writer as long as the connection's timeout."""
        self._db.execute("BEGIN IMMEDIATE")
        for table in FTS:
            top = self._db.execute(f"SELECT coalesce(max(rowid), 0) FROM {table}").fetchone()[0]
            self._base[table] = self._next[table] = top
            self._unspaced[table] = []
        self._touched, self._fresh = set(), set()

    def commit(self) -> None:
        """Settle what crosses sessions and what it cost, index the new rows for search, and commit."""
        costs.settle(self._db, lineage.settle(self._db, self._touched, self._fresh), self._book)
        if self._touched:
            projects.settle(self._db)
        for table, columns in FTS.items():
            names = ", ".join(columns)
            self._db.execute(
                f"INSERT INTO {table}_fts(rowid, {names}) SELECT rowid, {names} FROM {table} WHERE rowid > ?",
                (self._base[table],),
            )
            unspaced.add(self._db, table, self._unspaced[table])
        self._db.execute("COMMIT")

    def touch(self, ids: Iterable[str]) -> None:
        """These sessions got other keys: settle what crosses sessions for them too."""
        self._touched |= set(ids)

    def settle_all(self) -> None:
        """Settle what crosses sessions for every session, not only for those that changed."""
        self._touched |= {sid for (sid,) in self._db.execute("SELECT id FROM sessions")}

    def rollback(self) -> None:
        """Take back the open transaction, if there is one."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def sync(self, rows: Rows, images: Mapping[str, Image], before: Iterable[str], only: Only | None = None) -> bool:
        """Make the tables hold ``rows`` for their sessions and nothing for those ``before`` that are gone.

        ``before``: keys of the bundle's sessions that are in the database. ``only``: all other rows are as they should
        be, and are not in ``rows``. Returns whether any row changed.
        """
        only = only or {}
        new = {row[0] for row in rows["sessions"]}
        old = set(before) | (new if self._again else set())
        changed = self._sync_projects(rows["projects"])
        self._add_images(images)
        lost: set[str] = set()
        for table in OF_SESSION:
            if table in HEAVY:
                changed |= self._merge(table, old, rows[table], only)
                continue
            stored = self._stored(table, "session_id", old, only)
            if table == "message_attachments":
                lost = {row[3] for row in stored.values()} - {row[3] for row in rows[table]}
            changed |= self._sync_table(table, stored, rows[table])
        changed |= self._sync_table("sessions", self._stored("sessions", "id", old), rows["sessions"])
        self._drop_images(lost)
        if changed:
            self._touched |= old | new
            self._fresh |= new - old
        return changed

    def _sync_projects(self, rows: Iterable[Row]) -> bool:
        before = self._db.total_changes
        self._db.executemany(
            f"INSERT OR {self._on_conflict} INTO projects (id, name, path) VALUES (?, ?, ?)", dict.fromkeys(rows)
        )
        return self._db.total_changes > before

    def _stored(self, table: str, column: str, ids: set[str], only: Only | None = None) -> dict[Row, Row]:
        names, width = ", ".join(COLUMNS[table]), KEYS[table]
        found: dict[Row, Row] = {}
        for one in sorted(ids):
            seqs = (only or {}).get(one, {}).get(table)
            rows = (
                self._db.execute(f"SELECT {names} FROM {table} WHERE {column} = ?", (one,))
                if seqs is None
                else self._at(table, one, seqs)
            )
            found.update((row[:width], row) for row in rows)
        return found

    def _at(self, table: str, sid: str, seqs: Iterable[int]) -> Iterator[Row]:
        names = ", ".join(COLUMNS[table])
        for seq in seqs:
            yield from self._db.execute(f"SELECT {names} FROM {table} WHERE session_id = ? AND seq = ?", (sid, seq))

    def _sync_table(self, table: str, stored: dict[Row, Row], rows: Iterable[Row]) -> bool:
        width = KEYS[table]
        if not stored:
            return self._insert(table, rows) > 0
        compared = _compared(table)
        fresh, gone = [], set(stored)
        for row in rows:
            key = row[:width]
            gone.discard(key)
            before = stored.get(key)
            if before is None or any(before[i] != row[i] for i in compared):
                fresh.append(row)
        doomed = [*gone, *(row[:width] for row in fresh if row[:width] in stored)]
        self._delete(table, doomed)
        self._insert(table, fresh)
        return bool(doomed or fresh)

    def _merge(self, table: str, old: set[str], rows: Iterable[Row], only: Only) -> bool:
        """``_sync_table`` for rows in the order of their keys: stored ones are read beside them, not into memory."""
        if not old:
            return self._insert(table, rows) > 0
        compared = _compared(table)
        fresh: list[Row] = []
        doomed: list[Row] = []
        gone = set(old)
        for sid, mine in groupby(rows, key=itemgetter(0)):
            gone.discard(sid)
            for before, row in _side_by_side(self._ordered(table, sid, only) if sid in old else iter(()), mine):
                if before is None or row is None or any(before[i] != row[i] for i in compared):
                    fresh += [] if row is None else [row]
                    doomed += [] if before is None else [before[: KEYS[table]]]
        doomed += [row[: KEYS[table]] for sid in sorted(gone) for row in self._ordered(table, sid, only)]
        self._delete(table, doomed)
        self._insert(table, fresh)
        return bool(doomed or fresh)

    def _ordered(self, table: str, sid: str, only: Only) -> Iterator[Row]:
        seqs = only.get(sid, {}).get(table)
        if seqs is not None:
            return self._at(table, sid, seqs)
        names = ", ".join(COLUMNS[table])
        # A damaged seq is no number; the row stays until everything is imported again.
        return self._db.execute(
            f"SELECT {names} FROM {table} WHERE session_id = ? AND typeof(seq) = 'integer' ORDER BY seq", (sid,)
        )

    def _insert(self, table: str, rows: Iterable[Row]) -> int:
        """Insert the rows; returns how many there were."""
        if isinstance(rows, list) and not rows:
            return 0
        names = COLUMNS[table]
        numbered = table in self._next
        if numbered:
            names = ("rowid", *names)
            rows = self._numbered(table, rows)
        marks = ", ".join("?" * len(names))
        made = self._db.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", rows).rowcount
        if numbered:
            self._next[table] += made
        return made

    def _numbered(self, table: str, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows with their rowids. Those with text in a script without spaces are noted for the index of such."""
        searched = [COLUMNS[table].index(name.removeprefix("search_")) for name in FTS[table]]
        for rowid, row in enumerate(rows, self._next[table] + 1):
            if any(unspaced.within(row[i]) for i in searched):
                self._unspaced[table].append(rowid)
            yield (rowid, *row)

    def _delete(self, table: str, keys: Sequence[Row]) -> None:
        if not keys:
            return
        self._touched |= lineage.sharing(self._db, table, keys)
        where = " AND ".join(f"{name} = ?" for name in COLUMNS[table][: KEYS[table]])
        if table in FTS:
            names = ", ".join(FTS[table])
            self._db.executemany(
                f"INSERT INTO {table}_fts({table}_fts, rowid, {names}) "
                f"SELECT 'delete', rowid, {names} FROM {table} WHERE {where} AND rowid <= {self._base[table]}",
                keys,
            )
            unspaced.remove(self._db, table, where, keys)
        self._db.executemany(f"DELETE FROM {table} WHERE {where}", keys)

    def _add_images(self, images: Mapping[str, Image]) -> None:
        """Of several media types that logs state of one picture the first by name stays, whoever was imported first."""
        for image in images.values():
            data = image.data  # read once: of a large log it waits in a file
            if data is None:
                continue
            if self._again and image.sha256 not in self._pictures:
                self._db.execute("DELETE FROM attachments WHERE sha256 = ?", (image.sha256,))
                self._pictures.add(image.sha256)
            self._db.execute(
                "INSERT INTO attachments VALUES (?, ?, ?, ?) ON CONFLICT (sha256) DO UPDATE "
                "SET media_type = excluded.media_type WHERE excluded.media_type < media_type",
                (image.sha256, image.media_type, image.size, data),
            )

    def _drop_images(self, hashes: set[str]) -> None:
        self._db.executemany(
            "DELETE FROM attachments WHERE sha256 = ? "
            "AND NOT EXISTS (SELECT 1 FROM message_attachments m WHERE m.sha256 = attachments.sha256)",
            ((h,) for h in sorted(hashes)),
        )


def _compared(table: str) -> list[int]:
    """The places of the columns that a bundle by itself decides."""
    foreign = FROM_LINEAGE.get(table, set())
    return [i for i, name in enumerate(COLUMNS[table]) if name not in foreign]


def _side_by_side(stored: Iterator[Row], rows: Iterator[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """The rows of one session that have the same seq, or one without the other. Both come ordered by seq."""
    before, row = next(stored, None), next(rows, None)
    while before is not None or row is not None:
        step = -1 if row is None else 1 if before is None else (before[1] > row[1]) - (before[1] < row[1])
        yield (before if step <= 0 else None), (row if step >= 0 else None)
        before = next(stored, None) if step <= 0 else before
        row = next(rows, None) if step >= 0 else row
