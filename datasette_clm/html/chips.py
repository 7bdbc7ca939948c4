"""The filters of a session page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clm_sessions.render.escape import bdi
from clm_sessions.view.words import one_line
from datasette_clm.loader import Loaded
from datasette_clm.safe import safe
from datasette_clm.urls import Urls

_TOOL_CHIPS = 8


def chips(loaded: Loaded, urls: Urls) -> Iterator[dict[str, Any]]:
    """The filters as links: each switches one part of the transcript on or off, and stays near the page it is on."""
    info, ask, sid = loaded.info, loaded.ask, loaded.info.id
    first = loaded.page.seqs[0] if loaded.page.number > 1 else 0
    failed = info.tool_errors
    stopped = info.interruptions + (info.unanswered if "tool_calls" in loaded.tables else 0)
    parts: list[tuple[str, str, int | None, bool]] = [
        ("prompts", "prompt" if info.prompts == 1 else "prompts", info.prompts, True),
        ("replies", "replies", None, True),
        ("tools", "tool call" if info.tool_calls == 1 else "tool calls", info.tool_calls, _calls(loaded)),
        ("thinking", "thinking", None, loaded.thinks),
        ("errors", "failed", failed or None, failed > 0 or any(chunk.status == "error" for chunk in loaded.chunks)),
        ("interrupted", "interrupted", stopped, stopped > 0),
    ]
    for part, label, count, there in parts:
        if there or part in ask.show:
            href = urls.session(sid, query=ask.toggled(show=part, chunk=first))
            yield _chip(label, count, part in ask.show, href, part)
    for n, (tool, calls, _errors) in enumerate(loaded.tools):
        if n < _TOOL_CHIPS or tool in ask.tools:
            href = urls.session(sid, query=ask.toggled(tool=tool, chunk=first))
            yield _chip(tool, calls, tool in ask.tools, href, "tool")


def _calls(loaded: Loaded) -> bool:
    return "tool_calls" in loaded.tables and loaded.info.tool_calls > 0


def _chip(label: str, count: int | None, on: bool, href: str, kind: str) -> dict[str, Any]:
    return {
        "label": safe(bdi(one_line(label, 40))),
        "count": f"{count:,}" if count else "",
        "on": on,
        "href": href,
        "kind": kind,
    }
