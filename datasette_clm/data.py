"""A loaded page as plain data for JSON. It is made of the same values as the HTML; long texts are cut and say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from clm_sessions import times
from clm_sessions.model import SessionInfo, Usage
from clm_sessions.view import ChunkView, Section, Step
from datasette_clm.find import Found, pieces
from datasette_clm.loader import Loaded
from datasette_clm.pages import Page
from datasette_clm.urls import Urls

TEXT_LIMIT = 65_536
_TIMES = {"started_at", "ended_at"}


def session_json(loaded: Loaded, urls: Urls) -> dict[str, Any]:
    """Facts of a session, its relations, and one page of its chunks with their steps."""
    ask, sid = loaded.ask, loaded.info.id
    return {
        "ok": True,
        "session": info_json(loaded.info, urls),
        "relations": _relations(loaded, urls),
        "filter": {"show": list(ask.show), "tool": list(ask.tools), "q": ask.q},
        "count": loaded.page.total,
        **paging(loaded.page, lambda page: urls.session(sid, ".json", query=ask.query(page=page))),
        "html": urls.session(sid, query=ask.query(page=loaded.page.number)),
        "chunks": [
            {
                **chunk_json(view, urls, sid, images="attachments" in loaded.tables),
                "inherited": loaded.copied(view.seq),
                "hidden_steps": loaded.hidden.get(view.seq, 0),
            }
            for view in loaded.views
        ],
    }


def paging(page: Page, href: Any) -> dict[str, Any]:  # noqa: ANN401 - a function from page number to address
    """Where the page stands, and the addresses of the others; null where there is none."""
    return {
        "page": page.number,
        "pages": page.pages,
        "first_chunk": page.first,
        "last_chunk": page.last,
        "first_url": href(1),
        "previous_url": href(page.number - 1) if page.number > 1 else None,
        "next_url": href(page.number + 1) if page.number < page.pages else None,
        "last_url": href(page.pages),
    }


def info_json(info: SessionInfo, urls: Urls) -> dict[str, Any]:
    """The facts of a session; null means not recorded."""
    facts = {f.name: getattr(info, f.name) for f in fields(info) if f.name not in {"usage", "context", "models"}}
    facts |= {name: times.iso(facts[name]) for name in _TIMES}
    return {
        **facts,
        "models": list(info.models),
        "tokens": _usage(info.usage),
        "context": {
            "consumption": info.context.consumption,
            "phases": [{f.name: getattr(p, f.name) for f in fields(p)} for p in info.context.phases],
        },
        "url": urls.session(info.id),
    }


def chunk_json(
    view: ChunkView, urls: Urls, sid: str, *, images: bool, limit: int | None = TEXT_LIMIT
) -> dict[str, Any]:
    """A card as data. ``images``: they may be seen. ``limit``: characters of each text, None for all of it."""

    def sections(found: Sequence[Section]) -> list[dict[str, Any]]:
        return [_section(section, urls, images, limit) for section in found]

    return {
        "seq": view.seq,
        "number": view.number,
        "kind": view.kind,
        "who": view.who,
        "summary": view.summary,
        "status": view.status,
        "started_at": times.iso(view.started_at),
        "ended_at": times.iso(view.ended_at),
        "duration_ms": view.duration_ms,
        "output_tokens": view.output_tokens,
        "badges": list(view.badges),
        "sections": sections(view.sections),
        "steps": [{**_step(step, urls), "sections": sections(step.sections)} for step in view.steps],
        "url": urls.at(sid, view.seq),
        "whole_url": urls.chunk(sid, view.seq, ".json"),
    }


def _step(step: Step, urls: Urls) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "title": step.title,
        "subtitle": step.subtitle,
        "tool": step.tool,
        "status": step.status,
        "duration_ms": step.duration_ms,
        "badges": list(step.badges),
        "message": step.message,
        "subagent": step.subagent,
        "subagent_url": urls.session(step.subagent, ".json") if step.subagent else None,
    }


def _section(section: Section, urls: Urls, images: bool, limit: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": section.kind}
    if section.title:
        found["title"] = section.title
    if section.language:
        found["language"] = section.language
    if section.diff:
        found["diff"] = [f"{line.sign}{line.text}" for line in section.diff]
    if section.header or section.rows:
        found |= {"header": list(section.header), "rows": [list(row) for row in section.rows]}
    if section.image is not None:
        image = section.image
        found["image"] = {"media_type": image.media_type, "bytes": image.size, "sha256": image.sha256}
        found["image"] |= {"url": urls.image(image.sha256)} if images else {}
    if section.text:
        cut = limit is not None and len(section.text) > limit
        found["text"] = section.text[:limit] if cut else section.text
        found |= {"cut": True, "length": len(section.text)} if cut else {}
    return found


def _usage(usage: Usage) -> Mapping[str, int | None]:
    return {f.name: getattr(usage, f.name) for f in fields(usage)}


def _relations(loaded: Loaded, urls: Urls) -> dict[str, Any]:
    to = loaded.relations

    def other(sid: str, title: str) -> dict[str, str]:
        return {"id": sid, "title": title, "url": urls.session(sid, ".json")}

    return {
        "parent": {**other(to.parent.id, to.parent.title), "chunk": to.parent.chunk} if to.parent else None,
        "forked_from": other(to.forked_from.id, to.forked_from.title) if to.forked_from else None,
        "forks": [other(fork.id, fork.title) for fork in to.forks],
        "subagents": [info_json(agent, urls) for agent in to.agents],
    }


def search_json(q: str, places: Sequence[Found], titles: Sequence[tuple[str, str]], urls: Urls) -> dict[str, Any]:
    """Places and sessions that hold the words. The ``pieces`` of a snippet say which words were found."""
    return {
        "ok": True,
        "q": q,
        "count": len(places),
        "places": [
            {
                "session": place.session,
                "title": place.title,
                "chunk": place.chunk,
                "message": place.message,
                "what": place.what,
                "tool": place.tool,
                "at": place.at,
                "pieces": [{"text": text, "found": marked} for text, marked in pieces(place.snippet)],
                "url": urls.at(place.session, place.chunk or 0),
            }
            for place in places
        ],
        "sessions": [{"id": sid, "title": title, "url": urls.session(sid)} for sid, title in titles],
    }
