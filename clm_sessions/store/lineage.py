"""What crosses sessions: copied history (forks, resumes) and who owns it.

Sessions that share a reply id or a message uuid form a group. A shared item belongs to the session of the group
with the earliest history of its own (what follows its last shared item; a session that was copied whole is the
original; tie: the smaller key), and to a session before an agent that replays it, so the order of import does not
matter (decision 8). Everything a session holds before its last copied item is copied too, whatever ids it got.
Groups are found by walking from the changed sessions; others are not touched.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

_NEIGHBOURS = tuple(
    f"SELECT DISTINCT b.session_id FROM {table} a JOIN {table} b ON b.{item} = a.{item} "
    f"WHERE a.session_id = ? AND a.{item} IS NOT NULL AND b.session_id <> a.session_id"
    for table, item in (("messages", "uuid"), ("requests", "reply_id"))
)
_NO_TIME = "~"  # sorts after every ISO time


@dataclass
class _History:
    """The items of one session in order: (seq, time, uuid, reply id)."""

    items: list[tuple[int, str | None, str | None, str | None]] = field(default_factory=list)
    agent: bool = False
    own_since: str = _NO_TIME

    def rank(self, sid: str) -> tuple[bool, str, str]:
        """The smallest of the sessions that hold an item owns it."""
        return self.agent, self.own_since, sid


def settle(db: sqlite3.Connection, changed: Iterable[str], fresh: Collection[str] = ()) -> None:
    """Recompute ownership in every group that a changed session belongs to. Runs inside the caller's transaction.

    ``fresh`` sessions were just written for the first time: alone in their group, they are as they should be.
    """
    waiting = set(changed)
    while waiting:
        group = _group(db, waiting.pop())
        waiting -= group
        if len(group) > 1:
            _settle_group(db, sorted(group))
        elif not group <= set(fresh):
            _mark(db, group.pop(), -1, None)


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
    holders: dict[tuple[str, str], set[str]] = {}
    for sid, history in histories.items():
        for _seq, _at, uuid, reply in history.items:
            for item in _names(uuid, reply):
                holders.setdefault(item, set()).add(sid)
    for history in histories.values():
        history.own_since = _own_since(history, holders)
    for sid, history in histories.items():
        last, origins = -1, Counter[str]()
        for seq, _at, uuid, reply in history.items:
            for item in _names(uuid, reply):
                owner = min(holders[item], key=lambda s: histories[s].rank(s))
                if owner != sid:
                    last = max(last, seq)
                    origins[owner] += 1
        _mark(db, sid, last, min(origins, key=lambda s: (-origins[s], s)) if origins else None)


def _names(uuid: str | None, reply: str | None) -> Iterable[tuple[str, str]]:
    if uuid is not None:
        yield "uuid", uuid
    if reply is not None:
        yield "reply", reply


def _shared(holders: dict[tuple[str, str], set[str]], uuid: str | None, reply: str | None) -> bool:
    return any(len(holders[item]) > 1 for item in _names(uuid, reply))


def _own_since(history: _History, holders: dict[tuple[str, str], set[str]]) -> str:
    last = max(
        (n for n, (_s, _a, uuid, reply) in enumerate(history.items) if _shared(holders, uuid, reply)), default=-1
    )
    own = history.items[last + 1 :]
    return min((at for _seq, at, _uuid, _reply in own if at is not None), default=_NO_TIME if own else "")


def _history(db: sqlite3.Connection, sid: str) -> _History:
    rows = db.execute("SELECT seq, at, uuid, reply_id FROM messages WHERE session_id = ? ORDER BY seq", (sid,))
    agent = db.execute("SELECT agent_id IS NOT NULL FROM sessions WHERE id = ?", (sid,)).fetchone()
    return _History(items=rows.fetchall(), agent=bool(agent and agent[0]))


def _mark(db: sqlite3.Connection, sid: str, last: int, origin: str | None) -> None:
    """Flag what stands up to message ``last`` as inherited, and sum what is the session's own."""
    for table, column in (("messages", "seq"), ("tool_calls", "message_seq"), ("requests", "message_seq")):
        db.execute(
            f"UPDATE {table} SET inherited = ({column} <= ?) WHERE session_id = ? AND inherited <> ({column} <= ?)",
            (last, sid, last),
        )
    db.execute(
        """UPDATE sessions SET forked_from = ?1, inherited_messages = ?2,
           (own_input_tokens, own_output_tokens, own_cache_read_tokens, own_cache_creation_tokens) =
           (SELECT sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_creation_tokens)
            FROM requests WHERE session_id = ?3 AND inherited = 0) WHERE id = ?3""",
        (origin, last + 1, sid),
    )
