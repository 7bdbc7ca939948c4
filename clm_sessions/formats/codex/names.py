"""Names for messages that come out the same in every copy of a thread.

Codex gives its records no ids. A fork or a sub-agent begins with a copy of its parent's records, with new times; by
these names the core sees that they are the same. A name is made of the turn and the content. The first versions had no
turn ids: there it is made of all that stands before it in the thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from clm_sessions.formats.codex.files import is_uuid

KNOWN = 800
"""Names of a turn, and turns, that are remembered; a name after these also holds its number in the turn."""
THREADS = 100


class Names:
    """Gives out names. No two are equal within a thread."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        given = state or {}
        self._family: str = given.get("family", "")
        self._threads: list[str] = list(given.get("threads", ()))
        self._turn: str | None = given.get("turn")
        self._scope: str = given.get("scope", "")
        self._turns: list[str] = list(given.get("turns", ()))
        self._known: dict[str, int] = dict(given.get("known", {}))
        self._number: int = given.get("number", 0)

    def state(self) -> Mapping[str, Any]:
        """Small JSON."""
        return {
            "family": self._family, "threads": list(self._threads), "turn": self._turn, "scope": self._scope,
            "turns": list(self._turns), "known": dict(self._known), "number": self._number,
        }  # fmt: skip

    def thread(self, thread: str, parent: str | None) -> None:
        """What follows was said in ``thread`` (that of a copy's original), until the next turn begins."""
        mark = _digest(thread)
        if mark in self._threads:
            return
        if len(self._threads) < THREADS:
            self._threads.append(mark)
        self._family = parent or thread
        if self._turn is None:
            self._scope = mark

    def turn(self, turn: str) -> bool:
        """A turn begins, or goes on. Says which: whether it begins."""
        if turn == self._turn:
            return False
        self._turn = turn
        # Short turn ids are no names in the whole world.
        self._scope = turn if is_uuid(turn) else f"{self._family}/{turn}"[-200:]
        mark = _digest(self._scope)
        if mark in self._turns:
            self._scope = f"{self._scope}+{len(self._turns)}"  # it was left and comes back
        if len(self._turns) < KNOWN:
            self._turns.append(mark)
        self._known, self._number = {}, 0
        return True

    def name(self, what: str, content: str) -> str:
        """The name of the next message: ``what`` it is and what it says."""
        self._number += 1
        digest = _digest(f"{what}\0{content}")
        if self._turn is None:
            self._scope = _digest(f"{self._scope}\0{digest}")
            return self._scope
        if digest in self._known or len(self._known) < KNOWN:
            before = self._known.get(digest, 0)
            self._known[digest] = before + 1
            return f"{self._scope}:{digest}.{before + 1}" if before else f"{self._scope}:{digest}"
        return f"{self._scope}:{digest}@{self._number}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
