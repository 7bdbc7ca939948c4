"""A session of a notebook as a file for others."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clm_sessions.errors import UsageError
from clm_sessions.export import Start, Written, files, redacted, to_html, to_markdown
from jupyter_clm.session import registry

if TYPE_CHECKING:
    from clm_sessions.publish.options import Choices
    from jupyter_clm.session import NotebookSession

_START = Start()


def write_html(
    session: NotebookSession,
    path: str | os.PathLike[str],
    *,
    redact: bool,
    choices: Choices | None,
    start: Start = _START,
) -> Path:
    """See ``NotebookSession.to_html``. ``start``: what the page shows first."""
    made = _written(session, redact, choices, start.query)
    start = replace(start, query=made.query)
    target = Path(path)
    files.write(to_html(made.session, registry().describe, note=made.note, agent=session.label, start=start), target)
    return target


def markdown(session: NotebookSession, *, redact: bool, choices: Choices | None) -> str:
    """See ``NotebookSession.to_markdown``."""
    made = _written(session, redact, choices)
    return "".join(to_markdown(made.session, registry().describe, note=made.note))


def _written(session: NotebookSession, redact: bool, choices: Choices | None, query: str = "") -> Written:
    if redact:
        return redacted(session.core, registry().redactors(), choices, query=query)
    if choices is not None:
        raise UsageError("redact=False redacts nothing: leave out choices")
    return Written(session=session.core, query=query)
