"""What crosses sessions: copied history (forks, resumes) and who owns it.

Sessions that share a reply id or a message uuid form a group. Of two sessions that share history, the original is the
one that the other names (its entries keep the old session id, or its head says where it was forked from); where neither
does, a session comes before an agent that replays it; then the one that went on first after what they share (one that
ends with it was copied whole, and is the original too; tie: the smaller key). A shared item belongs to the holder that is the
original towards most of the others, so the order of import does not matter (decision 8). An entry of a reply stands in
another session if its uuid does, or an entry of that reply of the same time (copies may have new uuids): of a reply that
was copied while it was being written, the rest belongs to the session that has it. A message that is no reply and whose
uuid nobody else has is copied if a copied one follows it and the group holds its twin: same time, same role.
The tokens of a reply count in one session: of those that do not inherit the entry that has them, where they are most
(spec claude-code 10).
Groups are found by walking from the changed sessions, and from those that shared what a changed one lost; others are not
touched.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_HOLDERS = {"uuid": "messages", "reply_id": "requests"}
_SHARED_BY = {
    table: f"SELECT DISTINCT b.session_id FROM {table} a JOIN {table} b ON b.{item} = a.{item} "
    f"WHERE a.session_id = ? AND a.{item} IS NOT NULL AND b.session_id <> a.session_id"
    for item, table in _HOLDERS.items()
}
_NAMED = (
    "SELECT value FROM facts WHERE session_id = ? "
    "AND name IN ('session_id', 'forked_from', 'parent_thread', 'history_of')"
)
_OWN = (
    "(SELECT count(*) FROM json_each(CASE WHEN json_valid({0}) THEN {0} ELSE '[]' END) j JOIN tool_calls t "
    "ON t.session_id = session_files.session_id AND t.seq = j.value WHERE t.inherited = 0)"
)
_FILES = (
    "UPDATE session_files SET (own_reads, own_changes, inherited) = (SELECT reads, changes, reads + changes = 0 "
    f"FROM (SELECT {_OWN.format('read_by')} AS reads, {_OWN.format('changed_by')} AS changes)) WHERE session_id = ?"
)
_NO_TIME = "~"  # sorts after every ISO time
_REQUESTS = (
    "SELECT r.seq, r.inherited, r.reply_id, m.inherited, CASE WHEN "
    "coalesce(r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_creation_tokens) IS NULL THEN -1 ELSE "
    "coalesce(r.input_tokens, 0) + coalesce(r.output_tokens, 0) + coalesce(r.cache_read_tokens, 0) + "
    "coalesce(r.cache_creation_tokens, 0) END "
    "FROM requests r LEFT JOIN messages m ON m.session_id = r.session_id AND m.seq = r.message_seq WHERE r.session_id = ?"
)
Item = tuple[str, str]
Mark = tuple[object, ...]
Twin = tuple[str, str]
Rank = tuple[bool, bool, str, str]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One message as far as lineage goes: its time, its ids, its role, and whether it is marked as inherited now."""

    at: str | None
    uuid: str | None
    reply: str | None
    role: str
    marked: int
    number: int
    """Which one it is of the entries of its reply that have its time."""

    def items(self) -> Iterator[Item]:
        """The ids by which sessions that may have it are found."""
        if self.reply is not None:
            yield "reply_id", self.reply
        if self.uuid is not None:
            yield "uuid", self.uuid

    def marks(self) -> Iterator[Mark]:
        """By what it is the same entry in another session."""
        if self.reply is not None:
            yield self.reply, self.at, self.number
        if self.uuid is not None:
            yield (self.uuid,)

    def twin(self) -> Twin | None:
        """What a copy with new ids still has in common with it."""
        return None if self.at is None else (self.at, self.role)


@dataclass(slots=True)
class _History:
    """The messages of one session in order, and from each on the earliest time that follows."""

    entries: list[_Entry]
    agent: str | None
    native: str | None
    named: frozenset[str]
    following: list[str] = field(default_factory=list)
    shared: list[frozenset[str] | None] = field(default_factory=list)
    """In which sessions each message stands, if in others too."""
    last_shared: dict[str, int] = field(default_factory=dict)
    twins: frozenset[Twin] = frozenset()

    def went_on(self, other: _History, sid: str) -> str:
        """When it went on after what it shares with another session, twins of the other's messages passed over."""
        seq = self.last_shared.get(sid, -1) + 1
        while seq < len(self.entries) and self.entries[seq].twin() in other.twins:
            seq += 1
        return self.following[seq]

    def __post_init__(self) -> None:
        self.twins = frozenset(twin for entry in self.entries if (twin := entry.twin()) is not None)
        earliest = _NO_TIME
        self.following = [""] * (len(self.entries) + 1)  # nothing follows: copied whole
        for seq in range(len(self.entries) - 1, -1, -1):
            earliest = min(earliest, self.entries[seq].at or _NO_TIME)
            self.following[seq] = earliest


def settle(db: sqlite3.Connection, changed: Iterable[str], fresh: Collection[str] = ()) -> set[str]:
    """Recompute ownership in every group that a changed session belongs to. Runs inside the caller's transaction.

    ``fresh`` sessions were just written for the first time: alone in their group, they are as they should be.
    Returns the sessions that changed, and the others of their groups.
    """
    waiting, known = set(changed), set(fresh)
    seen = set(waiting)
    while waiting:
        start = waiting.pop()
        if any(db.execute(query, (start,)).fetchone() for query in _SHARED_BY.values()):
            group = _group(db, start)
            waiting -= group.keys()
            seen |= group.keys()
            _settle_group(db, group)
        elif start not in known:
            _settle_alone(db, start)
    return seen


def sharing(db: sqlite3.Connection, table: str, keys: Iterable[tuple[str, int]]) -> set[str]:
    """The other sessions that share what rows stand for. To be asked before the rows go: then nothing leads there."""
    if table not in _SHARED_BY:
        return set()
    query = f"{_SHARED_BY[table]} AND a.seq = ?"
    return {other for key in keys for (other,) in db.execute(query, key) if isinstance(other, str)}


def _group(db: sqlite3.Connection, start: str) -> dict[str, _History]:
    """All sessions that are linked to one by shared items, with their histories. Each item is looked up once."""
    group: dict[str, _History] = {}
    pending, looked_up = [start], set[Item]()
    while pending:
        sid = pending.pop()
        if sid in group:
            continue
        group[sid] = _history(db, sid)
        fresh = {item for entry in group[sid].entries for item in entry.items()} - looked_up
        looked_up |= fresh
        for column, table in _HOLDERS.items():
            pending += _holding(db, table, column, [value for name, value in fresh if name == column])
    return dict(sorted(group.items()))


def _holding(db: sqlite3.Connection, table: str, column: str, values: Sequence[str]) -> set[str]:
    found: set[Any] = set()
    for start in range(0, len(values), 500):
        part = values[start : start + 500]
        marks = ", ".join("?" * len(part))
        found.update(
            s for (s,) in db.execute(f"SELECT DISTINCT session_id FROM {table} WHERE {column} IN ({marks})", part)
        )
    return {sid for sid in found if isinstance(sid, str)}  # what is damaged leads nowhere


def _settle_alone(db: sqlite3.Connection, sid: str) -> None:
    """A session that shares nothing, though it may have."""
    for table in ("messages", "tool_calls", "requests"):
        db.execute(f"UPDATE {table} SET inherited = 0 WHERE session_id = ? AND inherited IS NOT 0", (sid,))
    db.execute(_FILES, (sid,))
    _sum(db, sid, None)


def _settle_group(db: sqlite3.Connection, histories: dict[str, _History]) -> None:
    _note_shared(histories)
    twins = _twins(histories)
    owners: dict[frozenset[str], str] = {}
    origins: dict[str, str | None] = {}
    for sid, history in histories.items():
        origins[sid] = None
        copied: list[bool | None] = []
        for entry, shared in zip(history.entries, history.shared, strict=True):
            if shared is None:  # a reply that nobody else has is its own; of other messages their twin must say
                copied.append(None if entry.reply is None and twins[entry.twin()] > 1 else False)
                continue
            owner = owners.get(shared) or owners.setdefault(shared, _owner(shared, histories))
            copied.append(owner != sid)
            origins[sid] = owner if owner != sid else origins[sid]
        _mark(db, sid, history, _with_prefix(copied))
    _mark_requests(db, histories)
    for sid, origin in origins.items():
        _sum(db, sid, origin)


def _holders(histories: dict[str, _History]) -> dict[Mark, frozenset[str]]:
    """In which sessions each entry stands that stands in several, by its marks. Equal sets are one object."""
    found: dict[Mark, set[str]] = {}
    for sid, history in histories.items():
        for entry in history.entries:
            for mark in entry.marks():
                found.setdefault(mark, set()).add(sid)
    same: dict[frozenset[str], frozenset[str]] = {}
    shared = ((mark, frozenset(sids)) for mark, sids in found.items() if len(sids) > 1)
    return {mark: same.setdefault(sids, sids) for mark, sids in shared}


def _twins(histories: dict[str, _History]) -> Counter[Twin | None]:
    """In how many sessions of the group each (time, role) stands; that of no time in none."""
    found: Counter[Twin | None] = Counter()
    for history in histories.values():
        found.update(history.twins)
    return found


def _note_shared(histories: dict[str, _History]) -> None:
    """Note in each history where its messages stand too, and the last one it shares with each other session."""
    holders = _holders(histories)
    for history in histories.values():
        for entry in history.entries:
            sets = {holders[mark] for mark in entry.marks() if mark in holders}
            history.shared.append(frozenset().union(*sets) if len(sets) > 1 else next(iter(sets), None))
        seen: set[frozenset[str]] = set()
        for seq in range(len(history.entries) - 1, -1, -1):
            sharing = history.shared[seq]
            if sharing is not None and sharing not in seen:
                seen.add(sharing)
                for other in sharing:
                    history.last_shared.setdefault(other, seq)


def _owner(shared: Collection[str], histories: dict[str, _History]) -> str:
    """Of the sessions in which a message stands the one that owns it."""
    wins = {a: sum(_rank(histories, a, b) < _rank(histories, b, a) for b in shared if b != a) for a in shared}
    return min(shared, key=lambda s: (-wins[s], s))


def _rank(histories: dict[str, _History], sid: str, other: str) -> Rank:
    """Of two sessions the one of smaller rank is the original: one that names the other last, then an agent, then time."""
    history = histories[sid]
    names_other = _names(history, histories[other]) and not _names(histories[other], history)
    return names_other, history.agent is not None, history.went_on(histories[other], other), sid


def _names(one: _History, other: _History) -> bool:
    """Whether the log of one names the other: as an agent, or by its session where that is another one."""
    return other.agent in one.named or (other.native in one.named and other.native != one.native)


def _with_prefix(copied: list[bool | None]) -> list[int]:
    """Whether each message is inherited: one that only has a twin elsewhere is, if a copied one follows."""
    last = max((seq for seq, flag in enumerate(copied) if flag), default=-1)
    while 0 <= last < len(copied) - 1 and copied[last + 1] is None:  # what was copied behind the last reply
        last += 1
    return [int(seq <= last if flag is None else flag) for seq, flag in enumerate(copied)]


def _history(db: sqlite3.Connection, sid: str) -> _History:
    rows = db.execute(
        "SELECT at, uuid, reply_id, role, inherited FROM messages WHERE session_id = ? ORDER BY seq", (sid,)
    )
    numbers: Counter[tuple[str | None, str | None]] = Counter()
    entries: list[_Entry] = []
    for at, uuid, reply, role, marked in rows:
        numbers[reply, at] += 1
        entries.append(_Entry(at, uuid, reply, role, marked, numbers[reply, at]))
    agent, native = db.execute("SELECT agent_id, native_id FROM sessions WHERE id = ?", (sid,)).fetchone() or (
        None,
        None,
    )
    named = frozenset(value.strip('"') for (value,) in db.execute(_NAMED, (sid,)))
    return _History(entries, agent, native, named)


def _mark(db: sqlite3.Connection, sid: str, history: _History, inherited: list[int]) -> None:
    """Mark which messages are inherited, and their calls with them; count anew what was done to files by own ones."""
    changes = [
        (flag, sid, seq)
        for seq, (flag, entry) in enumerate(zip(inherited, history.entries, strict=True))
        if flag != entry.marked
    ]
    db.executemany("UPDATE messages SET inherited = ? WHERE session_id = ? AND seq = ?", changes)
    flag = "(SELECT m.inherited FROM messages m WHERE m.session_id = tool_calls.session_id AND m.seq = message_seq)"
    db.execute(f"UPDATE tool_calls SET inherited = {flag} WHERE session_id = ? AND inherited IS NOT {flag}", (sid,))
    db.execute(_FILES, (sid,))


def _mark_requests(db: sqlite3.Connection, histories: dict[str, _History]) -> None:
    """Mark the replies whose tokens count elsewhere: their message is inherited, or there are more tokens elsewhere."""
    rows = [(sid, *row) for sid in histories for row in db.execute(_REQUESTS, (sid,))]
    best: dict[str, tuple[int, bool, str]] = {}
    for sid, _seq, _marked, reply, copied, size in rows:
        rank = (-size, histories[sid].agent is not None, sid)
        if reply is not None and not copied and rank < best.get(reply, (1, True, "")):
            best[reply] = rank
    changes = []
    for sid, seq, marked, reply, copied, _size in rows:
        flag = int(bool(copied) or (reply in best and best[reply][2] != sid))
        if flag != marked:
            changes.append((flag, sid, seq))
    db.executemany("UPDATE requests SET inherited = ? WHERE session_id = ? AND seq = ?", changes)


def _sum(db: sqlite3.Connection, sid: str, origin: str | None) -> None:
    """Sum what is the session's own."""
    db.execute(
        """UPDATE sessions SET forked_from = ?1,
           inherited_messages = (SELECT count(*) FROM messages WHERE session_id = ?2 AND inherited = 1),
           own_chunks = (SELECT count(DISTINCT chunk_seq) FROM messages WHERE session_id = ?2 AND inherited = 0),
           own_tool_calls = (SELECT count(*) FROM tool_calls WHERE session_id = ?2 AND inherited = 0),
           (own_input_tokens, own_output_tokens, own_cache_read_tokens, own_cache_creation_tokens) =
           (SELECT sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_creation_tokens)
            FROM requests WHERE session_id = ?2 AND inherited = 0) WHERE id = ?2""",
        (origin, sid),
    )
