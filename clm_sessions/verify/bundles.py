"""Rows against what the raw archive gives when it is read, derived and turned into rows once more by the real code."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from clm_sessions.derive import Bundle, derive
from clm_sessions.errors import ClmError
from clm_sessions.formats.base import LogFormat
from clm_sessions.ingest import indexes, ledger
from clm_sessions.ingest.archived import extent, prints_of_archive, reread, reread_side
from clm_sessions.ingest.earlier import archived_states, rejoins
from clm_sessions.ingest.ledger import Source
from clm_sessions.ingest.pictures import in_archive, with_images
from clm_sessions.ingest.streams import border
from clm_sessions.model import Image, Stream
from clm_sessions.plugins import Registry
from clm_sessions.read import Checkpoint
from clm_sessions.store import projects
from clm_sessions.store.rows import COLUMNS, KEYS, Row, Rows, bundle_rows, images
from clm_sessions.store.writer import FROM_LINEAGE, OF_SESSION
from clm_sessions.verify.findings import AGAIN, Result

_DERIVED = (
    "session_id", "lines", "consumed", "head_hash", "tail_hash", "first_at", "last_at", "refused", "checkpoint",
)  # fmt: skip


class Checker:
    """Checks bundle after bundle, and remembers what belongs to all of them: projects, images, numbers of rows."""

    def __init__(self, db: sqlite3.Connection, registry: Registry, result: Result) -> None:
        self._db, self._registry, self._result = db, registry, result
        self._told = indexes.told(db, registry)
        self._sessions: set[str] = set()
        self._projects: dict[str, Row] = {}
        self._images: dict[str, set[str]] = {}
        self._rows = dict.fromkeys(COLUMNS, 0)
        self._partly = False
        self._unchecked = 0

    def check(self, key: str, sources: Sequence[Source], *, usable: bool) -> None:
        """Check the sessions of one bundle. ``sources``: its files, no copies; ``usable``: whether they are sound."""
        fmt = self._registry.formats.get(sources[0]["format"])
        before = self._stored_ids(key)
        reason = None
        if not usable:
            reason = "what it was made of is damaged"
        elif fmt is None:
            reason = f"the format {sources[0]['format']!r} is not installed"
        elif not all(extent(s) is not None for s in sources if s["consumed"] is not None):
            reason = "its log is not whole in the raw archive (--no-raw)"
        else:
            try:
                self._check_rows(fmt, key, sources, before)
            except ClmError as error:
                reason = str(error)
        if reason is not None:
            self._partly = True
            self._unchecked += 1
            if self._unchecked <= 20:
                self._result.note(f"{key}: rows not compared: {reason}")
            self._compare(before, {}, only_count=True)

    def finish(self) -> None:
        """Check what no single bundle answers for. Call it when all were checked."""
        if self._unchecked > 20:
            self._result.note(f"{self._unchecked} sessions in all whose rows were not compared")
        self._check_projects()
        self._check_images()
        self._check_strays()

    def _stored_ids(self, key: str) -> set[str]:
        rows = self._db.execute(
            "SELECT id FROM sessions WHERE id = ? OR (id > ? AND id < ?)", (key, f"{key}:", f"{key};")
        )
        return {sid for (sid,) in rows}

    def _check_rows(self, fmt: LogFormat, key: str, sources: Sequence[Source], before: set[str]) -> None:
        logs = {s["agent_id"]: s for s in sources if s["checkpoint"] is not None and s["role"] != "earlier"}
        side = [(s["id"], fact) for s in sources if _is_read_side(s) for fact in reread_side(self._db, fmt, s)]
        read = {agent: self._read(fmt, source) for agent, source in logs.items()}
        if None in read and rejoins(fmt):
            states = list(archived_states(self._db, fmt, key, sources))
            stream, point = read[None]
            read[None] = (fmt.rejoin(states, stream) if states else stream, point)
        beside = in_archive(self._db, sources)
        if None in logs:
            side = sorted([*side, *self._told.get((fmt.name, logs[None]["native_id"]), ())], key=lambda one: one[0])
        streams = {a: with_images(stream, beside) for a, (stream, _point) in read.items() if stream.refused is None}
        if not logs:  # nothing was ever read of it, or its logs are missing
            self._compare(before, {})
            return
        first = logs[min(logs, key=lambda agent: agent or "")]
        bundle = Bundle(
            format=fmt.name,
            key=key,
            session=first["native_id"],
            folder=first["folder"],
            main=streams.get(None),
            agents={agent: stream for agent, stream in streams.items() if agent is not None},
            side=[fact for _name, fact in side],
        )
        with border(fmt, "what its messages say"):
            sessions = derive(bundle, fmt.dialect)
            rows = bundle_rows(sessions, side, {s["id"] for s in logs.values() if s["state"] == "gone"})
            pictures = images(sessions)
        ids = {session.id for session in sessions}
        for agent, source in logs.items():
            self._check_account(source, *read[agent], source["id"] if source["id"] in ids else None)
        for source in sources:
            if source["role"] == "earlier" and source["checkpoint"] is not None:
                self._check_account(source, *self._read(fmt, source), None)
        self._note(rows, pictures.values())
        self._compare(before | ids, rows)

    def _read(self, fmt: LogFormat, source: Source) -> tuple[Stream, Checkpoint]:
        stream, point, lines = reread(self._db, fmt, source)
        told = sum(stream.lines.values())
        if fmt.framer == "jsonl" and lines != told:
            self._result.add("source_lines", f"{source['id']}: {lines} lines, but {told} have a disposition", AGAIN)
        self._result.checked["lines"] += lines
        return stream, point

    def _check_account(self, source: Source, stream: Stream, point: Checkpoint, session: str | None) -> None:
        """The columns of a source that follow from its bytes, and its lines, record types and issues."""
        sid = source["id"]
        seen = prints_of_archive(self._db, source, point.offset)
        want = {**ledger.account(stream, point, seen), "session_id": session}
        told = {name: (source[name], want[name]) for name in _DERIVED if source[name] != want[name]}
        self._result.add_all(
            "sources", (f"{sid}: {name} is {a!r:.80}, not {b!r:.80}" for name, (a, b) in told.items()), AGAIN
        )
        for table, rows in ledger.account_rows(sid, stream, session).items():
            have = self._db.execute(f"SELECT * FROM {table} WHERE source_id = ?", (sid,)).fetchall()
            if table == "ingest_issues":
                have = [row for row in have if row[2] not in ledger.FILE_ISSUES]
            lacking, surplus = set(rows) - set(have), set(have) - set(rows)
            self._result.add_all(table, (f"{row!r:.200} is missing" for row in lacking), AGAIN)
            self._result.add_all(table, (f"{row!r:.200} does not follow from the log" for row in surplus), AGAIN)

    def _note(self, rows: Rows, pictures: Iterable[Image]) -> None:
        for row in rows["projects"]:
            self._projects[row[0]] = row
        for image in pictures:
            if image.data is not None:
                self._images.setdefault(image.sha256, set()).add(image.media_type)

    def _compare(self, ids: set[str], rows: Rows, *, only_count: bool = False) -> None:
        """Compare the rows of these sessions in every table with what they should be."""
        self._sessions |= ids
        for table in ("sessions", *OF_SESSION):
            column, width = "id" if table == "sessions" else "session_id", KEYS[table]
            names = COLUMNS[table]
            ignored = FROM_LINEAGE.get(table, set())
            compared = [i for i, name in enumerate(names) if name not in ignored]
            want = {row[:width]: row for row in rows.get(table, ())}
            for sid in sorted(ids):
                for row in self._db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {column} = ?", (sid,)):
                    self._rows[table] += 1
                    if only_count:
                        continue
                    self._result.checked["rows"] += 1
                    other = want.pop(row[:width], None)
                    if other is None:
                        self._result.add(table, f"{row[:width]} does not follow from the log", AGAIN)
                    elif row != other:
                        self._result.add_all(table, _differences(names, compared, row, other, width), AGAIN)
            self._result.add_all(table, (f"{key} is missing" for key in want), AGAIN)

    def _check_projects(self) -> None:
        have = {row[0]: row for row in self._db.execute("SELECT id, name, path FROM projects")}
        if self._partly:
            used = {one for (one,) in self._db.execute("SELECT DISTINCT project_id FROM sessions")}
            have = {key: row for key, row in have.items() if key in self._projects or key not in used}
        for key in sorted(have.keys() | self._projects.keys()):
            if have.get(key) != self._projects.get(key):
                self._result.add("projects", f"{key}: it is {have.get(key)}, not {self._projects.get(key)}", AGAIN)
        wanted = projects.labels(self._db.execute("SELECT id, name, path FROM projects"))
        for key, label in self._db.execute("SELECT id, label FROM projects"):
            if label != wanted.get(key):
                self._result.add("projects", f"{key}: its label is {label!r:.80}, not {wanted.get(key)!r:.80}", AGAIN)

    def _check_images(self) -> None:
        used = {one for (one,) in self._db.execute("SELECT DISTINCT sha256 FROM message_attachments")}
        missing = set(self._images)
        for sha256, media_type, size, data in self._db.execute(
            "SELECT sha256, media_type, bytes, data FROM attachments"
        ):
            self._result.checked["images"] += 1
            missing.discard(sha256)
            if not isinstance(data, bytes) or hashlib.sha256(data).hexdigest() != sha256 or len(data) != size:
                self._result.add("attachments", f"{sha256!r:.70}: its bytes are not those of its key", AGAIN)
            elif media_type not in self._images.get(sha256, {media_type} if self._partly else ()):
                self._result.add("attachments", f"{sha256}: no message says it is {media_type!r:.80}", AGAIN)
            elif sha256 not in used:
                self._result.add("attachments", f"{sha256}: no message has it", AGAIN)
        self._result.add_all("attachments", (f"{one} is missing" for one in sorted(missing)), AGAIN)

    def _check_strays(self) -> None:
        """Rows of sessions that no source accounts for."""
        for table, seen in self._rows.items():
            if table == "projects" or self._db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == seen:
                continue
            column = "id" if table == "sessions" else "session_id"
            for sid, count in self._db.execute(f"SELECT {column}, count(*) FROM {table} GROUP BY {column}"):
                if sid not in self._sessions:
                    self._result.add(table, f"{count} rows of {sid!r:.80}, which no source accounts for", AGAIN)


def _differences(names: Sequence[str], compared: Sequence[int], have: Row, want: Row, width: int) -> Iterator[str]:
    for i in compared:
        if have[i] != want[i]:
            yield f"{have[:width]}: {names[i]} is {_short(have[i])}, not {_short(want[i])}"


def _is_read_side(source: Source) -> bool:
    return source["role"] == "side" and source["consumed"] is not None


def _short(value: Any) -> str:  # noqa: ANN401 - a column value
    return repr(value) if len(repr(value)) <= 80 else f"{repr(value)[:80]}…"
