"""What both kinds of log need: ids that look drawn at random and never change, a clock, and the shelf of files."""

from __future__ import annotations

import json
import uuid
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path
from typing import Any

Json = Any  # whatever a log may hold
LETTERS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def uuid_for(key: str) -> str:
    """A version 4 UUID made of ``key`` alone."""
    return str(uuid.UUID(bytes=sha256(key.encode()).digest()[:16], version=4))


def token(prefix: str, key: str, length: int = 22) -> str:
    """An id such as ``msg_01Ab...`` made of ``key`` alone."""
    number, letters = int.from_bytes(sha256(key.encode()).digest(), "big"), []
    for _ in range(length):
        number, letter = divmod(number, len(LETTERS))
        letters.append(LETTERS[letter])
    return prefix + "".join(letters)


def milliseconds(stamp: str) -> int:
    """``2026-02-03 08:41`` (UTC) as milliseconds since the epoch."""
    return int(datetime.fromisoformat(stamp).replace(tzinfo=timezone.utc).timestamp() * 1000)


def iso(at: int) -> str:
    """Milliseconds since the epoch as the logs write time."""
    return datetime.fromtimestamp(at // 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03}Z"


def line(record: Json) -> bytes:
    """One compact JSON line."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Dice:
    """Numbers that look thrown; the same key throws the same row of numbers on every Python."""

    def __init__(self, key: str) -> None:
        self.key, self.throws = key, 0

    def fresh(self) -> str:
        """A key nobody had before."""
        self.throws += 1
        return f"{self.key}/{self.throws}"

    def between(self, low: int, high: int) -> int:
        return low + int.from_bytes(sha256(self.fresh().encode()).digest()[:6], "big") % (high - low + 1)


class Shelf:
    """The files of the demo, by path below ``logs/``, until they are written."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def put(self, path: str, data: bytes) -> None:
        if path in self.files:
            raise ValueError(f"{path} is written twice")
        self.files[path] = data

    def write(self, folder: Path) -> None:
        for path, data in self.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
