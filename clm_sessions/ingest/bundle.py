"""Import one bundle: read what is new in its files, derive, and write the difference."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import BinaryIO

from clm_sessions.derive import Bundle, derive
from clm_sessions.formats.base import Located
from clm_sessions.ingest import ledger
from clm_sessions.ingest.discover import Files, LogFile
from clm_sessions.ingest.ledger import Source
from clm_sessions.ingest.streams import open_log, read_log, read_side
from clm_sessions.model import Fact, Issue, Stream
from clm_sessions.read import Checkpoint
from clm_sessions.sources import FileStat, changed, prints
from clm_sessions.store import raw, reader
from clm_sessions.store.rows import bundle_rows, images
from clm_sessions.store.writer import Writer

Advance = Callable[[int], None]
SideFacts = list[tuple[str, Fact]]


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What importing a bundle did. ``sources``: what happened to each (new, changed, unchanged, unreadable)."""

    key: str
    new: bool = False
    changed: bool = False
    sources: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class _Log:
    """One log as it stands now: its stream, and its new row if it was read."""

    stream: Stream
    source: Source | None = None


class BundleImport:
    """Brings the rows of one bundle up to date inside the writer's transaction.

    Content never makes it raise; a file that cannot be read is recorded, and its rows stay.
    """

    def __init__(
        self, db: sqlite3.Connection, writer: Writer, files: Files, key: str, *, keep_raw: bool, advance: Advance
    ) -> None:
        self._db, self._writer, self._files, self._key = db, writer, files, key
        self._keep_raw, self._advance = keep_raw, advance
        self._stored = ledger.stored(db, key)
        self.outcome = Outcome(key=key, new=not self._stored)

    def run(self) -> Outcome:
        """Do it. An untouched bundle costs one look at its rows."""
        here = [*self._files.logs(), *self._files.side]
        if all(ledger.untouched(self._stored.get(ledger.source_id(self._key, log)), log) for log in here):
            self.outcome.sources = {ledger.source_id(self._key, log): "unchanged" for log in here}
            return self.outcome
        logs = {log.agent if log.role == "agent" else None: self._read(log) for log in self._files.logs()}
        for source in self._stored.values():
            if source["role"] != "side" and source["agent_id"] not in logs:
                logs[source["agent_id"]] = _Log(stream=ledger.stored_stream(self._db, source))
        self._write(logs, self._side())
        return self.outcome

    def _write(self, logs: dict[str | None, _Log], side: SideFacts) -> None:
        usable = {name: log.stream for name, log in logs.items() if log.stream.refused is None}
        main = usable.get(None)
        sessions = derive(
            Bundle(
                format=self._files.format.name,
                key=self._key,
                session=self._files.session,
                folder=self._folder(),
                main=main,
                agents={agent: stream for agent, stream in usable.items() if agent is not None},
                side=[fact for _name, fact in side],
            ),
            self._files.format.dialect,
        )
        before = self._db.execute(
            "SELECT id FROM sessions WHERE id = ? OR (id > ? AND id < ?)", (self._key, f"{self._key}:", f"{self._key};")
        )
        rows = bundle_rows(sessions, side, "present" if self._files.main or main is None else "gone")
        self.outcome.changed = self._writer.sync(rows, images(sessions), [r[0] for r in before.fetchall()])
        ids = {s.info.id for s in sessions}
        for log in logs.values():
            if log.source is not None:
                ledger.write(self._db, log.source, log.stream, log.source["id"] if log.source["id"] in ids else None)

    def _folder(self) -> str | None:
        logs = self._files.logs()
        if logs:
            return logs[0].folder
        return next((s["folder"] for s in self._stored.values()), None)

    def _read(self, log: LogFile) -> _Log:
        sid = ledger.source_id(self._key, log)
        source = self._stored.get(sid)
        if source is not None and ledger.untouched(source, log):
            self.outcome.sources[sid] = "unchanged"
            return _Log(stream=ledger.stored_stream(self._db, source))
        try:
            file, stat = open_log(log)
        except OSError as error:
            return self._unreadable(log, sid, source, error)
        with closing(file):
            start, so_far, generation = self._start(log, source, file, stat)
            self.outcome.sources[sid] = "new" if source is None else "changed"
            try:
                stream, checkpoint = self._feed(log, file, sid, generation, start, so_far)
            except OSError as error:
                return self._unreadable(log, sid, source, error)
            seen = prints(file, checkpoint.offset)
        return _Log(stream=stream, source=ledger.read_row(log, sid, stat, generation, stream, checkpoint, seen))

    def _start(
        self, log: LogFile, source: Source | None, file: BinaryIO, stat: FileStat
    ) -> tuple[Checkpoint | None, Stream | None, int]:
        """Where to begin reading: the checkpoint, the stream up to it, and the generation of the raw archive."""
        if source is None or source["checkpoint"] is None:
            return None, None, 0
        generation = source["generation"]
        if log.format.framer == "jsonl" and changed(file, stat.size, ledger.prints_of(source)) == "grown":
            point = ledger.decode_checkpoint(source["checkpoint"])
            return point, ledger.stored_stream(self._db, source), generation
        return None, None, generation + 1

    def _feed(
        self, log: LogFile, file: BinaryIO, sid: str, generation: int, start: Checkpoint | None, so_far: Stream | None
    ) -> tuple[Stream, Checkpoint]:
        archive = raw.Archive(self._db, sid, generation, start.offset if start else 0) if self._keep_raw else None

        def tee(data: bytes) -> None:
            self._advance(len(data))
            if archive is not None:
                archive.write(data)

        stream, checkpoint = read_log(log, file, so_far=so_far, start=start, tee=tee)
        if archive is not None:
            archive.close()
        return stream, checkpoint

    def _unreadable(self, log: LogFile, sid: str, source: Source | None, error: OSError) -> _Log:
        self.outcome.sources[sid] = "unreadable"
        issue = Issue(kind="unreadable", reason=f"cannot read: {error.strerror or error}")
        stream = ledger.stored_stream(self._db, source) if source is not None else Stream(issues=[issue])
        row = {**(source or ledger.row(log, sid, log.found.stat)), "state": "unreadable"}
        ledger.put(self._db, row)
        ledger.write_issues(
            self._db, sid, [*(i for i in stream.issues if i.kind != "unreadable"), issue], row["session_id"]
        )
        return _Log(stream=stream)

    def _side(self) -> SideFacts:
        """Facts of the files beside the logs in name order, and those of such files that are no longer there."""
        facts: SideFacts = []
        present = set()
        for log in sorted(self._files.side, key=lambda s: s.found.path):
            sid = ledger.source_id(self._key, log)
            present.add(sid)
            source = self._stored.get(sid)
            state = "new" if source is None else "unchanged" if ledger.untouched(source, log) else "changed"
            place = Located(role="side", session=log.session, agent=log.agent, folder=log.folder)
            try:
                found: Sequence[Fact] = log.format.side(place, sid.rsplit("/", 1)[-1], read_side(log))
            except OSError as error:
                self._unreadable(log, sid, source, error)
                continue
            self.outcome.sources[sid] = state
            if state != "unchanged":
                ledger.put(self._db, ledger.row(log, sid, log.found.stat))
            facts += [(sid, fact) for fact in found]
        return facts + [(name, f) for name, f in reader.side_facts(self._db, self._key) if name not in present]
