"""Everything a session page shows, read in one go and as values: HTML, JSON and Markdown are made of the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from clm_sessions.model import ChunkContent, ChunkLine, Message, SessionInfo, ToolCall, ToolResult, ToolUse
from clm_sessions.store import reader
from clm_sessions.store.relations import Relations, relations
from clm_sessions.view import ChunkView, Step, ToolView, chunk_view
from datasette_clm import within
from datasette_clm.ask import Ask
from datasette_clm.pages import Page, page_of
from datasette_clm.within import Hits

NEEDS = ("sessions", "chunks", "messages")
WANTS = ("tool_calls", "attachments", "requests", "projects", "session_tools", "ingest_issues", "sources", "raw_blocks")
Describe = Callable[[ToolCall], ToolView | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One page of a session.

    ``chunks`` are those of the whole session, ``views`` the cards of the page; ``hidden`` says by chunk seq how many steps
    the filter leaves out; ``hits`` are the places that hold the words asked for, on all pages. ``inherited`` is how many
    messages at the beginning were copied from another session, ``copied`` are the seqs of chunks that hold nothing else.
    ``tables`` may be read.
    """

    ask: Ask
    tables: frozenset[str]
    info: SessionInfo
    relations: Relations
    chunks: Sequence[ChunkLine]
    sizes: Mapping[int, int]
    tools: Sequence[tuple[str, int, int]]
    thinks: bool
    issues: int | None
    inherited: int
    page: Page
    views: Sequence[ChunkView]
    hidden: Mapping[int, int] = field(default_factory=dict)
    hits: Hits = field(default_factory=Hits)
    copied: frozenset[int] = frozenset()


def load(db: sqlite3.Connection, tables: frozenset[str], sid: str, ask: Ask, describe: Describe) -> Loaded | None:
    """The page of a session that is asked for; None if there is no such session. Reads only ``tables``."""
    info = session_info(db, tables, sid)
    if info is None:
        return None
    inherited, chunks = reader.inherited(db, sid), reader.chunk_lines(db, sid)
    wanted = selection(db, tables, sid, chunks, ask)
    hits = within.find(db, ask.q, tables, sid, set(wanted) if ask.narrows else None)
    if ask.only and ask.q:
        wanted = sorted(set(hits.chunks))
    page, hits = _turned(db, chunks, wanted, ask, hits)
    views = [chunk_view(content, describe) for content in read_contents(db, tables, info, page.seqs)]
    shown = [hits.marked(narrowed(view, ask)) for view in views]
    return Loaded(
        ask=ask,
        tables=tables,
        info=info,
        relations=relations(db, tables, info),
        chunks=chunks,
        sizes=context_sizes(db, sid) if "requests" in tables else {},
        tools=_tools(db, sid) if {"session_tools", "tool_calls"} <= tables else (),
        thinks=_thinks(db, sid),
        issues=_count(db, "ingest_issues", sid) if "ingest_issues" in tables else None,
        inherited=inherited,
        copied=reader.copied_chunks(db, sid, inherited),
        page=page,
        views=shown,
        hidden={
            v.seq: len(v.steps) - len(s.steps) for v, s in zip(views, shown, strict=True) if len(v.steps) > len(s.steps)
        },
        hits=hits,
    )


def _turned(
    db: sqlite3.Connection, chunks: Sequence[ChunkLine], wanted: Sequence[int], ask: Ask, hits: Hits
) -> tuple[Page, Hits]:
    """The page to show: that of the hit asked for, else of the chunk, else of the first hit. The hits with their place."""
    at = None if ask.page else hits.at(ask.hit, ask.chunk)
    there = hits.chunks[at] if at is not None and (ask.hit or ask.chunk is None) else ask.chunk
    page = page_of(wanted, weight=_weight(chunks), page=ask.page, chunk=there)
    here = at if at is not None else hits.at(None, page.seqs[0] if page.seqs else None)
    shown = {index for seq in page.seqs for index in hits.within(seq)[:3]} if ask.only else set()
    shown |= {here} if here is not None else set()
    return page, replace(hits, here=here, snippets=within.snippets(db, hits, sorted(shown)))


def load_chunk(
    db: sqlite3.Connection, tables: frozenset[str], sid: str, seq: int, describe: Describe
) -> tuple[SessionInfo, ChunkContent, ChunkView] | None:
    """One chunk of a session; None if there is no such session or chunk."""
    info = session_info(db, tables, sid)
    contents = read_contents(db, tables, info, [seq]) if info else []
    if info is None or not contents or contents[0].chunk.seq != seq:
        return None
    return info, contents[0], chunk_view(contents[0], describe)


def load_cards(
    db: sqlite3.Connection, tables: frozenset[str], sid: str, number: int | None, describe: Describe
) -> tuple[SessionInfo, Page, list[ChunkView]] | None:
    """One page of cards without all that stands around them."""
    info = session_info(db, tables, sid)
    if info is None:
        return None
    page = page_of(range(info.chunks), weight=_weight(reader.chunk_lines(db, sid)), page=number)
    return info, page, [chunk_view(content, describe) for content in read_contents(db, tables, info, page.seqs)]


def _weight(chunks: Sequence[ChunkLine]) -> Callable[[int], int]:
    """What a chunk brings to a page: its tool calls, a row each."""
    return lambda seq: min(chunks[seq].tool_calls, 200) if seq < len(chunks) else 0


def session_info(db: sqlite3.Connection, tables: Collection[str], sid: str) -> SessionInfo | None:
    """The facts of a session, without the project's path if that table is denied."""
    found = reader.session_infos(db, "s.id = ?", (sid,))
    if not found:
        return None
    return found[0] if "projects" in tables else replace(found[0], project=None)


def read_contents(
    db: sqlite3.Connection, tables: Collection[str], info: SessionInfo, seqs: Iterable[int]
) -> list[ChunkContent]:
    """The contents of chunks by seq (ascending), read in runs; without a trace of tools if their table is denied."""
    contents: list[ChunkContent] = []
    for _run, group in groupby(enumerate(seqs), lambda pair: pair[1] - pair[0]):
        run = [seq for _number, seq in group]
        contents += reader.contents(db, info, run[0], run[-1] + 1, images=False)
    return contents if "tool_calls" in tables else [_without_tools(content) for content in contents]


def _without_tools(content: ChunkContent) -> ChunkContent:
    stripped = {seq: _toolless(message) for seq, message in content.messages.items()}
    kept = {seq: message for seq, message in stripped.items() if message is not None}
    chunk = replace(
        content.chunk,
        messages=tuple(seq for seq in content.chunk.messages if seq in kept),
        sidechain=tuple(seq for seq in content.chunk.sidechain if seq in kept),
        tool_calls=0,
        tool_errors=0,
    )
    return replace(content, chunk=chunk, messages=kept, tool_calls=())


def _toolless(message: Message) -> Message | None:
    """A message without its tool blocks and what was noted of them; None if nothing else is in it."""
    blocks = tuple(block for block in message.blocks if not isinstance(block, (ToolUse, ToolResult)))
    if len(blocks) == len(message.blocks):
        return message
    return replace(message, blocks=blocks, detail=None, text=None) if blocks else None


# -- what of the session is shown -------------------------------------------------------------------------------


def selection(
    db: sqlite3.Connection,
    tables: Collection[str],
    sid: str,
    chunks: Sequence[ChunkLine],
    ask: Ask,
) -> list[int]:
    """The seqs of the chunks that hold the parts and tools asked for; all of them if none were."""
    if not ask.show and not ask.tools:
        return [chunk.seq for chunk in chunks]
    wanted = {chunk.seq for chunk in chunks for part in ask.show if part in _IN_CHUNK and _IN_CHUNK[part](chunk)}
    for part in ask.show:
        for table, where in _IN_ROWS.get(part, ()):
            wanted |= _seqs(db, table, where, (sid,)) if table in tables else set()
    for tool in ask.tools if "tool_calls" in tables else ():
        wanted |= _seqs(db, "tool_calls", "name = ?", (sid, tool))
    return sorted(wanted)


_IN_CHUNK: Mapping[str, Callable[[ChunkLine], bool]] = {
    "prompts": lambda chunk: chunk.kind == "user",
    "errors": lambda chunk: bool(chunk.tool_errors) or chunk.status == "error",
    "interrupted": lambda chunk: chunk.status == "interrupted",
}
_IN_ROWS: Mapping[str, Sequence[tuple[str, str]]] = {
    "replies": [("messages", "origin = 'reply' AND text IS NOT NULL")],
    "thinking": [("messages", "thinking IS NOT NULL")],
    "tools": [("tool_calls", "1")],
    "errors": [("tool_calls", "status = 'error'")],
    "interrupted": [("tool_calls", "status IN ('interrupted', 'unanswered')"), ("messages", "origin = 'interruption'")],
}
"""What a part is found by: something about the chunk, or rows of it."""


def narrowed(view: ChunkView, ask: Ask) -> ChunkView:
    """A card with the steps that were asked for. Failures asked for are open."""
    steps = view.steps
    if ask.show or ask.tools:
        steps = tuple(
            replace(step, index=index)
            for index, step in enumerate(steps)
            if step.tool in ask.tools or any(_WANTED[part](step) for part in ask.show if part in _WANTED)
        )
    if "errors" in ask.show:
        steps = tuple(replace(step, open=True) if step.status == "error" else step for step in steps)
    return view if steps == view.steps else replace(view, steps=steps)


_WANTED: Mapping[str, Callable[[Step], bool]] = {
    "replies": lambda step: step.kind == "text",
    "tools": lambda step: step.kind in {"tool", "result", "subagent"},
    "thinking": lambda step: step.kind == "thinking",
    "errors": lambda step: step.kind == "notice" or step.status == "error",
    "interrupted": lambda step: step.kind == "interruption" or step.status in {"interrupted", "unanswered"},
}


def _seqs(db: sqlite3.Connection, table: str, where: str, arguments: tuple[str, ...]) -> set[int]:
    rows = db.execute(
        f"SELECT DISTINCT chunk_seq FROM {table} WHERE session_id = ? AND {where} AND chunk_seq IS NOT NULL",  # noqa: S608 - ours
        arguments,
    )
    return {row[0] for row in rows}


# -- what stands around the cards -------------------------------------------------------------------------------


def context_sizes(db: sqlite3.Connection, sid: str) -> dict[int, int]:
    """Tokens in the context at the last reply of each chunk, by chunk seq."""
    rows = db.execute(
        "SELECT chunk_seq, coalesce(input_tokens, 0) + coalesce(cache_read_tokens, 0) + coalesce(cache_creation_tokens, 0) "
        "FROM requests WHERE session_id = ? AND chunk_seq IS NOT NULL ORDER BY seq",
        (sid,),
    )
    return {row[0]: row[1] for row in rows if row[1]}


def _tools(db: sqlite3.Connection, sid: str) -> list[tuple[str, int, int]]:
    rows = db.execute(
        "SELECT tool, calls, coalesce(errors, 0) FROM session_tools WHERE session_id = ? ORDER BY calls DESC, tool",
        (sid,),
    )
    return [(row[0], row[1], row[2]) for row in rows]


def _thinks(db: sqlite3.Connection, sid: str) -> bool:
    row = db.execute("SELECT 1 FROM messages WHERE session_id = ? AND thinking IS NOT NULL LIMIT 1", (sid,)).fetchone()
    return row is not None


def _count(db: sqlite3.Connection, table: str, sid: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {table} WHERE session_id = ?", (sid,)).fetchone()[0])  # noqa: S608 - ours
