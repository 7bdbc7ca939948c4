"""Search in one session: which chunks hold all words of a query.

A word is found anywhere in a text, in any case and without regard to accents; ``"quoted words"`` are one phrase.
Looked at are prompts, replies, thinking, tool names, inputs and results: the first 65,536 characters of each text.
A session from a log and the same session from a database give the same answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from clm_sessions.library import StoredSession
from clm_sessions.model import CHUNK_KINDS, Session
from clm_sessions.store.rows import COLUMNS, bundle_rows
from clm_sessions.store.schema import INDEXED_CHARACTERS

_PIECE = re.compile(r'"([^"]+)"|(\S+)')
_MARK = re.compile("[\u0300-\u036f]")
_TEXTS = {"messages": ("display", "text", "thinking"), "tool_calls": ("name", "input", "result")}
_Folded = tuple[int, str]


def words(query: str) -> tuple[str, ...]:
    """The words and phrases of a query, folded. Any text is a valid query."""
    return tuple(dict.fromkeys(fold(phrase or word) for phrase, word in _PIECE.findall(query)))


def fold(text: str) -> str:
    """Text as it is compared: no case, no accents."""
    if text.isascii():
        return text.lower()
    return _MARK.sub("", unicodedata.normalize("NFKD", text.casefold()))


class Finder:
    """Finds chunks of one session. Reads nothing before the first question, and keeps no text of a database."""

    def __init__(self, session: Session | StoredSession) -> None:
        self._session = session
        self._texts: list[_Folded] | None = None
        self._kinds: list[str] | None = None

    @property
    def kinds(self) -> Sequence[str]:
        """The kind of each chunk, by seq."""
        if self._kinds is None:
            if isinstance(self._session, Session):
                self._kinds = [chunk.kind for chunk in self._session.chunks]
            else:
                rows = self._session.db.execute(
                    "SELECT kind FROM chunks WHERE session_id = ? ORDER BY seq", (self._session.id,)
                )
                self._kinds = [kind for (kind,) in rows]
        return self._kinds

    def hits(self, query: str = "", kinds: Iterable[str] = CHUNK_KINDS) -> Sequence[int]:
        """The seqs of the chunks of these kinds that hold every word of the query, in order. No word: all of them."""
        wanted = set(kinds)
        looked_for = words(query)
        if not looked_for:
            every = wanted.issuperset(self.kinds)
            return range(len(self.kinds)) if every else [n for n, kind in enumerate(self.kinds) if kind in wanted]
        missing: dict[int, set[str]] = {}
        for seq, text in self._folded():
            left = missing.setdefault(seq, set(looked_for))
            if left:
                left.difference_update([word for word in left if word in text])
        return sorted(seq for seq, left in missing.items() if not left and self.kinds[seq] in wanted)

    def _folded(self) -> Iterable[_Folded]:
        if isinstance(self._session, StoredSession):
            return _stored(self._session)
        if self._texts is None:
            self._texts = list(_in_memory(self._session))
        return self._texts


def _in_memory(session: Session) -> Iterator[_Folded]:
    rows = bundle_rows([session])
    for table, names in _TEXTS.items():
        at = [COLUMNS[table].index(name) for name in ("chunk_seq", *names)]
        for row in rows[table]:
            yield from _texts(row[i] for i in at)


def _stored(session: StoredSession) -> Iterator[_Folded]:
    for table, names in _TEXTS.items():
        texts = ", ".join(f"substr({name}, 1, {INDEXED_CHARACTERS})" for name in names)
        sql = f"SELECT chunk_seq, {texts} FROM {table} WHERE session_id = ?"  # noqa: S608 - names from _TEXTS
        for row in session.db.execute(sql, (session.id,)):
            yield from _texts(row)


def _texts(row: Iterable[int | str | None]) -> Iterator[_Folded]:
    chunk, *texts = row
    if isinstance(chunk, int):
        yield from ((chunk, fold(text[:INDEXED_CHARACTERS])) for text in texts if isinstance(text, str))
