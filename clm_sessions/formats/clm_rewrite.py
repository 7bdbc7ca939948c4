"""A clm log that was compacted, put together again (spec clm 7, "compaction").

clm then writes the file anew: its first line, the system prompt, a summary as a user message that nothing marks, and
the last messages as they were. The summary is the first user message that the log before it lacks; what follows it up
to where the old log ended was kept, and stands there already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from clm_sessions.formats.clm_dialect import job_done, job_started
from clm_sessions.model import Fact, Message, Stream, ToolResult, ToolUse

_K = TypeVar("_K", bound=Hashable)


def rejoin(earlier: Sequence[Stream], now: Stream) -> Stream:
    """What a log says now, behind what it said before each of its compactions; ``now`` where there was none.

    The lines of what was kept count as duplicates: their messages stand among the older ones.
    """
    chain = _chain([_State.of(stream) for stream in earlier if stream.refused is None], _State.of(now))
    if len(chain) == 1:
        return now
    messages: list[Message] = list(chain[0].messages)
    for before, after in pairwise(chain):
        at, kept = _compaction(before, after) or (0, 0)
        summary = replace(after.messages[at], kind="compact", origin="compact_summary")
        messages += [summary, *after.messages[at + 1 + kept :]]
        copied = at + kept
    return replace(
        now,
        messages=list(_with_jobs(messages)),
        facts=[*_older_facts(chain), *now.facts],
        lines=_moved(now.lines, "message", "duplicate", copied),
        types=_moved(now.types, ("msg", "message"), ("msg", "duplicate"), copied),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _State:
    """What the log said at one time. ``marks``: of its messages; ``summaries``: those of compactions it was put together of.

    ``file`` and ``generation``: where it was found (see ``Place.earlier``).
    """

    messages: Sequence[Message]
    facts: Sequence[Fact]
    marks: Sequence[Hashable]
    known: frozenset[Hashable]
    summaries: frozenset[Hashable]
    meta: object
    file: str
    generation: int

    @classmethod
    def of(cls, stream: Stream) -> _State:
        messages = stream.messages
        marks = [_mark(message) for message in messages]
        file, _, generation = ((messages[0].place.earlier if messages else None) or "").rpartition("#")
        return cls(
            messages=messages,
            facts=stream.facts,
            marks=marks,
            known=frozenset(marks),
            summaries=frozenset(mark for mark, m in zip(marks, messages, strict=True) if m.kind == "compact"),
            meta=next((fact.value for fact in stream.facts if fact.name == "meta"), None),
            file=file,
            generation=int(generation) if generation.isdecimal() else -1,
        )


def _chain(left: Sequence[_State], now: _State) -> list[_State]:
    """The states of the log that follow from one another by compaction, the oldest first, ``now`` last.

    Of several from which one can follow it is the one of which most was kept; of these one from which no other follows,
    and that is known of last.
    """
    chain = [now]
    backup = next((state for state in reversed(left) if state.file), None)
    while True:
        left = [state for state in left if not _precedes(chain[0], state)]
        found = ((state, _compaction(state, chain[0], sure=state is backup and chain[0] is now)) for state in left)
        before = [(state, place[1]) for state, place in found if place is not None]
        most = max((kept for _state, kept in before), default=0)
        equal = [state for state, kept in before if kept == most]
        if not equal:
            return chain
        last = [one for one in equal if not any(_follows(other, one) for other in equal)]
        chain.insert(0, (last or equal)[-1])


def _precedes(one: _State, state: _State) -> bool:
    """Whether one state of the log surely came before another, or says all that the other says."""
    if one.file == state.file and 0 <= one.generation <= state.generation:
        return True
    return one.marks[: len(state.marks)] == state.marks


def _follows(one: _State, other: _State) -> bool:
    """Whether one state is a compaction of another, and not as well the other way round."""
    return _compaction(other, one, sure=False) is not None and _compaction(one, other, sure=False) is None


def _compaction(before: _State, after: _State, *, sure: bool = True) -> tuple[int, int] | None:
    """Where the summary stands in ``after`` and how many messages behind it were kept; None: it is no compaction of it.

    ``sure``: it can be nothing else, even if nothing was kept. Where ``before`` has been put together from several
    states itself, what was kept may reach back over a compaction: then it does not stand at its end in one piece.
    """
    # The first line stays: where it is no meta record, it is a message.
    head = int(after.meta is None and before.marks[:1] == after.marks[:1])
    at = next((n for n in range(head, len(after.messages)) if after.messages[n].role != "system"), None)
    if not before.marks or at is None or after.meta != before.meta:
        return None
    if after.messages[at].role != "user" or after.marks[at] in before.known:
        return None
    rest = after.marks[at + 1 :]
    kept = _overlap(before.marks, rest)
    if before.summaries:
        reach = next((n for n, mark in enumerate(rest) if mark not in before.known), len(rest))
        kept = reach if not kept or not before.summaries.isdisjoint(rest[:reach]) else kept
    return (at, kept) if kept or sure else None


def _mark(message: Message) -> Hashable:
    """What a message that was kept still has in common with itself. A result may have been taken out since."""
    parts = [
        (block.id, block.name, block.args)
        if isinstance(block, ToolUse)
        else (block.tool_use_id, block.name)
        for block in message.blocks
        if isinstance(block, (ToolUse, ToolResult))
    ]  # fmt: skip
    return (message.role, message.joined, *parts)


def _overlap(old: Sequence[Hashable], new: Sequence[Hashable]) -> int:
    """How many items the longest end of ``old`` has with which ``new`` begins. Linear (Knuth, Morris, Pratt)."""
    back = [0] * len(new)
    for n in range(1, len(new)):
        back[n] = _next(new, back, back[n - 1], new[n])
    matched = 0
    for item in old:
        matched = _next(new, back, back[matched - 1] if matched == len(new) else matched, item) if new else 0
    return matched


def _next(pattern: Sequence[Hashable], back: Sequence[int], matched: int, item: Hashable) -> int:
    while matched and pattern[matched] != item:
        matched = back[matched - 1]
    return matched + (pattern[matched] == item)


def _with_jobs(messages: Sequence[Message]) -> Iterator[Message]:
    """Ties the end of a background job to the call that started it, where that stands before the compaction."""
    started: dict[str, str] = {}
    for message in messages:
        text = message.joined
        for block in message.blocks:
            content = block.content if isinstance(block, ToolResult) else ""
            job = job_started(content) if isinstance(content, str) else None
            if job is not None and isinstance(block, ToolResult) and block.tool_use_id is not None:
                started[job] = block.tool_use_id
        if message.origin == "notification" and message.source_tool_use_id is None:
            yield replace(message, source_tool_use_id=started.get(job_done(text) or ""))
        else:
            yield message


def _older_facts(chain: Sequence[_State]) -> list[Fact]:
    """What only the older states told; their lines are not those of the log."""
    told = {(fact.name, repr(fact.value)) for fact in chain[-1].facts}
    older: dict[tuple[str, str], Fact] = {}
    for state in chain[:-1]:
        for fact in state.facts:
            mark = (fact.name, repr(fact.value))
            if mark not in told:
                older.setdefault(mark, replace(fact, line=None))
    return list(older.values())


def _moved(counts: Mapping[_K, int], source: _K, target: _K, number: int) -> dict[_K, int]:
    """The counts, with some of them told under another name."""
    found = Counter(counts)
    found[source] -= number
    found[target] += number
    return {key: n for key, n in found.items() if n}
