"""Import one bundle: read what is new in its files, derive, and write the difference."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from clm_sessions.derive import Bundle, derive
from clm_sessions.errors import PluginError
from clm_sessions.ingest import ledger
from clm_sessions.ingest.discover import Files, LogFile
from clm_sessions.ingest.ledger import Source
from clm_sessions.ingest.streams import border, open_log, read_log, read_side
from clm_sessions.model import Fact, Image, Issue, Stream
from clm_sessions.read import Checkpoint
from clm_sessions.sources import FileStat, changed, prints
from clm_sessions.store import raw, reader
from clm_sessions.store.rows import Rows, bundle_rows, images
from clm_sessions.store.writer import Writer

Advance = Callable[[int], None]
FILE_ISSUES = frozenset(("unreadable", "plugin"))
"""Kinds of issue that say a whole file could not be read; they end when it can."""
SideFacts = list[tuple[str, Fact]]


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What importing a bundle did. ``sources``: what happened to each (new, changed, unchanged, unreadable).

    ``notices``: by path, why a file could not be read.
    """

    key: str
    new: bool = False
    changed: bool = False
    sources: dict[str, str] = field(default_factory=dict)
    notices: list[tuple[str, Issue]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class _Log:
    """One log as it stands now: its stream, and its new row if it was read."""

    stream: Stream
    source: Source | None = None


class BundleImport:
    """Brings the rows of one bundle up to date inside the writer's transaction.

    Neither content nor a plugin makes it raise; a file that cannot be read is recorded, and its rows stay.
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
        try:
            self._write(logs, self._side())
        except PluginError as error:
            for log in self._files.logs():
                sid = ledger.source_id(self._key, log)
                self._failed(log, sid, self._stored.get(sid), error)
        return self.outcome

    def _write(self, logs: dict[str | None, _Log], side: SideFacts) -> None:
        usable = {name: log.stream for name, log in logs.items() if log.stream.refused is None}
        main = usable.get(None)
        bundle = Bundle(
            format=self._files.format.name,
            key=self._key,
            session=self._files.session,
            folder=self._folder(),
            main=main,
            agents={agent: stream for agent, stream in usable.items() if agent is not None},
            side=[fact for _name, fact in side],
        )
        with border(self._files.format, "what its messages say"):
            sessions = derive(bundle, self._files.format.dialect)
            rows = bundle_rows(sessions, side, "present" if self._files.main or main is None else "gone")
            pictures = images(sessions)
        self.outcome.changed = self._sync(rows, pictures)
        ids = {s.info.id for s in sessions}
        for log in logs.values():
            if log.source is not None:
                ledger.write(self._db, log.source, log.stream, log.source["id"] if log.source["id"] in ids else None)

    def _sync(self, rows: Rows, pictures: Mapping[str, Image]) -> bool:
        """Write the rows. PluginError, and nothing written, where a value is of a type that no column takes."""
        before = self._db.execute(
            "SELECT id FROM sessions WHERE id = ? OR (id > ? AND id < ?)", (self._key, f"{self._key}:", f"{self._key};")
        ).fetchall()
        self._db.execute("SAVEPOINT bundle")
        try:
            return self._writer.sync(rows, pictures, [row[0] for row in before])
        except (sqlite3.InterfaceError, sqlite3.ProgrammingError, TypeError, ValueError, OverflowError) as error:
            self._db.execute("ROLLBACK TO bundle")
            raise PluginError.of(self._files.format.plugin, "its values", error) from error
        finally:
            self._db.execute("RELEASE bundle")

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
            return self._failed(log, sid, source, error)
        with closing(file):
            start, so_far, generation = self._start(log, source, file, stat)
            self.outcome.sources[sid] = "new" if source is None else "changed"
            try:
                stream, checkpoint = self._feed(log, file, sid, generation, start, so_far)
            except (OSError, PluginError) as error:
                return self._failed(log, sid, source, error)
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
            so_far = ledger.stored_stream(self._db, source)
            return point, replace(so_far, issues=[i for i in so_far.issues if i.kind not in FILE_ISSUES]), generation
        return None, None, generation + 1

    def _feed(
        self, log: LogFile, file: BinaryIO, sid: str, generation: int, start: Checkpoint | None, so_far: Stream | None
    ) -> tuple[Stream, Checkpoint]:
        offset = start.offset if start else 0
        archive = raw.Archive(self._db, sid, generation, offset) if self._keep_raw else None

        def tee(data: bytes) -> None:
            self._advance(len(data))
            if archive is not None:
                archive.write(data)

        try:
            return read_log(log, file, so_far=so_far, start=start, tee=tee)
        except PluginError:
            if archive is not None:  # the bytes are kept all the same
                archive = raw.Archive(self._db, sid, generation, offset)
                file.seek(offset)
                for data in iter(lambda: file.read(raw.BLOCK), b""):
                    archive.write(data)
            raise
        finally:
            if archive is not None:
                archive.close()

    def _failed(self, log: LogFile, sid: str, source: Source | None, error: OSError | PluginError) -> _Log:
        """Record a file that could not be read. Its rows stay, and the next import tries again."""
        self.outcome.sources[sid] = "unreadable"
        if isinstance(error, PluginError):
            issue, refused = Issue(kind="plugin", reason=str(error)), str(error)
        else:
            issue, refused = Issue(kind="unreadable", reason=f"cannot read: {error.strerror or error}"), None
        self.outcome.notices.append((log.found.path, issue))
        known = source is not None and source["checkpoint"] is not None
        stream = ledger.stored_stream(self._db, source) if source and known else Stream(refused=refused)
        row = {**(source or ledger.row(log, sid, log.found.stat)), "state": "unreadable"}
        ledger.put(self._db, row)
        kept = [i for i in stream.issues if i.kind not in FILE_ISSUES]
        ledger.write_issues(self._db, sid, [*kept, issue], row["session_id"])
        return _Log(stream=stream)

    def _side(self) -> SideFacts:
        """Facts of the files beside the logs in name order, and those of such files that are no longer there."""
        facts: SideFacts = []
        present = set()
        for log in sorted(self._files.side, key=lambda s: s.found.path):
            sid = ledger.source_id(self._key, log)
            source = self._stored.get(sid)
            state = "new" if source is None else "unchanged" if ledger.untouched(source, log) else "changed"
            try:
                found = read_side(log)
            except (OSError, PluginError) as error:
                self._failed(log, sid, source, error)
                continue
            present.add(sid)
            self.outcome.sources[sid] = state
            if state != "unchanged":
                ledger.put(self._db, ledger.row(log, sid, log.found.stat))
            facts += [(sid, fact) for fact in found]
        return facts + [(name, f) for name, f in reader.side_facts(self._db, self._key) if name not in present]
