"""What a ready query is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent

GROUPS = ("Tokens and cost", "Tools and files", "Sessions and people")
PARAMETERS = {
    "project": "name of a project; empty for all",
    "since": "first day, as 2026-03-02; empty for all",
    "model": "name of a model; empty for all",
}
"""What may be asked for. Every query answers if all of them are empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A query by its ``name`` in addresses. ``tables``: those it reads; without each of them it is not shown.

    Columns named ``session_id``, ``title`` and ``chunk_seq`` become links to the transcript.
    """

    name: str
    group: str
    title: str
    about: str
    tables: tuple[str, ...]
    sql: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters, in order."""
        return tuple(dict.fromkeys(re.findall(r":([a-z]+)", self.sql)))


def sql(text: str) -> str:
    """A query without the indentation of its surroundings."""
    return dedent(text).strip()
