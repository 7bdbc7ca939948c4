"""Rewinds: prompts a person took back by typing another one in the same place (spec claude-code 11)."""

from __future__ import annotations

from collections.abc import Sequence

from clm_sessions.model import Fact, Message


def abandoned(messages: Sequence[Message]) -> set[int]:
    """The seqs of typed prompts that have a sibling under the same parent and do not lead to the last message."""
    siblings: dict[str, list[int]] = {}
    for seq, message in enumerate(messages):
        if message.origin == "prompt" and message.kind == "user" and message.parent_uuid is not None:
            siblings.setdefault(message.parent_uuid, []).append(seq)
    forks = [seqs for seqs in siblings.values() if len(seqs) > 1]
    if not forks:
        return set()
    alive = _alive(messages)
    return {seq for seqs in forks for seq in seqs if seq not in alive}


def rolled_back(messages: Sequence[Message], facts: Sequence[Fact]) -> set[int]:
    """The seqs of the prompts that a person took back by number: a fact ``rolled_back`` counts those before its line."""
    taken = [(fact.line, fact.value) for fact in facts if fact.name == "rolled_back" and fact.line is not None]
    dead: set[int] = set()
    alive: list[int] = []
    at = 0
    for line, number in taken:
        while at < len(messages) and messages[at].place.line < line:
            if messages[at].kind == "user":
                alive.append(at)
            at += 1
        if isinstance(number, int) and number > 0:
            dead.update(alive[-number:])
            del alive[-number:]
    return dead


def _alive(messages: Sequence[Message]) -> set[int]:
    """The last message of the main thread and all that leads to it by parent links.

    Many chains are broken, by a compaction or by an entry that is no message. Behind a break the message before it is
    taken for its parent; that is the one before all that name the same parent, for these are its siblings.
    """
    by_uuid = {message.uuid: seq for seq, message in enumerate(messages) if message.uuid is not None}
    first_child: dict[str | None, int] = {}
    for seq, message in enumerate(messages):
        first_child.setdefault(message.parent_uuid, seq)
    found: set[int] = set()
    end = len(messages)
    while end > 0:
        at: int | None = end - 1
        end -= 1
        if messages[end].kind == "sidechain":
            continue
        while at is not None and at not in found:
            found.add(at)
            parent = messages[at].parent_uuid
            end = min(end, at if parent is None else first_child[parent])
            at = by_uuid.get(parent) if parent is not None else None
    return found
