"""The line magic ``%clm PATH``: the view of one session, the list of several."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from clm_sessions.errors import ClmError
from jupyter_clm.database import open as open_


def clm(line: str) -> Any:  # noqa: ANN401 - a view or a list
    """``%clm PATH``: the session of a log as a view, or the list of sessions of a folder or database.

    ``x = %clm PATH`` keeps it. What cannot be shown is said in one line.
    """
    from IPython.core.error import UsageError

    try:
        parts = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%clm PATH: {error}") from None
    if len(parts) != 1:
        raise UsageError("%clm PATH: the path of a log, a folder of logs, or a database")
    path = Path(parts[0]).expanduser()
    try:
        sessions = open_(path).sessions
        return sessions[0].view() if len(sessions) == 1 else sessions
    except ClmError as error:
        raise UsageError(str(error)) from None
