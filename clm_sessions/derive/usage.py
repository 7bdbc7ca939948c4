"""Tokens: each API reply once (spec claude-code 10), and how full the context was (11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from clm_sessions.model import Context, Message, Phase, Request, Usage

SYNTHETIC = "synthetic"


def counted(messages: Iterable[tuple[int, Message]]) -> dict[str | int, tuple[int, Message]]:
    """By reply: the entry whose usage counts, the largest and of equals the last. A reply without id is its entry.

    Keys are reply ids, or the seq of an entry without one. Order: first entry of each reply.
    """
    best: dict[str | int, tuple[int, Message]] = {}
    for seq, message in messages:
        key = message.reply_id or seq
        before = best.get(key)
        if before is None or _size(message) >= _size(before[1]):
            best[key] = (seq, message)
    return best


def _size(message: Message) -> int:
    total = None if message.usage is None else message.usage.total
    return -1 if total is None else total


def total(messages: Iterable[tuple[int, Message]]) -> Usage:
    """The sum over the replies of a set of (seq, message); a count nobody recorded stays None."""
    with_usage = ((seq, message) for seq, message in messages if message.usage is not None)
    return add(message.usage for _, message in counted(with_usage).values())


def add(usages: Iterable[Usage | None]) -> Usage:
    """The sum of usages, field by field; None where none has it."""
    sums: list[int | None] = [None] * 5
    for usage in usages:
        if usage is None:
            continue
        fields = (usage.input, usage.output, usage.cache_read, usage.cache_creation, usage.reasoning)
        for i, count in enumerate(fields):
            if count is not None:
                sums[i] = (sums[i] or 0) + count
    return Usage(input=sums[0], output=sums[1], cache_read=sums[2], cache_creation=sums[3], reasoning=sums[4])


def requests(messages: Sequence[Message], chunk_of: Mapping[int, int]) -> list[Request]:
    """The API replies of a log, each once; what the program made up itself is none."""
    replies = ((seq, m) for seq, m in enumerate(messages) if m.role == "assistant" and m.origin != SYNTHETIC)
    return [
        Request(
            reply_id=message.reply_id,
            model=message.model,
            message=seq,
            usage=message.usage,
            at=message.at,
            chunk=chunk_of.get(seq),
        )
        for seq, message in counted(replies).values()
    ]


@dataclass
class Fill:
    """How the context filled, message by message: ``values`` of (seq, tokens), ``compactions`` by seq."""

    values: list[tuple[int, int]] = field(default_factory=list)
    compactions: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, messages: Sequence[Message]) -> Fill:
        """From the main-thread replies that say how much they read."""
        fill = cls()
        for seq, message in enumerate(messages):
            if message.kind == "compact":
                fill.compactions.append(seq)
            elif message.usage is not None and message.kind != "sidechain" and message.role == "assistant":
                tokens = _window(message)
                if tokens > 0:
                    fill.values.append((seq, tokens))
        return fill

    def around(self) -> dict[int, tuple[int | None, int | None]]:
        """For each compaction, by seq: the last value before it and the first between it and the next one."""
        found: dict[int, tuple[int | None, int | None]] = {}
        at, before = 0, None
        for number, seq in enumerate(self.compactions):
            until = self.compactions[number + 1] if number + 1 < len(self.compactions) else None
            while at < len(self.values) and self.values[at][0] < seq:
                before = self.values[at][1]
                at += 1
            follows = at < len(self.values) and (until is None or self.values[at][0] < until)
            found[seq] = (before, self.values[at][1] if follows else None)
        return found


def _window(message: Message) -> int:
    usage = message.usage
    if usage is None or message.origin == SYNTHETIC:
        return 0
    return (usage.input or 0) + (usage.cache_read or 0) + (usage.cache_creation or 0)


def context(fill: Fill) -> Context:
    """Tokens consumed over all phases, and the phases (11). Without a compaction there is one phase."""
    if not fill.values:
        return Context()
    last = fill.values[-1][1]
    if not fill.compactions:
        return Context(consumption=last, phases=(Phase(number=1, contribution=last, peak=last, after=None),))
    phases: list[Phase] = []
    begun = 0
    for before, after in fill.around().values():
        peak = before or 0
        phases.append(Phase(number=len(phases) + 1, contribution=peak - begun, peak=peak, after=after))
        begun = after or 0
    if begun > 0:
        phases.append(Phase(number=len(phases) + 1, contribution=last - begun, peak=last, after=None))
    return Context(consumption=sum(p.contribution for p in phases), phases=tuple(phases))
