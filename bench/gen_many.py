#!/usr/bin/env python3
"""Write seeded, made-up Claude Code logs quickly: many sessions for the query side, or one of a given shape.

    gen_many.py --messages 1000000 --out DIR            about 10,000 sessions, about 1 KB of text a message
    gen_many.py --shape chunks --mb 50 --out DIR        one session of 1,000 chunks: prompts, replies with tools
    gen_many.py --shape giant --mb 50 --out DIR         one session: one prompt, and everything else answers it

Words follow Zipf's law over a made-up vocabulary with the commonest English words on top, so that searches meet common,
middling and rare words. Same arguments, same bytes.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import accumulate
from pathlib import Path

MODELS = (
    "claude-opus-4-5-20251101",
    "claude-sonnet-4-5-20250929",
    "claude-haiku-4-5-20251001",
    "claude-sonnet-4-20250514",
)
TOOLS = (
    "Bash",
    "Read",
    "Edit",
    "Grep",
    "Write",
    "Glob",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Task",
    "mcp__db__query",
    "mcp__web__open",
)
BRANCHES = ("main", "main", "main", "dev", *(f"feature/{n:03d}" for n in range(120)))
COMMON = [
    "the",
    "of",
    "and",
    "to",
    "a",
    "in",
    "is",
    "it",
    "you",
    "that",
    "he",
    "was",
    "for",
    "on",
    "are",
    "with",
    "as",
    "his",
    "they",
    "be",
    "at",
    "one",
    "have",
    "this",
    "from",
    "by",
    "hot",
    "but",
    "some",
    "what",
    "there",
]
POOL = 6_000_000
BEGIN = datetime(2024, 6, 1, tzinfo=timezone.utc)
Record = dict[str, object]


class Words:
    """Text by slices of one pool of words, which costs next to nothing."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        syllables = [c + v for c in "bcdfghjklmnprstvwz" for v in ("a", "e", "i", "o", "u", "an", "er", "ist")]
        names = {"".join(rng.choices(syllables, k=rng.randint(2, 4))) for _ in range(40_000)}
        words = [*COMMON, *sorted(names - set(COMMON))]
        weights = list(accumulate(1 / (rank + 2) for rank in range(len(words))))
        parts, size = [], 0
        while size < POOL:
            line = rng.choices(words, cum_weights=weights, k=rng.randint(4, 18))
            parts.append(" ".join(line) + rng.choice((".\n", ".\n\n", ":\n", " {\n    ", '("", 0);\n', ", ")))
            size += len(parts[-1])
        self._pool = "".join(parts)

    def text(self, size: int) -> str:
        start = self._pool.find(" ", self._rng.randrange(len(self._pool) - size - 100)) + 1
        return self._pool[start : start + size]

    def some(self, mean: int) -> str:
        """A text whose length varies as such texts do: many short, few long."""
        return self.text(min(int(self._rng.expovariate(1 / mean)) + 20, 200_000))


class Log:
    """The lines of one session, each a reply's block, a tool result or a prompt."""

    def __init__(self, rng: random.Random, words: Words, number: int, cwd: str, at: datetime) -> None:
        self.rng, self.words, self.at = rng, words, at
        self.id = f"{number:08x}-{rng.getrandbits(16):04x}-4000-8000-{rng.getrandbits(48):012x}"
        self.base: Record = {
            "isSidechain": False,
            "userType": "external",
            "cwd": cwd,
            "sessionId": self.id,
            "version": f"2.0.{number % 30}",
        }
        self.base["gitBranch"] = rng.choice(BRANCHES)
        self.model = rng.choice(MODELS)
        self.lines: list[bytes] = []
        self.size = 0
        self._parent: str | None = None
        self._replies = 0

    def put(self, kind: str, message: Record, **more: object) -> None:
        self.at += timedelta(seconds=self.rng.randint(1, 40))
        uuid = f"{self.id[:13]}-4000-9000-{len(self.lines):012x}"
        record = {"parentUuid": self._parent, **self.base, "type": kind, "message": message, "uuid": uuid}
        self._parent = uuid
        self.add({**record, "timestamp": f"{self.at:%Y-%m-%dT%H:%M:%S}.{len(self.lines) % 1000:03d}Z", **more})

    def add(self, record: Record) -> None:
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self.lines.append(line)
        self.size += len(line)

    def prompt(self, size: int = 300) -> None:
        drawn = self.rng.random()
        text = self.words.some(size)
        if drawn < 0.03:
            text = "[Request interrupted by user]"
        elif drawn < 0.06:
            text = f"<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>{text[:40]}</command-args>"
        self.put("user", {"role": "user", "content": text})

    def reply(self, block: Record, output: int) -> None:
        self._replies += 1
        usage = {
            "input_tokens": 7,
            "cache_read_input_tokens": 20_000 + len(self.lines),
            "cache_creation_input_tokens": 300,
            "output_tokens": output,
        }
        message = {
            "id": f"msg_{self.id[:8]}{self._replies:06d}",
            "type": "message",
            "role": "assistant",
            "model": self.model,
        }
        self.put(
            "assistant",
            {**message, "content": [block], "usage": usage},
            requestId=f"req_{self.id[:8]}{self._replies:06d}",
        )

    def call(self, mean: int) -> None:
        """A tool call and its result; one in thirty fails."""
        name, failed = self.rng.choice(TOOLS), self.rng.random() < 0.03
        use = f"toolu_{self.id[:8]}{len(self.lines):06d}"
        path = f"/home/dev/src/{self.words.text(6).strip() or 'x'}/module_{self.rng.randrange(4000)}.py".replace(
            " ", "_"
        ).replace("\n", "_")
        self.reply(
            {
                "type": "tool_use",
                "id": use,
                "name": name,
                "input": {"file_path": path, "command": self.words.some(200)},
            },
            120,
        )
        result: Record = {"tool_use_id": use, "type": "tool_result", "content": self.words.some(mean)}
        self.put("user", {"role": "user", "content": [{**result, "is_error": True} if failed else result]})

    def turn(self, steps: int, result: int = 1800) -> None:
        self.prompt()
        self.answer(steps, result)

    def answer(self, steps: int, result: int = 1800) -> None:
        for _ in range(steps):
            drawn = self.rng.random()
            if drawn < 0.15:
                self.reply({"type": "thinking", "thinking": self.words.some(700), "signature": "c2ln"}, 200)
            elif drawn < 0.4:
                self.reply({"type": "text", "text": self.words.some(900)}, 180)
            else:
                self.call(result)


def many(rng: random.Random, messages: int) -> Iterator[tuple[str, Log]]:
    """Sessions until there are so many messages: mostly short, one in a few hundred long, one of 6,000 messages."""
    words = Words(rng)
    made = number = 0
    while made < messages:
        cwd = f"/home/dev/code/project-{int(rng.paretovariate(0.7)) % 60:02d}"
        log = Log(rng, words, number, cwd, BEGIN + timedelta(days=730 * rng.random()))
        wanted = 6000 if number == 5 else min(max(int(rng.lognormvariate(4.03, 0.95)), 4), messages - made)
        log.add({"type": "ai-title", "aiTitle": words.text(40).replace("\n", " "), "sessionId": log.id})
        while len(log.lines) <= wanted:
            log.turn(rng.randint(2, 16))
        made += len(log.lines) - 1  # the title is no message
        number += 1
        yield cwd, log


def shaped(rng: random.Random, shape: str, mb: float) -> Iterator[tuple[str, Log]]:
    log = Log(rng, Words(rng), 1, "/home/dev/code/big", BEGIN)
    if shape == "giant":
        log.put("user", {"role": "user", "content": log.words.text(200)})
        while log.size < mb * 1e6:
            log.answer(10, 6000)
    else:
        share = mb * 1e6 / 500
        for number in range(1, 501):
            log.put("user", {"role": "user", "content": log.words.text(200)})
            while log.size < number * share:
                log.answer(1, 6000)
    yield "/home/dev/code/big", log


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--shape", choices=("chunks", "giant"))
    parser.add_argument("--mb", type=float, default=50)
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    rng = random.Random(wanted.seed)
    logs = shaped(rng, wanted.shape, wanted.mb) if wanted.shape else many(rng, wanted.messages)
    count = size = 0
    for cwd, log in logs:
        folder = wanted.out / "projects" / cwd.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{log.id}.jsonl").write_bytes(b"".join(log.lines))
        count, size = count + len(log.lines), size + log.size
    print(json.dumps({"lines": count, "bytes": size}))


if __name__ == "__main__":
    main()
