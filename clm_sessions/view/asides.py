"""Steps that are neither reply nor tool: thinking, interruptions, notices, teammates, added context, side entries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clm_sessions.model import Message, Text, Thinking, ToolResult
from clm_sessions.view.blocks import block_section, content_sections
from clm_sessions.view.model import Section, Step
from clm_sessions.view.words import one_line, plural

_TAG = re.compile(r"<([a-z][a-z-]{0,40})>([^<]{1,2000})</\1>")
_PEEK = 20_000


def thinking(seq: int, block: Thinking) -> Step:
    """Thinking, folded; a log that keeps only its signature gives a line without text."""
    if not block.text.strip():
        return Step(kind="thinking", title="Thinking", subtitle="text not in the log", message=seq)
    return Step(
        kind="thinking",
        title="Thinking",
        subtitle=one_line(block.text),
        sections=(Section(kind="markdown", text=block.text),),
        message=seq,
    )


def interruption(seq: int, message: Message) -> Step:
    """A person stopped the agent."""
    return Step(kind="interruption", title="Interrupted", subtitle=one_line(message.display, 200), message=seq)


def notice(seq: int, message: Message) -> Step:
    """Text the program wrote in the assistant's place: an API error, or a placeholder."""
    text = message.display
    long = (Section(kind="text", text=text),) if len(text) > 200 or "\n" in text.strip() else ()
    return Step(kind="notice", title="From the program", subtitle=one_line(text), sections=long, message=seq)


def notification(seq: int, message: Message) -> Step:
    """Word from a task in the background: nobody typed it."""
    text = message.joined or message.display
    tags = tuple(_TAG.findall(text[:_PEEK]))
    known = dict(tags)
    logged = Section(kind="text", text=text, title="As logged" if tags else None, folded=bool(tags))
    return Step(
        kind="notification",
        title="Background task",
        subtitle=one_line(known.get("summary") or message.display or text),
        badges=(one_line(known["status"], 40),) if known.get("status") else (),
        sections=((Section(kind="key_values", rows=tags),) if tags else ()) + (logged,),
        message=seq,
    )


def teammate(seq: int, message: Message) -> Step:
    """Messages from other agents of the team; ``detail["teammates"]`` holds their id, summary and text."""
    letters = listed(message, "teammates")
    names = ", ".join(dict.fromkeys(str(one["id"]) for one in letters if one.get("id")))
    summary = next((str(one["summary"]) for one in letters if one.get("summary")), "")
    bodies = [str(one["text"]) for one in letters if one.get("text")]
    text = message.joined or message.display
    logged = Section(kind="text", text=text, title="As logged" if bodies else None, folded=bool(bodies))
    return Step(
        kind="teammate",
        title=f"Teammate {one_line(names, 60)}".rstrip(),
        subtitle=one_line(summary or (bodies or [message.display])[0]),
        sections=(*(Section(kind="markdown", text=body) for body in bodies), logged),
        message=seq,
    )


def injected(seq: int, message: Message) -> Step:
    """Text the program added for the agent: a reminder, the body of a skill."""
    text = message.joined
    return Step(
        kind="injected",
        title="Added by the program",
        subtitle=one_line(text),
        sections=(Section(kind="text", text=text),),
        message=seq,
    )


def sidechain(messages: Mapping[int, Message]) -> Iterator[Step]:
    """Entries of an agent that were logged in the main log, as one folded step."""
    if messages:
        yield Step(
            kind="sidechain",
            title="Side conversation",
            subtitle=one_line(next((m.display for m in messages.values() if m.display.strip()), "")),
            badges=(plural(len(messages), "message"),),
            sections=tuple(s for message in messages.values() for s in _entry(message)),
            message=next(iter(messages)),
        )


def _entry(message: Message) -> Iterator[Section]:
    who = message.model or message.role
    for block in message.blocks:
        if isinstance(block, Text):
            yield Section(kind="markdown", text=block.text, title=who)
        elif isinstance(block, ToolResult):
            yield from content_sections(block.content, title=f"{who}: result")
        else:
            yield block_section(block)


def listed(message: Message, name: str) -> list[Mapping[str, Any]]:
    """The objects of a list in the detail of a message; empty if there is none."""
    values = message.detail.get(name) if isinstance(message.detail, Mapping) else None
    return [one for one in values if isinstance(one, Mapping)] if isinstance(values, list) else []


def cut(message: Message) -> Section | None:
    """A note where the program that wrote the log cut the text (``detail["cut"]``)."""
    if isinstance(message.detail, Mapping) and message.detail.get("cut") is True:
        return Section(kind="note", text="The log holds only the beginning of this text: the agent cut it.")
    return None
