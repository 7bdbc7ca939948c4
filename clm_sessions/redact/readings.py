"""The ways a text may be read: as it stands, unescaped, without colours and what is not seen, percent-decoded, with broken lines joined.

A secret that was logged is often not there as one run of characters: a terminal coloured half of it, JSON wrote its
quotes with backslashes, a diff put a sign before each line. Rules look at each reading; a place found in one is mapped
back to the characters of the text itself.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_ESCAPE = re.compile(r"\\(?<!\\\\)\\*(?:u00([0-9a-fA-F]{2})|x([0-9a-fA-F]{2})|(033|[e\"'/nrtbf0]))|␛(?=\[)|\^\[(?=\[)")
_CONTROL = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "0": "\0", "e": "\x1b", "033": "\x1b"}
_UNSEEN = (
    r"\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f\xad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f␀\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U000e0000-\U000e0fff"
)
"""What a reader does not see as a character of its own: controls, format characters, marks above a letter; NUL as tables show it."""
_COLOUR = re.compile(
    r"(?:\x1b\[|\x9b)[0-9;:?]*(?:[ -/]*[@-~]|$)|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?|\x1b[@-_]"
    rf"|[{_UNSEEN}]"
)
_COLOURED = re.compile(rf"[\x1b{_UNSEEN}]")
_DISGUISED = re.compile(rf"[\\\x1b%^␛{_UNSEEN}]|&(?:#|amp;|quot;|apos;|[lg]t;|shy;)")
_NEAR = 1_000
_PERCENT = re.compile(r"%(?:25)*([2-7][0-9a-fA-F])")
_ENTITY = re.compile(r"&(?:amp;)*(?:#0{0,5}(\d{1,6});|#[xX]0{0,5}([0-9a-fA-F]{1,5});|(quot|apos|lt|gt|amp|shy);)")
_NAMED = {"quot": '"', "apos": "'", "lt": "<", "gt": ">", "amp": "&", "shy": "\xad"}
BREAK = re.compile(
    r"[ \t]*(?:[│┃║][ \t]*)?\\?\r?\n[ \t]*(?:[+\-](?![+\-])|[|>#*│┃║]|//|\d{1,6}(?:→|\t|[ \t]*[|:]))?[ \t]*"
)
"""Where a line was broken: the end of one and what stands before the next, such as the sign of a diff, a number, a frame."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as read. ``pieces``: (start here, start there, length here, length there), in order and without gaps here."""

    text: str
    pieces: tuple[list[int], list[tuple[int, int, int]]] | None = None
    parent: Reading | None = None

    def seam(self, at: int) -> bool:
        """Whether something was taken away or decoded right before a place of this reading."""
        return self.pieces is not None and self.pieces[0][bisect_right(self.pieces[0], at) - 1] == at

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where characters ``start`` to ``end`` (exclusive, not empty) of this reading stand in the text itself."""
        if self.pieces is not None:
            starts, pieces = self.pieces
            first, last = bisect_right(starts, start) - 1, bisect_right(starts, end - 1) - 1
            there, here_length, length = pieces[first]
            begin = there + (start - starts[first] if here_length == length else 0)
            there, here_length, length = pieces[last]
            finish = there + (end - starts[last] if here_length == length else length)
            start, end = begin, finish
        return self.parent.place(start, end) if self.parent is not None else (start, end)


def readings(text: str) -> tuple[Reading, Reading]:
    """The text as it stands, and with all that hides removed: the same one twice if nothing hides."""
    read = plain = Reading(text)
    if "\\" in text or "^[" in text or "␛" in text:
        read = _again(read, _ESCAPE, _unescaped)
    if "&" in read.text:
        read = _again(read, _ENTITY, _character)
    if _COLOURED.search(read.text):
        read = _again(read, _COLOUR, lambda _found: "")
    if "%" in read.text:
        read = _again(read, _PERCENT, lambda found: chr(int(found[1], 16)))
    return plain, read


def disguised(text: str) -> Iterator[tuple[int, int]]:
    """The lines, from where to where, that are read in more than one way; those that stand near each other are one."""
    begin, end = 0, -1
    while (found := _DISGUISED.search(text, max(end, 0))) is not None:
        start = text.rfind("\n", 0, found.start()) + 1
        if end < 0 or start - end > _NEAR:
            if end >= 0:
                yield begin, end
            begin = start
        end = text.find("\n", found.end())
        end = len(text) if end < 0 else end
    if end >= 0:
        yield begin, end


def joined(text: str) -> Reading:
    """A text with its broken lines joined."""
    return _again(Reading(text), BREAK, lambda _found: "")


def _again(read: Reading, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str]) -> Reading:
    """A reading with every match replaced; the same one if nothing matches."""
    parts: list[str] = []
    starts: list[int] = []
    pieces: list[tuple[int, int, int]] = []
    here = there = 0

    def add(part: str, length: int) -> None:
        nonlocal here, there
        if part:
            starts.append(here)
            pieces.append((there, len(part), length))
            parts.append(part)
        here += len(part)
        there += length

    for found in pattern.finditer(read.text):
        before = read.text[there : found.start()]
        add(before, len(before))
        add(replace(found), found.end() - found.start())
    if not there:
        return read
    rest = read.text[there:]
    add(rest, len(rest))
    return Reading("".join(parts), (starts, pieces), read) if parts else read


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    if code is not None:
        return chr(int(code, 16))
    return "\x1b" if found[3] is None else _CONTROL.get(found[3], found[3])


def _character(found: re.Match[str]) -> str:
    if found[3]:
        return _NAMED[found[3]]
    code = int(found[1]) if found[1] else int(found[2], 16)
    return chr(code) if code < 0xD800 or 0xDFFF < code <= sys.maxunicode else found[0]
