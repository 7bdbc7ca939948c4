"""Chunks of a session in a notebook: ``session[3]`` and ``session[10:20]`` show themselves as cards."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import SupportsIndex, overload

from clm_sessions.library import StoredSession
from clm_sessions.model import Chunk, ChunkContent, Message, Session, ToolCall
from clm_sessions.render.escape import visible
from clm_sessions.view.words import one_line, plural
from jupyter_clm.cards import Bounds, Cards, Describe, contents
from jupyter_clm.shown import bundle, region

MOST = 20
"""Cards that a slice shows at most; the rest is counted."""
_BOUNDS = Bounds(total=60_000, chunk=20_000, prose=8_000, output=4_000, steps=60, images=24_000)


@dataclass(frozen=True, slots=True, eq=False)
class NotebookChunk:
    """One chunk with what stands in it. ``content`` is the core's value."""

    content: ChunkContent
    _slice: ChunkSlice = field(repr=False)

    @property
    def chunk(self) -> Chunk:
        """Its facts: kind, times, tokens, status and so on."""
        return self.content.chunk

    @property
    def messages(self) -> list[Message]:
        """Its messages, in order."""
        return [self.content.messages[seq] for seq in self.chunk.messages]

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls made in it."""
        return self.content.tool_calls

    @property
    def text(self) -> str:
        """What was said in it: the texts of its messages, whole, a blank line between them."""
        return "\n\n".join(text for message in self.messages if (text := message.text or message.joined))

    def __repr__(self) -> str:
        chunk = self.chunk
        return f"<{chunk.kind} chunk {chunk.seq} of {self.content.session.id}: {visible(one_line(chunk.preview, 80))}>"

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return bundle(self, lambda: self._slice.html([self.content]), include, exclude)


class ChunkSlice(Sequence[NotebookChunk]):
    """Some chunks of a session, read when they are looked at. As the last line of a cell: the first 20 cards, in bounds."""

    def __init__(self, session: Session | StoredSession, seqs: Sequence[int], describe: Describe) -> None:
        self._session, self._seqs, self._describe = session, seqs, describe

    @overload
    def __getitem__(self, index: int) -> NotebookChunk: ...
    @overload
    def __getitem__(self, index: slice) -> ChunkSlice: ...
    def __getitem__(self, index: int | slice) -> NotebookChunk | ChunkSlice:
        if isinstance(index, slice):
            return ChunkSlice(self._session, self._seqs[index], self._describe)
        if not isinstance(index, SupportsIndex):
            raise TypeError(f"chunks are numbers or slices, counted from 0, not {index!r}")
        if not -len(self) <= index < len(self):
            raise IndexError(f"no chunk {index}: there are {len(self):,}, counted from 0")
        seq = self._seqs[index]
        return NotebookChunk(self._session.contents(seq, seq + 1)[0], self)

    def __len__(self) -> int:
        return len(self._seqs)

    def __repr__(self) -> str:
        return f"<{plural(len(self), 'chunk')} of {self._session.id}>"

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return bundle(self, lambda: self.html(self._shown()), include, exclude)

    def _shown(self) -> list[ChunkContent]:
        first = self._seqs[:MOST]
        by_seq = {content.chunk.seq: content for content in contents(self._session, sorted(first))}
        return [by_seq[seq] for seq in first]

    def html(self, shown: Sequence[ChunkContent]) -> str:
        """Cards of some of them, of a bounded size; what is left out is counted."""
        token = hashlib.sha256(f"{self._session.id} {[c.chunk.seq for c in shown]}".encode("utf-8", "replace"))
        cards = Cards(_BOUNDS, self._describe, f"clm-{token.hexdigest()[:8]}-", agents=lambda: self._session.subagents)
        drawn: list[str] = []
        for content in shown:
            if drawn and cards.used > _BOUNDS.total:
                break
            drawn.append(cards.html(content))
        left = len(self) - len(drawn) if len(shown) > 1 else 0
        more = f'<p class="clm-more">{left:,} more: slice on, or <code>session.view()</code>.</p>' if left > 0 else ""
        return region("".join(drawn) + more, f"Chunks of {self._session.info.title or self._session.id}")
