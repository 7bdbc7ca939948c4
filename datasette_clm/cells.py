"""Cells of table pages that read well and lead to the transcript. ``None`` leaves a cell to Datasette."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timezone
from typing import Any

from markupsafe import Markup

from clm_sessions import times
from clm_sessions.render.ansi import plain
from clm_sessions.render.escape import bdi, esc
from clm_sessions.render.when import time_html
from clm_sessions.view.words import count, duration, one_line, size
from datasette_clm.safe import safe
from datasette_clm.urls import Urls

Row = Any
_SESSION = {"session_id", "parent_id", "forked_from", "subagent_id"}
_HEADS = {"chunks": "preview", "messages": "preview", "tool_calls": "subject", "session_files": "file"}
"""The column of a table that says in words what a row is: it opens the place in the transcript."""
_PLACES = {
    "chunks": ("seq",),
    "messages": ("chunk_seq",),
    "tool_calls": ("chunk_seq",),
    "requests": ("chunk_seq",),
    "session_files": ("first_chunk", "last_chunk"),
}
"""The columns that hold the number of a chunk, from 0; the last one says where a row stands."""
_BYTES = {"size", "bytes", "byte_length", "consumed"}
_TIMES = {"started_at", "ended_at", "at", "first_at", "last_at"}
_COUNTS = {"context_tokens", "context_before", "context_after"}
_ERRORS = {"tool_errors", "errors", "interruptions"}
_FLAGS = {"inherited", "is_sidechain", "is_meta", "is_error", "parallel", "input_is_text"}
_STATES = {"status", "state", "source_state"}
_BAD = {"error", "interrupted", "unanswered", "unreadable", "gone"}
_LONG, _PREVIEW, _TITLE, _SHOWN = 160, 110, 60, 4_096


def cell(row: Row, value: Any, column: str, table: str, urls: Urls, *, whole: bool = False) -> Markup | None:  # noqa: ANN401
    """The cell as safe HTML, or None. ``whole``: it stands on the page of its row, where long text is shown whole."""
    if isinstance(value, (bytes, bool)) or value is None or value == "":
        return _title(row, value, urls) if (table, column) == ("sessions", "title") else None
    if column.startswith("search_"):
        return safe('<span class="clm-dim-cell">as indexed</span>')
    link = _leading(row, value, column, table, urls)
    if link is not None:
        return link
    if isinstance(value, int):
        return _flag(value) if column in _FLAGS else _number(value, column)
    return _text(value, column, whole=whole) if isinstance(value, str) else None


def _leading(row: Row, value: Any, column: str, table: str, urls: Urls) -> Markup | None:  # noqa: ANN401
    """The cell as a link, if it is one of those that lead somewhere."""
    if column in _SESSION:
        return _session(value, urls)
    if column in _PLACES.get(table, ()):
        return _place(row, value, urls)
    if _HEADS.get(table) == column:
        return _head(row, str(value), table, urls)
    if column == "project_id" and isinstance(value, Mapping):
        return _link(urls.table("sessions", project_id=str(value.get("value"))), str(value.get("label")))
    if (table, column) == ("projects", "label"):
        return _link(urls.table("sessions", project_id=_column(row, "id") or ""), str(value))
    return _title(row, value, urls) if (table, column) == ("sessions", "title") else None


def _session(value: Any, urls: Urls) -> Markup | None:  # noqa: ANN401 - a key, or the key with its label
    sid, label = (value.get("value"), value.get("label")) if isinstance(value, Mapping) else (value, None)
    return _link(urls.session(str(sid)), str(label or sid), _TITLE) if sid else None


def _title(row: Row, value: Any, urls: Urls) -> Markup | None:  # noqa: ANN401 - a column value
    sid = _column(row, "id")
    return _link(urls.session(sid), str(value or "untitled")) if sid else None


def _place(row: Row, value: Any, urls: Urls) -> Markup | None:  # noqa: ANN401 - a column value
    """A chunk by the number that the transcript shows."""
    sid = _column(row, "session_id")
    if not sid or isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return safe(
        f'<a class="clm-num-cell" href="{esc(urls.at(sid, value))}" title="stored as {value}">#{value + 1:,}</a>'
    )


def _head(row: Row, value: str, table: str, urls: Urls) -> Markup | None:
    sid, seq = _column(row, "session_id"), _column(row, _PLACES[table][-1])
    return _link(urls.at(sid, int(seq)), plain(value)) if sid and seq and seq.isdecimal() else None


def _flag(value: int) -> Markup | None:
    """0 and 1 as words."""
    shown = {0: '<span class="clm-dim-cell" title="0">no</span>', 1: '<span title="1">yes</span>'}.get(value)
    return safe(shown) if shown else None


def _column(row: Row, name: str) -> str | None:
    """A column of a row by name: None if it was not selected; the key where Datasette put its label beside it."""
    try:
        value = row[name]
    except (KeyError, IndexError):
        return None
    value = value.get("value") if isinstance(value, Mapping) else value
    return None if value is None else str(value)


def _number(value: int, column: str) -> Markup | None:
    shown: str | None = None
    if column.endswith("_tokens") or column in _COUNTS:
        shown = count(value)
    elif column.endswith("_ms"):
        shown = duration(value)
    elif column in _BYTES:
        shown = size(value)
    elif column in _ERRORS and value:
        return safe(f'<span class="clm-bad-cell">{value:,}</span>')
    elif column.endswith("_ns"):
        return safe(time_html(value // 1_000_000, timezone.utc))
    return safe(f'<span class="clm-num-cell" title="{value:,}">{esc(shown)}</span>') if shown else None


def _text(value: str, column: str, *, whole: bool) -> Markup | None:
    if column in _TIMES:
        at = times.parse(value)
        return safe(f'<span class="clm-num-cell">{time_html(at, timezone.utc)}</span>') if at is not None else None
    if column in _STATES and value in _BAD:
        return safe(f'<span class="clm-bad-cell">{esc(value)}</span>')
    if column == "models":
        return _names(value)
    if whole:
        return None
    if len(value) <= _LONG and "\n" not in value:
        return safe(bdi(plain(value)))
    more = "" if len(value) <= _SHOWN else f"\n… {len(value):,} characters in all"
    return safe(
        f'<details class="clm-text-cell"><summary>{bdi(one_line(plain(value[:_SHOWN]), _PREVIEW))}</summary>'
        f'<pre dir="auto">{esc(plain(value[:_SHOWN]) + more)}</pre></details>'
    )


def _names(value: str) -> Markup | None:
    try:
        names = json.loads(value)
    except ValueError:
        return None
    return safe(", ".join(bdi(str(name)) for name in names)) if isinstance(names, list) else None


def _link(href: str, text: str, limit: int = _PREVIEW) -> Markup:
    return safe(f'<a href="{esc(href)}">{bdi(one_line(text, limit))}</a>')
