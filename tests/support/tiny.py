"""Small foreign formats, whole and broken, and plugins installed the way pip leaves them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import clm_sessions
from clm_sessions.formats.base import Claim, Confidence, Dialect, Located, LogFormat, Parsed
from clm_sessions.model import Fact, Message, Text, ToolUse


class Tiny(LogFormat):
    """Lines such as ``{"say": "…"}`` in ``*.tiny``; ``*.note`` beside them. ``broken``: the method that raises for ``bad``."""

    name = label = "tiny"
    confidence = Confidence.SIGNATURE
    suffix = ".tiny"

    def __init__(self, broken: str = "", **change: Any) -> None:
        self.broken = broken
        self.dialect = TinyDialect(broken)
        for name, value in change.items():
            setattr(self, name, value)

    def boom(self, where: str, session: str | None) -> None:
        if self.broken == where and session == "bad":
            raise ValueError(f"boom in {where}")

    def locate(self, path):
        self.boom("locate", path.stem)
        if path.suffix == ".note":
            return Located(role="side", session=path.stem)
        return Located(role="main", session=path.stem) if path.suffix == self.suffix else None

    def sniff(self, located, head):
        self.boom("sniff", located.session)
        if self.broken == "sniff says yes":
            return True
        return Claim(confidence=self.confidence)

    def decode(self, line, first):
        self.boom("decode", "bad" if b"boom" in line else None)
        return super().decode(line, first)

    def reader(self, context, state=None):
        self.boom("reader", context.session)
        return TinyReader(self, context, state)

    def side(self, located, name, data):
        self.boom("side", located.session)
        return [Fact(name="note", value=data.decode(errors="replace"))]


class TinyDialect(Dialect):
    def __init__(self, broken: str) -> None:
        self.broken = broken

    def ends_work(self, call):
        if self.broken == "dialect" and call.name == "boom":
            raise ValueError("boom in dialect")
        return False


class TinyReader:
    def __init__(self, fmt: Tiny, context, state) -> None:
        self.fmt, self.session = fmt, context.session
        self.seen = (state or {}).get("seen", 0)

    def state(self):
        self.fmt.boom("state", self.session)
        return {"seen": self.seen}

    def feed(self, record, place):
        self.fmt.boom("feed", self.session)
        if self.session == "bad" and self.fmt.broken == "feed says nothing":
            return None
        if not isinstance(record, dict) or "say" not in record:
            return Parsed(disposition="raw")
        self.seen += 1
        odd = {"at": "noon", "uuid": 7}.get(self.fmt.broken) if self.session == "bad" else None
        message = Message(
            place=place,
            role="assistant" if "run" in record else "user",
            kind="ai" if "run" in record else "user",
            origin="reply" if "run" in record else "prompt",
            blocks=(
                Text(text=f"{self.seen}: {record['say']}"),
                *([ToolUse(id=None, name=record["run"], input={})] if "run" in record else []),
            ),
            **({self.fmt.broken: odd} if odd is not None else {}),
        )
        if self.session == "bad" and self.fmt.broken == "a value no column takes":
            object.__setattr__(message, "role", {"not": "a text"})
        return Parsed(disposition="message", message=message)


def write_tiny(path: Path, *says: str) -> Path:
    """A log that says these things."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"say": say}) + "\n" for say in says))
    return path


def install(site: Path, name: str, source: str, *, module: str | None = None) -> None:
    """A distribution of one module with an entry point ``name``, as it lies in site-packages."""
    module = module or name.replace("-", "_")
    site.mkdir(exist_ok=True)
    (site / f"{module}.py").write_text(source)
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[clm]\n{name} = {module}\n")


def environment(*sites: Path, **more: str) -> dict[str, str]:
    """The environment of a process that finds what is in ``sites``, and this clm-sessions."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CLM_", "XDG_", "CLAUDE_", "COV_"))}
    return {**kept, "PYTHONPATH": os.pathsep.join(map(str, [*sites, Path(clm_sessions.__file__).parents[1]])), **more}


def command(words: Iterable[object], env: dict[str, str], *, check: int | None = 0) -> subprocess.CompletedProcess[str]:
    """``clm-sessions`` as a process."""
    done = subprocess.run(
        [sys.executable, "-m", "clm_sessions", *map(str, words)],
        capture_output=True,
        text=True,
        env=env,
        timeout=120,
        check=False,
    )
    assert check is None or done.returncode == check, done.stderr
    return done
