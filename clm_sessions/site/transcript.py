"""The pages of one session."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from clm_sessions import render
from clm_sessions.library import StoredSession
from clm_sessions.model import Chunk, SessionInfo
from clm_sessions.render import Bar, Entry
from clm_sessions.render.escape import bdi, esc
from clm_sessions.site.about import About
from clm_sessions.site.cards import Cards
from clm_sessions.site.frame import page
from clm_sessions.site.names import page_name
from clm_sessions.store.relations import Other, Relations
from clm_sessions.view.words import one_line, plural

_WHOLE = 200
"""Up to so many entries the outline on every page is that of all pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A session whose cards are made. ``at``: the address of a chunk of any session, of its first page without a chunk."""

    session: StoredSession
    relations: Relations
    cards: Cards
    agent: str | None
    at: Callable[[str, int | None], str | None]


def pages(made: Transcript, about: About) -> Iterator[tuple[str, str]]:
    """(file name, HTML) of each page of a session."""
    info = made.session.info
    chunks = made.session.chunks
    entries = render.outline(chunks)
    bars = render.bars(chunks, render.context_sizes(made.session.requests))
    title = one_line(info.title or info.native_id, 120)
    count = len(made.cards.pages)
    for number, cards in enumerate(made.cards.pages, 1):
        body = "".join(_body(made, number, cards, chunks, entries, bars))
        name = f"{title} ({number} of {count})" if count > 1 else title
        html = page(f"{name} · {about.title}", body, about=about, up="../", script="session")
        yield page_name(made.cards.name, number), html


def _body(
    made: Transcript, number: int, cards: str, chunks: Sequence[Chunk], entries: Sequence[Entry], bars: Sequence[Bar]
) -> Iterator[str]:
    yield '<nav class="clm-crumbs" aria-label="Way back"><a rel="up" href="../index.html">All sessions</a></nav>\n'
    if number == 1:
        yield render.session_header_html(made.session.info, agent=made.agent, bars=bars, href=made.cards.href, level=1)
        yield _around(made)
    else:
        title = bdi(one_line(made.session.info.title or made.session.info.native_id, 200))
        yield f'<h1 class="clm-title clm-again"><a href="{esc(made.cards.name)}.html">{title}</a></h1>\n'
    yield f'<div class="clm-layout" data-starts="{" ".join(map(str, made.cards.starts))}" data-name="{esc(made.cards.name)}">'
    yield f'<div class="clm-side">{_FIND}{_outline(made, number, entries)}</div>\n'
    yield '<section class="clm-transcript" aria-labelledby="clm-transcript-h"><h2 id="clm-transcript-h" class="clm-sr">Transcript</h2>\n'
    before, after = (_pager(made.cards, number, len(chunks), label) for label in ("Pages, top", "Pages"))
    yield f"{before}{cards or '<p>Nothing is in this session.</p>'}{after}</section></div>\n"


_FIND = (
    '<form class="clm-find" role="search" hidden><label class="clm-sr" for="clm-q">Find on this page</label>'
    '<input id="clm-q" type="search" placeholder="Find on this page" autocomplete="off" maxlength="200">'
    "<button>Find</button></form>"
)


def _around(made: Transcript) -> str:
    """How the session stands to others."""
    notes = "".join(f"<li>{note}</li>" for note in _notes(made))
    html = f'<ul class="clm-notes">{notes}</ul>\n' if notes else ""
    rows = [row for row in (_agent(agent, made) for agent in made.relations.agents) if row]
    if rows:
        is_open = " open" if len(rows) < 5 else ""
        items = "".join(f"<li>{row}</li>" for row in rows)
        html += f'<details class="clm-agents"{is_open}><summary>{plural(len(rows), "subagent")}</summary><ul>{items}</ul></details>\n'
    return f'<div class="clm-around">{html}</div>\n' if html else ""


def _notes(made: Transcript) -> Iterator[str]:
    info, to = made.session.info, made.relations
    if to.parent is not None:
        yield f"{'Run by the program for' if info.role == 'internal' else 'Subagent of'} {_link(made, to.parent)}"
    elif info.role == "orphan":
        yield "A subagent whose session is not here"
    if to.forked_from is not None:
        yield f"Continued from {_link(made, to.forked_from)}"
    if to.forks:
        yield f"Continued in {', '.join(_link(made, one) for one in to.forks)}"
    if info.ongoing:
        yield "Still going on when it was imported"


def _link(made: Transcript, other: Other) -> str:
    return _linked(made.at(other.id, other.chunk), bdi(one_line(other.title, 100)))


def _linked(href: str | None, html: str) -> str:
    return f'<a href="{esc(href)}">{html}</a>' if href else html


def _agent(agent: SessionInfo, made: Transcript) -> str:
    name = one_line(agent.description or agent.title or agent.agent_id or agent.id, 100)
    facts = [bdi(agent.agent_type or ""), "by the program" if agent.role == "internal" else ""]
    facts += [plural(agent.tool_calls, "call"), f"{agent.tool_errors:,} failed" if agent.tool_errors else ""]
    about = " · ".join(fact for fact in facts if fact and fact != "<bdi></bdi>")
    return f"{_linked(made.at(agent.id, None), bdi(name))} <small>{about}</small>"


# -- outline and pages ------------------------------------------------------------------------------------------


def _outline(made: Transcript, number: int, entries: Sequence[Entry]) -> str:
    """All prompts and compactions; of a long session those of the page, and each other page as a line."""
    starts = made.cards.starts

    def href(seq: int) -> str:
        return f"#c{seq}" if bisect_right(starts, seq) in {number, 0} else made.cards.href(seq)

    if len(starts) == 1 or len(entries) <= _WHOLE:
        return render.outline_html(entries, href)
    seqs = [entry.seq for entry in entries]
    rows = []
    for other, start in enumerate(starts, 1):
        end = starts[other] if other < len(starts) else made.session.info.chunks
        first, last = bisect_left(seqs, start), bisect_left(seqs, end)
        if other == number:
            rows.append(f"<li>{render.outline_html(entries[first:last], href)}</li>")
            continue
        words = bdi(one_line(entries[first].text, 60), "span", "clm-about") if first < last else ""
        rows.append(
            f'<li><a href="{esc(page_name(made.cards.name, other))}">{start + 1:,}\u2013{end:,} {words}</a></li>'
        )
    return f'<ol class="clm-pagelist">{"".join(rows)}</ol>'


def _pager(cards: Cards, number: int, chunks: int, label: str) -> str:
    count = len(cards.pages)
    if count == 1:
        return ""
    end = cards.starts[number] if number < count else chunks
    ways = [
        f'<a rel="{rel}" href="{esc(page_name(cards.name, other))}">{word}</a>' if 1 <= other <= count else f"<span>{word}</span>"
        for rel, word, other in (("prev", "Previous", number - 1), ("next", "Next", number + 1))
    ]  # fmt: skip
    return (
        f'<nav class="clm-pager" aria-label="{label}">Chunks {cards.starts[number - 1] + 1:,}\u2013{end:,} of {chunks:,}, '
        f'page {number:,} of {count:,} <span class="clm-ways">{" ".join(ways)}</span></nav>\n'
    )
