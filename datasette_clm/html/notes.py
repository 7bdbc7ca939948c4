"""How a session stands to others, and what of its log could not be read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clm_sessions.model import SessionInfo
from clm_sessions.render.escape import bdi, esc
from clm_sessions.store.relations import Other
from clm_sessions.view.words import one_line, plural
from datasette_clm.loader import Loaded
from datasette_clm.urls import Urls


def notes(loaded: Loaded, urls: Urls) -> Iterator[str]:
    """Lines on how the session stands to others, and on what could not be read."""
    info, to = loaded.info, loaded.relations
    if to.parent is not None:
        where = urls.session(to.parent.id) if to.parent.chunk is None else urls.at(to.parent.id, to.parent.chunk)
        yield f"{'Run by the program for' if info.role == 'internal' else 'Subagent of'} {link_html(where, to.parent.title)}"
    elif info.role == "orphan":
        yield "An agent's log whose session's log is missing"
    elif info.role == "internal":
        yield "An agent that the program started for itself"
    if to.forked_from is not None:
        yield f"Continued from {link_html(urls.session(to.forked_from.id), to.forked_from.title)}: {plural(loaded.inherited, 'message')} copied from there"
    if to.forks:
        yield f"Continued in {_others(to.forks, urls)}"
    if info.ongoing:
        yield "Still going on when it was imported"
    if to.source_gone:
        yield "Its log is no longer where it was read"
    if loaded.issues:
        link = urls.table("ingest_issues", session_id=info.id)
        yield f"{link_html(link, plural(loaded.issues, 'place'))} in the log could not be used as it stands"


def _others(others: Sequence[Other], urls: Urls) -> str:
    return ", ".join(link_html(urls.session(one.id), one.title) for one in others)


def link_html(href: str, text: str) -> str:
    """A link whose text is the log's."""
    return f'<a href="{esc(href)}">{bdi(one_line(text, 100))}</a>'


def agent_html(info: SessionInfo, urls: Urls) -> str:
    """A subagent in the list of those of a session."""
    facts = [
        info.agent_type or "",
        "by the program" if info.role == "internal" else "",
        plural(info.tool_calls, "call"),
    ]
    facts += [f"{info.tool_errors:,} failed"] if info.tool_errors else []
    about = " · ".join(esc(fact) for fact in facts if fact)
    return f"{link_html(urls.session(info.id), info.description or info.title or info.agent_id or info.id)} <small>{about}</small>"


def agents_words(agents: Sequence[SessionInfo]) -> str:
    """What the list of subagents is headed by; those the program ran for itself are counted apart."""
    by_program = sum(agent.role == "internal" for agent in agents)
    words = [plural(len(agents) - by_program, "subagent")] if by_program < len(agents) else []
    return ", ".join([*words, f"{by_program:,} run by the program for itself"] if by_program else words)
