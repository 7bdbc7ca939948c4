"""A loaded page as the pieces of HTML its template puts together. All log text goes through the core's renderer."""

from __future__ import annotations

import hashlib
import shlex
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from clm_sessions import render
from clm_sessions.formats.base import LogFormat
from clm_sessions.model import ChunkContent, Image, SessionInfo
from clm_sessions.render import Entry, Options
from clm_sessions.render.escape import bdi, esc
from clm_sessions.store.relations import Other
from clm_sessions.store.search import pieces
from clm_sessions.times import iso
from clm_sessions.view import ChunkView
from clm_sessions.view.words import one_line, plural, size
from datasette_clm.find import Found
from datasette_clm.loader import PAGE, Loaded
from datasette_clm.pages import Page
from datasette_clm.safe import safe
from datasette_clm.urls import Urls

PAGE_BUDGET, CHUNK_BUDGET, WHOLE_LIMIT = 300_000, 60_000, 1_000_000
"""Characters of log text on a page, in one of its chunks, and in one section of a chunk that stands alone."""
_IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
_TOOL_CHIPS = 8
_OUTLINE = 200
_NEAR = 12


def options(urls: Urls, sid: str, tables: frozenset[str], **more: Any) -> Options:  # noqa: ANN401 - fields of Options
    """How cards of a session are rendered here: images by Datasette, links to our own pages."""

    def image(image: Image) -> str | None:
        return urls.image(image.sha256) if "attachments" in tables and image.media_type in _IMAGES else None

    given: dict[str, Any] = {
        "image_src": image,
        "permalink": lambda view: urls.at(sid, view.seq),
        "subagent_href": urls.session,
        "more_href": lambda view, _step, _section: urls.chunk(sid, view.seq),
        "heading": 3,
        **more,
    }
    return Options(**given)


def session_page(loaded: Loaded, urls: Urls, agent: LogFormat | None) -> dict[str, Any]:
    """What the template of a session page needs. ``agent``: the format of its log, if it is installed."""
    info, ask, sid = loaded.info, loaded.ask, loaded.info.id
    how = options(urls, sid, loaded.tables)
    here = set(loaded.page.seqs)

    def at(seq: int) -> str:
        return f"#c{seq}" if seq in here else urls.at(sid, seq)

    head = render.session_header_html(
        info,
        options=how,
        agent=agent.label if agent else None,
        bars=render.bars(loaded.chunks, loaded.sizes),
        href=at,
        level=1,
    )
    return {
        "title": one_line(info.title or info.native_id, 120),
        "head": safe(head),
        "notes": [safe(note) for note in notes(loaded, urls)],
        "agents": [safe(_agent(a, urls)) for a in loaded.relations.agents],
        "agents_words": _agents_words(loaded.relations.agents),
        "chips": list(chips(loaded, urls)),
        "ask": ask,
        "kept": [(key, value) for key in ("show", "tool") for value in (ask.show if key == "show" else ask.tools)],
        "action": urls.session(sid),
        "unfiltered": urls.session(sid),
        "outline": safe(outline(loaded, urls, at)),
        "cards": safe("".join(cards(loaded, urls, how))),
        "pager": pager(loaded.page, lambda page: urls.session(sid, query=ask.query(page=page if page > 1 else None))),
        "narrowed": loaded.page.total if ask.narrows else None,
        "total": len(loaded.chunks),
        "resume": agent.resume_command.format(id=shlex.quote(info.native_id))
        if agent and agent.resume_command and info.role == "main"
        else None,
        "json": urls.session(
            sid, ".json", query=ask.query(page=loaded.page.number if loaded.page.number > 1 else None)
        ),
        "markdown": urls.session(
            sid, ".md", query=ask.query(page=loaded.page.number if loaded.page.number > 1 else None)
        ),
    }


# -- cards ------------------------------------------------------------------------------------------------------


def cards(loaded: Loaded, urls: Urls, how: Options) -> Iterator[str]:
    """The cards of the page; a run of copied ones is folded, unless the reader asked for something in it."""
    left = PAGE_BUDGET
    for copied, group in groupby(loaded.views, lambda view: loaded.copied(view.seq)):
        run = list(group)
        html = ""
        for view in run:
            html += _item(loaded, urls, view, replace(how, budget=max(0, min(CHUNK_BUDGET, left))))
            left -= _size(view)
        if not copied:
            yield html
            continue
        wanted = loaded.ask.narrows or loaded.ask.chunk in {view.seq for view in run} or len(run) == len(loaded.views)
        origin = loaded.relations.forked_from
        source = f" from {_link(urls.session(origin.id), origin.title)}" if origin else ""
        yield (
            f'<details class="clm-inherited"{" open" if wanted else ""}><summary>{plural(len(run), "chunk")} copied{source}'
            f"</summary>{html}</details>"
        )


def _item(loaded: Loaded, urls: Urls, view: ChunkView, how: Options) -> str:
    found = loaded.found.get(view.seq, ())
    hits = "".join(f'<p class="clm-hit">{_what(place)}{snippet_html(place.snippet)}</p>' for place in found[:3])
    more = f'<p class="clm-hit">and {plural(len(found) - 3, "more place")}</p>' if len(found) > 3 else ""
    hidden = loaded.hidden.get(view.seq)
    note = f'<span class="clm-left-out">{plural(hidden, "step")} left out by the filter</span> · ' if hidden else ""
    link = f'<a href="{esc(urls.chunk(loaded.info.id, view.seq))}">Whole chunk and raw records<span class="clm-sr"> of #{view.number}</span></a>'
    return f'<div class="clm-item">{hits}{more}{render.chunk_html(view, options=how)}<p class="clm-foot">{note}{link}</p></div>\n'


def _what(place: Found) -> str:
    """The tool that a place belongs to."""
    return f"<b>{bdi(one_line(place.what, 40))}</b> " if place.tool else ""


def _size(view: ChunkView) -> int:
    """Log text in a card, up to what a card may show."""
    sections = [*view.sections, *(s for step in view.steps for s in step.sections)]
    return min(CHUNK_BUDGET, sum(min(len(s.text), 16_384) + 80 * len(s.diff) + 40 * len(s.rows) for s in sections))


def fragment(views: Iterable[ChunkView], page: Page, urls: Urls, sid: str, how: Options) -> str:
    """The cards of a session to be put below a step of another one. Ids carry a prefix that no other session has."""
    prefix = f"s{hashlib.sha256(sid.encode()).hexdigest()[:8]}-"
    left = PAGE_BUDGET
    html = []
    for view in views:
        html.append(
            render.chunk_html(view, options=replace(how, id_prefix=prefix, budget=max(0, min(CHUNK_BUDGET, left))))
        )
        left -= _size(view)
    if page.pages > 1:
        html.append(
            f'<p class="clm-cut">{page.total - page.last:,} more chunks: {_link(urls.session(sid, query={"page": 2}), "go on reading")}</p>'
        )
    return "".join(html)


def snippet_html(snippet: str) -> str:
    """A search snippet, the words found in it marked."""
    return "".join(f"<mark>{esc(text)}</mark>" if marked else esc(text) for text, marked in pieces(snippet))


# -- what stands around the cards -------------------------------------------------------------------------------


def notes(loaded: Loaded, urls: Urls) -> Iterator[str]:
    """Lines on how the session stands to others, and on what could not be read."""
    info, to = loaded.info, loaded.relations
    if to.parent is not None:
        where = urls.session(to.parent.id) if to.parent.chunk is None else urls.at(to.parent.id, to.parent.chunk)
        yield f"{'Run by the program for' if info.role == 'internal' else 'Subagent of'} {_link(where, to.parent.title)}"
    elif info.role == "orphan":
        yield "An agent's log whose session's log is missing"
    elif info.role == "internal":
        yield "An agent that the program started for itself"
    if to.forked_from is not None:
        yield f"Continued from {_link(urls.session(to.forked_from.id), to.forked_from.title)}: {plural(loaded.inherited, 'message')} copied from there"
    if to.forks:
        yield f"Continued in {_others(to.forks, urls)}"
    if info.ongoing:
        yield "Still going on when it was imported"
    if to.source_gone:
        yield "Its log is no longer where it was read"
    if loaded.issues:
        link = urls.table("ingest_issues", session_id=info.id)
        yield f"{_link(link, plural(loaded.issues, 'place'))} in the log could not be used as it stands"


def _others(others: Sequence[Other], urls: Urls) -> str:
    return ", ".join(_link(urls.session(one.id), one.title) for one in others)


def _link(href: str, text: str) -> str:
    return f'<a href="{esc(href)}">{bdi(one_line(text, 100))}</a>'


def _agent(info: SessionInfo, urls: Urls) -> str:
    facts = [
        info.agent_type or "",
        "by the program" if info.role == "internal" else "",
        plural(info.tool_calls, "call"),
    ]
    facts += [f"{info.tool_errors:,} failed"] if info.tool_errors else []
    about = " · ".join(esc(fact) for fact in facts if fact)
    return f"{_link(urls.session(info.id), info.description or info.title or info.agent_id or info.id)} <small>{about}</small>"


def _agents_words(agents: Sequence[SessionInfo]) -> str:
    by_program = sum(agent.role == "internal" for agent in agents)
    words = [plural(len(agents) - by_program, "subagent")] if by_program < len(agents) else []
    return ", ".join([*words, f"{by_program:,} run by the program for itself"] if by_program else words)


def chips(loaded: Loaded, urls: Urls) -> Iterator[dict[str, Any]]:
    """The filters as links: each switches one part of the transcript on or off, on all pages."""
    info, ask = loaded.info, loaded.ask
    parts: list[tuple[str, int | None, bool]] = [
        ("prompts", info.prompts, True),
        ("replies", None, True),
        ("tools", info.tool_calls, "tool_calls" in loaded.tables and info.tool_calls > 0),
        ("thinking", None, loaded.thinks),
        ("errors", info.tool_errors, bool(info.tool_errors or info.unanswered or info.interruptions)),
    ]
    for part, count, there in parts:
        if there or part in ask.show:
            yield _chip(
                part, count, part in ask.show, urls.session(info.id, query=ask.toggled(show=part)), bad=part == "errors"
            )
    for n, (tool, calls, _errors) in enumerate(loaded.tools):
        if n < _TOOL_CHIPS or tool in ask.tools:
            yield _chip(tool, calls, tool in ask.tools, urls.session(info.id, query=ask.toggled(tool=tool)))


def _chip(label: str, count: int | None, on: bool, href: str, bad: bool = False) -> dict[str, Any]:
    return {
        "label": safe(bdi(one_line(label, 40))),
        "count": f"{count:,}" if count else "",
        "on": on,
        "href": href,
        "bad": bad,
    }


def outline(loaded: Loaded, urls: Urls, at: Callable[[int], str]) -> str:
    """Prompts and compactions of this page, with the other pages as one line each before and after.

    Of a filtered session: those that what is shown belongs to.
    """
    entries = render.outline(loaded.chunks)
    held = loaded.page.seqs
    if not held:
        return ""
    if loaded.ask.narrows:
        starts = [entry.seq for entry in entries]
        wanted = {bisect_right(starts, seq) - 1 for seq in held}
        near = [entry for number, entry in enumerate(entries) if number in wanted]
    else:
        near = [entry for entry in entries if held[0] <= entry.seq <= held[-1]]
    html = render.outline_html(near[:_OUTLINE], at)
    if loaded.ask.narrows or loaded.page.pages == 1:
        return html
    first = {number: next(group) for number, group in groupby(entries, lambda entry: entry.seq // PAGE + 1)}
    before = _page_list(loaded, first, range(1, loaded.page.number), urls)
    after = _page_list(loaded, first, range(loaded.page.number + 1, loaded.page.pages + 1), urls)
    return before + html + after


def _page_list(loaded: Loaded, first: dict[int, Entry], pages: range, urls: Urls) -> str:
    near = pages[-_NEAR:] if pages and pages[-1] < loaded.page.number else pages[:_NEAR]
    rows = ""
    for number in near:
        begin, end = (number - 1) * PAGE + 1, min(number * PAGE, loaded.page.total)
        about = f" {bdi(one_line(first[number].text, 60), 'span', 'clm-about')}" if number in first else ""
        rows += f'<li><a href="{esc(urls.session(loaded.info.id, query={"page": number}))}">{begin:,}\u2013{end:,}{about}</a></li>'
    return f'<ol class="clm-pagelist">{rows}</ol>' if rows else ""


def pager(page: Page, href: Callable[[int], str]) -> dict[str, Any]:
    """The links between pages, None where there is none."""
    return {
        "first": href(1) if page.number > 1 else None,
        "previous": href(page.number - 1) if page.number > 1 else None,
        "next": href(page.number + 1) if page.number < page.pages else None,
        "last": href(page.pages) if page.number < page.pages else None,
        "words": f"Chunks {page.first:,}\u2013{page.last:,} of {page.total:,}" if page.total else "No chunks",
        "pages": page.pages,
    }


def chunk_page(
    info: SessionInfo, content: ChunkContent, view: ChunkView, urls: Urls, tables: frozenset[str], *, raw_too: bool
) -> dict[str, Any]:
    """What the template of one whole chunk needs. Sections too long even for this page lead to their plain text."""
    how = options(
        urls,
        info.id,
        tables,
        heading=3,
        max_prose=WHOLE_LIMIT,
        max_output=WHOLE_LIMIT,
        max_rows=10_000,
        max_steps=None,
        budget=4 * WHOLE_LIMIT,
        more_href=lambda view, step, section: urls.text(info.id, view.seq, step, section or 0),
    )
    records = [
        {
            "seq": seq,
            "origin": m.origin,
            "line": m.place.line,
            "bytes": size(m.place.length),
            "at": iso(m.at),
            "raw": urls.raw(info.id, seq),
        }
        for seq, m in content.messages.items()
    ]
    return {
        "title": f"#{view.number} of {one_line(info.title or info.native_id, 100)}",
        "session": one_line(info.title or info.native_id, 120),
        "number": view.number,
        "back": urls.at(info.id, view.seq),
        "previous": urls.chunk(info.id, view.seq - 1) if view.seq else None,
        "next": urls.chunk(info.id, view.seq + 1) if view.seq + 1 < info.chunks else None,
        "card": safe(render.chunk_html(view, options=how)),
        "records": records,
        "raw": raw_too,
        "json": urls.chunk(info.id, view.seq, ".json"),
        "markdown": urls.chunk(info.id, view.seq, ".md"),
    }
