"""How values look as the last line of a cell: our wrapper around HTML, and the core's own values, which know no HTML."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from clm_sessions.model import Chunk, ChunkContent, Fact, Message, Request, ToolCall
from clm_sessions.render import chunk_html
from clm_sessions.render.escape import esc
from clm_sessions.render.options import Options
from clm_sessions.store.hits import Hit
from clm_sessions.view import ChunkView, Step
from clm_sessions.view.words import one_line
from jupyter_clm.cards import Describe, outside_contents
from jupyter_clm.lines import (
    call_line,
    chunk_line,
    content_line,
    fact_line,
    hit_line,
    message_line,
    request_line,
)
from jupyter_clm.snapshot import style_html

_OPTIONS = Options(max_prose=4_000, max_output=4_000, max_rows=60, budget=20_000, heading=4)


def bundle(
    value: object, html: Callable[[], str], include: Collection[str] | None, exclude: Collection[str] | None
) -> dict[str, str]:
    """The MIME bundle of a value: its ``repr``, and HTML that is only made where it is wanted."""
    wanted: dict[str, Callable[[], str]] = {"text/plain": lambda: repr(value), "text/html": html}
    return {
        mime: make()
        for mime, make in wanted.items()
        if (not include or mime in include) and (not exclude or mime not in exclude)
    }


def region(html: str, name: str) -> str:
    """Safe HTML in our style, as a region of that name; it stays out of the notebook's table of contents and mathematics."""
    return (
        f'<div class="clm-snap">{style_html()}<div class="clm-root clm-snap-body tex2jax_ignore mathjax_ignore" '
        f'role="region" aria-label="{esc(one_line(name, 120))}">{outside_contents(html)}</div></div>'
    )


def call_html(call: ToolCall, describe: Describe) -> str:
    """A tool call as a card with its result, long texts cut."""
    view = describe(call)
    step = Step(
        kind="tool",
        title=view.title if view else call.name or "unnamed tool",
        subtitle=view.subtitle if view else "",
        badges=view.badges if view else (),
        sections=view.sections if view else (),
        family=view.family if view else "",
        status=call.status,
        duration_ms=call.duration_ms,
        open=True,
        message=call.message,
        tool=call.name,
    )
    seq = call.chunk or 0
    card = ChunkView(seq=seq, number=seq + 1, anchor=f"c{seq}", kind="ai", who="Tool call", steps=(step,))
    token = hashlib.sha256(f"{call.id} {call.message}".encode("utf-8", "replace")).hexdigest()[:8]
    return region(chunk_html(card, options=replace(_OPTIONS, id_prefix=f"clm-{token}-")), "Tool call")


_LINES: Mapping[type, Callable[[Any], str]] = {
    Chunk: chunk_line, ChunkContent: content_line, Fact: fact_line, Hit: hit_line, Message: message_line,
    Request: request_line, ToolCall: call_line,
}  # fmt: skip


def teach(describe: Describe) -> None:
    """Show the values of the core in a line each, tool calls as cards, in the IPython this runs in; without one, do nothing."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type(ToolCall, lambda call: call_html(call, describe))
    for kind, line in _LINES.items():
        formatters["text/plain"].for_type(kind, lambda value, p, _cycle, line=line: p.text(line(value)))
