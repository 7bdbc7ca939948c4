"""Terminal output: colours as classes, what a carriage return overwrote gone, every other escape removed.

Sequences: ECMA-48 (CSI, SGR, OSC and other control strings). A control string is removed only if it ends within
4,096 characters of its line, so that an unfinished one cannot hide the rest of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clm_sessions.render.escape import esc

Span = tuple[str, str]
"""Style (space-separated words such as ``red bold on-blue``) and text."""
_ESCAPE = re.compile(
    r"\x1b\[(?P<sgr>[0-9;:]{0,64})m"
    r"|\x1b\[(?P<erase>[012]?)K"
    r"|\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)"
    r"|\x1b[ -/]{0,4}[0-~]?"
)
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_FLAGS = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 9: "strike"}
_OFF = {22: ("bold", "dim"), 23: ("italic",), 24: ("underline",), 29: ("strike",)}
_LEVELS = (0, 95, 135, 175, 215, 255)
_ERASE = "\x1b[K"


def spans(text: str) -> Iterator[Span]:
    """The text in pieces of one style each. Linear in the length of the text."""
    style = _Style()
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n")):
        if number:
            yield "", "\n"
        pieces = list(_pieces(line, style))
        yield from _overwrite(pieces) if "\r" in line or "\b" in line else ((s, t) for s, t in pieces if t != _ERASE)


def plain(text: str) -> str:
    """The text without styles."""
    return "".join(piece for _style, piece in spans(text)) if re.search("[\x1b\r\b]", text) else text


def ansi_html(text: str) -> str:
    """The text as escaped HTML with ``clm-ansi-…`` classes."""
    if not re.search("[\x1b\r\b]", text):
        return esc(text)
    return "".join(_span(style, piece) for style, piece in spans(text))


def _span(style: str, piece: str) -> str:
    if not style:
        return esc(piece)
    classes = " ".join(f"clm-ansi-{word}" for word in style.split())
    return f'<span class="{classes}">{esc(piece)}</span>'


def _pieces(line: str, style: _Style) -> Iterator[Span]:
    at = 0
    for found in _ESCAPE.finditer(line):
        if found.start() > at:
            yield style.words, line[at : found.start()]
        at = found.end()
        if found["sgr"] is not None:
            style.apply(found["sgr"])
        elif found["erase"] in {"", "0"}:
            yield style.words, _ERASE
    if at < len(line):
        yield style.words, line[at:]


def _overwrite(pieces: list[Span]) -> Iterator[Span]:
    """One line as a terminal leaves it: CR goes to its start, BS one back, later characters replace earlier ones."""
    cells: list[Span] = []
    at = 0
    for style, piece in pieces:
        if piece == _ERASE:
            del cells[at:]
            continue
        for char in piece:
            if char == "\r":
                at = 0
            elif char == "\b":
                at = max(0, at - 1)
            else:
                cells[at : at + 1] = [(style, char)]
                at += 1
    start = 0
    for end in range(1, len(cells) + 1):
        if end == len(cells) or cells[end][0] != cells[start][0]:
            yield cells[start][0], "".join(char for _style, char in cells[start:end])
            start = end


class _Style:
    """What SGR has switched on."""

    def __init__(self) -> None:
        self._flags: set[str] = set()
        self._fg = self._bg = ""
        self._inverse = False
        self.words = ""

    def apply(self, codes: str) -> None:
        """Apply the parameters of one SGR sequence."""
        numbers = [int(code) if code.isdigit() and len(code) < 6 else 0 for code in re.split("[;:]", codes)]
        at = 0
        while at < len(numbers):
            code = numbers[at]
            if code in {38, 48} and at + 1 < len(numbers):
                colour, used = _extended(numbers[at + 1 :])
                self._set(code == 38, colour)
                at += 1 + used
            else:
                self._one(code)
                at += 1
        fg, bg = (self._bg, self._fg) if self._inverse else (self._fg, self._bg)
        if self._inverse and not bg:
            bg = "inverse"
        self.words = " ".join([*([f"on-{bg}"] if bg else [fg] if fg else []), *sorted(self._flags)])

    def _set(self, foreground: bool, colour: str) -> None:
        if foreground:
            self._fg = colour
        else:
            self._bg = colour

    def _one(self, code: int) -> None:
        if code == 0:
            self._flags, self._fg, self._bg, self._inverse = set(), "", "", False
        elif code in _FLAGS:
            self._flags.add(_FLAGS[code])
        elif code in _OFF:
            self._flags.difference_update(_OFF[code])
        elif code in {7, 27}:
            self._inverse = code == 7
        elif 30 <= code <= 39 or 90 <= code <= 97:
            self._fg = _COLOURS[code % 10] if code not in {38, 39} else ""
        elif 40 <= code <= 49 or 100 <= code <= 107:
            self._bg = _COLOURS[code % 10] if code not in {48, 49} else ""


def _extended(numbers: list[int]) -> tuple[str, int]:
    """The nearest of the eight colours for ``5;n`` or ``2;r;g;b``, and how many numbers that took."""
    if numbers[0] == 5 and len(numbers) > 1:
        return _indexed(numbers[1]), 2
    if numbers[0] == 2 and len(numbers) > 3:
        return _nearest(*numbers[1:4]), 4
    return "", len(numbers)


def _indexed(number: int) -> str:
    if number < 16:
        return _COLOURS[number % 8]
    if number < 232:
        cube = number - 16
        return _nearest(_LEVELS[cube // 36], _LEVELS[cube // 6 % 6], _LEVELS[cube % 6])
    grey = 8 + 10 * (min(number, 255) - 232)
    return _nearest(grey, grey, grey)


def _nearest(red: int, green: int, blue: int) -> str:
    low, high = min(red, green, blue), max(red, green, blue)
    if high - low < 40:
        return "white" if high > 127 else "black"
    half = (low + high) / 2
    return _COLOURS[(red > half) + 2 * (green > half) + 4 * (blue > half)]
