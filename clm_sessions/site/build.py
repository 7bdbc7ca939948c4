"""The story of a site: the sessions in order, their pages, the index of their words, the list, the files that go along."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path

from clm_sessions import render
from clm_sessions.export.session import Describe
from clm_sessions.library import StoredSession
from clm_sessions.site.about import About, about
from clm_sessions.site.cards import Cards, Cutter
from clm_sessions.site.facets import Facets
from clm_sessions.site.folder import Write, site_folder
from clm_sessions.site.listing import listing
from clm_sessions.site.names import file_names
from clm_sessions.site.search import Said, Search, said
from clm_sessions.site.transcript import Transcript, pages
from clm_sessions.store import reader
from clm_sessions.store.relations import relations
from clm_sessions.view.words import one_line

_TABLES = frozenset(("tool_calls", "projects"))
_SCRIPTS = ("theme.js", "site.js", "search.js", "session.js")


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What was written: how many sessions stand in the list, subagents below them, and HTML pages."""

    sessions: int
    subagents: int
    pages: int


def build(
    db: sqlite3.Connection,
    folder: Path,
    describe: Describe,
    *,
    agents: Mapping[str, str],
    title: str = "Agent sessions",
    private: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Built:
    """Write a site of all sessions of a database into ``folder``. The same database gives the same bytes.

    ``agents``: the label of each format. ``private``: also if it is no published copy; the files are then readable by their
    owner alone. ``progress`` is told how many sessions of how many are done. UsageError if the database is private and
    nobody said so, or the folder holds what is not ours; nothing is left of a site that did not come to its end.
    """
    words = about(db, title, private=private)
    with site_folder(folder, private=words.warning is not None) as write:
        site = _Site(db, describe, agents, words, write)
        for done, root in enumerate(site.roots):
            progress(done, len(site.roots))
            site.session(root)
        site.finish()
        progress(len(site.roots), len(site.roots))
    return Built(sessions=len(site.roots), subagents=len(site.names) - len(site.roots), pages=site.pages)


@dataclass(slots=True)
class _Site:
    """A site that is being written, one session with its subagents after another."""

    db: sqlite3.Connection
    describe: Describe
    agents: Mapping[str, str]
    about: About
    write: Write
    roots: list[StoredSession] = field(init=False)
    names: dict[str, str] = field(init=False)
    pages: int = 0
    _below: dict[str, list[StoredSession]] = field(init=False)
    _cards: dict[str, Cards] = field(init=False, default_factory=dict)
    _search: Search = field(init=False)
    _first: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Sort out which sessions stand in the list, newest first, and which below another."""
        self._search = Search(self.write)
        infos = reader.session_infos(self.db)
        self.names = file_names(info.id for info in infos)
        self._below = defaultdict(list)
        for info in reversed(infos):
            if info.parent_id in self.names:
                self._below[info.parent_id].append(StoredSession(info, self.db))
        tops = [info for info in infos if info.parent_id not in self.names]
        reached = {session.id for info in tops for session in self._tree(StoredSession(info, self.db))}
        tops += [info for info in infos if info.id not in reached]  # parents in a circle: none is lost
        self.roots = [StoredSession(info, self.db) for info in tops]

    def session(self, root: StoredSession) -> None:
        """The pages of a session and of its subagents, and what can be found in them."""
        places: list[tuple[str, Said]] = []
        for session in self._tree(root):
            if session.id not in self._cards:
                places += self._one(session, root)
        self._search.group(self.names[root.id], places)
        prompt = next((one.text for _href, one in places if one.what == "Prompt"), "")
        self._first[root.id] = one_line(prompt, 200)

    def _one(self, session: StoredSession, root: StoredSession) -> list[tuple[str, Said]]:
        """The pages of one session. What is said in it, with the address of each place."""
        info = session.info
        spoken: list[Said] = []
        cutter = Cutter(self.describe, self.names, self._below)
        cards = cutter.cut(session, lambda view: spoken.extend(said(view)))
        self._cards[session.id] = cards
        made = Transcript(
            session=session,
            relations=relations(self.db, _TABLES, info),
            cards=cards,
            agent=self.agents.get(info.format),
            at=self._at,
        )
        for name, html in pages(made, self.about):
            self.write(f"sessions/{name}", html)
            self.pages += 1
        self._cards[session.id] = replace(cards, pages=())  # written; others only ask where a chunk is
        if session.id == root.id:
            named = Said(seq=None, what="Title", text=info.title or "")
        else:
            named = Said(seq=None, what="Subagent", text=info.description or info.title or "")
            spoken = [replace(one, what=f"Subagent: {one.what}") for one in spoken]
        return [(cards.href(one.seq), one) for one in (named, *spoken)]

    def finish(self) -> None:
        """The index of words, the list, the style and the scripts."""
        self._search.finish()
        infos = [root.info for root in self.roots]
        facets = Facets(self.db, infos, self.agents)
        self.write("index.html", listing(infos, facets, self.names, self.agents, self.about, self._first))
        static = resources.files("clm_sessions.site").joinpath("static")
        self.write("assets/site.css", f"{render.css()}\n{static.joinpath('site.css').read_text('utf-8')}")
        for name in _SCRIPTS:
            self.write(f"assets/{name}", static.joinpath(name).read_text("utf-8"))

    def _tree(self, root: StoredSession) -> list[StoredSession]:
        """A session and its subagents at any depth, parents first, each once."""
        found = {root.id: root}
        waiting = [root]
        for session in waiting:
            fresh = [agent for agent in self._below.get(session.id, ()) if agent.id not in found]
            waiting += fresh
            found |= {agent.id: agent for agent in fresh}
        return waiting

    def _at(self, sid: str, chunk: int | None) -> str | None:
        if sid in self._cards:
            return self._cards[sid].href(chunk)
        return f"{self.names[sid]}.html" if sid in self.names else None
