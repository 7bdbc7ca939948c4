"""What fills the context window, turn by turn.

How large the context was is recorded with each reply (input and cache tokens). What it grew by since the reply before
is split by the characters that were logged in between: totals are recorded tokens, their parts are shares by
characters. What no log holds (system prompt, tool descriptions) is in the size at the first reply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

CATEGORIES: Mapping[str, str] = {
    "start": "At the first reply: system prompt, tools, first prompt or summary",
    "prompts": "Prompts and commands",
    "injected": "Added by the program",
    "read": "Files read",
    "outputs": "Other tool outputs",
    "calls": "Tool calls",
    "thinking": "Thinking",
    "replies": "Replies",
    "images": "Images, and what came with them",
    "unlogged": "Not in the log",
}
"""By key what a reader is told; in the order in which they are stacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Characters logged at message ``seq`` in one of the ``CATEGORIES``. ``tool``: whose output; ``images``: how many."""

    seq: int
    category: str
    characters: int
    tool: str | None = None
    images: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A reply: the ``seq`` of its first message, its ``chunk``, and the tokens in the context when it was asked for."""

    seq: int
    chunk: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """The context at the last reply of a chunk: ``tokens`` as recorded, ``parts`` by category (estimates that add up to it).

    ``grown``: tokens since the chunk before; None for the first, and after a compaction.
    """

    chunk: int
    tokens: int
    grown: int | None
    parts: Mapping[str, float]


def fills(sizes: Iterable[Size], pieces: Iterable[Piece], compactions: Iterable[int] = ()) -> list[Fill]:
    """How the context filled. ``pieces`` ascend by seq; ``compactions`` are the seqs of messages that stand for one.

    Where the context shrank without a compaction, all parts shrink alike.
    """
    found: dict[int, Fill] = {}
    waiting, cuts = list(pieces), sorted(compactions)
    at = cut = 0
    parts: dict[str, float] = {}
    chunk = -1
    base: int | None = None
    last: int | None = None
    for size in sorted(sizes, key=lambda s: s.seq):
        begin, compacted = at, cut < len(cuts) and cuts[cut] < size.seq
        while at < len(waiting) and waiting[at].seq < size.seq:
            at += 1
        while cut < len(cuts) and cuts[cut] < size.seq:
            cut += 1
        if compacted or not parts:
            parts, base = {"start": float(size.tokens)}, None
        else:
            parts, base = _grown(parts, size.tokens, waiting[begin:at]), base if size.chunk == chunk else last
        chunk, last = size.chunk, size.tokens
        grown = None if base is None else size.tokens - base
        found[chunk] = Fill(chunk=chunk, tokens=size.tokens, grown=grown, parts=parts)
    return list(found.values())


def _grown(parts: Mapping[str, float], tokens: int, pieces: Sequence[Piece]) -> dict[str, float]:
    """The parts of the context after it has grown to ``tokens`` by these pieces."""
    total = sum(parts.values())
    more = tokens - total
    if more < 0:
        return {name: size * tokens / total for name, size in parts.items()} if total else dict(parts)
    grown = dict(parts)
    characters = sum(piece.characters for piece in pieces)
    if any(piece.images for piece in pieces):
        grown["images"] = grown.get("images", 0.0) + more
    elif not characters:
        grown["unlogged"] = grown.get("unlogged", 0.0) + more
    else:
        for piece in pieces:
            grown[piece.category] = grown.get(piece.category, 0.0) + more * piece.characters / characters
    return grown
