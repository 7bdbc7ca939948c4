"""One line of strict JSON, repaired where a writer was killed between two records (spec claude-code 2.1 and 2.2).

orjson reads the usual line when it is installed; the standard library reads all others, and all of them when it is
not. The outcome is the same: what the two disagree on (long integers, deep nesting) never takes the quick way.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

from clm_sessions.frames.decoded import Decoded
from clm_sessions.text import trim, visible

try:
    import orjson
except ImportError:  # pragma: no cover - the extra "fast" is not installed
    orjson = None  # type: ignore[assignment,unused-ignore]

BOM = b"\xef\xbb\xbf"
DEPTH = 512
"""Nested levels a record may have: below the limits of orjson (1,024) and of Python's recursion (1,000)."""
TOO_DEEP = f"nested deeper than {DEPTH} levels"
DIGITS = 4300
ATTEMPTS = 64
DOCUMENT_LIMIT = 512 << 20

_MARKS = bytes(ord("0") if 48 <= i <= 57 else ord("[") if i in b"[{" else ord(" ") for i in range(256))
_LONG = b"0" * 19
_SPACE = re.compile(r"[ \t\n\r]*")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{\[}\]]', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)


def blank(line: bytes) -> bool:
    """Whether nothing is left of the line after trimming (spec claude-code, "Trim")."""
    return not line.strip() or (line[0] != ord("{") and not trim(line.decode("utf-8", "replace")))


def decode_strict(line: bytes, *, first: bool) -> Decoded:
    """The JSON values of one line without its LF; a blank line has no value and no problem.

    ``first``: the line begins the file, so a byte order mark is dropped. Lone surrogates become U+FFFD, bytes that
    are no UTF-8 too; integers are exact, other numbers at most the largest float; of repeated keys the last wins.
    Several objects on a line are all read (a problem, but not bad). Anything left over is bad; the whole objects
    beside it are kept.
    """
    if first and line.startswith(BOM):
        line = line[3:]
    plain = _is_plain(line)
    if plain and orjson is not None:
        try:
            return Decoded(values=(orjson.loads(line),))
        except ValueError:
            pass
    if blank(line):
        return Decoded()
    if not line.strip(b"\0"):
        return Decoded(problem=f"{len(line)} NUL bytes", bad=True)
    return _Careful(_text(line), plain=plain).decoded()


def quick(line: bytes) -> Any:  # noqa: ANN401 - a JSON value
    """What ``decode_strict`` gives for the usual line: the one value that stands on it. ValueError for any other line."""
    if _is_plain(line) and orjson is not None:
        return orjson.loads(line)
    raise ValueError("it takes a closer look")


def _is_plain(line: bytes) -> bool:
    """Whether all that read JSON agree about what stands here: no number of 19 digits or more, not nested too deep."""
    marks = line.translate(_MARKS)
    return _LONG not in marks and marks.count(b"[") <= DEPTH


def document(data: bytes, *, limit: int = DOCUMENT_LIMIT) -> Decoded:
    """The one JSON value a whole file holds; more than ``limit`` bytes, or anything else, is bad."""
    if len(data) > limit:
        return Decoded(problem=f"larger than {limit} bytes", bad=True)
    found = decode_strict(data, first=True)
    if found.problem:
        return Decoded(problem=found.problem, bad=True)
    return found


def parse_args(args: str) -> Any:  # noqa: ANN401 - a JSON value
    """The value of an argument text: its JSON, or the text itself where it is none.

    The same for a text as a log gives it and as a column holds it, where U+0000 is U+2400 (decision 5).
    """
    found = decode_strict(visible(args).encode("utf-8", "replace"), first=False)
    return found.values[0] if len(found.values) == 1 and found.problem is None else args


def _text(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    if _SURROGATE.search(text):
        text = _ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], text)
    return text


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def finite(number: str) -> float:
    """The number, or the largest there is of its sign: ``1e999`` is JSON, but what Python makes of it is not."""
    value = float(number)
    return value if math.isfinite(value) else math.copysign(sys.float_info.max, value)


def _bounded(number: str) -> int:
    if len(number) > DIGITS:
        raise ValueError(f"a number has more than {DIGITS} digits")
    return int(number)


_QUICK = json.JSONDecoder(parse_constant=_no_constant, parse_float=finite)
_GUARDED = json.JSONDecoder(parse_constant=_no_constant, parse_float=finite, parse_int=_bounded)


class _Careful:
    """Reads value after value of a line; after a torn one it looks for the record behind it."""

    def __init__(self, text: str, *, plain: bool) -> None:
        self.text = text
        self.plain = plain
        self.attempts = ATTEMPTS
        self.work = 8 * len(text)
        self.stopped = 0  # how far the last reading looked
        self.broken = 0  # up to where it was sound JSON

    def decoded(self) -> Decoded:
        values: list[Any] = []
        torn: str | None = None
        at: int | None = self.skip(0)
        while at is not None and at < len(self.text):
            try:
                value, end = self.read(at)
            except (ValueError, RecursionError) as error:
                torn = torn or _reason(error)
                at = self.after_rubbish(at, found=bool(values))
            else:
                values.append(value)
                at = self.skip(end)
        if torn is None and len(values) == 1:
            return Decoded(values=tuple(values))
        whole = tuple(v for v in values if isinstance(v, dict))
        if torn is None and len(whole) == len(values):
            return Decoded(values=whole, problem=f"{len(whole)} records on one line")
        kept = f"; records kept: {len(whole)}" if whole else ""
        return Decoded(values=whole, problem=(torn or "several values on one line") + kept, bad=True)

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def read(self, at: int) -> tuple[Any, int]:
        decoder = _QUICK if self.plain else _GUARDED
        try:
            value, end = decoder.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            self.stopped = len(self.text) if error.msg.startswith("Unterminated") else error.pos
            self.broken = error.pos
            raise
        except (ValueError, RecursionError):
            self.stopped = self.broken = len(self.text)
            raise
        self.stopped = self.broken = end
        if not self.plain and too_deep(value):
            raise RecursionError
        return value, end

    def after_rubbish(self, at: int, *, found: bool) -> int | None:
        """Where to go on behind what could not be read at ``at``, or None. ``found``: something was read before it."""
        if self.text[at] in "{\0":  # a torn record or a hole may hide a whole one
            return self.next_record(at)
        # Between objects rubbish is passed over; a line that begins with it is bad as it stands.
        self.attempts -= 1
        after = self.text.find("{", at) if found and self.attempts > 0 else -1
        return None if after < 0 else after

    def next_record(self, torn: int) -> int | None:
        """Where the next whole record begins after the torn one at ``torn``, or None.

        What could begin one is tried in turn, within bounds that keep hostile lines linear. One that is torn itself
        takes the place of the one before it, if it can be read further.
        """
        at, broken = torn, self.broken
        while True:
            for start, inside in self.openings(at, broken):
                if self.attempts <= 0 or self.work <= 0:
                    return None
                if self.is_record(start, inside=inside):
                    return start
                if self.broken > broken:
                    at, broken = start, self.broken
                    break
            else:
                return None

    def openings(self, at: int, broken: int) -> Iterator[tuple[int, bool]]:
        """Each ``{"`` that may begin a record, when one was read from ``at`` and sound up to ``broken``.

        What opens inside that part belongs to it, an embedded message perhaps. But one of its strings may have been
        cut off behind a brace, and end with the first quote of the next record. And the last value may be that record,
        where a value was due when the writer was killed: then the answer has True beside it.
        """
        opened: list[int] = []
        last = (at, at)
        for token in _TOKEN.finditer(self.text, at, broken):
            start, end = token.span()
            mark = self.text[start]
            if mark == '"':
                if end - start > 2 and self.text.startswith('{"', end - 2):
                    yield end - 2, False
            elif mark in "{[":
                if not opened and start > at and self.text.startswith('{"', start):
                    yield start, False
                opened.append(start)
            elif opened:
                last = (opened.pop(), end)
        if last[0] > at and self.skip(last[1]) >= broken and self.text.startswith('{"', last[0]):
            yield last[0], True
        after = self.text.find('{"', max(broken, at + 1))
        if after >= 0:
            yield after, False

    def is_record(self, at: int, *, inside: bool) -> bool:
        """Whether a whole record stands at ``at`` on the top level: the line, or another record, follows it.

        ``inside``: it may as well be part of a torn one. Messages that records embed have a uuid and name no session.
        """
        self.attempts -= 1
        try:
            value, end = self.read(at)
        except (ValueError, RecursionError):
            return False
        finally:
            self.work -= self.stopped - at
        after = self.skip(end)
        if after < len(self.text) and not self.text.startswith('{"', after):
            return False
        if not isinstance(value, dict) or (inside and "uuid" in value and "sessionId" not in value):
            return False
        return isinstance(value.get("type"), str) and not value.keys().isdisjoint(("timestamp", "uuid", "sessionId"))


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (character {error.pos + 1})"
    if isinstance(error, RecursionError):
        return TOO_DEEP
    return f"not JSON: {error}" if "limit" not in str(error) else f"not JSON: a number has more than {DIGITS} digits"


def too_deep(value: Any) -> bool:  # noqa: ANN401 - a JSON value
    """Whether a JSON value nests deeper than ``DEPTH`` levels; then neither ``json.dumps`` nor SQLite may take it."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(DEPTH):
        if not level:
            return False
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, (dict, list))
        ]
    return bool(level)
