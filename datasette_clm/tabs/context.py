"""The context view: a stacked bar a turn, a table of the same figures, and what each tool put into the context."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clm_sessions.model import Chunk, SessionInfo
from clm_sessions.render.escape import bdi, esc
from clm_sessions.store import reader
from clm_sessions.view.build import compaction
from clm_sessions.view.context import CATEGORIES, Fill, Piece, Size, fills
from clm_sessions.view.words import count, one_line
from datasette_clm import ask, loader
from datasette_clm.pages import Page as Paging
from datasette_clm.pages import page_of
from datasette_clm.safe import safe
from datasette_clm.tabs import head
from datasette_clm.tabs.touching import family
from datasette_clm.urls import Urls
from datasette_clm.visit import Answer, Missing, Page, Visit, json_body

ROWS, BARS, TOOLS = 100, 120, 40
_ORIGINS = {
    "prompt": "prompts",
    "command": "prompts",
    "bash_command": "prompts",
    "command_output": "prompts",
    "reply": "replies",
}
_OUTSIDE = ("synthetic", "system")
"""Origins of what the program wrote into the log, not into the context."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What is read of a session: recorded sizes, logged pieces, and the seqs of compactions."""

    sizes: Sequence[Size]
    pieces: Sequence[Piece]
    compactions: Sequence[int]


def answer(db: sqlite3.Connection, visit: Visit) -> Answer:
    """The context of all turns as bars, and a page of the table."""
    info = loader.session_info(db, visit.tables, visit.sid)
    if info is None:
        return Missing()
    rows = read(db, visit, info.id)
    chunks = reader.chunks(db, info.id, members=False)
    filled = fills(rows.sizes, rows.pieces, rows.compactions)
    by_chunk = {fill.chunk: fill for fill in filled}
    listed = [chunk for chunk in chunks if chunk.seq in by_chunk or chunk.kind == "compact"]
    page = page_of(range(len(listed)), ROWS, page=ask.number(visit.args.get("page")))
    shown = [listed[n] for n in page.seqs]
    prompts = _prompts(chunks)
    if visit.format == ".json":
        body = {
            **head.json_head(visit, info, "context"),
            **head.json_paging(page, visit, info, "context"),
            "peak_tokens": max((fill.tokens for fill in filled), default=None),
            "characters": totals(rows.pieces),
            "tools": [{"tool": name, "calls": n, "characters": size} for name, n, size in by_tool(rows.pieces)],
            "turns": [_data(chunk, by_chunk.get(chunk.seq), visit.urls, info.id) for chunk in shown],
        }
        return json_body(body)
    used = [name for name in CATEGORIES if any(name in fill.parts for fill in filled)]
    return Page(
        template="clm_context.html",
        page={
            **head.head(db, visit, info, "context", "Context"),
            "chart": safe(chart(listed, by_chunk, used, visit.urls, info.id)),
            "legend": [(name, CATEGORIES[name]) for name in used],
            "peak": _peak(filled, info),
            "rows": [_row(chunk, by_chunk.get(chunk.seq), prompts, visit.urls, info.id) for chunk in shown],
            "characters": [(CATEGORIES[name], f"{n:,}") for name, n in totals(rows.pieces).items()],
            "tools": [
                (safe(bdi(one_line(name, 60))), f"{n:,}", f"{size:,}") for name, n, size in by_tool(rows.pieces)[:TOOLS]
            ],
            "pager": head.pager(page, visit, info, "context", "Rows"),
            "json": _address(visit.urls, info.id, page),
        },
    )


def _address(urls: Urls, sid: str, page: Paging) -> str:
    return urls.tab(sid, "context", ".json", {"page": page.number if page.number > 1 else None})


# -- reading ----------------------------------------------------------------------------------------------------


def read(db: sqlite3.Connection, visit: Visit, sid: str) -> Rows:
    """The lengths of all that a session logged, and the sizes its replies recorded; nothing of tables that are denied."""
    pieces, first = _messages(db, sid)
    if "tool_calls" in visit.tables:
        pieces += _tools(db, visit, sid)
    pieces.sort(key=lambda piece: piece.seq)
    compactions = db.execute(
        "SELECT seq FROM messages WHERE session_id = ? AND kind = 'compact' ORDER BY seq", (sid,)
    ).fetchall()
    sizes = _sizes(db, sid, first) if "requests" in visit.tables else []
    return Rows(sizes=sizes, pieces=pieces, compactions=[row[0] for row in compactions])


def _messages(db: sqlite3.Connection, sid: str) -> tuple[list[Piece], dict[str, int]]:
    """The texts of messages by length, and the first message of each reply."""
    pieces: list[Piece] = []
    first: dict[str, int] = {}
    rows = db.execute(
        "SELECT seq, origin, kind, reply_id, length(text), length(thinking), coalesce(instr(layout, '[\"i\",'), 0) "
        "FROM messages WHERE session_id = ? AND is_sidechain = 0 ORDER BY seq",
        (sid,),
    )
    for seq, origin, kind, reply, text, thinking, image in rows:
        if reply is not None:
            first.setdefault(reply, seq)
        if origin in _OUTSIDE or kind == "compact":
            continue
        if text or image:
            pieces.append(
                Piece(seq=seq, category=_ORIGINS.get(origin, "injected"), characters=text or 0, images=int(image > 0))
            )
        if thinking:
            pieces.append(Piece(seq=seq, category="thinking", characters=thinking))
    return pieces, first


def _tools(db: sqlite3.Connection, visit: Visit, sid: str) -> list[Piece]:
    pieces: list[Piece] = []
    rows = db.execute(
        "SELECT name, message_seq, result_message_seq, length(input), length(result), "
        "coalesce(instr(result_layout, '[\"i\",'), 0) FROM tool_calls WHERE session_id = ? ORDER BY seq",
        (sid,),
    )
    families: dict[str | None, str] = {}
    for name, message, answered, given, result, image in rows:
        if name not in families:
            families[name] = family(visit.registry.describe, name)
        pieces.append(Piece(seq=message, category="calls", characters=given or 0))
        if answered is not None:
            kind = "read" if families[name] == "read" else "outputs"
            pieces.append(
                Piece(seq=answered, category=kind, characters=result or 0, tool=name or "?", images=int(image > 0))
            )
    return pieces


def _sizes(db: sqlite3.Connection, sid: str, first: Mapping[str, int]) -> list[Size]:
    rows = db.execute(
        "SELECT message_seq, chunk_seq, reply_id, coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) "
        "+ coalesce(cache_creation_tokens, 0) FROM requests WHERE session_id = ? AND chunk_seq IS NOT NULL ORDER BY seq",
        (sid,),
    )
    return [
        Size(seq=min(seq, first.get(reply, seq)), chunk=chunk, tokens=tokens)
        for seq, chunk, reply, tokens in rows
        if tokens
    ]


def totals(pieces: Sequence[Piece]) -> dict[str, int]:
    """Characters logged by category, in the order of the categories."""
    found = dict.fromkeys(CATEGORIES, 0)
    for piece in pieces:
        found[piece.category] += piece.characters
    return {name: n for name, n in found.items() if n}


def by_tool(pieces: Sequence[Piece]) -> list[tuple[str, int, int]]:
    """(tool, results, characters of them), the largest first."""
    found: dict[str, tuple[int, int]] = {}
    for piece in pieces:
        if piece.tool is not None:
            results, size = found.get(piece.tool, (0, 0))
            found[piece.tool] = results + 1, size + piece.characters
    return sorted(((name, n, size) for name, (n, size) in found.items()), key=lambda row: (-row[2], row[0]))


# -- what is shown ----------------------------------------------------------------------------------------------


def _prompts(chunks: Sequence[Chunk]) -> dict[int, str]:
    """For every chunk the prompt it belongs to."""
    found, text = {}, ""
    for chunk in chunks:
        text = chunk.preview if chunk.kind == "user" else text
        found[chunk.seq] = one_line(text, 100)
    return found


def _peak(filled: Sequence[Fill], info: SessionInfo) -> str:
    if not filled:
        return ""
    peak = max(fill.tokens for fill in filled)
    compacted = f", {info.compactions:,} compaction{'s' if info.compactions != 1 else ''}" if info.compactions else ""
    return f"Largest {peak:,} tokens, at the end {filled[-1].tokens:,}{compacted}"


def _data(chunk: Chunk, fill: Fill | None, urls: Urls, sid: str) -> dict[str, Any]:
    return {
        "chunk": chunk.seq,
        "kind": chunk.kind,
        "tokens": fill.tokens if fill else None,
        "grown": fill.grown if fill else None,
        "parts": {name: round(size) for name, size in fill.parts.items()} if fill else None,
        "context_before": chunk.context_before,
        "context_after": chunk.context_after,
        "url": urls.at(sid, chunk.seq),
    }


def _row(chunk: Chunk, fill: Fill | None, prompts: Mapping[int, str], urls: Urls, sid: str) -> dict[str, Any]:
    href = urls.at(sid, chunk.seq)
    if fill is None:
        return {"compact": compaction(chunk), "href": href, "number": chunk.seq + 1}
    parts = sorted(fill.parts.items(), key=lambda part: -part[1])
    return {
        "href": href,
        "number": chunk.seq + 1,
        "prompt": safe(esc(prompts[chunk.seq])),
        "tokens": f"{fill.tokens:,}",
        "grown": "" if fill.grown is None else f"{fill.grown:+,}".replace("-", "\u2212"),
        "parts": [
            (name, CATEGORIES[name].split(":")[0], count(round(size)))
            for name, size in parts
            if size >= fill.tokens / 100
        ],
    }


def chart(listed: Sequence[Chunk], by_chunk: Mapping[int, Fill], used: Sequence[str], urls: Urls, sid: str) -> str:
    """Stacked bars of the turns, at most ``BARS`` (of more, the fullest of each group), compactions as lines."""
    top = max((fill.tokens for fill in by_chunk.values()), default=0)
    if not top:
        return ""
    step = -(-len(listed) // BARS)
    groups = [listed[n : n + step] for n in range(0, len(listed), step)]
    width = 100 / max(len(groups), 8)
    shapes = "".join(
        _stack(group, by_chunk, used, top, (n * width, width), urls, sid) for n, group in enumerate(groups)
    )
    words = f"Context per turn, {len(by_chunk):,} turns, largest {count(top)} tokens; the table below has the figures"
    return (
        f'<figure class="clm-fill"><p class="clm-fill-top" aria-hidden="true">{count(top)} tokens</p>'
        f'<svg width="100%" height="180" role="group" aria-label="{esc(words)}">{shapes}</svg></figure>'
    )


def _stack(
    group: Sequence[Chunk],
    by_chunk: Mapping[int, Fill],
    used: Sequence[str],
    top: int,
    place: tuple[float, float],
    urls: Urls,
    sid: str,
) -> str:
    """One bar: the fullest turn of a group; a line before it where one of them was a compaction."""
    x, width = place
    fullest = max((by_chunk[c.seq] for c in group if c.seq in by_chunk), key=lambda fill: fill.tokens, default=None)
    html = ""
    if fullest is not None:
        y = 180.0
        for name in used:
            height = 176 * fullest.parts.get(name, 0.0) / top
            y -= height
            if height >= 0.3:
                html += (
                    f'<rect class="clm-fill-{name}" x="{x + width * 0.08:.2f}%" width="{width * 0.84:.2f}%" '
                    f'y="{y:.1f}" height="{height:.1f}"></rect>'
                )
        words = f"#{fullest.chunk + 1}: {fullest.tokens:,} tokens"
        html = f'<a href="{esc(urls.at(sid, fullest.chunk))}" tabindex="-1"><title>{words}</title>{html}</a>'
    if any(chunk.kind == "compact" for chunk in group):
        html += f'<rect class="clm-fill-cut" x="{x + width * 0.5 if fullest is None else x:.2f}%" width="2" y="0" height="180"></rect>'
    return html
