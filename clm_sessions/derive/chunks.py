"""Messages to chunks: what belongs together, and when it happened (spec claude-code 6)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clm_sessions.model import Kind, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The messages of one chunk by seq, with its times in ms: start, end, duration, and latest minus earliest."""

    kind: Kind
    messages: tuple[int, ...]
    started_at: int | None = None
    ended_at: int | None = None
    duration_ms: int | None = None
    span_ms: int | None = None


def groups(messages: Sequence[Message]) -> list[Group]:
    """The chunks in file order: one per user, system and compact message; a run of AI messages makes one.

    Hard noise and sidechain messages belong to none, and end none.
    """
    found: list[tuple[Kind, list[int]]] = []
    run: list[int] | None = None
    for seq, message in enumerate(messages):
        kind = message.kind
        if kind == "ai":
            if run is None:
                run = []
                found.append(("ai", run))
            run.append(seq)
        elif kind in ("user", "system", "compact"):
            run = None
            found.append((kind, [seq]))
    return [_timed(kind, seqs, messages) for kind, seqs in found]


def _timed(kind: Kind, seqs: Sequence[int], messages: Sequence[Message]) -> Group:
    known = [at for seq in seqs if (at := messages[seq].at) is not None]
    if not known:
        return Group(kind=kind, messages=tuple(seqs))
    # A message earlier than the first does not move the start, but it does count in the span.
    start, end = known[0], max(known)
    return Group(
        kind=kind,
        messages=tuple(seqs),
        started_at=start,
        ended_at=end,
        duration_ms=end - start,
        span_ms=end - min(known),
    )


def key(kind: Kind, first: Message) -> str:
    """``<kind>-<uuid of its first message>``; place in the file where messages have no uuid. Stable across reads."""
    return f"{kind}-{message_key(first)}"


def message_key(message: Message) -> str:
    """The uuid of a message, else its line (and which record of that line it is)."""
    if message.uuid is not None:
        return message.uuid
    place = message.place
    line = f"{place.line}.{place.part}" if place.part else str(place.line)
    return line if place.earlier is None else f"{line}{place.earlier}"


def span(messages: Iterable[Message]) -> tuple[int | None, int | None]:
    """Earliest and latest known time."""
    known = [m.at for m in messages if m.at is not None]
    return (min(known), max(known)) if known else (None, None)


class Sidechain:
    """The sidechain messages of a log by time."""

    def __init__(self, messages: Sequence[Message]) -> None:
        timed = [(m.at, seq) for seq, m in enumerate(messages) if m.kind == "sidechain" and m.at is not None]
        timed.sort()
        self._times = [at for at, _ in timed]
        self._seqs = [seq for _, seq in timed]

    def within(self, group: Group) -> tuple[int, ...]:
        """Those with start <= time < end of an AI chunk, in file order."""
        if not self._seqs or group.kind != "ai" or group.started_at is None or group.ended_at is None:
            return ()
        first, last = bisect_left(self._times, group.started_at), bisect_left(self._times, group.ended_at)
        return tuple(sorted(self._seqs[first:last]))
