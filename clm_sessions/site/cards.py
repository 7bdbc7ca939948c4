"""The cards of a session, cut into pages. A page holds everything: closed steps too, for nothing can be fetched later."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from clm_sessions import render
from clm_sessions.export.session import Describe, contents
from clm_sessions.library import StoredSession
from clm_sessions.model import SessionInfo
from clm_sessions.render import Options
from clm_sessions.site.names import page_name
from clm_sessions.view import ChunkView, chunk_view

CHUNKS, CHARACTERS = 100, 400_000
"""A page ends after so many chunks, or with the chunk that brings it to so many characters of HTML."""
NESTED, DEPTH = 120_000, 3
"""A subagent stands inside the step that started it up to so many characters of HTML, and so deep; else there is a link."""
OPTIONS = Options(heading=3, max_prose=200_000, max_output=60_000, max_rows=2_000, max_steps=None, budget=400_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cards:
    """The cards of a session as HTML, page by page; ``starts``: the seq of the first chunk of each page."""

    name: str
    pages: Sequence[str]
    starts: Sequence[int]

    def href(self, seq: int | None) -> str:
        """The address of a chunk (None: of the session), seen from another file in the folder of sessions."""
        if seq is None:
            return page_name(self.name, 1)
        return f"{page_name(self.name, max(1, bisect_right(self.starts, seq)))}#c{seq}"


class Cutter:
    """Makes the cards of sessions, subagents inside. ``names``: the file of each session; ``agents``: by parent key."""

    def __init__(
        self, describe: Describe, names: Mapping[str, str], agents: Mapping[str, Sequence[StoredSession]]
    ) -> None:
        self._describe = describe
        self._names = names
        self._agents = agents

    def cut(self, session: StoredSession, seen: Callable[[ChunkView], None]) -> Cards:
        """The pages of a session; ``seen`` is told of each card."""
        pages: list[list[str]] = []
        starts: list[int] = []
        size = CHARACTERS
        for view, card in self._cards(session, self._options(session.info, frozenset((session.id,)), 0)):
            if size >= CHARACTERS or len(pages[-1]) >= CHUNKS:
                pages.append([])
                starts.append(view.seq)
                size = 0
            pages[-1].append(card)
            size += len(card)
            seen(view)
        return Cards(
            name=self._names[session.id], pages=["".join(page) for page in pages] or [""], starts=starts or [0]
        )

    def _cards(self, session: StoredSession, options: Options) -> Iterator[tuple[ChunkView, str]]:
        for content in contents(session, images=True):
            view = chunk_view(content, self._describe)
            yield view, render.chunk_html(view, options=options)

    def _options(self, info: SessionInfo, above: frozenset[str], depth: int) -> Options:
        """How the cards of a session are rendered that stands inside those ``above``, each subagent in it once."""
        agents = {agent.id: agent for agent in self._agents.get(info.id, ())}

        def nested(key: str) -> str | None:
            agent = agents.pop(key, None)
            return self._nested(agent, above, depth + 1) if agent is not None and key not in above else None

        prefix = f"s{hashlib.sha256(info.id.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}-" if depth else ""
        return replace(
            OPTIONS,
            id_prefix=prefix,
            heading=min(3 + depth, 6),
            subagent_html=nested if depth < DEPTH else None,
            subagent_href=lambda key: f"{self._names[key]}.html" if key in self._names else None,
        )

    def _nested(self, agent: StoredSession, above: frozenset[str], depth: int) -> str | None:
        html: list[str] = []
        size = 0
        for _view, card in self._cards(agent, self._options(agent.info, above | {agent.id}, depth)):
            html.append(card)
            size += len(card)
            if size > NESTED:
                return None
        return "".join(html) or None
