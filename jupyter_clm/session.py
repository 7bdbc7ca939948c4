"""A session in a notebook: the core's values, a static transcript as its display, ``view()`` and data frames."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from clm_sessions import plugins
from clm_sessions.library import StoredSession
from clm_sessions.model import Chunk, ChunkContent, Fact, Issue, Message, Request, Session, SessionInfo, ToolCall
from clm_sessions.zones import at
from jupyter_clm.extras import need
from jupyter_clm.frames import Record, Rows, frame, records
from jupyter_clm.parts import ChunkSlice, NotebookChunk
from jupyter_clm.shown import bundle
from jupyter_clm.snapshot import line, snapshot_html

if TYPE_CHECKING:
    from clm_sessions.publish.options import Choices
    from jupyter_clm.view import SessionView


@cache
def registry() -> plugins.Registry:
    """The plugins of this kernel, loaded once."""
    return plugins.from_environment()


@dataclass(frozen=True, slots=True, eq=False)
class NotebookSession:
    """One session, from a log (``jupyter_clm.load``) or a database (``jupyter_clm.open``).

    As the last line of a cell it shows its head and first chunks, at most 100 KB of HTML. ``core`` is the value it
    stands for. Chunks, messages, tool calls and requests are sequences that also give data frames. ``session[3]`` and
    ``session[10:20]`` are chunks with all that stands in them, shown as cards.
    """

    core: Session | StoredSession
    path: Path | None = None
    """The log it was loaded from, where it was one."""
    read_as: str | None = None
    """The format that was named when it was loaded."""
    grows: bool = True
    """Whether anything may write what it is read from: false in the private database of logs that were opened."""

    @property
    def info(self) -> SessionInfo:
        """The facts of the session."""
        return self.core.info

    @property
    def id(self) -> str:
        """The key of the session."""
        return self.core.id

    @property
    def title(self) -> str | None:
        """Its title, or how its first prompt begins."""
        return self.core.info.title

    @property
    def project(self) -> str | None:
        """The name of its project."""
        return self.core.info.project_name

    @property
    def started_at(self) -> datetime | None:
        """When it began, in UTC; None if its log has no times."""
        ms = self.core.info.started_at
        return None if ms is None else at(ms, timezone.utc)

    @property
    def chunks(self) -> Rows[Chunk]:
        """All chunks, in order."""
        return Rows(self.core, "chunks")

    @property
    def messages(self) -> Rows[Message]:
        """All messages, in file order."""
        return Rows(self.core, "messages")

    @property
    def tool_calls(self) -> Rows[ToolCall]:
        """All tool calls, in order."""
        return Rows(self.core, "tool_calls")

    @property
    def requests(self) -> Rows[Request]:
        """All API replies, in order."""
        return Rows(self.core, "requests")

    @property
    def facts(self) -> Sequence[Fact]:
        """What the log says of the session."""
        return self.core.facts

    @property
    def issues(self) -> Sequence[Issue]:
        """What was wrong with the log."""
        return self.core.issues

    @property
    def subagents(self) -> list[NotebookSession]:
        """The direct subagents, in start order."""
        return [NotebookSession(session, grows=self.grows) for session in self.core.subagents]

    @overload
    def __getitem__(self, index: int) -> NotebookChunk: ...
    @overload
    def __getitem__(self, index: slice) -> ChunkSlice: ...
    def __getitem__(self, index: int | slice) -> NotebookChunk | ChunkSlice:
        return self._all[index]

    def __len__(self) -> int:
        return self.info.chunks

    def __iter__(self) -> Iterator[NotebookChunk]:
        return iter(self._all)

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        """Whether both are the same session of the same database, or of logs that say the same."""
        return self.core == other.core if isinstance(other, NotebookSession) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def _all(self) -> ChunkSlice:
        return ChunkSlice(self.core, range(self.info.chunks), registry().describe)

    def contents(self, start: int = 0, stop: int | None = None) -> list[ChunkContent]:
        """Chunks ``start`` to ``stop`` with their messages, whole."""
        return self.core.contents(start, stop)

    def view(self, **traits: Any) -> SessionView:  # noqa: ANN401 - the traits of SessionView
        """The live view; its traits may be given: ``query``, ``kinds``, ``tools``, ``page`` … (see ``SessionView``).

        UsageError names the extra if ipywidgets is missing.
        """
        need("ipywidgets", "jupyter", "the live view")
        from jupyter_clm.view import SessionView

        return SessionView(self, **traits)

    def follow(self, *, every: float = 1.0, **traits: Any) -> SessionView:  # noqa: ANN401 - the traits of SessionView
        """The live view at its end, growing while the log is written; it looks every so many seconds.

        Until it is closed, or its cell is run again. The log is the one that was loaded, or the database, which ``clm-sessions watch`` keeps up to date. UsageError if
        the session comes from neither.
        """
        view = self.view(**traits)
        try:
            if not traits.keys() & {"page", "selected"}:
                view.page = view.pages
            view.follow(every)
        except BaseException:
            view.close()
            raise
        return view

    def to_records(self, table: str = "chunks", *, subagents: bool = False) -> list[Record]:
        """The rows of one table (sessions, chunks, messages, tool_calls or requests) as dicts of plain values."""
        return list(records([self.core], table, subagents=subagents))

    def to_df(self, table: str = "chunks", *, subagents: bool = False, engine: str = "pandas") -> Any:  # noqa: ANN401
        """The same as a frame of pandas, polars or Arrow (``engine="polars"``, ``"arrow"``)."""
        return frame([self.core], table, subagents=subagents, engine=engine)

    def snapshot(self, *, token: str | None = None, extra_style: str = "") -> str:
        """The static HTML. ``token``: what its ids begin with; the same session gives the same one."""
        token = token or hashlib.sha256(self.id.encode("utf-8", "replace")).hexdigest()[:8]
        return snapshot_html(self.core, registry().describe, token=token, extra_style=extra_style, label=self.label)

    def to_html(self, path: str | os.PathLike[str], *, redact: bool = True, choices: Choices | None = None) -> Path:
        """Write the session, with its subagents, to one HTML page that needs nothing else; gives its path.

        It is made for others: secrets, personal data and images are hidden as by ``publish`` (``choices`` says otherwise).
        ``redact=False``: as it was written. The page says which it is. Only you may read the file until you let others.
        """
        from jupyter_clm.export import write_html

        return write_html(self, path, redact=redact, choices=choices)

    def to_markdown(self, *, redact: bool = True, choices: Choices | None = None) -> str:
        """The session as Markdown, whole, redacted or not as by ``to_html``."""
        from jupyter_clm.export import markdown

        return markdown(self, redact=redact, choices=choices)

    @property
    def label(self) -> str | None:
        """What a person calls the format of the log."""
        found = registry().formats.get(self.info.format)
        return (found.label or None) if found else None

    def __repr__(self) -> str:
        return f"<NotebookSession {self.id}: {line(self.info)}>"

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return bundle(self, self.snapshot, include, exclude)
