"""What crosses sessions: copied history (forks, resumes) and who owns it.

Sessions that share a reply id or a message uuid form a group. Of two sessions that share history, the one that went on
first after it is the original (one that ends with it was copied whole, and is the original too; tie: the smaller key),
and a session comes before an agent that replays it. A shared item belongs to the holder that is the original towards
most of the others, so the order of import does not matter (decision 8). A message that is no reply and that nobody
else has is copied if a copied one follows it. Groups are found by walking from the changed sessions; others are not
touched.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

_NEIGHBOURS = tuple(
    f"SELECT DISTINCT b.session_id FROM {table} a JOIN {table} b ON b.{item} = a.{item} "
    f"WHERE a.session_id = ? AND a.{item} IS NOT NULL AND b.session_id <> a.session_id"
    for table, item in (("messages", "uuid"), ("requests", "reply_id"))
)
_NO_TIME = "~"  # sorts after every ISO time
Item = tuple[str, str]
Rank = tuple[bool, str, str]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One message as far as lineage goes: its time, its ids, and whether it is marked as inherited now."""

    at: str | None
    uuid: str | None
    reply: str | None
    marked: int

    def items(self) -> Iterator[Item]:
        """The ids by which it can be found in other sessions; the reply's first, for it decides."""
        if self.reply is not None:
            yield "reply", self.reply
        if self.uuid is not None:
            yield "uuid", self.uuid


@dataclass(slots=True)
class _History:
    """The messages of one session in order, and from each on the earliest time that follows."""

    entries: list[_Entry]
    agent: bool
    following: list[str] = field(default_factory=list)
    last_shared: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        earliest = _NO_TIME
        self.following = [""] * (len(self.entries) + 1)  # nothing follows: copied whole
        for seq in range(len(self.entries) - 1, -1, -1):
            earliest = min(earliest, self.entries[seq].at or _NO_TIME)
            self.following[seq] = earliest


def settle(db: sqlite3.Connection, changed: Iterable[str], fresh: Collection[str] = ()) -> None:
    """Recompute ownership in every group that a changed session belongs to. Runs inside the caller's transaction.

    ``fresh`` sessions were just written for the first time: alone in their group, they are as they should be.
    """
    waiting, known = set(changed), set(fresh)
    while waiting:
        group = _group(db, waiting.pop())
        waiting -= group
        if len(group) > 1 or not group <= known:
            _settle_group(db, sorted(group))


def _group(db: sqlite3.Connection, start: str) -> set[str]:
    group, pending = {start}, [start]
    while pending:
        one = pending.pop()
        for query in _NEIGHBOURS:
            for (other,) in db.execute(query, (one,)):
                if other not in group:
                    group.add(other)
                    pending.append(other)
    return group


def _settle_group(db: sqlite3.Connection, group: list[str]) -> None:
    histories = {sid: _history(db, sid) for sid in group}
    holders = _holders(histories)
    _note_shared(histories, holders)
    owners: dict[frozenset[str], str] = {}
    for sid, history in histories.items():
        origins: Counter[str] = Counter()
        copied: list[bool | None] = []
        for entry in history.entries:
            owner = _owner(entry, holders, histories, owners)
            if owner is None:  # a reply that nobody else has is its own; of other messages one cannot know
                copied.append(None if entry.reply is None else False)
            else:
                copied.append(owner != sid)
            if owner is not None and owner != sid:
                origins[owner] += 1
        _mark(db, sid, history, _with_prefix(copied), min(origins, key=lambda s: (-origins[s], s)) if origins else None)


def _holders(histories: dict[str, _History]) -> dict[Item, frozenset[str]]:
    found: dict[Item, set[str]] = {}
    for sid, history in histories.items():
        for entry in history.entries:
            for item in entry.items():
                found.setdefault(item, set()).add(sid)
    return {item: frozenset(sids) for item, sids in found.items() if len(sids) > 1}


def _note_shared(histories: dict[str, _History], holders: dict[Item, frozenset[str]]) -> None:
    """Note in each history the last message it shares with each other one."""
    for sid, history in histories.items():
        for seq, entry in enumerate(history.entries):
            for item in entry.items():
                for other in holders.get(item, ()):
                    if other != sid:
                        history.last_shared[other] = seq


def _owner(
    entry: _Entry,
    holders: dict[Item, frozenset[str]],
    histories: dict[str, _History],
    owners: dict[frozenset[str], str],
) -> str | None:
    """Who owns a message, or None if nobody else has it."""
    shared = next((holders[item] for item in entry.items() if item in holders), None)
    if shared is None:
        return None
    if shared not in owners:
        wins = {a: sum(_rank(histories, a, b) < _rank(histories, b, a) for b in shared if b != a) for a in shared}
        owners[shared] = min(shared, key=lambda s: (-wins[s], s))
    return owners[shared]


def _rank(histories: dict[str, _History], sid: str, other: str) -> Rank:
    """When a session went on after what it shares with the other; the one of smaller rank is the original."""
    history = histories[sid]
    return history.agent, history.following[history.last_shared[other] + 1], sid


def _with_prefix(copied: list[bool | None]) -> list[int]:
    """Whether each message is inherited: those that nobody else has are, if a copied one follows."""
    last = max((seq for seq, flag in enumerate(copied) if flag), default=-1)
    return [int(seq < last if flag is None else flag) for seq, flag in enumerate(copied)]


def _history(db: sqlite3.Connection, sid: str) -> _History:
    rows = db.execute(
        "SELECT at, uuid, reply_id, inherited FROM messages WHERE session_id = ? ORDER BY seq", (sid,)
    ).fetchall()
    agent = db.execute("SELECT agent_id IS NOT NULL FROM sessions WHERE id = ?", (sid,)).fetchone()
    return _History([_Entry(*row) for row in rows], bool(agent and agent[0]))


def _mark(db: sqlite3.Connection, sid: str, history: _History, inherited: list[int], origin: str | None) -> None:
    """Mark what is inherited, and sum what is the session's own."""
    changes = [
        (flag, sid, seq)
        for seq, (flag, entry) in enumerate(zip(inherited, history.entries, strict=True))
        if flag != entry.marked
    ]
    db.executemany("UPDATE messages SET inherited = ? WHERE session_id = ? AND seq = ?", changes)
    for table in ("tool_calls", "requests"):
        flag = f"(SELECT m.inherited FROM messages m WHERE m.session_id = {table}.session_id AND m.seq = {table}.message_seq)"
        db.execute(f"UPDATE {table} SET inherited = {flag} WHERE session_id = ? AND inherited <> {flag}", (sid,))
    db.execute(
        """UPDATE sessions SET forked_from = ?1, inherited_messages = ?2,
           (own_input_tokens, own_output_tokens, own_cache_read_tokens, own_cache_creation_tokens) =
           (SELECT sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_creation_tokens)
            FROM requests WHERE session_id = ?3 AND inherited = 0) WHERE id = ?3""",
        (origin, sum(inherited), sid),
    )
