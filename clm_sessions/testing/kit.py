"""The promises, one function each."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from random import Random
from tempfile import TemporaryDirectory

from clm_sessions import plugins
from clm_sessions.derive import Bundle, derive
from clm_sessions.formats.base import Claim, LogFormat
from clm_sessions.ingest import ingest
from clm_sessions.library import load_all, open_db
from clm_sessions.model import DISPOSITIONS, Fact, Session, Stream
from clm_sessions.prices import Book
from clm_sessions.read import Checkpoint, read_stream
from clm_sessions.store.rows import bundle_rows
from clm_sessions.testing.logs import Content, Log, count_lines, find, make_head, mutant, read
from clm_sessions.testing.values import fault, message_fault
from clm_sessions.testing.watch import no_io

STATE_LIMIT = 64 << 10
"""Bytes of JSON a reader's state may take: it is written with every batch."""
WORK = 4 << 20
"""Bytes read for the cuts of one log; a large log is cut less often."""
_CELLS = (str, int, float, bytes, type(None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was looked at."""

    logs: int
    lines: int
    messages: int
    cuts: int
    mutations: int


def check_format(
    fmt: LogFormat, folder: str | Path, *, mutations: int = 1000, cuts: int = 25, seed: int = 0
) -> Checked:
    """Hold a format against its promises, on every log of its own below ``folder``.

    ``locate`` and ``sniff`` do no I/O and answer the same wherever the folder lies. A log cut anywhere and read on
    equals one read at one go, in ``cuts`` places. The state of a reader is small JSON and does not change afterwards.
    Every line is accounted for. Values are as annotated and can be stored; messages, chunks and calls keep their keys
    when the log grows. Damaged logs (``mutations`` of them, made from ``seed``) raise nothing. What a database gives
    back equals what was loaded, and importing again changes nothing.

    AssertionError says which promise is not kept, and by which log.
    """
    folder = Path(folder)
    random = Random(seed)  # noqa: S311 - repeatable, not secret
    with _never_raises("finding its logs by locate, decode and sniff"):
        found = find(fmt, folder)
    logs = [log for log in found if log.session is not None]
    _that(bool(logs), f"no log below {folder} is recognised by {fmt.name}: locate or sniff refuse all of them")
    streams = [_check_log(fmt, folder, log) for log in logs]
    done = sum(_check_cuts(fmt, random, log, stream, cuts) for log, stream in zip(logs, streams, strict=True))
    for number in range(mutations):
        _check_mutant(fmt, random, random.choice(found), f"mutation {number} of seed {seed}")
    _check_database(fmt, folder)
    return Checked(
        logs=len(logs),
        lines=sum(sum(stream.lines.values()) for stream in streams),
        messages=sum(len(stream.messages) for stream in streams),
        cuts=done,
        mutations=mutations,
    )


def _that(kept: bool, broken: str) -> None:
    if not kept:
        raise AssertionError(broken)


@contextmanager
def _never_raises(what: str) -> Iterator[None]:
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{what} raised {error!r}") from error


def _check_log(fmt: LogFormat, folder: Path, log: Log) -> Stream:
    """Finding, recognising, reading once and again."""
    moved = PurePath("/elsewhere", folder.name, log.relative)
    with _never_raises(f"{log.relative}: locate or sniff"):
        with no_io(f"{log.relative}: locate"):
            place = fmt.locate(moved)
        with no_io(f"{log.relative}: sniff"):
            claim = fmt.sniff(log.located, log.head)
    _that(
        place is not None and replace(place, folder=None) == replace(log.located, folder=None),
        f"{log.relative}: locate answers {place} where the folder lies elsewhere, and {log.located} here",
    )
    _that(isinstance(claim, Claim), f"{log.relative}: sniff answers {claim!r}, not a Claim")
    with _never_raises(f"{log.relative}: reading"):
        stream = read(fmt, log.context, log.content)
        again = read(fmt, log.context, log.content)
    _that(stream == again, f"{log.relative}: reading it twice gives two different outcomes")
    _check_stream(fmt, log, log.content, stream, log.relative)
    return stream


def _check_stream(fmt: LogFormat, log: Log, content: Content, stream: Stream, where: str) -> None:
    """The account of lines, the values, and that they can be stored."""
    expected, counted = count_lines(fmt, content), sum(stream.lines.values())
    _that(expected in (None, counted), f"{where}: {expected} lines, but {counted} are accounted for: {stream.lines}")
    strange = set(stream.lines) - set(DISPOSITIONS)
    _that(not strange, f"{where}: no line can be {', '.join(sorted(strange))}")
    wrong = next(filter(None, map(message_fault, stream.messages)), None) or _fault(stream.facts)
    _that(wrong is None, f"{where}: {wrong}")
    with _never_raises(f"{where}: working out its chunks, calls and facts (by the dialect, too)"):
        sessions = _sessions(fmt, log, stream)
        stored = bundle_rows(sessions)
    cells = [cell for table in stored.values() for row in table for cell in row]
    odd = next((cell for cell in cells if not isinstance(cell, _CELLS)), None)
    _that(odd is None, f"{where}: a database cannot hold {odd!r}")
    keys = Counter(chunk.key for session in sessions for chunk in session.chunks)
    repeated = [key for key, number in keys.items() if number > 1]
    _that(not repeated, f"{where}: two chunks have one key: {', '.join(repeated)}")


def _sessions(fmt: LogFormat, log: Log, stream: Stream) -> Sequence[Session]:
    name, agent = log.session or "", log.located.agent
    if log.located.role == "agent" and agent is not None:
        return derive(Bundle(format=fmt.name, key=name, session=name, agents={agent: stream}), fmt.dialect)
    return derive(Bundle(format=fmt.name, key=name, session=name, main=stream), fmt.dialect)


def _fault(facts: Iterable[Fact]) -> str | None:
    for fact in facts:
        try:
            json.dumps(fact.value)
        except (TypeError, ValueError) as error:
            return f"the fact {fact.name!r} is no JSON: {error}"
    return next(filter(None, map(fault, facts)), None)


def _check_cuts(fmt: LogFormat, random: Random, log: Log, whole: Stream, cuts: int) -> int:
    """Cut anywhere, read on, and compare with one go."""
    data = log.content
    if fmt.framer != "jsonl" or not isinstance(data, bytes) or not data:
        return 0
    number = max(3, min(cuts, WORK // len(data)))
    anywhere = [random.randrange(len(data) + 1) for _ in range(number)]
    ends = [at for at in (data.find(b"\n", place) for place in anywhere[: number // 3]) if at >= 0]
    places = sorted({*anywhere[len(ends) :], *ends[::2], *(at + 1 for at in ends[1::2])})
    for cut in places:
        where = f"{log.relative} cut at byte {cut}"
        with _never_raises(where):
            part, point = read_stream(fmt, log.context, io.BytesIO(data[:cut]))
            resumed, _ = read_stream(
                fmt, log.context, io.BytesIO(data), so_far=part, start=replace(point, state=_state(point, where))
            )
        if resumed != whole:
            raise AssertionError(f"{where}: reading on differs from one go: {_difference(resumed, whole)}")
        kept = [message for message in part.messages if message.place.line <= point.line]
        if whole.refused is None:
            same = kept == list(whole.messages[: len(kept)])
            _that(same, f"{where}: messages that were there change when the log grows")
    return len(places)


def _state(point: Checkpoint, where: str) -> dict[str, object]:
    """A state as it comes back from the database."""
    try:
        text = json.dumps(dict(point.state))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{where}: the state is no JSON: {error}") from error
    _that(len(text) <= STATE_LIMIT, f"{where}: the state takes {len(text):,} bytes, more than {STATE_LIMIT:,}")
    back: dict[str, object] = json.loads(text)
    return back


def _difference(one: Stream, other: Stream) -> str:
    for name in ("lines", "types", "issues", "facts", "first_at", "last_at", "refused"):
        if getattr(one, name) != getattr(other, name):
            return f"{name} are {getattr(one, name)!r:.300}, not {getattr(other, name)!r:.300}"
    pairs = zip(one.messages, other.messages, strict=False)
    first = next((n for n, (left, right) in enumerate(pairs) if left != right), None)
    if first is None:
        return f"{len(one.messages)} messages, not {len(other.messages)}"
    return f"message {first} is {one.messages[first]!r:.300}, not {other.messages[first]!r:.300}"


def _check_mutant(fmt: LogFormat, random: Random, log: Log, label: str) -> None:
    """A damaged log raises nothing, and is accounted for."""
    content = mutant(fmt, random, log.content)
    where = f"{log.relative}, {label}; it holds {content!r:.2000}"
    if log.session is None:
        with _never_raises(f"side of {where}"):
            facts = list(
                fmt.side(log.located, PurePath(log.relative).name, content if isinstance(content, bytes) else b"")
            )
        wrong = _fault(facts)
        _that(wrong is None, f"side of {where}: {wrong}")
        return
    with _never_raises(where):
        if isinstance(content, bytes):
            fmt.sniff(log.located, make_head(fmt, content))
        stream = read(fmt, log.context, content)
    _check_stream(fmt, log, content, stream, where)


def _check_database(fmt: LogFormat, folder: Path) -> None:
    """What a database gives back equals what was loaded, and importing again changes nothing."""
    registry = plugins.build([fmt], builtins=False, entry_points=False)
    wrong = "; ".join(str(plugin.failure) for plugin in registry.failures())
    _that(not wrong, f"the format is not taken in: {wrong}")
    with TemporaryDirectory() as scratch:
        database = Path(scratch, "sessions.db")
        book = Book(packaged=False)  # a format has nothing to do with prices
        ingest(database, [folder], registry, book=book)
        again = ingest(database, [folder], registry, book=book)
        changed = again.sources["new"] + again.sources["changed"] + again.sources["unreadable"]
        _that(not changed, f"importing twice: {changed} of {sum(again.sources.values())} files count as new or changed")
        with open_db(database) as db:
            stored = {session.id: session for session in db}
            loaded = load_all(folder, registry=registry)
            once = Counter(session.id for session in loaded)  # of two different logs of one id, only a database tells
            for session in loaded:
                if session.id in stored and once[session.id] == 1:
                    _check_equal(session, stored[session.id].read())


def _check_equal(loaded: Session, stored: Session) -> None:
    """Equal but for two things: U+0000 is stored as its symbol, and who owns a reply depends on other logs."""
    owned = replace(stored, requests=[replace(request, inherited=False) for request in stored.requests])
    for name in ("messages", "chunks", "tool_calls", "requests", "facts"):
        one, other = (repr(list(getattr(session, name))).replace("\\x00", "\u2400") for session in (loaded, owned))
        _that(one == other, f"session {loaded.id}: the {name} a database gives back differ from those of the log")
