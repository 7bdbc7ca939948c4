"""Sessions as plain data for JSON: facts, relations, cards. Null means not recorded; long texts may be cut, and say so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, Protocol

from clm_sessions import times
from clm_sessions.model import Chunk, SessionInfo, Usage
from clm_sessions.store.relations import Relations
from clm_sessions.view import ChunkView, Section, Step

_TIMES = ("started_at", "ended_at")
_OTHERWISE = {"usage", "context", "models", "cost_usd", "own_cost_usd", "unpriced_requests"}


class Links(Protocol):
    """Where things are, for data that is served somewhere: each method gives an address."""

    def session(self, sid: str, format: str = "", /) -> str:  # noqa: A002 - ``.json``
        """A session."""
        ...

    def at(self, sid: str, seq: int, /) -> str:
        """A chunk among the others."""
        ...

    def chunk(self, sid: str, seq: int, format: str = "", /) -> str:  # noqa: A002
        """A chunk alone, whole."""
        ...

    def image(self, sha256: str, /) -> str:
        """The bytes of an image."""
        ...


def info_data(info: SessionInfo, links: Links | None = None) -> dict[str, Any]:
    """The facts of a session."""
    facts = {f.name: getattr(info, f.name) for f in fields(info) if f.name not in _OTHERWISE}
    facts |= {name: times.iso(facts[name]) for name in _TIMES}
    return {
        **facts,
        "models": list(info.models),
        "tokens": usage_data(info.usage),
        "cost": cost_data(info),
        "context": {
            "consumption": info.context.consumption,
            "phases": [{f.name: getattr(p, f.name) for f in fields(p)} for p in info.context.phases],
        },
        **({"url": links.session(info.id)} if links else {}),
    }


def cost_data(info: SessionInfo) -> Mapping[str, Any] | None:
    """The estimated cost of a session in US dollars, and how many of its own replies have no price. None: not estimated."""
    if info.cost_usd is None:
        return None
    return {"usd": info.cost_usd, "own_usd": info.own_cost_usd, "unpriced_requests": info.unpriced_requests}


def usage_data(usage: Usage) -> Mapping[str, int | None]:
    """Tokens by kind."""
    return usage.counts()


def relations_data(to: Relations, links: Links | None = None) -> dict[str, Any]:
    """How a session stands to others."""

    def other(sid: str, title: str) -> dict[str, str]:
        return {"id": sid, "title": title, **({"url": links.session(sid, ".json")} if links else {})}

    return {
        "parent": {**other(to.parent.id, to.parent.title), "chunk": to.parent.chunk} if to.parent else None,
        "forked_from": other(to.forked_from.id, to.forked_from.title) if to.forked_from else None,
        "forks": [other(fork.id, fork.title) for fork in to.forks],
        "subagents": [info_data(agent, links) for agent in to.agents],
    }


def copied(chunk: Chunk, inherited: int) -> bool:
    """Whether a chunk holds nothing but copied messages. ``inherited``: how many the session begins with."""
    return all(seq < inherited for seq in chunk.messages or (inherited,))


def chunk_data(
    view: ChunkView, sid: str, links: Links | None = None, *, images: bool = False, limit: int | None = None
) -> dict[str, Any]:
    """A card. ``images``: they may be linked to. ``limit``: characters of each text, None for all of it."""

    def sections(found: Sequence[Section]) -> list[dict[str, Any]]:
        return [_section(section, links if images else None, limit) for section in found]

    urls = {"url": links.at(sid, view.seq), "whole_url": links.chunk(sid, view.seq, ".json")} if links else {}
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
        "steps": [{**_step(step, links), "sections": sections(step.sections)} for step in view.steps],
        **urls,
    }


def _step(step: Step, links: Links | None) -> dict[str, Any]:
    found = {
        "kind": step.kind,
        "title": step.title,
        "subtitle": step.subtitle,
        "tool": step.tool,
        "status": step.status,
        "duration_ms": step.duration_ms,
        "badges": list(step.badges),
        "message": step.message,
        "subagent": step.subagent,
    }
    if links is not None:
        found["subagent_url"] = links.session(step.subagent, ".json") if step.subagent else None
    return found


def _section(section: Section, links: Links | None, limit: int | None) -> dict[str, Any]:
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
        found["image"] |= {"url": links.image(image.sha256)} if links else {}
    if section.text:
        cut = limit is not None and len(section.text) > limit
        found["text"] = section.text[:limit] if cut else section.text
        found |= {"cut": True, "length": len(section.text)} if cut else {}
    return found
