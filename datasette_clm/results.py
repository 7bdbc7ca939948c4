"""Cells of query results: columns of known names lead to the transcript, and numbers read well. None leaves a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from clm_sessions.render.ansi import plain
from clm_sessions.render.escape import bdi, esc
from clm_sessions.view.words import duration, one_line
from datasette_clm.safe import safe
from datasette_clm.urls import Urls

_SESSION = {"session_id", "parent_id", "forked_from", "subagent_id"}
_LONG = 110


def cell(row: Any, value: Any, column: str, urls: Urls) -> Markup | None:  # noqa: ANN401 - a row of either line
    """The cell of a query over a database of ours."""
    if column in _SESSION and isinstance(value, str) and value:
        return _link(urls.session(value), value)
    sid = _session_of(row)
    if column == "title" and sid is not None and isinstance(value, str | None):
        return _link(urls.session(sid), value or "untitled")
    if column == "chunk_seq" and sid is not None and isinstance(value, int) and value >= 0:
        return _link(urls.at(sid, value), f"#{value + 1}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _number(value, column)


def _number(value: float, column: str) -> Markup | None:
    if column.endswith("_ms") and 0 <= value < 1 << 53:
        return _said(duration(int(value)), f"{value:,.0f} ms")
    if column.endswith("_tokens") and isinstance(value, int):
        return _said(f"{value:,}", "tokens")
    if column == "cost_usd":
        return _said(f"${value:,.2f}", "estimated")
    return None


def _session_of(row: Any) -> str | None:  # noqa: ANN401
    try:
        value = row["session_id"]
    except (KeyError, IndexError):
        return None
    value = value.get("value") if isinstance(value, Mapping) else value
    return value if isinstance(value, str) and value else None


def _said(words: str, title: str) -> Markup:
    return safe(f'<span class="clm-num-cell" title="{esc(title)}">{esc(words)}</span>')


def _link(href: str, text: str) -> Markup:
    return safe(f'<a href="{esc(href)}">{bdi(one_line(plain(text), _LONG))}</a>')
