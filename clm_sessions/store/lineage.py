"""What crosses sessions: copied history (forks, resumes) and who owns it.

Sessions that share a reply id or a message uuid form a group. Of two sessions that share history, the original is the
one that the other names (its entries keep the old session id, or its head says where it was forked from); where neither
does, the one that went on first after what they share (one that ends with it was copied whole, and is the original too;
tie: the smaller key). A session comes before an agent that replays it. A shared item belongs to the holder that is the
original towards most of the others, so the order of import does not matter (decision 8). A message that is no reply and
whose ids nobody else has is copied if a copied one follows it and the group holds its twin: same time, same role.
Groups are found by walking from the changed sessions, and from those that shared what a changed one lost; others are not
touched.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

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
_NO_TIME = "~"  # sorts after every ISO time
Item = tuple[str, str]
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

    def items(self) -> Iterator[Item]:
        """The ids by which it can be found in other sessions; the reply's first, for it decides."""
        if self.reply is not None:
            yield "reply_id", self.reply
        if self.uuid is not None:
            yield "uuid", self.uuid

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
    last_shared: dict[str, int] = field(default_factory=dict)
    twins: frozenset[Twin] = frozenset()

    def went_on(self, other: _History, sid: str) -> str:
        """When it went on after what it shares with another session, twins of the other's messages passed over."""
        seq = self.last_shared[sid] + 1
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


def settle(db: sqlite3.Connection, changed: Iterable[str], fresh: Collection[str] = ()) -> None:
    """Recompute ownership in every group that a changed session belongs to. Runs inside the caller's transaction.

    ``fresh`` sessions were just written for the first time: alone in their group, they are as they should be.
    """
    waiting, known = set(changed), set(fresh)
    while waiting:
        start = waiting.pop()
        if any(db.execute(query, (start,)).fetchone() for query in _SHARED_BY.values()):
            group = _group(db, start)
            waiting -= group.keys()
            _settle_group(db, group)
        elif start not in known:
            _settle_group(db, {start: _history(db, start)})


def sharing(db: sqlite3.Connection, table: str, keys: Iterable[tuple[str, int]]) -> set[str]:
    """The other sessions that share what rows stand for. To be asked before the rows go: then nothing leads there."""
    if table not in _SHARED_BY:
        return set()
    query = f"{_SHARED_BY[table]} AND a.seq = ?"
    return {other for key in keys for (other,) in db.execute(query, key)}


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
    found: set[str] = set()
    for start in range(0, len(values), 500):
        part = values[start : start + 500]
        marks = ", ".join("?" * len(part))
        found.update(
            s for (s,) in db.execute(f"SELECT DISTINCT session_id FROM {table} WHERE {column} IN ({marks})", part)
        )
    return found


def _settle_group(db: sqlite3.Connection, histories: dict[str, _History]) -> None:
    holders = _holders(histories)
    _note_shared(histories, holders)
    twins = _twins(histories)
    owners: dict[frozenset[str], str] = {}
    for sid, history in histories.items():
        origin: str | None = None
        copied: list[bool | None] = []
        for entry in history.entries:
            owner = _owner(entry, holders, histories, owners)
            if owner is None:  # a reply that nobody else has is its own; of other messages their twin must say
                copied.append(None if entry.reply is None and twins[entry.twin()] > 1 else False)
            else:
                copied.append(owner != sid)
                origin = owner if owner != sid else origin
        _mark(db, sid, history, _with_prefix(copied), origin)


def _holders(histories: dict[str, _History]) -> dict[Item, frozenset[str]]:
    found: dict[Item, set[str]] = {}
    for sid, history in histories.items():
        for entry in history.entries:
            for item in entry.items():
                found.setdefault(item, set()).add(sid)
    same: dict[frozenset[str], frozenset[str]] = {}
    shared = ((item, frozenset(sids)) for item, sids in found.items() if len(sids) > 1)
    return {item: same.setdefault(sids, sids) for item, sids in shared}


def _twins(histories: dict[str, _History]) -> Counter[Twin | None]:
    """In how many sessions of the group each (time, role) stands; that of no time in none."""
    found: Counter[Twin | None] = Counter()
    for history in histories.values():
        found.update(history.twins)
    return found


def _note_shared(histories: dict[str, _History], holders: dict[Item, frozenset[str]]) -> None:
    """Note in each history the last message it shares with each other one, reading from its end."""
    for history in histories.values():
        seen: set[frozenset[str]] = set()
        for seq in range(len(history.entries) - 1, -1, -1):
            for item in history.entries[seq].items():
                sharing = holders.get(item)
                if sharing is None or sharing in seen:
                    continue
                seen.add(sharing)
                for other in sharing:
                    history.last_shared.setdefault(other, seq)


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
    """Of two sessions the one of smaller rank is the original: an agent last, then one that names the other, then time."""
    history = histories[sid]
    names_other = _names(history, histories[other]) and not _names(histories[other], history)
    return history.agent is not None, names_other, history.went_on(histories[other], other), sid


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
    ).fetchall()
    agent, native = db.execute("SELECT agent_id, native_id FROM sessions WHERE id = ?", (sid,)).fetchone() or (
        None,
        None,
    )
    named = frozenset(value.strip('"') for (value,) in db.execute(_NAMED, (sid,)))
    return _History([_Entry(*row) for row in rows], agent, native, named)


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
           own_chunks = (SELECT count(DISTINCT chunk_seq) FROM messages WHERE session_id = ?3 AND inherited = 0),
           own_tool_calls = (SELECT count(*) FROM tool_calls WHERE session_id = ?3 AND inherited = 0),
           (own_input_tokens, own_output_tokens, own_cache_read_tokens, own_cache_creation_tokens) =
           (SELECT sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_creation_tokens)
            FROM requests WHERE session_id = ?3 AND inherited = 0) WHERE id = ?3""",
        (origin, sum(inherited), sid),
    )
