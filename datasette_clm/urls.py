"""Addresses of the plugin's pages, under any ``base_url``, database route and session id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from datasette_clm._compat import Datasette, is_modern, tilde_encode

STYLE = "/-/clm-sessions/clm.css"
SCRIPTS = "/-/static-plugins/clm_sessions/"
"""Ours under the root of Datasette, which puts ``base_url`` before them itself. The script is named by our distribution."""


@dataclass(frozen=True)
class Urls:
    """The addresses of one database."""

    datasette: Datasette
    database: str

    @cached_property
    def _root(self) -> str:
        """Of the database; hundreds of addresses on a page begin with it."""
        return str(self.datasette.urls.database(self.database))

    def _path(self, *parts: str) -> str:
        return "/".join((self._root, "-", *map(tilde_encode, parts)))

    def session(self, sid: str, format: str = "", query: Mapping[str, object] | None = None) -> str:  # noqa: A002 - ``.json`` or ``.md``
        """The transcript. ``query``: ``page``, ``chunk``, ``show``, ``tool``, ``q``, ``hit``, ``only``; empty ones are left out."""
        path = self._path("session", sid) + format
        given = {key: value for key, value in (query or {}).items() if value}
        return f"{path}?{urlencode(given, doseq=True)}" if given else path

    def at(self, sid: str, seq: int) -> str:
        """A chunk in its transcript, whatever page it is on."""
        return f"{self._path('session', sid)}?chunk={seq}#c{seq}"

    def chunk(self, sid: str, seq: int, format: str = "") -> str:  # noqa: A002
        """A chunk alone, whole."""
        return self._path("session", sid, "chunk", str(seq)) + format

    def step(self, sid: str, seq: int, step: int) -> str:
        """A chunk alone, one of its steps (from 0) open."""
        return f"{self.chunk(sid, seq)}?step={step}#c{seq}-{step + 1}"

    def records(self, sid: str, seq: int) -> str:
        """The list of the records behind a chunk, on its page."""
        return f"{self.chunk(sid, seq)}?records=1#records"

    def text(self, sid: str, seq: int, step: int | None, section: int) -> str:
        """One section of a chunk as plain text."""
        return f"{self.chunk(sid, seq)}/text?step={'' if step is None else step}&section={section}"

    def cards(self, sid: str, page: int = 1) -> str:
        """The cards of one page of a session without the page around them."""
        return self._path("session", sid, "cards") + (f"?page={page}" if page > 1 else "")

    def since(self, sid: str) -> str:
        """What has been written since an open page was made."""
        return self._path("session", sid, "since")

    def raw(self, sid: str, message: int) -> str:
        """The bytes of the log behind a message."""
        return self._path("session", sid, "raw", str(message))

    def tab(self, sid: str, name: str, format: str = "", query: Mapping[str, object] | None = None) -> str:  # noqa: A002
        """Another view of a session: ``timeline``, ``context``, ``files``, ``raw``. Empty parts of ``query`` are left out."""
        given = {key: value for key, value in (query or {}).items() if value not in {None, ""}}
        return self._path("session", sid, name) + format + (f"?{urlencode(given)}" if given else "")

    def log(self, sid: str) -> str:
        """The whole log as a file."""
        return self._path("session", sid, "raw", "log")

    def compare(self, a: str, b: str = "", format: str = "", **query: object) -> str:  # noqa: A002
        """Two sessions side by side, or (without ``b``) what ``a`` could be compared with."""
        given = {"a": a, "b": b, **query}
        return f"{self._path('compare')}{format}?{urlencode({key: value for key, value in given.items() if value})}"

    def compare_form(self) -> str:
        """Where a form sends two sessions to be compared."""
        return self._path("compare")

    def found(self, sid: str, seq: int, q: str) -> str:
        """A chunk in its transcript, at the first place there that holds the words of a search."""
        return f"{self._path('session', sid)}?{urlencode({'chunk': seq, 'q': q})}#c{seq}"

    def searching(self, query: Mapping[str, object], format: str = "") -> str:  # noqa: A002 - ``.json`` or ``.csv``
        """The search page with these parts of its question."""
        return self._path("search") + format + (f"?{urlencode(query)}" if query else "")

    def sql(self, sql: str, parameters: Mapping[str, str]) -> str:
        """A query on Datasette's own page for SQL."""
        place = self._root + ("/-/query" if is_modern(self.datasette) else "")
        return f"{place}?{urlencode({'sql': sql, **parameters})}"

    def search(self, q: str = "", session: str = "") -> str:
        """The search page."""
        given = {key: value for key, value in (("q", q), ("session", session)) if value}
        return self._path("search") + (f"?{urlencode(given)}" if given else "")

    def overview(self, format: str = "", query: Mapping[str, str | None] | None = None) -> str:  # noqa: A002
        """The overview. ``query``: ``project``, ``since``, ``until``; what is None is left out."""
        given = {key: value for key, value in (query or {}).items() if value is not None}
        return self._path("overview") + format + (f"?{urlencode(given)}" if given else "")

    def query(self, name: str) -> str:
        """The page of a canned query."""
        return str(self.datasette.urls.query(self.database, name))

    def cookbook(self) -> str:
        """The page of ready queries."""
        return self._path("cookbook")

    def review(self, part: str = "") -> str:
        """The review of what would be published; ``part``: ``rules``, the decisions as a file."""
        return self._path("review", *([part] if part else []))

    def table(self, table: str, **filters: str) -> str:
        """A table page of Datasette."""
        path = str(self.datasette.urls.table(self.database, table))
        return f"{path}?{urlencode(filters)}" if filters else path

    def row(self, table: str, key: str) -> str:
        """The page of one row of Datasette."""
        return str(self.datasette.urls.row(self.database, table, tilde_encode(key)))

    def image(self, sha256: str) -> str:
        """An image, served by Datasette itself, which asks for the permission on its table."""
        return str(self.datasette.urls.row_blob(self.database, "attachments", tilde_encode(sha256), "data"))
