"""Codex says everything twice: as items for the model, and as events for the screen. Who was first is told here.

Of 7,200 events that repeat a reply 7,199 have their item (census), so the talk is read from items. Events are read
where there is no item: in a rollout without items, for a prompt whose item is not there, and for one whose item does
not look as if a person had typed it.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

TOLD = 32
"""How many things said by events alone are remembered, in case their items follow."""


class Voices:
    """Tells of each item and event whether it says something new."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        given = state or {}
        self._items: bool = given.get("items", False)
        self._asked: int = given.get("asked", 0)
        self._held: list[str] = list(given.get("held", ()))
        self._told: list[str] = list(given.get("told", ()))

    def state(self) -> Mapping[str, Any]:
        """Small JSON."""
        return {"items": self._items, "asked": self._asked, "held": list(self._held), "told": list(self._told)}

    def working(self) -> None:
        """The agent is at work: prompts before this have been told by both voices."""
        self._asked, self._held = 0, []

    def item(self, speaker: str, *texts: str) -> bool:
        """Whether an item says something new: not if events alone said all of it just before."""
        self._items = True
        marks = [_mark(speaker, text) for text in texts]
        if not marks or not all(mark in self._told for mark in marks):
            return True
        self._told = [mark for mark in self._told if mark not in marks]
        return False

    def prompt_item(self, text: str) -> bool:
        """Whether the item of a prompt says something new. Its event will follow."""
        new = self.item("user", text)
        self._asked += new
        return new

    def hold(self, text: str) -> None:
        """An item that looks like the program's; only an event can say that a person typed it."""
        self._items = True
        self._held = [*self._held[-7:], _mark("user", text)]

    def prompt_event(self, text: str) -> bool:
        """Whether the event of a prompt says something new."""
        mark = _mark("user", text)
        if mark in self._held:
            self._held.remove(mark)
            return True
        if self._asked:
            self._asked -= 1
            return False
        self._tell(mark)
        return True

    def event(self, speaker: str, text: str) -> bool:
        """Whether the event of a reply or a thought says something new: only where there are no items."""
        if not self._items:
            self._tell(_mark(speaker, text))
        return not self._items

    def _tell(self, mark: str) -> None:
        self._told = [*self._told[1 - TOLD :], mark]


def _mark(speaker: str, text: str) -> str:
    return blake2b(f"{speaker}\0{text.strip()}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
