"""Agent sessions in a notebook: a session as the last line shows its transcript, ``session.view()`` lets you page and search.

``jc.load("session.jsonl")`` or ``jc.open("sessions.db")["5e55"]`` gives a session, ``jc.tool_calls_df("sessions.db")`` a
data frame, ``jc.sql("select …", "sessions.db")`` any other.
"""

from jupyter_clm.collection import SessionList, load, load_all, show
from jupyter_clm.database import NotebookDatabase, open  # noqa: A004 - the word users know
from jupyter_clm.session import NotebookSession
from jupyter_clm.tables import (
    chunks_df,
    files_df,
    issues_df,
    messages_df,
    requests_df,
    sessions_df,
    sql,
    tool_calls_df,
)

__all__ = [
    "NotebookDatabase",
    "NotebookSession",
    "SessionList",
    "chunks_df",
    "files_df",
    "issues_df",
    "load",
    "load_all",
    "messages_df",
    "open",
    "requests_df",
    "sessions_df",
    "show",
    "sql",
    "tool_calls_df",
]
