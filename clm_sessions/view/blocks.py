"""Content blocks as sections: what a tool gave back, and blocks nobody knows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from clm_sessions.model import Block, Image, Text, Thinking, ToolResult, ToolUse, Unknown
from clm_sessions.view.model import Section, SectionKind

_INDENT_LIMIT = 200_000
Content = str | tuple[Block, ...] | None


def content_text(content: Content) -> str:
    """A string as it is; of blocks the texts, joined by line breaks."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(block.text for block in content if isinstance(block, Text))


def json_text(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """A JSON value for reading. Large ones stay on one line, for time; too deep ones say so."""
    try:
        compact = json.dumps(value, ensure_ascii=False, default=str)
        if len(compact) > _INDENT_LIMIT:
            return compact
        return json.dumps(value, ensure_ascii=False, default=str, indent=2)
    except (ValueError, RecursionError):
        return "(nested too deeply to show; the raw record holds it)"


def json_section(value: Any, title: str | None = None) -> Section:  # noqa: ANN401 - any JSON value
    """A JSON value as code."""
    return Section(kind="code", text=json_text(value), language="json", title=title)


def content_sections(content: Content, kind: SectionKind = "terminal", title: str | None = None) -> tuple[Section, ...]:
    """Sections of a tool's result: neighbouring texts as one of ``kind``, images and other blocks after their place."""
    if content is None or isinstance(content, str):
        return (Section(kind=kind, text=content, title=title),) if content else ()
    return tuple(_sections(content, kind, title))


def _sections(blocks: tuple[Block, ...], kind: SectionKind, title: str | None) -> Iterable[Section]:
    texts: list[str] = []
    for block in (*blocks, None):
        if isinstance(block, Text):
            texts.append(block.text)
            continue
        if any(texts):
            yield Section(kind=kind, text="\n".join(texts), title=title)
        texts = []
        if block is not None:
            yield block_section(block)


def block_section(block: Block) -> Section:
    """One block as one section; unknown ones as labelled JSON."""
    if isinstance(block, Text):
        return Section(kind="markdown", text=block.text)
    if isinstance(block, Image):
        return Section(kind="image", image=block)
    if isinstance(block, Thinking):
        return Section(kind="text", text=block.text, title="Thinking")
    if isinstance(block, Unknown):
        missing = block.type == "image" and isinstance(block.data, dict) and "sha256" in block.data
        title = "An image whose file is not beside the log" if missing else f"Block of type {block.type!r}"
        return json_section(block.data, title=title)
    if isinstance(block, ToolUse):
        title = f"Call of {block.name or 'a tool'}"
        return (
            json_section(block.input, title)
            if block.args is None
            else Section(kind="code", text=block.args, title=title)
        )
    return result_section(block)


def result_section(block: ToolResult) -> Section:
    """A nested or stray tool result as one section of text."""
    text = content_text(block.content)
    if not text and not isinstance(block.content, str):
        return json_section([type(inner).__name__ for inner in block.content], title="Result made of blocks")
    return Section(kind="terminal", text=text, title="Result")
