"""The voice for the model: items of messages, thoughts, calls and results."""

from __future__ import annotations

from typing import Any

from clm_sessions.formats.codex import content, speakers
from clm_sessions.formats.codex.content import Item, word
from clm_sessions.formats.codex.thread import Thread, Told, joined
from clm_sessions.model import Block, Message, Place, Text, ToolResult

CALLS = frozenset(
    ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
     "image_generation_call")
)  # fmt: skip
RESULTS = frozenset(("function_call_output", "custom_tool_call_output", "tool_search_output"))
_OTHERS = {  # kind, origin of what neither a person nor the agent said, but belongs into the transcript
    "aborted": ("ai", "interruption"),
    "agent": ("ai", "notification"),
    "shell": ("system", "command_output"),
}


def read(thread: Thread, item: Item, place: Place, at: int | None) -> Told:
    """What an item tells."""
    kind = word(item.get("type"))
    if kind == "message":
        return _message(thread, item, place, at)
    if kind in CALLS:
        return _call(thread, item, place, at)
    if kind in RESULTS:
        return _result(thread, item, place, at)
    if kind == "reasoning":
        return _reasoning(thread, item, place, at)
    if kind == "agent_message":  # what another agent wrote to this one
        blocks = content.parts(item.get("content", item.get("message")))
        return _other(thread, "agent", blocks, None, place, at)
    return "raw"


def _message(thread: Thread, item: Item, place: Place, at: int | None) -> Told:
    role, blocks = word(item.get("role")), content.parts(item.get("content"))
    texts = [block.text for block in blocks if isinstance(block, Text)]
    said = "".join(texts)
    if role == "assistant":
        return thread.said(blocks, said, place, at) if thread.voices.item("assistant", said) else "duplicate"
    if role != "user":
        return _quiet(thread, blocks, (role or "system")[:40], "system", place, at)
    reading = speakers.read(texts, others=len(texts) != len(blocks))
    if reading.who == "person":
        new = thread.voices.prompt_item(reading.text)
        return thread.asked(blocks, reading.text, place, at) if new else "duplicate"
    if reading.who == "unsure":
        thread.voices.hold(said)
    if reading.who not in _OTHERS or (reading.who == "aborted" and thread.stopped):
        return _quiet(thread, blocks, "user", "context", place, at)
    thread.stopped = thread.stopped or reading.who == "aborted"
    text = content.status_text(reading.text) if reading.who == "agent" else reading.text
    return _other(thread, reading.who, blocks, text, place, at)


def _other(
    thread: Thread, who: str, blocks: tuple[Block, ...], text: str | None, place: Place, at: int | None
) -> Message:
    kind, origin = _OTHERS[who]
    name = thread.names.name(who, joined(blocks))
    return Message(place=place, role="user", kind=kind, origin=origin, blocks=blocks, text=text, at=at, uuid=name)  # type: ignore[arg-type]


def _quiet(thread: Thread, blocks: tuple[Block, ...], role: str, origin: str, place: Place, at: int | None) -> Message:
    """Text for the model that nobody typed: kept, and part of no chunk."""
    name = thread.names.name(f"quiet {role}", joined(blocks))
    return Message(place=place, role=role, kind="hard_noise", origin=origin, blocks=blocks, at=at, uuid=name)


def _reasoning(thread: Thread, item: Item, place: Place, at: int | None) -> Told:
    """Thoughts that can be read. What is encrypted stays in the raw record."""
    thoughts = content.thoughts(item)
    if not thoughts:
        return "raw"
    texts = [thought.text for thought in thoughts]
    if not thread.voices.item("thought", *texts):
        return "duplicate"
    return thread.said(thoughts, "\n".join(texts), place, at, what="reasoning")


def _call(thread: Thread, item: Item, place: Place, at: int | None) -> Message:
    use = content.call(item)
    picture = content.encoded_image("image/png", item.get("result"))
    # In a copy the times differ, and so may what came of a call; its id does not.
    mark = use.id or f"{use.name} {use.args or content.compact(use.input)}"
    return thread.said((use,) if picture is None else (use, picture), mark, place, at, what="call")


def _result(thread: Thread, item: Item, place: Place, at: int | None) -> Message:
    call = word(item.get("call_id"))
    given: Any = item.get("output", item.get("tools"))
    found = content.outcome(given, thread.end_of(call))
    thread.voices.working()
    return Message(
        place=place,
        role="tool",
        kind="ai",
        origin="tool_result",
        blocks=(ToolResult(tool_use_id=call, content=found.content, is_error=found.failed),),
        at=at,
        uuid=thread.names.name("result", call or content.compact(given)),
        detail=found.detail or None,
    )
