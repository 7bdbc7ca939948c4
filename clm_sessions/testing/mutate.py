"""Damaged logs, made by chance from good ones: bytes, lines and JSON values that stand where none should."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

WINDOW_LINES, WINDOW_BYTES = 60, 64 << 10
HOSTILE: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, -1e300, 10**30, "", " ", "\0", "\u202e<b>", "9" * 5000, "2026-13-45T99:00:00Z", "../../etc",
    [], {}, [[]], [None], [{"type": None}], {"type": "text"}, {"": []}, "\ud800",
)  # fmt: skip
_NOISE = (b"", b"\0", b"\n", b"\r\n", b"{", b'"', b"\xff\xfe", b"]}", b"\\u", b"\xef\xbb\xbf", b"null", b"\0" * 300)


def window(random: Random, data: bytes) -> bytes:
    """Some consecutive lines of a log, so that many mutations are cheap; a small log as it is."""
    lines = data.split(b"\n")
    if len(lines) <= WINDOW_LINES and len(data) <= WINDOW_BYTES:
        return data
    start = random.randrange(len(lines))
    stop, size = start, 0
    while stop < len(lines) and stop - start < WINDOW_LINES and (stop == start or size < WINDOW_BYTES):
        size += len(lines[stop])
        stop += 1
    return b"\n".join(lines[start:stop])


def mutate_lines(random: Random, data: bytes) -> bytes:
    """A log of lines with one to three damages."""
    for _ in range(random.randint(1, 3)):
        data = random.choice(_ON_LINES)(random, data)
    return data


def mutate_document(random: Random, data: bytes) -> bytes:
    """A JSON document with one to three damages: to its values, or to its bytes."""
    for _ in range(random.randint(1, 3)):
        data = (_spoil if random.random() < 0.8 else _scratch)(random, data)
    return data


def mutate_rows(random: Random, rows: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows of a database with one to three cells replaced by what SQLite may also hold there."""
    made = [list(row) for row in rows]
    for _ in range(random.randint(1, 3)):
        row = random.choice(made) if made else []
        if row:
            row[random.randrange(len(row))] = random.choice(
                (None, 0, -1, 1 << 62, 1.5, "", "\0", b"", b"\xff\x00", "x" * 5000, "{", "[]", "null", '{"a": null}')
            )
    return [tuple(row) for row in made]


def _scratch(random: Random, data: bytes) -> bytes:
    """Some bytes replaced by noise, or the end cut off."""
    start = random.randrange(len(data) + 1)
    if random.random() < 0.2:
        return data[:start]
    return data[:start] + random.choice(_NOISE) + data[start + random.choice((0, 1, 1, 40)) :]


def _shuffle(random: Random, data: bytes) -> bytes:
    """A line dropped, said twice, moved, or joined to the next."""
    lines = data.split(b"\n")
    line = lines.pop(random.randrange(len(lines)))
    for _ in range(random.choice((0, 1, 1, 2))):
        lines.insert(random.randrange(len(lines) + 1), line)
    if random.random() < 0.2 and len(lines) > 1:
        at = random.randrange(len(lines) - 1)
        lines[at : at + 2] = [lines[at] + lines[at + 1]]
    return b"\n".join(lines)


def _spoil_line(random: Random, data: bytes) -> bytes:
    """One value of one line replaced."""
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    lines[at] = _spoil(random, lines[at])
    return b"\n".join(lines)


def _spoil(random: Random, data: bytes) -> bytes:
    """JSON in which one value is dropped, swapped for another one of it, or replaced by a hostile one."""
    try:
        holder = [json.loads(data)]
    except (ValueError, RecursionError):
        return _scratch(random, data)
    places: list[tuple[Any, Any]] = []
    containers: list[Any] = [holder]
    for container in containers:
        for key in list(container) if isinstance(container, dict) else range(len(container)):
            places.append((container, key))
            if isinstance(container[key], (dict, list)):
                containers.append(container[key])
    container, key = random.choice(places)
    chance = random.random()
    if chance < 0.2 and container is not holder:
        del container[key]
    elif chance < 0.4:
        other, place = random.choice(places)
        container[key] = json.loads(json.dumps(other[place]))
    else:
        container[key] = random.choice(HOSTILE)
    return json.dumps(holder[0]).encode()


_ON_LINES: tuple[Callable[[Random, bytes], bytes], ...] = (_scratch, _shuffle, _spoil_line, _spoil_line, _spoil_line)
