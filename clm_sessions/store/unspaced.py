"""Search in scripts that are written without spaces: Chinese, Japanese, Thai and their neighbours, and inside Korean words.

SQLite's tokenizer takes a whole run of such text for one word. So each text with such a run stands in a second index as
well, ``<table>_fts_cjk`` under the same rowid, there with two characters a word: 水やり is 水や, やり and り. A run inside a
longer one is a phrase of such pairs. The index holds no text of its own (``content=''``), a text without such runs is
not in it, and what is in it can be told from the tables, so ``verify`` makes it once more and compares.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from clm_sessions.store.schema import FTS, INDEXED_CHARACTERS

CHARACTERS = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u303c"
    "\u3041-\u318f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc"
    "\U00020000-\U0003ffff"
)
"""The characters of such scripts, as the inside of a character class."""
_RUN = re.compile(f"[{CHARACTERS}]+")


def within(text: str | None) -> bool:
    """Whether there is such a run in the part of a text that is searched."""
    return text is not None and not text.isascii() and _RUN.search(text, 0, INDEXED_CHARACTERS) is not None


def spread(text: str) -> str:
    """A text with its runs as words of two characters, the last character of each alone. All else stays."""
    return _RUN.sub(_pairs, text)


def phrase(term: str) -> tuple[str, bool]:
    """What a person looks for, as the words it is in the index, and whether the last of them may go on."""
    words = spread(term).split()
    if not words or _RUN.fullmatch(term[-1]) is None:
        return " ".join(words), False
    alone = _RUN.fullmatch(term[-2:-1]) is None
    return " ".join(words if alone else words[:-1]), alone


def add(db: sqlite3.Connection, table: str, rowids: Iterable[int]) -> None:
    """Put rows into the index of their table; those that are not there, or hold no run, are passed over."""
    names = ", ".join(FTS[table])
    rows = (
        row for rowid in rowids for row in db.execute(f"SELECT rowid, {names} FROM {table} WHERE rowid = ?", (rowid,))
    )
    db.executemany(f"INSERT INTO {table}_fts_cjk (rowid, {names}) VALUES ({_marks(table)})", spread_rows(rows))


def remove(db: sqlite3.Connection, table: str, where: str, keys: Iterable[tuple[Any, ...]]) -> None:
    """Take rows out of the index; call it while they are still in their table. ``where`` chooses one by its key."""
    names = ", ".join(FTS[table])
    there = f"{where} AND rowid IN (SELECT id FROM {table}_fts_cjk_docsize)"
    rows = (row for key in keys for row in db.execute(f"SELECT rowid, {names} FROM {table} WHERE {there}", key))
    db.executemany(
        f"INSERT INTO {table}_fts_cjk ({table}_fts_cjk, rowid, {names}) VALUES ('delete', {_marks(table)})",
        spread_rows(rows),
    )


def rebuild(db: sqlite3.Connection, table: str) -> None:
    """Make the index of a table anew."""
    names = ", ".join(FTS[table])
    db.execute(f"INSERT INTO {table}_fts_cjk ({table}_fts_cjk) VALUES ('delete-all')")
    rows = db.execute(f"SELECT rowid, {names} FROM {table}")
    db.executemany(f"INSERT INTO {table}_fts_cjk (rowid, {names}) VALUES ({_marks(table)})", spread_rows(rows))


def spread_rows(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Of rows (rowid, texts …) those that belong into the index, as they stand there."""
    for rowid, *texts in rows:
        if any(within(text) for text in texts):
            yield (rowid, *(text and spread(text) for text in texts))


def _pairs(run: re.Match[str]) -> str:
    found = run.group()
    return " ".join(["", *map(str.__add__, found, found[1:]), found[-1], ""])


def _marks(table: str) -> str:
    return ", ".join("?" * (1 + len(FTS[table])))
