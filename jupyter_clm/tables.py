"""The tables as frames, of a path, a folder or a database: ``chunks_df("sessions.db", since="2026-03-02")``."""

from __future__ import annotations

import inspect
import os
from typing import Any, Protocol

from jupyter_clm.bind import Parameters
from jupyter_clm.database import NotebookDatabase
from jupyter_clm.database import open as open_
from jupyter_clm.select import Names, When, text

Source = NotebookDatabase | str | os.PathLike[str]


class TableFunction(Protocol):
    """Rows of one table of a source: logs (a file or folder), a database, or one that is open.

    ``since`` (inclusive) and ``until``: ``"2026-03-02"`` (for ``until`` that day included), ISO 8601, a date or a datetime
    (``until`` then exclusive); UTC. ``project``, ``tool``, ``format``: names, ``*`` and ``?`` stand for anything;
    ``model``: any part of a name; ``session``: ids, their beginnings, or sessions. Several are a list. ``columns``: only
    these are read. ``engine``: pandas, polars or arrow. UsageError for names that are not there.
    """

    def __call__(
        self,
        source: Source,
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
        """The frame."""
        ...


def _of(table: str, words: str) -> TableFunction:
    def made(source: Source, **asked: Any) -> Any:  # noqa: ANN401 - as in TableFunction
        if isinstance(source, NotebookDatabase):
            return source.to_df(table, **asked)
        with open_(source) as database:
            return database.to_df(table, **asked)

    made.__name__ = made.__qualname__ = f"{table}_df"
    made.__doc__ = f"{words}\n\n{inspect.getdoc(TableFunction)}"
    signature = inspect.signature(TableFunction.__call__)
    shown = signature.replace(parameters=list(signature.parameters.values())[1:])
    made.__signature__ = shown  # type: ignore[attr-defined]  # for help, and completion of names
    return made


sessions_df = _of("sessions", "Sessions, subagents among them (``role`` tells).")
chunks_df = _of("chunks", "Chunks: what is shown as one card.")
messages_df = _of("messages", "Messages: entries of the logs.")
tool_calls_df = _of("tool_calls", "Tool calls with their results.")
requests_df = _of("requests", "API replies, each once; sum tokens where ``inherited`` is false.")
files_df = _of("files", "The files that were read, and what was found.")
issues_df = _of("issues", "Places where a log could not be used as it stands.")


def sql(query: str, source: Source, parameters: Parameters = (), *, engine: str = "pandas") -> Any:  # noqa: ANN401 - a frame of that engine
    """What a SELECT over a source gives, as a frame; see ``NotebookDatabase.sql``."""
    text(query)
    if isinstance(source, NotebookDatabase):
        return source.sql(query, parameters, engine=engine)
    with open_(source) as database:
        return database.sql(query, parameters, engine=engine)
