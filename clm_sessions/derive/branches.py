"""Rewinds: prompts a person took back by typing another one in the same place (spec claude-code 11)."""

from __future__ import annotations

from collections.abc import Sequence

from clm_sessions.model import Fact, Message


def abandoned(messages: Sequence[Message]) -> set[int]:
    """The seqs of typed prompts that have a sibling under the same parent and do not lead to the last message.

    Where the chain of parents from the last message is broken before it reaches one of them, the latest is taken
    for the one that was kept.
    """
    siblings: dict[str, list[int]] = {}
    for seq, message in enumerate(messages):
        if message.origin == "prompt" and message.kind == "user" and message.parent_uuid is not None:
            siblings.setdefault(message.parent_uuid, []).append(seq)
    forks = [seqs for seqs in siblings.values() if len(seqs) > 1]
    if not forks:
        return set()
    alive = _ancestors(messages)
    dead: set[int] = set()
    for seqs in forks:
        kept = [seq for seq in seqs if seq in alive] or seqs[-1:]
        dead.update(set(seqs).difference(kept))
    return dead


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


def _ancestors(messages: Sequence[Message]) -> set[int]:
    """The last message of the main thread and all before it by parent links."""
    by_uuid = {message.uuid: seq for seq, message in enumerate(messages) if message.uuid is not None}
    main = (seq for seq in range(len(messages) - 1, -1, -1) if messages[seq].kind != "sidechain")
    at = next(main, None)
    found: set[int] = set()
    while at is not None and at not in found:
        found.add(at)
        parent = messages[at].parent_uuid
        at = by_uuid.get(parent) if parent is not None else None
    return found
