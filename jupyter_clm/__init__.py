"""Agent sessions in a notebook: a session as the last line shows its transcript, ``session.view()`` lets you page and search.

``%load_ext jupyter_clm`` adds ``%clm PATH``. ``jc.load("session.jsonl")`` or ``jc.open("sessions.db")["5e55"]`` gives a session, ``jc.tool_calls_df("sessions.db")`` a
data frame, ``jc.sql("select …", "sessions.db")`` any other; ``jc.charts`` has charts. In IPython, importing this makes
the core's values (chunks, messages, tool calls, hits …) show themselves in a readable way.
"""

from typing import Any

from jupyter_clm import charts
from jupyter_clm.collection import SessionList, compare, load, load_all, show
from jupyter_clm.database import NotebookDatabase, open  # noqa: A004 - the word users know
from jupyter_clm.session import NotebookSession, registry
from jupyter_clm.shown import teach
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
    "charts",
    "chunks_df",
    "compare",
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


def load_ipython_extension(shell: Any) -> None:  # noqa: ANN401 - an InteractiveShell
    """``%load_ext jupyter_clm``: the line magic ``%clm PATH``."""
    from jupyter_clm.magics import clm

    shell.register_magic_function(clm, magic_kind="line", magic_name="clm")


def __dir__() -> list[str]:
    """What completion offers: the names above, and none of the modules they are from."""
    return __all__


teach(lambda call: registry().describe(call))
