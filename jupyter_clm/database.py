"""A database of sessions in a notebook: its sessions, its tables as frames, SQL."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, overload

from clm_sessions import functions, times
from clm_sessions.cookbook import RECIPES
from clm_sessions.errors import DatabaseError, NotALogError, UsageError
from clm_sessions.ingest import ingest
from clm_sessions.library import Database
from clm_sessions.prices import Book
from clm_sessions.sources import looks_like_database
from clm_sessions.store.search import Hit
from clm_sessions.view.words import plural
from jupyter_clm import select
from jupyter_clm.bind import Parameters, only_reads
from jupyter_clm.collection import SessionList, given
from jupyter_clm.select import Filters, Names, When
from jupyter_clm.session import NotebookSession, registry


class NotebookDatabase:
    """A database of sessions, opened for reading. Close it, or use ``with``.

    ``sessions``, ``db["5e55"]``, ``search(text)``; ``to_df(table)`` and ``sql(query)`` give frames.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """``path``: a database, or logs (a file or folder), which are imported into a private one that goes with this object.

        DatabaseError if there is no such database, it is not ours, or it is newer than this version; NotALogError if
        no format recognises the file.
        """
        self.path = file = given(path)
        self._core: Database | None = None
        self._forget: Callable[[], object] = lambda: None
        logs = self.path.exists() and not looks_like_database(self.path)
        if not self.path.exists():
            raise DatabaseError(f"{self.path}: no such database, log or folder; clm-sessions import makes a database")
        if logs:
            folder = tempfile.mkdtemp(prefix="clm-sessions-")
            self._forget = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            file = Path(folder) / "sessions.db"
            ingest(file, [self.path], registry(), keep_raw=False, book=Book())
        self._core = core = Database(file)
        self._grows = not logs
        # JupyterLab lets another thread answer a widget, so the connection must be free to change threads.
        core.db.close()
        uri = f"{file.absolute().as_uri()}?mode=ro"
        core.db = sqlite3.connect(uri, uri=True, timeout=30, isolation_level=None, check_same_thread=False)
        book = Book()
        functions.register(core.db, lambda: book)
        only_reads(core.db)
        core.path = self.path  # what errors name is what a person named
        if logs and self.path.is_file() and not len(core):
            self.close()
            raise NotALogError(f"{self.path}: no format recognises a session log here")

    @property
    def core(self) -> Database:
        """The core's value. UsageError when it has been closed."""
        if self._core is None:
            raise UsageError(f"{self.path} is closed; jupyter_clm.open opens it again")
        return self._core

    @property
    def sessions(self) -> SessionList:
        """Sessions and orphan runs, newest first; subagents hang below theirs."""
        return SessionList(NotebookSession(session, grows=self._grows) for session in self.core.sessions)

    def session(self, sid: str) -> NotebookSession:
        """The session of that id, or the only one whose id begins so; a subagent by its whole id."""
        return NotebookSession(self.core.session(sid), grows=self._grows)

    @overload
    def __getitem__(self, key: int | str) -> NotebookSession: ...
    @overload
    def __getitem__(self, key: slice) -> SessionList: ...
    def __getitem__(self, key: int | str | slice) -> NotebookSession | SessionList:
        return self.session(key) if isinstance(key, str) else self.sessions[key]

    def __contains__(self, key: object) -> bool:
        return key in self.sessions

    def __len__(self) -> int:
        return len(self.core)

    def __iter__(self) -> Iterator[NotebookSession]:
        return iter(self.sessions)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.core.short_ids())

    def to_df(
        self,
        table: str = "sessions",
        *,
        since: When | None = None,
        until: When | None = None,
        project: Names | None = None,
        model: Names | None = None,
        tool: Names | None = None,
        format: Names | None = None,  # noqa: A002 - the word users know
        session: Names | None = None,
        columns: Names | None = None,
        engine: str = "pandas",
    ) -> Any:  # noqa: ANN401 - a frame of that engine
        """The rows of a table that meet the filters (see ``Filters``) as a frame of pandas, polars or Arrow.

        Any table of the database, by the name it has in Datasette (``files`` are its sources, ``issues`` its
        ingest_issues); all rows of it, those of subagents too. Only rows and columns that are asked for are read.
        UsageError for names that are not there, for a filter the table does not know, for a missing extra.
        """
        asked = Filters(
            since=since, until=until, project=project, model=model, tool=tool, format=format, session=session
        )
        ids = [self.core.session(sid).id for sid in select.names(session)]
        return select.table(self.core.db, table, asked, ids, columns, engine)

    def sql(self, query: str, parameters: Parameters = (), *, engine: str = "pandas") -> Any:  # noqa: ANN401 - a frame of that engine
        """What a SELECT gives as a frame. Nothing can be written. ``parameters`` fill ``?`` or ``:name``.

        It may use ``clm_price``, ``clm_preview``, ``clm_path``, ``clm_arg`` and ``clm_duration`` as in Datasette.
        UsageError with what SQLite says, or if the statement gives no rows.
        """
        return select.query(self.core.db, query, parameters, engine)

    def recipe(self, name: str, *, engine: str = "pandas", **asked: Any) -> Any:  # noqa: ANN401 - a frame of that engine
        """The answer of a query of the cookbook; ``asked``: its parameters, all by default.

        ``project`` and ``model``: a name as it stands in the database; ``since``: a day, or a date. UsageError for a
        query, parameter or name that is not there.
        """
        known = {recipe.name: recipe for recipe in RECIPES}
        if name not in known:
            raise UsageError(f"no recipe {name!r}; there are: {', '.join(known)}")
        parameters = known[name].parameters
        strange = [each for each in asked if each not in parameters]
        if strange:
            raise UsageError(f"{name} has no parameter {strange[0]!r}; there are: {', '.join(parameters)}")
        return self.sql(
            known[name].sql, {each: self._asked(each, asked.get(each)) for each in parameters}, engine=engine
        )

    def _asked(self, what: str, given: Any) -> str:  # noqa: ANN401 - what a person gave
        """A parameter of a recipe as it is compared; empty for all."""
        if given is None or given == "":
            return ""
        if what == "since":
            return times.day(select.moment(given, what)) or ""
        table, column = ("sessions", "project_name") if what == "project" else ("session_models", "model")
        sql = f"SELECT DISTINCT {column} FROM {table} WHERE {column} > '' ORDER BY 1"  # noqa: S608 - names from here
        there = [row[0] for row in self.core.db.execute(sql)]
        if given not in there:
            raise UsageError(f"no {what} {given!r} in the database; there are: {', '.join(there)}")
        return str(given)

    def search(self, text: str, *, limit: int = 50) -> list[Hit]:
        """Messages and tool calls that hold the words of ``text``, best first. Any text is a valid query."""
        return self.core.search(text, limit=limit)

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        core, self._core = self._core, None
        if core is not None:
            core.close()
        self._forget()

    def __enter__(self) -> NotebookDatabase:  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        what = "closed" if self._core is None else plural(len(self._core), "session")
        return f"<NotebookDatabase {self.path.name}: {what}>"


def open(path: str | os.PathLike[str]) -> NotebookDatabase:  # noqa: A001 - used as jupyter_clm.open
    """The database at ``path``, for reading; or the logs there, as if they had been imported into one."""
    return NotebookDatabase(path)
