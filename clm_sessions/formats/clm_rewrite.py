"""A clm log that was compacted, put together again (spec clm 7, "compaction").

clm then writes the file anew: its first line, the system prompt, a summary as a user message that nothing marks, and
the last messages as they were. The summary is the first user message that the log before it lacks; what follows it up
to where the old log ended was kept, and stands there already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

from clm_sessions.formats.clm_dialect import job_done, job_started
from clm_sessions.model import Fact, Message, Stream, ToolResult, ToolUse

_K = TypeVar("_K", bound=Hashable)


def rejoin(earlier: Sequence[Stream], now: Stream) -> Stream:
    """What a log says now, behind what it said before each of its compactions; ``now`` where there was none.

    The lines of what was kept count as duplicates: their messages stand among the older ones.
    """
    chain = _chain(earlier, now)
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


def _chain(earlier: Sequence[Stream], now: Stream) -> list[Stream]:
    """The states of the log that follow from one another by compaction, the oldest first, ``now`` last.

    Of several from which one can follow it is the one of which most was kept, then the longest: the last before the
    compaction.
    """
    chain, left = [now], [state for state in earlier if state.refused is None]
    backup = next((state for state in reversed(left) if _is_backup(state)), None)
    while True:
        found = ((state, _compaction(state, chain[0], sure=state is backup and chain[0] is now)) for state in left)
        before = [(state, place[1]) for state, place in found if place is not None]
        if not before:
            return chain
        best, _kept = max(reversed(before), key=lambda one: (one[1], len(one[0].messages)))
        chain.insert(0, best)
        left = [state for state in left if state is not best]


def _is_backup(state: Stream) -> bool:
    return any((message.place.earlier or "").startswith("/") for message in state.messages)


def _compaction(before: Stream, after: Stream, *, sure: bool = True) -> tuple[int, int] | None:
    """Where the summary stands in ``after`` and how many messages behind it were kept; None: it is no compaction of it.

    ``sure``: it can be nothing else, even if nothing was kept.
    """
    old, new = [_mark(m) for m in before.messages], [_mark(m) for m in after.messages]
    meta = _meta(after)
    # The first line stays: where it is no meta record, it is a message.
    head = int(meta is None and old[:1] == new[:1])
    at = next((n for n in range(head, len(new)) if after.messages[n].role != "system"), None)
    if not old or at is None or meta != _meta(before) or after.messages[at].role != "user" or new[at] in set(old):
        return None
    kept = _overlap(old, new[at + 1 :])
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


def _meta(stream: Stream) -> object:
    return next((fact.value for fact in stream.facts if fact.name == "meta"), None)


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


def _older_facts(chain: Sequence[Stream]) -> list[Fact]:
    """What only the older states told; their lines are not those of the log."""
    told = {(fact.name, repr(fact.value)) for fact in chain[-1].facts}
    older: dict[tuple[str, str], Fact] = {}
    for stream in chain[:-1]:
        for fact in stream.facts:
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
