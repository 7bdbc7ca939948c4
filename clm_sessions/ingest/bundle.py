"""Import one bundle: read what is new in its files, derive, and write the difference."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from clm_sessions.derive import Bundle, derive
from clm_sessions.errors import DatabaseError, PluginError
from clm_sessions.ingest import ledger
from clm_sessions.ingest.archived import extent, prints_of_archive, reread, reread_side
from clm_sessions.ingest.discover import Files, LogFile
from clm_sessions.ingest.earlier import archived_states, is_whole, marked, rejoins, stored_states
from clm_sessions.ingest.intake import Intake, begins_as_archived, intake, next_generation, still_begins
from clm_sessions.ingest.ledger import Source
from clm_sessions.ingest.pictures import in_archive, in_files, with_images
from clm_sessions.ingest.recent import LIMIT, Recent
from clm_sessions.ingest.streams import border, open_log, read_log, read_side
from clm_sessions.model import Fact, Image, Issue, Session, Stream
from clm_sessions.packed import is_packed
from clm_sessions.read import Checkpoint
from clm_sessions.sources import FileStat, prints
from clm_sessions.spool import Spool
from clm_sessions.store import raw, reader
from clm_sessions.store.connect import folder_of
from clm_sessions.store.rows import Only, Rows, bundle_rows, images, unlike
from clm_sessions.store.writer import Writer

Advance = Callable[[int], None]
SideFacts = list[tuple[str, Fact]]
SPOOLED = 16_000_000
"""Bytes of the logs of a bundle from which on their long texts wait in a file: less is faster, and small, in memory."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What importing a bundle did. ``sources``: what happened to each (new, changed, unchanged, unreadable).

    ``notices``: by path, why a file could not be read. ``doubtful``: some of its rows could not be made again.
    """

    key: str
    new: bool = False
    changed: bool = False
    empty: bool = False
    doubtful: bool = False
    sources: dict[str, str] = field(default_factory=dict)
    notices: list[tuple[str, Issue]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class _Log:
    """One log as it stands now: its stream and its folder, its new row if it was read, whether it is gone.

    ``so_far``: the stream is from rows, with all that stood in the log before.
    """

    stream: Stream
    folder: str | None
    source: Source | None = None
    gone: str | None = None
    so_far: bool = False


class BundleImport:
    """Brings the rows of one bundle up to date inside the writer's transaction.

    Neither content nor a plugin makes it raise; a file that cannot be read is recorded, and its rows stay.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        writer: Writer,
        files: Files,
        key: str,
        *,
        keep_raw: bool,
        advance: Advance,
        again: bool = False,
        told: Sequence[tuple[str, Fact]] = (),
        stale: bool = False,
        recent: Recent | None = None,
    ) -> None:
        """``told``: what indexes say of the session; ``stale``: its rows say something else.

        ``recent``: where it is kept for the next time.
        """
        self._db, self._writer, self._files, self._key = db, writer, files, key
        self._keep_raw, self._advance, self._again = keep_raw, advance, again
        self._told, self._stale = told, stale
        self._stored = ledger.stored(db, key)
        self._recent = recent
        self._kept = None if recent is None or again else recent.find(db, key, self._stored)
        self._side_rows: list[tuple[Source, Stream | None]] = []
        self._earlier: dict[str, Stream] = {}
        self._spool: Spool | None = None
        self.outcome = Outcome(key=key, new=not self._stored)

    def run(self) -> Outcome:
        """Do it. An untouched bundle costs one look at its rows, unless all is to be read again."""
        here = [*self._files.logs(), *self._files.side]
        if not (self._again or self._stale) and all(
            ledger.untouched(self._stored.get(ledger.source_id(self._key, log)), log) for log in here
        ):
            self.outcome.sources = {ledger.source_id(self._key, log): "unchanged" for log in here}
            return self.outcome
        size = sum(log.found.stat.size for log in self._files.logs())
        if size > (SPOOLED if self._recent is None else LIMIT):
            self._recent = None
            self._spool = Spool(folder_of(self._db))
        try:
            self._bring_up_to_date()
        finally:
            if self._spool is not None:
                self._spool.close()
        return self.outcome

    def _bring_up_to_date(self) -> None:
        read = {log.agent if log.role == "agent" else None: self._read(log) for log in self._files.logs()}
        logs = {agent: log for agent, log in read.items() if log is not None}
        for source in self._stored.values():
            if source["role"] != "earlier" and source["checkpoint"] is not None and source["agent_id"] not in logs:
                logs[source["agent_id"]] = self._known(source)
        try:
            side = self._side()
            self._rejoin(logs.get(None))
            if None in logs:
                side = sorted([*side, *self._told], key=lambda one: one[0])
            self._write(logs, side)
        except PluginError as error:
            for log in self._files.logs():
                sid = ledger.source_id(self._key, log)
                self._failed(log, sid, self._stored.get(sid), error)
            for row, _stream in self._side_rows:  # their bytes were kept, but nothing follows from them yet
                unread = dict.fromkeys(("generation", "consumed", "head_hash", "tail_hash"))
                ledger.put(self._db, self._stored.get(row["id"]) or {**row, **unread})

    def _known(self, source: Source) -> _Log:
        """A log that was not found: as its rows have it, or (again) as the archive has it."""
        gone = source["id"] if source["state"] == "gone" else None
        if self._again and extent(source) is not None and source["format"] == self._files.format.name:
            with suppress(PluginError, DatabaseError):
                stream, point, _lines = reread(self._db, self._files.format, source)
                seen = prints_of_archive(self._db, source, point.offset)
                now = {**source, **ledger.account(stream, point, seen)}
                return _Log(stream=stream, folder=source["folder"], gone=gone, source=now)
        self.outcome.doubtful = True
        return _Log(stream=self._known_stream(source), folder=source["folder"], gone=gone, so_far=True)

    def _known_stream(self, source: Source) -> Stream:
        """A log as it was read last."""
        kept = None if self._kept is None else self._kept.streams.get(source["id"])
        return ledger.stored_stream(self._db, source, self._spool) if kept is None else kept

    def _rejoin(self, main: _Log | None) -> None:
        """Put what the log says behind what it said before its program wrote it anew."""
        fmt = self._files.format
        if main is None or main.source is None or main.so_far or not rejoins(fmt):
            return
        before = self._stored.get(self._key)
        now = {**self._stored, **{row["id"]: row for row, _stream in self._side_rows}, self._key: main.source}
        states: list[Stream] = []
        generation = main.source["generation"]
        if before is not None and not is_whole(raw.sizes(self._db, self._key), generation):
            written = before["generation"]
            stream = self._known_stream(before)
            states += stored_states(stream, written, rewritten=written != generation)
        states += [*archived_states(self._db, fmt, self._key, now.values()), *self._earlier.values()]
        with border(fmt, "rejoin"):
            main.stream = fmt.rejoin(states, main.stream) if states else main.stream

    def _write(self, logs: dict[str | None, _Log], side: SideFacts) -> None:
        beside = in_archive(self._db, self._stored.values()) | in_files(self._files.side)
        usable = {n: with_images(log.stream, beside) for n, log in logs.items() if log.stream.refused is None}
        main = usable.get(None)
        bundle = Bundle(
            format=self._files.format.name,
            key=self._key,
            session=self._files.session,
            folder=logs[min(logs, key=lambda name: name or "")].folder if logs else None,
            main=main,
            agents={agent: stream for agent, stream in usable.items() if agent is not None},
            side=[fact for _name, fact in side],
        )
        with border(self._files.format, "what its messages say"):
            sessions = derive(bundle, self._files.format.dialect)
            gone = {log.gone for log in logs.values()}
            before = {} if self._kept is None else {s.id: s for s in self._kept.sessions}
            only = {s.id: unlike(s, before[s.id]) for s in sessions if s.id in before}
            rows = bundle_rows(sessions, side, gone, lazily=self._spool is not None, only=only)
            pictures = images(sessions)
        self.outcome.changed = self._sync(rows, pictures, only)
        self.outcome.empty = not sessions
        ids = {s.info.id for s in sessions}
        for log in logs.values():
            if log.source is not None:
                ledger.write(self._db, log.source, log.stream, log.source["id"] if log.source["id"] in ids else None)
        for source, stream in self._side_rows:  # not before the rows that follow from them
            if stream is None:
                ledger.put(self._db, source)
            else:
                ledger.write(self._db, source, stream, None)
        self._keep(logs, sessions)

    def _keep(self, logs: Mapping[str | None, _Log], sessions: Sequence[Session]) -> None:
        if self._recent is not None:
            streams = {self._key if name is None else f"{self._key}:{name}": log.stream for name, log in logs.items()}
            self._recent.keep(self._db, self._key, ledger.stored(self._db, self._key), streams, sessions)

    def _sync(self, rows: Rows, pictures: Mapping[str, Image], only: Only) -> bool:
        """Write the rows. PluginError, and nothing written, where a value is of a type that no column takes."""
        before = self._db.execute(
            "SELECT id FROM sessions WHERE id = ? OR (id > ? AND id < ?)", (self._key, f"{self._key}:", f"{self._key};")
        ).fetchall()
        self._db.execute("SAVEPOINT bundle")
        try:
            return self._writer.sync(rows, pictures, [row[0] for row in before], only)
        except (
            sqlite3.InterfaceError,
            sqlite3.ProgrammingError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
            OverflowError,
        ) as error:
            self._db.execute("ROLLBACK TO bundle")
            raise PluginError.of(self._files.format.plugin, "its values", error) from error
        finally:
            if self._db.in_transaction:  # a full disk takes back the whole transaction
                self._db.execute("RELEASE bundle")

    def _read(self, log: LogFile) -> _Log | None:
        """A log as it stands now; None where it was never read and cannot be."""
        sid = ledger.source_id(self._key, log)
        source = self._stored.get(sid)
        same = not self._again and source is not None and ledger.untouched(source, log)
        if same and source is not None and not self._has_earlier(log, source):
            self.outcome.sources[sid] = "unchanged"
            return _Log(stream=self._known_stream(source), folder=log.folder, so_far=True)
        try:
            file, stat = open_log(log)
        except OSError as error:
            return self._failed(log, sid, source, error)
        self.outcome.sources[sid] = "new" if source is None else "unchanged" if same else "changed"
        with closing(file):
            try:
                return self._take_in(log, sid, source, file, stat)
            except (OSError, PluginError) as error:
                return self._failed(log, sid, source, error)

    def _has_earlier(self, log: LogFile, source: Source) -> bool:
        """Whether a log was written anew since it began: then it is read from its beginning, to be put together again."""
        return (
            log.role == "main"
            and rejoins(log.format)
            and (
                source["generation"] > 0
                or any(other.role == "earlier" for other in self._files.side)
                or any(other["role"] == "earlier" for other in self._stored.values())
            )
        )

    def _take_in(self, log: LogFile, sid: str, source: Source | None, file: BinaryIO, stat: FileStat) -> _Log:
        start, so_far, generation = self._start(log, sid, source, file, stat)
        with self._intake(sid, generation, file, start.offset if start else 0) as taken:
            stream, checkpoint = read_log(log, file, so_far=so_far, start=start, tee=taken.take, spool=self._spool)
        if not is_packed(log.found.path):
            stat = replace(stat, size=taken.end)
        seen = prints(file, checkpoint.offset)
        row = ledger.read_row(log, sid, stat, generation, stream, checkpoint, seen)
        return _Log(stream=stream, folder=log.folder, source=row)

    def _start(
        self, log: LogFile, sid: str, source: Source | None, file: BinaryIO, stat: FileStat
    ) -> tuple[Checkpoint | None, Stream | None, int]:
        """Where to begin reading: the checkpoint, the stream up to it, and the generation of the raw archive."""
        if source is None or source["checkpoint"] is None:
            return None, None, next_generation(self._db, sid, file)
        generation = source["generation"]
        if self._again or source["format"] != log.format.name:  # read as another format now: all of it again
            return None, None, generation + (not begins_as_archived(self._db, sid, generation, file))
        if is_packed(log.found.path):
            before = ledger.prints_of(source)
            same = begins_as_archived(self._db, sid, generation, file) and prints(file, before.consumed) == before
            return None, None, generation + (not same)
        if not still_begins(self._db, source, file, stat.size):
            return None, None, generation + 1
        if log.format.framer != "jsonl":
            return None, None, generation + (stat.size != source["size"])
        if log.role == "earlier" or self._has_earlier(log, source):
            return None, None, generation
        point = ledger.decode_checkpoint(source["checkpoint"])
        so_far = self._known_stream(source)
        issues = [i for i in so_far.issues if i.kind not in ledger.FILE_ISSUES]
        return point, replace(so_far, issues=issues), generation

    def _failed(self, log: LogFile, sid: str, source: Source | None, error: OSError | PluginError) -> _Log | None:
        """Record a file that could not be read. Its rows stay, and the next import tries again."""
        self.outcome.sources[sid], self.outcome.doubtful = "unreadable", True
        if isinstance(error, PluginError):
            issue, refused = Issue(kind="plugin", reason=str(error)), str(error)
        else:
            issue, refused = Issue(kind="unreadable", reason=f"cannot read: {error.strerror or error}"), None
        self.outcome.notices.append((log.found.path, issue))
        row = source if source is not None else ledger.row(log, sid, log.found.stat, refused=refused)
        ledger.put_failed(self._db, row, issue)
        if row["checkpoint"] is None:
            return None
        return _Log(stream=self._known_stream(row), folder=row["folder"], so_far=True)

    def _side(self) -> SideFacts:
        """Facts of the files beside the logs, by the name of their source; of those that are gone too."""
        found = self._known_side()
        for log in sorted(self._files.side, key=lambda s: s.found.path):
            sid = ledger.source_id(self._key, log)
            source = self._stored.get(sid)
            same = source is not None and source["consumed"] is not None and ledger.untouched(source, log)
            same = same and not self._again
            self.outcome.sources[sid] = "new" if source is None else "unchanged" if same else "changed"
            try:
                file, stat = open_log(log)
                with closing(file):
                    if log.role == "earlier":
                        self._take_in_earlier(log, sid, file, stat, same=same)
                        continue
                    found[sid] = read_side(log, file) if same else self._take_in_side(log, sid, source, file, stat)
            except (OSError, PluginError) as error:
                self._failed(log, sid, source, error)
        return [(name, fact) for name in sorted(found) for fact in found[name]]

    def _known_side(self) -> dict[str, list[Fact]]:
        """Facts of side files by source, as rows have them, or the archive: those seen before their session have no rows."""
        found: dict[str, list[Fact]] = {}
        for name, fact in reader.side_facts(self._db, self._key):
            if name in self._stored:  # indexes are asked anew
                found.setdefault(name, []).append(fact)
        if not self._again and ledger.has_session(self._db, self._key):
            return found
        for known in self._stored.values():
            if known["role"] == "side" and extent(known) is not None:
                with suppress(PluginError, DatabaseError):
                    found[known["id"]] = reread_side(self._db, self._files.format, known)
        return found

    def _take_in_earlier(self, log: LogFile, sid: str, file: BinaryIO, stat: FileStat, *, same: bool) -> None:
        """The log as it was. What is archived is read from there (``_rejoin``)."""
        source = self._stored.get(sid)
        if same and source is not None and is_whole(raw.sizes(self._db, sid), source["generation"] + 1):
            return
        read = self._take_in(log, sid, source, file, stat)
        if read.source is not None:
            self._side_rows.append((read.source, read.stream))
            if not is_whole(raw.sizes(self._db, sid), read.source["generation"] + 1):
                self._earlier[sid] = marked(read.stream, sid[len(self._key) :], read.source["generation"])

    def _take_in_side(
        self, log: LogFile, sid: str, source: Source | None, file: BinaryIO, stat: FileStat
    ) -> list[Fact]:
        generation = next_generation(self._db, sid, file)
        if source is not None and source["consumed"] is not None:
            same = stat.size == source["size"] and still_begins(self._db, source, file, stat.size)
            generation = source["generation"] + (not same)
        with self._intake(sid, generation, file, 0) as taken:
            facts = read_side(log, file, taken.take)
        if not is_packed(log.found.path):
            stat = replace(stat, size=taken.end)
        seen = prints(file, taken.end)
        self._side_rows.append((ledger.side_row(log, sid, stat, generation, seen), None))
        return facts

    def _intake(self, sid: str, generation: int, file: BinaryIO, offset: int) -> AbstractContextManager[Intake]:
        return intake(self._db if self._keep_raw else None, sid, generation, file, offset, self._advance)
