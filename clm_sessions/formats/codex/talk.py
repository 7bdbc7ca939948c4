"""The talk of a thread: items and events to messages, with the reply each belongs to and what that reply cost.

A reply is all that the agent says and calls up to the next count of tokens that is new, or to the next prompt. The
count stands behind what it counts, so it gets a message of its own, without content, in the same reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Any

from clm_sessions.formats.codex import content, speakers
from clm_sessions.formats.codex.content import Item, number, word
from clm_sessions.formats.codex.names import Names
from clm_sessions.formats.codex.sniff import Origin
from clm_sessions.formats.codex.tokens import Tokens
from clm_sessions.formats.codex.voices import Voices
from clm_sessions.formats.text import trim
from clm_sessions.model import Block, Disposition, Image, Kind, Message, Place, Text, Thinking, ToolResult

Told = Message | Disposition
WAITING = 64
"""Ends of calls that are remembered until the call's output comes."""
_TURNS = frozenset(("task_started", "turn_started"))
_ENDS = frozenset(("task_complete", "turn_complete"))
_QUIET = frozenset(("environment_context", "user_instructions"))  # kinds of user_message events of early versions


class Talk:
    """Makes messages. Where a record makes none, its disposition is the answer."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        given = state or {}
        self.model: str | None = given.get("model")
        self._names = Names(given.get("names"))
        self._tokens = Tokens(given.get("tokens"))
        self._voices = Voices(given.get("voices"))
        self._reply: str | None = given.get("reply")
        self._continued: bool = given.get("continued", False)
        self._threads: int = given.get("threads", 0)
        self._stopped: bool = given.get("stopped", False)
        self._compacted: bool = given.get("compacted", False)
        self._ends: dict[str, dict[str, Any]] = dict(given.get("ends", {}))

    def state(self) -> Mapping[str, Any]:
        """Small JSON."""
        return {
            "model": self.model, "names": self._names.state(), "tokens": self._tokens.state(),
            "voices": self._voices.state(), "reply": self._reply, "continued": self._continued,
            "threads": self._threads, "stopped": self._stopped, "compacted": self._compacted, "ends": dict(self._ends),
        }  # fmt: skip

    # -- where the talk stands ----------------------------------------------------------------------------------

    def thread(self, origin: Origin) -> None:
        """A thread begins: this one, or (after it) the one whose history was copied."""
        self._names.thread(origin.id or "", origin.parent)
        if not self._threads:
            self._continued = origin.parent is not None
        self._threads = min(self._threads + 1, 2)

    def turn(self, turn: str | None) -> None:
        """A turn begins, or goes on."""
        if turn is not None and self._names.turn(turn):
            self._reply, self._stopped = None, False

    def heard(self, kind: str, payload: Item) -> None:
        """An event that says how far the work has got, or how a call ended."""
        if kind in _TURNS:
            self.turn(word(payload.get("turn_id")))
            self._reply, self._stopped = None, False
        elif kind in _ENDS:
            self._reply = None
        else:
            self._ended(kind, payload)

    def _ended(self, kind: str, payload: Item) -> None:
        call, told = word(payload.get("call_id")), {}
        code = number(payload.get("exit_code"))
        if kind == "exec_command_end" and code is not None:
            told["exit_code"] = code
        result = payload.get("result")
        if payload.get("success") is False or (kind == "mcp_tool_call_end" and _is_failure(result)):
            told["failed"] = True
        if call is not None and told:
            self._ends[call[:100]] = told
            if len(self._ends) > WAITING:
                del self._ends[next(iter(self._ends))]

    # -- items --------------------------------------------------------------------------------------------------

    def message(self, item: Item, place: Place, at: int | None) -> Told:
        """An item of type message: of the agent, a person, or the program."""
        role, blocks = item.get("role"), content.parts(item.get("content"))
        texts = [block.text for block in blocks if isinstance(block, Text)]
        if role == "assistant":
            joined = "".join(texts)
            if not self._voices.item("assistant", joined):
                return "duplicate"
            return self._said(blocks, joined, place, at)
        if role != "user":
            name = self._names.name(f"message {role}"[:40], "".join(texts))
            return _quiet(blocks, str(word(role) or "system")[:40], "system", name, place, at)
        reading = speakers.read(texts, others=len(texts) != len(blocks))
        return self._from_user(reading, blocks, place, at)

    def _from_user(self, reading: speakers.Reading, blocks: tuple[Block, ...], place: Place, at: int | None) -> Told:
        who, text = reading.who, reading.text
        if who == "person":
            if not self._voices.prompt_item(text):
                return "duplicate"
            return self._prompt(blocks, text, place, at)
        joined = "".join(block.text for block in blocks if isinstance(block, Text))
        name = self._names.name("message user", joined)
        if who == "aborted" and not self._stopped:
            self._stopped = True
            return Message(place=place, role="user", kind="ai", origin="interruption", blocks=blocks, text=text,
                           at=at, uuid=name)  # fmt: skip
        if who == "agent":
            return Message(place=place, role="user", kind="ai", origin="notification", blocks=blocks, at=at, uuid=name)
        if who == "shell":
            return Message(place=place, role="user", kind="system", origin="command_output", blocks=blocks, text=text,
                           at=at, uuid=name)  # fmt: skip
        if who == "unsure":
            self._voices.hold(joined)
        return _quiet(blocks, "user", "context", name, place, at)

    def _prompt(self, blocks: tuple[Block, ...], text: str, place: Place, at: int | None) -> Message:
        self._reply, self._stopped = None, False
        joined = "".join(block.text for block in blocks if isinstance(block, Text))
        pictures = "".join(f"\0{block.sha256}" for block in blocks if isinstance(block, Image))
        return Message(
            place=place,
            role="user",
            kind="user",
            origin="prompt",
            blocks=blocks,
            text=None if text == joined else text,
            at=at,
            uuid=self._names.name("prompt", text + pictures),
        )

    def agent_message(self, item: Item, place: Place, at: int | None) -> Told:
        """What another agent wrote to this one."""
        blocks = content.parts(item.get("content", item.get("message")))
        name = self._names.name("agent_message", "".join(b.text for b in blocks if isinstance(b, Text)))
        return Message(place=place, role="user", kind="ai", origin="notification", blocks=blocks, at=at, uuid=name)

    def reasoning(self, item: Item, place: Place, at: int | None) -> Told:
        """Thoughts that can be read. What is encrypted stays in the raw record."""
        thoughts = content.thoughts(item)
        if not thoughts:
            return "raw"
        if not self._voices.item("thought", *(t.text for t in thoughts)):
            return "duplicate"
        return self._said(thoughts, "\n".join(t.text for t in thoughts), place, at, what="reasoning")

    def call(self, item: Item, place: Place, at: int | None) -> Told:
        """A call of a tool."""
        use = content.call(item)
        blocks: tuple[Block, ...] = (use,)
        picture = content.encoded_image("image/png", item.get("result"))
        if picture is not None:
            blocks = (use, picture)
        # In a copy the times differ, and so may what came of a call; its id does not.
        mark = use.id or f"{use.name} {use.args or content.compact(use.input)}"
        return self._said(blocks, mark, place, at, what="call")

    def result(self, item: Item, place: Place, at: int | None) -> Told:
        """What a call gave back."""
        call = word(item.get("call_id"))
        given = item.get("output", item.get("tools"))
        found = content.outcome(given, self._ends.pop((call or "")[:100], {}))
        block = ToolResult(tool_use_id=call, content=found.content, is_error=found.failed)
        self._voices.working()
        return Message(
            place=place,
            role="tool",
            kind="ai",
            origin="tool_result",
            blocks=(block,),
            at=at,
            uuid=self._names.name("result", call or content.compact(given)),
            detail=found.detail or None,
        )

    def _said(self, blocks: tuple[Block, ...], mark: str, place: Place, at: int | None, what: str = "reply") -> Message:
        """Something of the agent's current reply; the reply is called by its first part."""
        self._voices.working()
        name = self._names.name(what, mark)
        self._reply = self._reply or name
        return Message(
            place=place,
            role="assistant",
            kind="ai",
            origin="reply",
            blocks=blocks,
            at=at,
            uuid=name,
            model=None if self.model is None else intern(self.model),
            reply_id=self._reply,
        )

    # -- events -------------------------------------------------------------------------------------------------

    def prompt_event(self, event: Item, place: Place, at: int | None) -> Told:
        """A prompt a person typed, if its item did not say it."""
        text = event.get("message")
        if not isinstance(text, str):
            return "raw"
        if event.get("kind") in _QUIET or not self._voices.prompt_event(text):
            return "duplicate"
        pictures = event.get("images")
        images = [content.data_image(url) for url in pictures] if isinstance(pictures, list) else []
        return self._prompt((Text(text=text), *(image for image in images if image is not None)), text, place, at)

    def reply_event(self, event: Item, place: Place, at: int | None) -> Told:
        """A text of the agent, in a rollout without items."""
        return self._spoken("assistant", event.get("message"), place, at)

    def thought_event(self, event: Item, place: Place, at: int | None) -> Told:
        """A thought of the agent, in a rollout without items."""
        return self._spoken("thought", event.get("text"), place, at)

    def _spoken(self, speaker: str, text: Any, place: Place, at: int | None) -> Told:  # noqa: ANN401
        if not isinstance(text, str) or not trim(text):
            return "raw"
        if not self._voices.event(speaker, text):
            return "duplicate"
        if speaker == "thought":
            return self._said((Thinking(text=text),), text, place, at, what="reasoning")
        return self._said((Text(text=text),), text, place, at)

    def aborted(self, event: Item, place: Place, at: int | None) -> Told:
        """The turn was stopped before its end."""
        if self._stopped:
            return "duplicate"
        self._stopped = True
        reason = word(event.get("reason")) or "no reason given"
        return Message(
            place=place,
            role="user",
            kind="ai",
            origin="interruption",
            blocks=(Text(text=f"Turn aborted: {reason}"),),
            at=at,
            uuid=self._names.name("aborted", reason),
        )

    def error(self, event: Item, place: Place, at: int | None) -> Told:
        """An error the program told in the agent's place."""
        text = event.get("message")
        if not isinstance(text, str) or not trim(text):
            return "raw"
        kind = event.get("codex_error_info")
        return Message(
            place=place,
            role="assistant",
            kind="ai",
            origin="synthetic",
            blocks=(Text(text=text),),
            at=at,
            uuid=self._names.name("error", text),
            detail={"api_error": kind[:200] if isinstance(kind, str) and kind else True},
        )

    def count(self, event: Item, place: Place, at: int | None) -> Told:
        """The tokens of the reply before it, if the thread's total has risen."""
        usage = self._tokens.take(event.get("info"), continued=self._continued)
        if usage is None:
            return "duplicate"
        total = self._tokens.state() or [usage.input, usage.cache_read, usage.output, usage.reasoning]
        name = self._names.name("count", content.compact(total))
        # A count for nothing that was said here (a compaction costs, too) is part of no chunk.
        kind: Kind = "ai" if self._reply is not None else "hard_noise"
        reply, self._reply = self._reply or name, None
        return Message(
            place=place,
            role="assistant",
            kind=kind,
            origin="reply",
            at=at,
            uuid=name,
            model=None if self.model is None else intern(self.model),
            usage=usage,
            reply_id=reply,
        )

    def compacted(self, payload: Item, place: Place, at: int | None) -> Message:
        """The history was replaced by a shorter one."""
        self._compacted = True
        kept = payload.get("replacement_history")
        detail = {"records": len(kept)} if isinstance(kept, list) else None
        return self._compact(payload.get("message"), detail, place, at)

    def compacted_event(self, event: Item, place: Place, at: int | None) -> Told:
        """The same, where no record says what was kept."""
        if self._compacted:
            self._compacted = False
            return "duplicate"
        return self._compact(event.get("message"), None, place, at)

    def _compact(self, text: Any, detail: Any, place: Place, at: int | None) -> Message:  # noqa: ANN401 - JSON values
        self._reply = None
        said = text if isinstance(text, str) else ""
        return Message(
            place=place,
            role="system",
            kind="compact",
            origin="compact_summary",
            blocks=(Text(text=said),) if said else (),
            at=at,
            uuid=self._names.name("compacted", said),
            detail=detail,
        )


def _quiet(blocks: tuple[Block, ...], role: str, origin: str, name: str, place: Place, at: int | None) -> Message:
    """Text for the model that nobody typed: kept, and part of no chunk."""
    return Message(place=place, role=role, kind="hard_noise", origin=origin, blocks=blocks, at=at, uuid=name)


def _is_failure(result: Any) -> bool:  # noqa: ANN401 - a JSON value
    if not isinstance(result, dict):
        return False
    good = result.get("Ok")
    return "Err" in result or (isinstance(good, dict) and good.get("isError") is True)
