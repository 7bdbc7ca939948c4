"""What the stories are made of: pieces of a reply of the model."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pictures
from pen import Json

if TYPE_CHECKING:
    from claude_log import ClaudeLog

OPUS, SONNET, HAIKU = "claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"


def image(name: str) -> dict[str, Json]:
    """An image block with one of the kept pictures."""
    data = base64.b64encode(pictures.load(name)).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


@dataclass
class Think:
    """Reasoning; ``hidden`` keeps the signature only."""

    text: str
    hidden: bool = False


@dataclass
class Agent:
    """What a spawn call sets off: a story for the agent's own log, and where that log lies."""

    id: str
    prompt: str
    story: Callable[[ClaudeLog], None]
    place: str = "{session}/subagents/agent-{id}.jsonl"
    model: str = HAIKU
    waits: bool = True  # False: launched in the background, the result comes at once
    meta: dict[str, Json] | None = None
    named: bool = True  # False: an old version, whose result does not name the agent


@dataclass
class Tool:
    """A call and its result. ``output`` None: no result was ever written."""

    name: str
    input: dict[str, Json]
    output: Json = ""
    detail: Json = None
    error: bool = False
    seconds: float = 0.3
    agent: Agent | None = None
    during: tuple[dict[str, Json], ...] = ()  # data of progress records written while it ran
    then: str = ""  # text the tool put into the conversation (the body of a skill)
    keep_whole: str = ""  # full output, kept in the tool-results folder
    id: str = ""


@dataclass
class Raw:
    """Json other block."""

    block: dict[str, Json] = field(default_factory=dict)
