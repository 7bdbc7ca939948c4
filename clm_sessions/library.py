"""Sessions in Python: ``load`` reads logs without any database, ``open_db`` reads the same values back from one."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import TracebackType

from clm_sessions import plugins
from clm_sessions.derive import Bundle, derive, nest
from clm_sessions.errors import NoSessionError, NotALogError, PluginError, UsageError
from clm_sessions.ingest.discover import Discovery, Files, LogFile, discover
from clm_sessions.ingest.earlier import marked, rejoins
from clm_sessions.ingest.indexes import told_by
from clm_sessions.ingest.keys import plain_key
from clm_sessions.ingest.naming import sort_beside
from clm_sessions.ingest.pictures import in_files, with_images
from clm_sessions.ingest.streams import border, open_log, read_log, read_side
from clm_sessions.model import (
    Chunk,
    ChunkContent,
    Fact,
    Issue,
    Message,
    Request,
    Session,
    SessionInfo,
    Stream,
    ToolCall,
)
from clm_sessions.store import reader, search
from clm_sessions.store.connect import open_reader
from clm_sessions.store.narrow import Narrow, of_sessions


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    registry: plugins.Registry | None = None,
) -> Session:
    """The one session of a log file (its subagents below it), or of a folder that holds one session.

    NotALogError if no format recognises it, the format refuses it or it cannot be read, UsageError if it is missing
    or holds several sessions.
    """
    sessions, refusals = _load(path, format, registry)
    if not sessions:
        why = refusals[0] if refusals else "no format recognises a session log here; name one with format="
        raise NotALogError(f"{path}: {why}")
    if len(sessions) > 1:
        raise UsageError(f"{path}: holds {len(sessions)} sessions; use load_all, or name one file")
    return sessions[0]


def load_all(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    registry: plugins.Registry | None = None,
) -> list[Session]:
    """All sessions and orphan runs in a file or below a folder, newest first. Refused files are left out."""
    return _load(path, format, registry)[0]


def _load(
    path: str | os.PathLike[str], only: str | None, registry: plugins.Registry | None
) -> tuple[list[Session], list[str]]:
    """Sessions, and the reasons of refused files."""
    root = Path(path)
    if not root.exists():
        raise UsageError(f"{path}: no such file or folder")
    sessions: list[Session] = []
    known = discover([root], registry or plugins.from_environment(), only=only)
    refusals = [issue.reason for issue in known.problems.values()]
    refusals += _unreadable(root, known)
    told = told_by(known.indexes)
    for files in known.bundles:
        named = told.get((files.format.name, files.session), ())
        found, refused = _load_bundle(files, [fact for _source, fact in named])
        sessions += [s for s in found if s.info.role in ("main", "orphan")]
        refusals += refused
    return sorted(sessions, key=lambda s: (-(s.info.started_at or 0), s.info.id)), refusals


def _unreadable(root: Path, known: Discovery) -> list[str]:
    """The file that was asked for cannot be read, or these cannot below the folder that was."""
    found = [(path, issue.reason) for path, issue in known.issues if issue.kind == "unreadable"]
    if root.is_dir():
        return [f"{Path(path).name}: {reason}" for path, reason in found]
    return [reason for path, reason in found if os.path.realpath(path) == os.path.realpath(root)]


def _load_bundle(files: Files, told: Sequence[Fact] = ()) -> tuple[list[Session], list[str]]:
    """The sessions of one bundle as values (the main one with its subagents, then orphans), and refusals.

    ``told``: what indexes say of the session.
    """
    others = sort_beside([*files.agents.values(), *files.side, *files.copies], files.main)
    files.agents, files.side = (
        {agent: log for agent, log in others if agent},
        [log for agent, log in others if not agent],
    )
    streams: dict[str | None, Stream] = {}
    for log in files.logs():
        streams[log.agent if log.role == "agent" else None] = _stream(log)
    side: list[Fact] = []
    earlier: list[Stream] = []
    for log in sorted(files.side, key=lambda s: s.found.path):
        if log.role == "earlier":
            earlier.append(marked(_stream(log), f"/{PurePath(log.found.path).name}", 0))
            continue
        with suppress(OSError, PluginError), closing(open_log(log)[0]) as file:
            side += read_side(log, file)
    logs = files.logs()
    refusals = [stream.refused for stream in streams.values() if stream.refused is not None]
    beside = in_files(files.side)
    streams = {name: with_images(stream, beside) for name, stream in streams.items() if stream.refused is None}
    if None in streams and earlier and rejoins(files.format):
        streams[None] = files.format.rejoin(earlier, streams[None])
    bundle = Bundle(
        format=files.format.name,
        key=plain_key(files.session),
        session=files.session,
        folder=logs[0].folder if logs else None,
        main=streams.get(None),
        agents={agent: stream for agent, stream in streams.items() if agent is not None},
        side=[*side, *told],
    )
    try:
        with border(files.format, "what its messages say"):
            return nest(derive(bundle, files.format.dialect)), refusals
    except PluginError as error:
        return [], [*refusals, str(error)]


def _stream(log: LogFile) -> Stream:
    try:
        file, _stat = open_log(log)
        with closing(file):
            return read_log(log, file)[0]
    except OSError as error:
        return Stream(issues=[Issue(kind="unreadable", reason=f"cannot read: {error.strerror or error}")])
    except PluginError as error:
        return Stream(refused=str(error))


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session in a database. Each attribute is read when asked for; ``contents`` reads a page of chunks."""

    info: SessionInfo
    db: sqlite3.Connection

    @property
    def id(self) -> str:
        """The key of the session."""
        return self.info.id

    @property
    def messages(self) -> Sequence[Message]:
        """All messages, in file order."""
        return self.read().messages

    @property
    def chunks(self) -> Sequence[Chunk]:
        """All chunks, in order."""
        return reader.chunks(self.db, self.id)

    @property
    def tool_calls(self) -> Sequence[ToolCall]:
        """All tool calls, in order."""
        return reader.tool_calls(self.db, self.id)

    @property
    def requests(self) -> Sequence[Request]:
        """All API replies, in order."""
        return reader.requests(self.db, self.id)

    @property
    def facts(self) -> Sequence[Fact]:
        """What the log says of the session."""
        return reader.facts(self.db, self.id)

    @property
    def issues(self) -> Sequence[Issue]:
        """What was wrong with the log."""
        return reader.issues(self.db, self.id)

    @property
    def subagents(self) -> Sequence[StoredSession]:
        """The direct subagents, in start order."""
        found = reader.session_infos(self.db, "s.parent_id = ? AND s.role = 'subagent'", (self.id,))
        order = {sid: n for n, sid in enumerate(reader.children(self.db, self.id))}
        return [StoredSession(info, self.db) for info in sorted(found, key=lambda i: order[i.id])]

    def contents(self, start: int = 0, stop: int | None = None, *, images: bool = True) -> list[ChunkContent]:
        """Chunks ``start`` to ``stop`` with all that is needed to show them; nothing else is read."""
        return reader.contents(self.db, self.info, start, stop, images=images)

    def read(self, *, images: bool = True) -> Session:
        """The whole session as a value, equal to what ``load`` gives for its log."""
        return nest(reader.load_sessions(self.db, self.id, images=images))[0]


class Database:
    """A database of sessions, opened for reading only. Iterate it, look sessions up by id, or search."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises DatabaseError if there is no such database, it is not ours, or it is newer than this version."""
        self.path = Path(path)
        self.db = open_reader(self.path)

    @property
    def sessions(self) -> list[StoredSession]:
        """Sessions and orphan runs, newest first; subagents hang below theirs."""
        found = reader.session_infos(self.db, "s.role IN ('main', 'orphan')")
        return [StoredSession(info, self.db) for info in found]

    def select(self, narrow: Narrow) -> list[StoredSession]:
        """The sessions and orphan runs that are asked for, newest first. UsageError for names that are not there."""
        condition, bound = of_sessions(self.db, narrow, in_span=True)
        where = "s.role IN ('main', 'orphan')" + (f" AND {condition}" if condition else "")
        return [StoredSession(info, self.db) for info in reader.session_infos(self.db, where, bound)]

    def short_ids(self, least: int = 8) -> dict[str, str]:
        """For each session and orphan run the shortest beginning of its id that names it alone, of ``least`` or more."""
        rows = self.db.execute("SELECT id FROM sessions WHERE role IN ('main', 'orphan') ORDER BY id")
        return _shortened([row[0] for row in rows], least)

    def __iter__(self) -> Iterator[StoredSession]:
        return iter(self.sessions)

    def __len__(self) -> int:
        row = self.db.execute("SELECT count(*) FROM sessions WHERE role IN ('main', 'orphan')").fetchone()
        return int(row[0])

    def __getitem__(self, sid: str) -> StoredSession:
        return self.session(sid)

    def session(self, sid: str) -> StoredSession:
        """The session of that id, or the only one whose id begins so. NoSessionError says which it is not."""
        asked = sid.encode("utf-8", "replace").decode()  # SQLite takes no lone surrogate
        found = reader.session_infos(self.db, "s.id = ?", (asked,))
        if not found:
            where = "substr(s.id, 1, ?) = ? AND s.role IN ('main', 'orphan')"
            found = reader.session_infos(self.db, where, (len(asked), asked))
        if len(found) != 1:
            what = "no session" if not found else f"{len(found)} sessions"
            raise NoSessionError(f"{what} with an id that is or begins with {sid!r} in {self.path}")
        return StoredSession(found[0], self.db)

    def search(
        self,
        text: str,
        *,
        limit: int = 50,
        narrow: Narrow | None = None,
        kinds: Collection[str] = (),
        noise: bool = True,
        copies: bool = True,
    ) -> list[search.Hit]:
        """Messages and tool calls that hold the words of ``text``, best first. Any text is a valid query.

        The rest as in ``store.search.search``.
        """
        return search.search(self.db, text, limit=limit, narrow=narrow, kinds=kinds, noise=noise, copies=copies)

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    def __enter__(self) -> Database:  # noqa: PYI034 - Self is not in typing on Python 3.10
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_db(path: str | os.PathLike[str]) -> Database:
    """The database at ``path``, for reading."""
    return Database(path)


def _shortened(ids: Sequence[str], least: int) -> dict[str, str]:
    """By id (they are sorted), the beginning that neither neighbour has."""
    short = {}
    for before, sid, after in zip(["", *ids], ids, [*ids[1:], ""], strict=False):
        shared = max(_shared(sid, other) for other in (before, after))
        short[sid] = sid[: max(least, shared + 1)]
    return short


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
