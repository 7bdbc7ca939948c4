"""Where a thread stands while it is read: turn, model, current reply, what waits for its other half.

A reply is all that the agent says and calls up to the next count of tokens that is new, or to the next prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Any

from clm_sessions.formats.codex.content import Item, word
from clm_sessions.formats.codex.names import Names
from clm_sessions.formats.codex.sniff import LONGEST, Origin
from clm_sessions.formats.codex.tokens import Tokens
from clm_sessions.formats.codex.voices import Voices
from clm_sessions.formats.numbers import count
from clm_sessions.model import Block, Disposition, Image, Kind, Message, Place, Text, Usage

Told = Message | Disposition
"""What a record tells: a message; or, where it makes none, its disposition."""
WAITING = 64
"""Ends of calls that are remembered until the call's output comes."""
_TURNS = frozenset(("task_started", "turn_started"))
_ENDS = frozenset(("task_complete", "turn_complete"))


class Thread:
    """Makes messages with the names, the model and the reply they belong to. ``state``: what an earlier one left."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        given = state or {}
        self.model: str | None = given.get("model")
        self.names = Names(given.get("names"))
        self.tokens = Tokens(given.get("tokens"))
        self.voices = Voices(given.get("voices"))
        self.stopped: bool = given.get("stopped", False)
        self.compacted: bool = given.get("compacted", False)
        self.continued: bool = given.get("continued", False)
        self._known: bool = given.get("known", False)
        self._reply: str | None = given.get("reply")
        self._ends: dict[str, dict[str, Any]] = dict(given.get("ends", {}))

    def state(self) -> Mapping[str, Any]:
        """Small JSON."""
        return {
            "model": self.model, "names": self.names.state(), "tokens": self.tokens.state(),
            "voices": self.voices.state(), "stopped": self.stopped, "compacted": self.compacted,
            "continued": self.continued, "known": self._known, "reply": self._reply, "ends": dict(self._ends),
        }  # fmt: skip

    def begins(self, origin: Origin) -> None:
        """A thread begins: this one, or (after it) one whose history was copied."""
        self.names.thread(origin.id or "", origin.parent)
        if not self._known:
            self._known, self.continued = True, origin.parent is not None

    def turn(self, turn: str | None) -> None:
        """A turn begins, or goes on."""
        if turn is not None and self.names.turn(turn[:LONGEST]):
            self._reply, self.stopped = None, False

    def heard(self, kind: str, event: Item) -> None:
        """An event that says how far the work has got, or how a call ended."""
        if kind in _TURNS:
            self.turn(word(event.get("turn_id")))
            self._reply, self.stopped = None, False
        elif kind in _ENDS:
            self._reply = None
        else:
            self._ended(kind, event)

    def _ended(self, kind: str, event: Item) -> None:
        call, code = word(event.get("call_id")), count(event.get("exit_code"))
        told: dict[str, Any] = {}
        if kind == "exec_command_end" and code is not None:
            told["exit_code"] = code
        if event.get("success") is False or (kind == "mcp_tool_call_end" and _is_failure(event.get("result"))):
            told["failed"] = True
        if call is not None and told:
            self._ends[call[:100]] = told
            if len(self._ends) > WAITING:
                del self._ends[next(iter(self._ends))]

    def end_of(self, call: str | None) -> Mapping[str, Any]:
        """What an event said of how a call ended; asked once."""
        return self._ends.pop((call or "")[:100], {})

    def said(self, blocks: tuple[Block, ...], mark: str, place: Place, at: int | None, what: str = "reply") -> Message:
        """A part of the agent's current reply; the reply is called by its first part. ``mark`` tells it from others."""
        self.voices.working()
        name = self.names.name(what, mark)
        self._reply = self._reply or name
        return self._spoken(blocks, name, self._reply, place, at)

    def counted(self, usage: Usage, mark: str, place: Place, at: int | None) -> Message:
        """The end of the current reply and what it cost. It stands behind what it counts: a message without content.

        A count for nothing that was said here (a compaction costs, too) is part of no chunk.
        """
        name = self.names.name("count", mark)
        kind: Kind = "ai" if self._reply is not None else "hard_noise"
        reply, self._reply = self._reply or name, None
        return self._spoken((), name, reply, place, at, kind=kind, usage=usage)

    def _spoken(
        self,
        blocks: tuple[Block, ...],
        name: str,
        reply: str,
        place: Place,
        at: int | None,
        *,
        kind: Kind = "ai",
        usage: Usage | None = None,
    ) -> Message:
        return Message(
            place=place,
            role="assistant",
            kind=kind,
            origin="reply",
            blocks=blocks,
            at=at,
            uuid=name,
            model=None if self.model is None else intern(self.model),
            usage=usage,
            reply_id=reply,
        )

    def asked(self, blocks: tuple[Block, ...], text: str, place: Place, at: int | None) -> Message:
        """A prompt; ``text`` is what a person should read of it."""
        self._reply, self.stopped = None, False
        pictures = "".join(f"\0{block.sha256}" for block in blocks if isinstance(block, Image))
        return Message(
            place=place,
            role="user",
            kind="user",
            origin="prompt",
            blocks=blocks,
            text=None if text == joined(blocks) else text,
            at=at,
            uuid=self.names.name("prompt", text + pictures),
        )

    def cut(self, text: Any, detail: Any, place: Place, at: int | None) -> Message:  # noqa: ANN401 - JSON values
        """The history was replaced by a shorter one, which begins with ``text`` if that is one."""
        self._reply = None
        said = text if isinstance(text, str) else ""
        return Message(
            place=place,
            role="system",
            kind="compact",
            origin="compact_summary",
            blocks=(Text(text=said),) if said else (),
            at=at,
            uuid=self.names.name("compacted", said),
            detail=detail,
        )


def joined(blocks: tuple[Block, ...]) -> str:
    """The texts of the blocks without a separator."""
    return "".join(block.text for block in blocks if isinstance(block, Text))


def _is_failure(result: Any) -> bool:  # noqa: ANN401 - a JSON value
    if not isinstance(result, dict):
        return False
    good = result.get("Ok")
    return "Err" in result or (isinstance(good, dict) and good.get("isError") is True)
