"""The head of a session's page: facts, and how the context filled. Data first, then its HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from clm_sessions.model import Chunk, ChunkLine, Request, SessionInfo
from clm_sessions.render.escape import bdi, esc
from clm_sessions.render.options import Options
from clm_sessions.render.when import time_html
from clm_sessions.view.words import cost, count, duration

_LEVELS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar of the context strip: the largest context (tokens) of the chunks from ``seq`` on that it stands for."""

    seq: int
    tokens: int
    compaction: bool = False


def facts(info: SessionInfo, agent: str | None = None) -> tuple[tuple[str, str], ...]:
    """What is known of a session as label and plain text; what was not recorded is left out.

    ``agent``: the label of the format, where the caller knows it.
    """
    tools = f"{info.tool_calls:,}" + (f", {info.tool_errors:,} failed" if info.tool_errors else "")
    usage = info.usage
    tokens = [
        (usage.input, "in"),
        (usage.output, "out"),
        (usage.cache_read, "cache read"),
        (usage.cache_creation, "cache written"),
    ]
    rows = [
        ("Agent", " ".join(word for word in (agent or info.agent or info.format, info.version) if word)),
        ("Model", ", ".join(info.models)),
        ("Project", info.project_name or ""),
        ("Branch", info.git_branch or ""),
        ("Prompts", f"{info.prompts:,}"),
        ("Tool calls", tools),
        ("Subagents", f"{info.subagents:,}" if info.subagents else ""),
        ("Interruptions", f"{info.interruptions:,}" if info.interruptions else ""),
        ("Compactions", f"{info.compactions:,}" if info.compactions else ""),
        ("Tokens", " · ".join(f"{count(n)} {what}" for n, what in tokens if n)),
        ("Cost", cost(info.cost_usd, info.unpriced_requests)),
        ("Duration", duration(info.duration_ms) if info.duration_ms is not None else ""),
    ]
    return tuple((label, value) for label, value in rows if value)


def session_header_html(
    info: SessionInfo,
    *,
    options: Options = Options(),  # noqa: B008 - frozen
    agent: str | None = None,
    bars: Sequence[Bar] = (),
    href: Callable[[int], str] | None = None,
    level: int = 2,
) -> str:
    """Title, facts and context strip of a session. ``href``: address of a chunk by seq (default ``#<prefix>c<seq>``)."""
    rows = [f"<div><dt>{label}</dt><dd>{bdi(value)}</dd></div>" for label, value in facts(info, agent)]
    if info.started_at is not None:
        rows.append(f"<div><dt>Started</dt><dd>{time_html(info.started_at, options.tz)}</dd></div>")
    title = bdi(info.title or info.native_id)
    strip = strip_html(bars, href or (lambda seq: f"#{options.id_prefix}c{seq}"))
    return (
        f'<div class="clm-session tex2jax_ignore mathjax_ignore"><h{level} class="clm-title">{title}</h{level}>'
        f'<dl class="clm-factlist">{"".join(rows)}</dl>{strip}</div>\n'
    )


def context_sizes(requests: Iterable[Request]) -> dict[int, int]:
    """Context in tokens (input and cache) at the last reply of each chunk, by chunk seq."""
    sizes: dict[int, int] = {}
    for request in requests:
        usage = request.usage
        if request.chunk is None or usage is None:
            continue
        size = sum(n for n in (usage.input, usage.cache_read, usage.cache_creation) if n is not None)
        if size:
            sizes[request.chunk] = size
    return sizes


def bars(chunks: Iterable[Chunk | ChunkLine], sizes: Mapping[int, int], limit: int = 120) -> tuple[Bar, ...]:
    """The context strip: a bar per chunk with a known size, at most ``limit``, and a mark per compaction."""
    single = [
        Bar(seq=chunk.seq, tokens=sizes.get(chunk.seq, 0), compaction=chunk.kind == "compact")
        for chunk in chunks
        if chunk.kind == "compact" or chunk.seq in sizes
    ]
    width = -(-len(single) // limit) or 1
    groups = (single[start : start + width] for start in range(0, len(single), width))
    return tuple(
        Bar(seq=group[0].seq, tokens=max(bar.tokens for bar in group), compaction=any(bar.compaction for bar in group))
        for group in groups
    )


def strip_html(bars: Sequence[Bar], href: Callable[[int], str]) -> str:
    """The bars as a list of links; the outline leads to the same places, so the Tab key passes over them."""
    top = max((bar.tokens for bar in bars), default=0)
    if not top:
        return ""
    rows = "".join(f'<li class="{_classes(bar, top)}">{_bar(bar, href(bar.seq))}</li>' for bar in bars)
    legend = f"Context per turn, largest {count(top)} tokens" + (
        "; marked: compacted" if any(bar.compaction for bar in bars) else ""
    )
    return f'<nav class="clm-context" aria-label="Context size per turn"><ol class="clm-strip">{rows}</ol><p>{legend}</p></nav>'


def _classes(bar: Bar, top: int) -> str:
    height = max(1, round(bar.tokens / top * _LEVELS)) if bar.tokens else 0
    return f"clm-bar clm-b{height}" + (" clm-bar-compact" if bar.compaction else "")


def _bar(bar: Bar, link: str) -> str:
    words = " ".join(
        w
        for w in (f"#{bar.seq + 1}", count(bar.tokens) if bar.tokens else "", "compacted" if bar.compaction else "")
        if w
    )
    return f'<a href="{esc(link)}" tabindex="-1" title="{words}"><span>{words}</span></a>'
