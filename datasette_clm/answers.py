"""The answers: plain functions from a reading connection and a visit to a page or a body. No request, no await."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

from clm_sessions.errors import DatabaseError
from clm_sessions.export import markdown
from clm_sessions.export.data import chunk_data
from datasette_clm import ask, data, html, live, loader, pricing, raw
from datasette_clm.tabs import head
from datasette_clm.visit import Answer, Body, Missing, Page, Visit, json_body


def session(db: sqlite3.Connection, visit: Visit) -> Answer:
    """The transcript, a page of it."""
    found = loader.load(db, visit.tables, visit.sid, ask.parse(visit.args), visit.registry.describe)
    if found is None:
        return Missing()
    found = replace(found, info=pricing.priced(db, found.info, visit))
    if visit.format == ".json":
        return json_body(data.session_json(found, visit.urls))
    if visit.format == ".md":
        page = found.page
        place = f"chunks {page.first:,} to {page.last:,} of {page.total:,}"
        place += f", page {page.number} of {page.pages}" if page.pages > 1 else ""
        return _markdown(markdown.session_md(found.info, found.views, place, data.TEXT_LIMIT))
    views = head.views(db, visit, found.info, "transcript")
    agent = visit.agent(found.info.format)
    content = html.session_page(found, visit.urls, agent, views)
    return Page(template="clm_session.html", page={**content, "live": live.page_data(db, found, visit.urls)})


def cards(db: sqlite3.Connection, visit: Visit) -> Answer:
    """The cards of a session alone, to be put below a step of another one."""
    number = ask.number(visit.args.get("page"))
    found = loader.load_cards(db, visit.tables, visit.sid, number, visit.registry.describe)
    if found is None:
        return Missing()
    info, page, views = found
    how = html.options(visit.urls, info.id, visit.tables, heading=4)
    return Body(content=html.fragment(views, page, visit.urls, info.id, how), kind="text/html")


def chunk(db: sqlite3.Connection, visit: Visit) -> Answer:
    """One chunk, whole, with the records behind it."""
    found = loader.load_chunk(db, visit.tables, visit.sid, visit.number("chunk"), visit.registry.describe)
    if found is None:
        return Missing(words="No such session or chunk")
    info, content, view = found
    raw_too = set(raw.NEEDS) <= visit.tables
    if visit.format == ".json":
        body = chunk_data(view, info.id, visit.urls, images="attachments" in visit.tables)
        raws = [visit.urls.raw(info.id, seq) for seq in content.messages] if raw_too else []
        return json_body({"ok": True, "session": info.id, **body, "raw_urls": raws})
    if visit.format == ".md":
        return _markdown(markdown.session_md(info, [view], f"chunk {view.number} of {info.chunks:,}", None))
    step = ask.number(visit.args.get("step"))
    page = html.chunk_page(info, content, view, visit.urls, visit.tables, raw_too=raw_too, step=step)
    return Page(template="clm_chunk.html", page=page)


def part(db: sqlite3.Connection, visit: Visit) -> Answer:
    """What ``step`` (from 0) of a chunk holds, or the list of the records behind the chunk; for the page to put in."""
    found = loader.load_chunk(db, visit.tables, visit.sid, visit.number("chunk"), visit.registry.describe)
    if found is None:
        return Missing(words="No such session or chunk")
    info, content, view = found
    step = ask.number(visit.args.get("step"))
    if step is None:
        body = html.records_html(info, content, visit.urls, raw_too=set(raw.NEEDS) <= visit.tables)
    else:
        body = html.step_html(view, step, info, visit.urls, visit.tables) or ""
    return Body(content=body, kind="text/html")


def text(db: sqlite3.Connection, visit: Visit) -> Answer:
    """One section of a chunk as plain text: ``step`` (none: the chunk's own sections) and ``section``, from 0."""
    found = loader.load_chunk(db, visit.tables, visit.sid, visit.number("chunk"), visit.registry.describe)
    step, section = ask.number(visit.args.get("step")), ask.number(visit.args.get("section")) or 0
    if found is not None:
        view = found[2]
        sections = view.sections if step is None else view.steps[step].sections if step < len(view.steps) else ()
        if section < len(sections):
            return Body(content=markdown.section_text(sections[section]), kind="text/plain")
    return Missing(words="There is no such part of a chunk")


def record(db: sqlite3.Connection, visit: Visit) -> Answer:
    """The line of the log behind a message, byte for byte."""
    try:
        found = raw.record(db, visit.sid, visit.number("message"))
    except DatabaseError as error:  # damaged, or packed in a way this installation cannot unpack
        return Missing(words=str(error))
    if found is None:
        return Missing(words="No such message, or the database holds no raw records")
    return Body(content=found, kind="text/plain")


def _markdown(content: str) -> Body:
    return Body(content=content, kind="text/markdown", data=True)
