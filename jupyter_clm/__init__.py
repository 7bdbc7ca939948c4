"""Agent sessions in a notebook: a session as the last line shows its transcript, ``session.view()`` lets you page and search.

``jc.load("session.jsonl")`` or ``jc.open("sessions.db").sessions["5e55"]`` gives a session, ``session.tool_calls.to_df()`` a
data frame.
"""

from jupyter_clm.collection import NotebookDatabase, SessionList, load, load_all, open, show  # noqa: A004 - the word users know
from jupyter_clm.session import NotebookSession

__all__ = ["NotebookDatabase", "NotebookSession", "SessionList", "load", "load_all", "open", "show"]
