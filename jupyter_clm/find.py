"""Search in one session: which chunks hold all words of a query.

A word is found anywhere in a text, in any case and without regard to accents; ``"quoted words"`` are one phrase.
Looked at are prompts, replies, thinking, tool names, inputs and results: the first 65,536 characters of each text.
A session from a log and the same session from a database give the same answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence

from clm_sessions.library import StoredSession
from clm_sessions.model import CHUNK_KINDS, Chunk, Session
from clm_sessions.store import reader
from clm_sessions.store.rows import COLUMNS, bundle_rows, tool_rows
from clm_sessions.store.schema import INDEXED_CHARACTERS

_PIECE = re.compile(r'"([^"]+)"|(\S+)')
_MARK = re.compile("[\u0300-\u036f]")
_TEXTS = {"messages": ("display", "text", "thinking"), "tool_calls": ("name", "input", "result")}
FAILED = ("error", "interrupted", "unanswered")
"""How a call or a chunk stands that did not end well."""
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

    @property
    def count(self) -> int:
        """Number of chunks; their seqs are 0 and on."""
        return len(self._session.chunks) if isinstance(self._session, Session) else self._session.info.chunks

    def tools(self) -> list[tuple[str, int, int]]:
        """The tools called, most often called first: name, calls, calls that failed."""
        if isinstance(self._session, StoredSession):
            sql = "SELECT tool, calls, coalesce(errors, 0) FROM session_tools WHERE session_id = ?"
            rows = self._session.db.execute(sql, (self._session.id,)).fetchall()
        else:
            rows = [row[1:] for row in tool_rows(self._session.id, self._session.tool_calls)]
        return sorted(((str(name), calls, bad or 0) for name, calls, bad in rows), key=lambda row: (-row[1], row[0]))

    def window(self, start: int, stop: int) -> Sequence[Chunk]:
        """Chunks ``start`` to ``stop``; those of a database do not say which messages they hold."""
        if isinstance(self._session, StoredSession):
            return reader.chunks(self._session.db, self._session.id, start, stop, members=False)
        return self._session.chunks[start:stop]

    def hits(
        self, query: str = "", kinds: Iterable[str] = CHUNK_KINDS, tools: Collection[str] = (), errors: bool = False
    ) -> Sequence[int]:
        """The seqs of the chunks of these kinds that hold every word of the query, in order. No word: all of them.

        ``tools``: with a call of one of these tools. ``errors``: with a call that failed, was interrupted or has no
        result, or stopped themselves. Both: a call of these tools that failed.
        """
        every = set(kinds) >= set(CHUNK_KINDS) and not tools and not errors
        passing = range(self.count) if every else self._passing(set(kinds), tools, errors)
        looked_for = words(query)
        if not looked_for:
            return passing
        allowed = passing if every else set(passing)
        missing: dict[int, set[str]] = {}
        for seq, text in self._folded():
            left = missing.setdefault(seq, set(looked_for))
            if left:
                left.difference_update([word for word in left if word in text])
        return sorted(seq for seq, left in missing.items() if not left and seq in allowed)

    def _passing(self, kinds: set[str], tools: Collection[str], errors: bool) -> list[int]:
        if isinstance(self._session, StoredSession):
            return _stored_passing(self._session, kinds, tools, errors)
        held = {
            call.chunk
            for call in self._session.tool_calls
            if (not tools or call.name in tools) and (not errors or call.status in FAILED)
        }
        return [
            chunk.seq
            for chunk in self._session.chunks
            if chunk.kind in kinds
            and (not (tools or errors) or chunk.seq in held or (not tools and chunk.status in FAILED))
        ]

    def _folded(self) -> Iterable[_Folded]:
        if isinstance(self._session, StoredSession):
            return _stored(self._session)
        if self._texts is None:
            self._texts = list(_in_memory(self._session))
        return self._texts


def _stored_passing(session: StoredSession, kinds: set[str], tools: Collection[str], errors: bool) -> list[int]:
    def among(values: Collection[str]) -> str:
        return f"({', '.join('?' * len(values))})"

    sql = f"SELECT seq FROM chunks WHERE session_id = ? AND kind IN {among(kinds)}"  # noqa: S608 - question marks
    bound = [session.id, *kinds]
    if tools or errors:
        held = "SELECT chunk_seq FROM tool_calls WHERE session_id = ?"
        bound.append(session.id)
        for column, values in (("name", tools), ("status", FAILED if errors else ())):
            if values:
                held += f" AND {column} IN {among(values)}"
                bound += values
        stopped = f" OR status IN {among(FAILED)}" if not tools else ""
        bound += FAILED if stopped else ()
        sql += f" AND (seq IN ({held}){stopped})"
    return [seq for (seq,) in session.db.execute(f"{sql} ORDER BY seq", bound)]


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
