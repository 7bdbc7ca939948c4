"""The card of a chunk of any kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clm_sessions.model import Chunk, ChunkContent, ChunkLine, Image, Message, Text, ToolCall
from clm_sessions.view import asides
from clm_sessions.view.blocks import block_section
from clm_sessions.view.model import ChunkView, Section, Step, ToolView
from clm_sessions.view.steps import Steps
from clm_sessions.view.words import count, one_line

_WHO = {"user": "You", "ai": "Assistant", "system": "Command output", "compact": "Context compacted"}
_SYNTHETIC = "<synthetic>"
_BASH_INPUT = ("<bash-input>", "</bash-input>")


def build(content: ChunkContent, describe: Callable[[ToolCall], ToolView]) -> ChunkView:
    """See ``clm_sessions.view.chunk_view``."""
    chunk = content.chunk
    steps: tuple[Step, ...] = ()
    sections: tuple[Section, ...] = ()
    if chunk.kind == "ai":
        steps = Steps(content, describe).all()
    else:
        sections = tuple(s for seq in chunk.messages for s in _sections(chunk.kind, content.messages[seq]))
    return ChunkView(
        seq=chunk.seq,
        number=chunk.seq + 1,
        anchor=f"c{chunk.seq}",
        kind=chunk.kind,
        who=_who(content),
        status=chunk.status,
        started_at=chunk.started_at,
        ended_at=chunk.ended_at,
        duration_ms=chunk.duration_ms,
        output_tokens=chunk.usage.output,
        summary=compaction(chunk) if chunk.kind == "compact" else one_line(chunk.preview),
        sections=sections,
        steps=steps,
        badges=_badges(chunk),
    )


def compaction(chunk: Chunk | ChunkLine) -> str:
    """``context compacted · 93k → 21k tokens``, as far as the sizes are known."""
    before, after = chunk.context_before, chunk.context_after
    if before is None:
        return "context compacted"
    sizes = f"{count(before)} → {count(after)}" if after is not None else f"from {count(before)}"
    return f"context compacted · {sizes} tokens"


def _who(content: ChunkContent) -> str:
    """Who speaks: a person in a session, but the agent that called it in the log of a subagent."""
    kind = content.chunk.kind
    if kind == "user" and content.session.role != "main":
        return "Prompt"
    return _models(content) or _WHO.get(kind, kind)


def _models(content: ChunkContent) -> str:
    if content.chunk.kind != "ai":
        return ""
    named = (content.messages[seq].model for seq in content.chunk.messages)
    return ", ".join(dict.fromkeys(model for model in named if model and model != _SYNTHETIC))


def _badges(chunk: Chunk) -> tuple[str, ...]:
    if not chunk.tool_errors:
        return ()
    return (f"{chunk.tool_errors} of {chunk.tool_calls} tools failed",)


def _sections(kind: str, message: Message) -> tuple[Section, ...]:
    if kind == "user":
        return _user(message)
    if kind == "compact":
        text = (Section(kind="markdown", text=message.display),) if message.display.strip() else ()
        return text + _others(message)
    if kind == "system":
        return (Section(kind="terminal", text=message.display), *_others(message))
    return tuple(block_section(block) for block in message.blocks)


def _user(message: Message) -> tuple[Section, ...]:
    text = message.display
    if message.origin == "bash_command":
        for tag in _BASH_INPUT:
            text = text.replace(tag, "")
        return (Section(kind="command", text=f"! {text.strip()}"), *_others(message))
    if message.command is not None:
        typed = text.strip() or f"/{message.command.name} {message.command.args or ''}".strip()
        return (Section(kind="command", text=typed), *_others(message))
    main = (Section(kind="markdown", text=text),) if text.strip() else ()
    cut = asides.cut(message)
    return main + ((cut,) if cut else ()) + _others(message) + _attachments(message) + _as_logged(message)


def _as_logged(message: Message) -> tuple[Section, ...]:
    """What was taken out of the text for reading (reminders, notices) stays within reach."""
    if message.text is None or message.text.split() == message.joined.split():
        return ()
    return (Section(kind="text", text=message.joined, title="As logged", folded=True),)


def _attachments(message: Message) -> tuple[Section, ...]:
    """Images the log names but does not hold (``detail["attachments"]``)."""
    loaded = any(isinstance(block, Image) for block in message.blocks)
    named = [] if loaded else asides.listed(message, "attachments")
    return tuple(Section(kind="image", image=_named(one)) for one in named)


def _named(one: Mapping[str, Any]) -> Image:
    size = one.get("bytes")
    return Image(
        media_type=str(one.get("media_type") or one.get("type") or "unknown kind"),
        sha256=str(one.get("sha256") or ""),
        size=size if isinstance(size, int) else 0,
    )


def _others(message: Message) -> tuple[Section, ...]:
    """Images first, then blocks of other kinds; the texts are shown elsewhere."""
    images = [block for block in message.blocks if isinstance(block, Image)]
    rest = [block for block in message.blocks if not isinstance(block, (Image, Text))]
    return tuple(block_section(block) for block in (*images, *rest))
