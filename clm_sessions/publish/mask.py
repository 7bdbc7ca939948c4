"""A session as it may be shown: every string in every value of it redacted, and whole kinds of content left out.

The rows of the published database are made of these values by the same code as those of the private one, so whatever is
worked out from a text (previews, search, files touched) is worked out from the redacted text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import is_dataclass, replace
from typing import Any

from clm_sessions.model import Chunk, Image, Message, Session, SessionInfo, Text, Thinking, ToolCall, ToolResult
from clm_sessions.redact import walked

PARTS = ("thinking", "outputs", "images", "subagents", "system")
"""What may be left out whole. The raw archive and the paths of logs always are."""
LEFT_OUT = "[left out]"
_PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
"""What may stay by choice: pixels. What else is sent as an image or a document holds text."""
_KEY, _LOOK = 20, 1_000
"""A text is known by the first characters of its line."""
_PROGRAMS = {"injected", "context", "command_output", "system", "notification"}


class Mask:
    """Makes published sessions of private ones.

    ``text`` redacts a string; ``left_out``: some of ``PARTS``; ``shown``: the keys of the sessions that are published;
    ``picture`` gives an image another name, for a hash of its bytes would tell who has it.
    """

    def __init__(
        self,
        text: Callable[[str], str],
        *,
        left_out: Collection[str] = (),
        shown: Collection[str] = (),
        picture: Callable[[str], str] = str,
    ) -> None:
        self._text = text
        self._out = frozenset(left_out)
        self._shown = frozenset(shown)
        self._picture = picture
        self._made: dict[int, tuple[Any, Any]] = {}

    def session(self, session: Session) -> Session:
        """A session as it may be shown."""
        self._made = {}
        facts = [f for f in session.facts if "outputs" not in self._out or f.name != "full_result"]
        messages = [self._message(message) for message in session.messages]
        shown = zip(session.messages, messages, strict=True)
        cut = Cut((before.display, after.display) for before, after in shown)
        title = cut.again(session.info.title)
        return replace(
            session,
            info=self._info(replace(session.info, title=title)),
            messages=messages,
            chunks=[self._chunk(chunk, cut) for chunk in session.chunks],
            tool_calls=[self._call(call) for call in session.tool_calls],
            requests=[self.value(request) for request in session.requests],
            facts=[self.value(fact) for fact in facts],
            issues=(),
            subagents=(),
        )

    def value(self, value: Any) -> Any:  # noqa: ANN401 - any value of a session
        """Any value with its strings redacted. One object gives one object, for calls and results are told by identity."""
        if isinstance(value, str):
            return self._once(value, self._text)
        if isinstance(value, Image):
            return self._image(value)
        if is_dataclass(value) and not isinstance(value, type):
            return self._fields(value)
        if isinstance(value, (dict, list)):
            return self._once(value, lambda given: walked(given, self._text))
        if isinstance(value, (tuple, frozenset)):
            return self._once(value, lambda given: type(given)(self.value(each) for each in given))
        return value

    def _once(self, value: Any, make: Callable[[Any], Any]) -> Any:  # noqa: ANN401
        held = self._made.get(id(value))
        if held is None:
            held = self._made[id(value)] = (value, make(value))
        return held[1]

    def _fields(self, value: Any) -> Any:  # noqa: ANN401
        changed: dict[str, Any] = {}
        for name in value.__dataclass_fields__:
            before = getattr(value, name)
            if before is not None and not isinstance(before, (int, float)):
                after = self.value(before)
                if after is not before:
                    changed[name] = after
        return replace(value, **changed) if changed else value

    def _info(self, info: SessionInfo) -> SessionInfo:
        """The facts of a session; what names a session that is not published is left out."""
        parent = info.parent_id if info.parent_id in self._shown else None
        masked: SessionInfo = self.value(replace(info, parent_id=parent, forked_from=None))
        return masked

    def _chunk(self, chunk: Chunk, cut: Cut) -> Chunk:
        preview = cut.again(chunk.preview) if self._tells(chunk.kind) else LEFT_OUT
        masked: Chunk = self.value(replace(chunk, preview=preview or ""))
        return masked

    def _message(self, message: Message) -> Message:
        if not self._tells(message.kind) or (
            "system" in self._out and (message.is_meta or message.origin in _PROGRAMS)
        ):
            return self._emptied(message)
        blocks = message.blocks
        if "thinking" in self._out:
            blocks = tuple(block for block in blocks if not isinstance(block, Thinking))
        if "outputs" in self._out and any(isinstance(block, ToolResult) for block in blocks):
            blocks = tuple(replace(b, content=LEFT_OUT) if isinstance(b, ToolResult) else b for b in blocks)
            message = replace(message, detail=None)
        masked: Message = self.value(message if blocks is message.blocks else replace(message, blocks=blocks))
        return masked

    def _emptied(self, message: Message) -> Message:
        masked: Message = self.value(
            replace(message, blocks=(Text(text=LEFT_OUT),), text=None, detail=None, command=None)
        )
        return masked

    def _call(self, call: ToolCall) -> ToolCall:
        if "outputs" in self._out:
            call = replace(call, result=None if call.result is None else LEFT_OUT, detail=None)
        if call.subagent_id not in self._shown:
            call = replace(call, subagent_id=None)
        masked: ToolCall = self.value(call)
        return masked

    def _image(self, image: Image) -> Any:  # noqa: ANN401
        if "images" in self._out or image.data is None or image.media_type not in _PICTURES:
            return Text(text=f"[image left out: {self._text(image.media_type)}, {image.size:,} bytes]")
        return replace(image, sha256=self._picture(image.sha256), extra=self.value(image.extra))

    def _tells(self, kind: str) -> bool:
        return "system" not in self._out or kind != "system"


class Cut:
    """Beginnings of texts on one line, made again of the redacted texts: a secret may have been cut in two.

    ``texts``: each before and after. A title or preview that is the beginning of none of them stays.
    """

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        self._texts: dict[str, str] = {}
        for before, after in texts:
            if before != after and (words := _line(before)):
                self._texts.setdefault(words[:_KEY], after)

    def again(self, beginning: str | None) -> str | None:
        """What the beginning of a text is once the text was redacted."""
        if beginning is None or not beginning.endswith("…") or len(beginning) <= _KEY:
            return beginning
        after = self._texts.get(beginning[:_KEY])
        return beginning if after is None else _line(after)[: len(beginning) - 1].rstrip() + "…"


def _line(text: str) -> str:
    return " ".join(text[:_LOOK].split())
