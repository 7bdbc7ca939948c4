"""JSON as clm reads it: laxer than the standard, stricter in places (spec clm 2.5).

A line strict JSON accepts is read by the standard library; the parser below reads only the odd ones. It keeps no
recursion, so nesting costs memory and nothing else.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from clm_sessions.frames import Decoded
from clm_sessions.frames.strict import finite

LEVELS = 1000
"""Nested levels a line may have, the record itself included."""
DIGITS = 4300

_ODD = re.compile(r"\x00|\\u0000|\\u[dD][89a-fA-F]")
_SPACE = re.compile(r"[\x00-\x20]*")
_STRING = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u(.{4})|(.))", re.DOTALL)
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_NUMBER = re.compile(r"(?:-?[0-9]+\.?[0-9]*|-\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_WORDS: tuple[tuple[str, Any], ...] = (("null", None), ("true", True), ("false", False))


def decode(line: bytes) -> Decoded:
    """The first JSON value of a line without its LF. Bad: there is none, or something follows it."""
    text = line.decode("utf-8", "replace")
    if not _ODD.search(text) and text.count("[") + text.count("{") <= LEVELS:
        try:
            return Decoded(values=(_STRICT.decode(text),))
        except (ValueError, RecursionError):
            pass
    try:
        value, end = parse(text)
    except ValueError as error:
        return Decoded(problem=f"not JSON: {error}", bad=True)
    if end < len(text):
        ignored = f"ignored after the first value: {len(text) - end} characters"
        return Decoded(values=(value,), problem=ignored, bad=True, settled=True)
    return Decoded(values=(value,))


def parse(text: str, levels: int = LEVELS) -> tuple[Any, int]:
    """The first value and where the text goes on after it. Raises ValueError where there is none, or one too deep."""
    at = _skip(text, 1 if text.startswith("\ufeff") else 0)
    open_: list[tuple[Any, str]] = []  # containers being filled, each with the key its next value goes to
    while True:
        if text.startswith(("{", "["), at):
            if len(open_) == levels:
                raise ValueError(f"nested deeper than {levels} levels")
            value: Any = {} if text[at] == "{" else []
            at = _skip(text, at + 1)
            if not text.startswith(_end(value), at):
                key, at = _key(text, at, value)
                open_.append((value, key))
                continue
            at += 1
        else:
            value, at = _scalar(text, at)
        while open_:
            inside, key = open_.pop()
            if isinstance(inside, dict):
                inside.setdefault(key, value)
            else:
                inside.append(value)
            at = _skip(text, at)
            if text.startswith(",", at):
                key, at = _key(text, _skip(text, at + 1), inside)
                open_.append((inside, key))
                break
            if not text.startswith(_end(inside), at):
                raise ValueError(f"expected , or {_end(inside)} (character {at + 1})")
            value, at = inside, at + 1
        else:
            return value, _skip(text, at)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _end(container: object) -> str:
    return "}" if isinstance(container, dict) else "]"


def _key(text: str, at: int, container: object) -> tuple[str, int]:
    """The key at ``at`` and where its value stands; a list needs none."""
    if not isinstance(container, dict):
        return "", at
    key, at = _string(text, at)
    at = _skip(text, at)
    if not text.startswith(":", at):
        raise ValueError(f"expected : (character {at + 1})")
    return key, _skip(text, at + 1)


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if not found:
        raise ValueError(f"expected a string (character {at + 1})")
    value = found[1]
    if "\\" in value:
        value = _ESCAPE.sub(_unescape, value)
    return value.partition("\0")[0], found.end()


def _unescape(found: re.Match[str]) -> str:
    high, low, code, letter = found.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    if letter:
        if letter not in _SIMPLE:
            raise ValueError("unknown escape in a string")
        return _SIMPLE[letter]
    point = int(code, 16) if _HEX.fullmatch(code) else 0
    if 0xD800 <= point < 0xE000:
        raise ValueError("unpaired surrogate in a string")
    return chr(point)


def _scalar(text: str, at: int) -> tuple[Any, int]:
    if text.startswith('"', at):
        return _string(text, at)
    for word, value in _WORDS:
        if text.startswith(word, at):
            return value, at + len(word)
    found = _NUMBER.match(text, at)
    if not found:
        raise ValueError(f"expected a value (character {at + 1})")
    number = found[0]
    whole = number.lstrip("-").isdecimal() and len(number) <= DIGITS
    return int(number) if whole else finite(number), found.end()


def _first_wins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        values = {}
        for key, value in pairs:
            values.setdefault(key, value)
    return values


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


_STRICT = json.JSONDecoder(object_pairs_hook=_first_wins, parse_constant=_no_constant, parse_float=finite)
