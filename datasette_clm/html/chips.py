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
