"""Many sessions: from a path, or a database opened for reading."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterable, Sequence
from datetime import timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import clm_sessions
from clm_sessions.errors import NoSessionError, NotALogError, UsageError
from clm_sessions.render.escape import esc
from clm_sessions.render.when import moment
from clm_sessions.sources import looks_like_database
from clm_sessions.view.words import count, duration, one_line, plural
from jupyter_clm.extras import need
from jupyter_clm.frames import Record, frame, records
from jupyter_clm.session import NotebookSession, registry
from jupyter_clm.shown import bundle
from jupyter_clm.snapshot import style_html

if TYPE_CHECKING:
    from jupyter_clm.beside import CompareView
    from jupyter_clm.browse import SessionsView
    from jupyter_clm.view import SessionView

ROWS = 20
"""Sessions in the table that a list shows; the rest is counted."""


class SessionList(Sequence[NotebookSession]):
    """Sessions, newest first. Take one by position, by id or the beginning of its id, or a slice.

    As the last line of a cell it shows a table of the first 20.
    """

    def __init__(self, sessions: Iterable[NotebookSession]) -> None:
        self._sessions = tuple(sessions)

    @overload
    def __getitem__(self, key: int | str) -> NotebookSession: ...
    @overload
    def __getitem__(self, key: slice) -> SessionList: ...
    def __getitem__(self, key: int | str | slice) -> NotebookSession | SessionList:
        if isinstance(key, slice):
            return SessionList(self._sessions[key])
        if isinstance(key, str):
            return self._find(key)
        if not -len(self) <= key < len(self):
            raise IndexError(f"no session {key}: there are {len(self):,}, counted from 0")
        return self._sessions[key]

    def __contains__(self, key: object) -> bool:
        return bool(self.named(key)) if isinstance(key, str) else key in self._sessions

    def named(self, key: str) -> list[NotebookSession]:
        """The session of this id, or those whose ids begin so."""
        return [s for s in self._sessions if s.id == key] or [
            s for s in self._sessions if key and (s.id.startswith(key) or s.info.native_id.startswith(key))
        ]

    def _find(self, key: str) -> NotebookSession:
        found = self.named(key)
        if len(found) != 1:
            what = "no session" if not found else f"{len(found)} sessions"
            raise NoSessionError(f"{what} with an id that is or begins with {key!r}")
        return found[0]

    def __len__(self) -> int:
        return len(self._sessions)

    def _ipython_key_completions_(self) -> list[str]:
        return [session.id for session in self._sessions]

    def to_records(self, table: str = "sessions", *, subagents: bool = False) -> list[Record]:
        """The rows of one table (sessions, chunks, messages, tool_calls or requests) of all these sessions as dicts."""
        return list(records((s.core for s in self._sessions), table, subagents=subagents))

    def to_df(self, table: str = "sessions", *, subagents: bool = False, engine: str = "pandas") -> Any:  # noqa: ANN401
        """The same as a frame of pandas, polars or Arrow (``engine="polars"``, ``"arrow"``)."""
        return frame((s.core for s in self._sessions), table, subagents=subagents, engine=engine)

    def __repr__(self) -> str:
        return f"<SessionList of {plural(len(self), 'session')}>"

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return bundle(self, self._html, include, exclude)

    def view(self, **traits: Any) -> SessionsView:  # noqa: ANN401 - the traits of SessionsView
        """The live list: facets, search, and the session that is chosen below it; its traits may be given.

        UsageError names the extra if ipywidgets is missing.
        """
        need("ipywidgets", "jupyter", "the live list")
        from jupyter_clm.browse import SessionsView

        return SessionsView(self, **traits)

    def _html(self) -> str:
        return style_html() + self.table_html()

    def table_html(self) -> str:
        """The table of the first sessions as HTML, without the style."""
        short = _prefixes([session.id for session in self._sessions])
        rows = "".join(_row(number, session, short[number]) for number, session in enumerate(self._sessions[:ROWS]))
        head = "".join(f'<th class="{cls}">{name}</th>' for name, cls in _COLUMNS)
        left = len(self) - ROWS
        more = (
            f'<p class="clm-more">{left:,} more: slice the list, or take <code>.to_df()</code>.</p>' if left > 0 else ""
        )
        return (
            f'<div class="clm-root clm-list tex2jax_ignore mathjax_ignore" role="region" '
            f'aria-label="Sessions"><h3 class="clm-title jp-toc-ignore">{plural(len(self), "session")}</h3>'
            f'<div class="clm-scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{more}</div>'
        )


_COLUMNS = (
    ("#", "clm-num"),
    ("Session", "clm-wide"),
    ("Started, UTC", "clm-short"),
    ("Time", "clm-num"),
    ("Prompts", "clm-num"),
    ("Tool calls", "clm-num"),
    ("Failed", "clm-num clm-is-error"),
    ("Tokens out", "clm-num"),
)


def _row(number: int, session: NotebookSession, short: str) -> str:
    info = session.info
    title = esc(one_line(info.title or info.native_id, 80))
    about = esc(" · ".join(filter(None, (session.label or info.format, one_line(info.project_name or "", 40)))))
    cells = (
        str(number),
        f"<strong>{title}</strong><br>{about} · <code>{esc(one_line(short, 40))}</code>",
        moment(info.started_at, timezone.utc) if info.started_at is not None else "",
        duration(info.duration_ms) if info.duration_ms is not None else "",
        f"{info.prompts:,}",
        f"{info.tool_calls:,}",
        f"{info.tool_errors:,}" if info.tool_errors else "",
        count(info.usage.output) if info.usage.output is not None else "",
    )
    row = "".join(f'<td class="{cls}">{cell}</td>' for cell, (_name, cls) in zip(cells, _COLUMNS, strict=True))
    return f"<tr>{row}</tr>"


def _prefixes(ids: Sequence[str]) -> list[str]:
    """For each id its shortest beginning, of 8 characters at least, that no other id shares."""
    order = sorted(range(len(ids)), key=lambda n: ids[n])
    need = [8] * len(ids)
    for a, b in itertools.pairwise(order):
        same = next((n for n, (x, y) in enumerate(zip(ids[a], ids[b], strict=False)) if x != y), len(ids[a])) + 1
        need[a], need[b] = max(need[a], same), max(need[b], same)
    return [sid[:length] for sid, length in zip(ids, need, strict=True)]


def load(path: str | os.PathLike[str], *, format: str | None = None) -> NotebookSession:  # noqa: A002 - the word users know
    """The one session of a log file, or of a folder that holds one. ``format`` names the format where it is not told.

    NotALogError if no format recognises it, UsageError if it is missing or holds several sessions.
    """
    log = _no_database(given(path))
    return NotebookSession(
        clm_sessions.load(log, format=format, registry=registry()), path=log.absolute(), read_as=format
    )


def load_all(path: str | os.PathLike[str], *, format: str | None = None) -> SessionList:  # noqa: A002
    """All sessions in a file or below a folder, newest first, each by itself: no costs, and nothing counts as ``inherited``.

    NotALogError if no format recognises a file, UsageError if it is missing.
    """
    log = _no_database(given(path))
    found = clm_sessions.load_all(log, format=format, registry=registry())
    if not found and log.is_file():
        raise NotALogError(f"{log}: no format recognises a session log here")
    return SessionList(NotebookSession(session) for session in found)


def given(path: str | os.PathLike[str]) -> Path:
    """The path a person named, ``~`` for their home. UsageError for an empty one, which would be the folder one is in, and for no path."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(f"no path: {path!r}; a session and a list have a to_df() and charts of their own")
    if not os.fspath(path):
        raise UsageError("the path is empty; name a log, a folder or a database ('.' is this folder)")
    return Path(path).expanduser()


def _no_database(path: Path) -> Path:
    if path.is_file() and looks_like_database(path):
        raise UsageError(f"{path}: this is a database; open it with jupyter_clm.open")
    return path


def show(source: NotebookSession | str | os.PathLike[str], **traits: Any) -> SessionView:  # noqa: ANN401 - see SessionView
    """The live view of a session, or of the one session of a path. UsageError for anything else."""
    if not isinstance(source, NotebookSession | str | os.PathLike):
        raise UsageError(f"no session: {source!r}; lists have a view() of their own")
    session = source if isinstance(source, NotebookSession) else load(source)
    return session.view(**traits)


def compare(a: NotebookSession, b: NotebookSession, **traits: Any) -> CompareView:  # noqa: ANN401 - see CompareView
    """Two sessions side by side, aligned by turn, below a table of what differs; ``page`` and ``page_size`` may be given.

    UsageError if one is no session; it names the extra if ipywidgets is missing.
    """
    for each in (a, b):
        if not isinstance(each, NotebookSession):
            raise UsageError(f"no session: {each!r}; take one of jupyter_clm.load(PATH) or jupyter_clm.open(PATH)[ID]")
    need("ipywidgets", "jupyter", "the comparison")
    from jupyter_clm.beside import CompareView

    return CompareView(a, b, **traits)
