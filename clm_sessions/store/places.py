"""Places that a search found, and the parts of a row that are searched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

PARTS = {"messages": ("text", "thinking"), "tool_calls": ("input", "output")}
"""The texts of each table that are searched, in the order of the columns of its index."""
COLUMNS = {"text": "search_text", "thinking": "search_thinking", "input": "search_input", "output": "search_result"}
"""The column of each."""


class Place(NamedTuple):
    """A row that holds the words. ``found_in`` is the index, ``name`` the kind of a message or the tool of a call.

    ``at`` is UTC as stored. The smaller ``rank``, the better.
    """

    rank: float
    found_in: str
    rowid: int
    session: str
    name: str
    at: str | None

    @property
    def table(self) -> str:
        """``messages`` or ``tool_calls``."""
        return self.found_in.partition("_fts")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Places that hold the words of ``text``, best first; ``queries`` are those that found them, by index.

    ``newest``: by table the rowid from which on places were looked at, where there are more than are ranked.
    """

    text: str
    places: Sequence[Place] = ()
    queries: dict[str, str] = field(default_factory=dict)
    newest: dict[str, int] = field(default_factory=dict)


def in_part(query: str, part: str | None) -> str:
    """A query of an index narrowed to one of its columns."""
    return f"{{{COLUMNS[part]}}} : ({query})" if part else query
