"""One request that has passed the guard, and the kinds of answer it may get."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clm_sessions.formats.base import LogFormat
from clm_sessions.plugins import Registry
from clm_sessions.prices import Book
from datasette_clm import ask
from datasette_clm.urls import Urls


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """What an answer is made from. ``place``: the parts of the address, decoded; ``args``: those behind the ``?``.

    ``tables`` are the tables that may be read; ``sql``: they may run SQL (known where a route asks for it); ``book``:
    prices that the person who set up this Datasette wants.
    """

    tables: frozenset[str]
    place: Mapping[str, str]
    args: Any
    urls: Urls
    registry: Registry
    sql: bool = False
    book: Book = field(default_factory=Book)

    @property
    def sid(self) -> str:
        """The session in the address."""
        return self.place["session"]

    @property
    def format(self) -> str:
        """``.json``, ``.md`` or nothing."""
        return self.place.get("format", "")

    def number(self, name: str) -> int:
        """A number in the address; -1, which nothing has, if it is too long to be one."""
        found = ask.number(self.place[name])
        return -1 if found is None else found

    def agent(self, name: str) -> LogFormat | None:
        """The format of that name, if its plugin is installed."""
        return self.registry.formats.get(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page: its template, and what that puts together. ``finish`` adds what takes long and needs no database."""

    template: str
    page: Mapping[str, Any]
    finish: Callable[[], Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """Anything else. ``data``: other sites may read it where Datasette allows that (``--cors``).

    ``name``: it is a file to save, of this name (letters, digits, ``.``, ``-`` and ``_`` only).
    """

    content: str | bytes
    kind: str
    data: bool = False
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """There is no such thing."""

    words: str = "No such session"


def json_body(body: object) -> Body:
    """An answer as JSON. What a log holds and JSON does not have becomes text."""
    return Body(content=json.dumps(body, ensure_ascii=False, default=str), kind="application/json", data=True)


Answer = Page | Body | Missing
Make = Callable[[sqlite3.Connection, Visit], Answer]
