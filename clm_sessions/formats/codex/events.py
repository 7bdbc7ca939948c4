"""The voice for the screen: events that say something the items do not."""

from __future__ import annotations

from typing import Any

from clm_sessions.formats.codex import content
from clm_sessions.formats.codex.content import Item, word
from clm_sessions.formats.codex.thread import Thread, Told
from clm_sessions.model import Message, Place, Text, Thinking
from clm_sessions.text import trim

FACTS = frozenset(
    ("task_started", "task_complete", "turn_started", "turn_complete", "exec_command_end", "patch_apply_end",
     "mcp_tool_call_end", "collab_agent_spawn_end", "thread_name_updated", "thread_rolled_back")
)  # fmt: skip
"""Events that say how far the work has got, or more of what an item says."""
_REPEATS = frozenset(
    ("web_search_end", "image_generation_end", "view_image_tool_call", "dynamic_tool_call_request",
     "dynamic_tool_call_response", "collab_waiting_end", "collab_agent_interaction_end", "collab_close_end",
     "item_completed")
)  # fmt: skip
"""Events whose call, result or text is an item."""
_CONTEXT = frozenset(("environment_context", "user_instructions"))  # kinds of user_message in early versions


def read(thread: Thread, event: Item, place: Place, at: int | None) -> Told:
    """What an event tells."""
    kind = word(event.get("type"))
    if kind in FACTS:
        thread.heard(kind or "", event)
        return "fact"
    if kind == "token_count":
        return _count(thread, event, place, at)
    if kind == "user_message":
        return _prompt(thread, event, place, at)
    if kind == "agent_message":
        return _spoken(thread, "assistant", event.get("message"), place, at)
    if kind == "agent_reasoning":
        return _spoken(thread, "thought", event.get("text"), place, at)
    if kind == "turn_aborted":
        return _aborted(thread, event, place, at)
    if kind == "error":
        return _error(thread, event, place, at)
    if kind == "context_compacted":
        known, thread.compacted = thread.compacted, False
        return "duplicate" if known else thread.cut(event.get("message"), None, place, at)
    return "duplicate" if kind in _REPEATS else "raw"


def _count(thread: Thread, event: Item, place: Place, at: int | None) -> Told:
    """The tokens of the reply before it, if the thread's total has risen."""
    usage = thread.tokens.take(event.get("info"), continued=thread.continued)
    if usage is None:
        return "duplicate"
    total = thread.tokens.state() or [usage.input, usage.cache_read, usage.output, usage.reasoning]
    return thread.counted(usage, content.compact(total), place, at)


def _prompt(thread: Thread, event: Item, place: Place, at: int | None) -> Told:
    """A prompt a person typed, if its item did not say it."""
    text = event.get("message")
    if not isinstance(text, str):
        return "raw"
    if word(event.get("kind")) in _CONTEXT or not thread.voices.prompt_event(text):
        return "duplicate"
    given = event.get("images")
    pictures = [content.data_image(url) for url in given] if isinstance(given, list) else []
    return thread.asked((Text(text=text), *(one for one in pictures if one is not None)), text, place, at)


def _spoken(thread: Thread, speaker: str, text: Any, place: Place, at: int | None) -> Told:  # noqa: ANN401
    """What the agent says or thinks, in a rollout without items."""
    if not isinstance(text, str) or not trim(text):
        return "raw"
    if not thread.voices.event(speaker, text):
        return "duplicate"
    if speaker == "thought":
        return thread.said((Thinking(text=text),), text, place, at, what="reasoning")
    return thread.said((Text(text=text),), text, place, at)


def _aborted(thread: Thread, event: Item, place: Place, at: int | None) -> Told:
    """The turn was stopped before its end."""
    if thread.stopped:
        return "duplicate"
    thread.stopped = True
    reason = word(event.get("reason")) or "no reason given"
    return Message(
        place=place,
        role="user",
        kind="ai",
        origin="interruption",
        blocks=(Text(text=f"Turn aborted: {reason}"),),
        at=at,
        uuid=thread.names.name("aborted", reason),
    )


def _error(thread: Thread, event: Item, place: Place, at: int | None) -> Told:
    """An error the program told in the agent's place."""
    text, kind = event.get("message"), word(event.get("codex_error_info"))
    if not isinstance(text, str) or not trim(text):
        return "raw"
    return Message(
        place=place,
        role="assistant",
        kind="ai",
        origin="synthetic",
        blocks=(Text(text=text),),
        at=at,
        uuid=thread.names.name("error", text),
        detail={"api_error": kind[:200] if kind else True},
    )
