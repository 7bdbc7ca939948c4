"""The command as a process on a terminal of a given width, and in this process for a pipe."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
import unicodedata
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from clm_sessions.cli import cli

SGR = re.compile(r"\x1b\[[0-9;]*m")
BIDI = {chr(n) for n in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def environment(**more: str) -> dict[str, str]:
    """The environment without what would change an output."""
    left_out = ("CLM_", "XDG_", "CLAUDE_", "COLUMNS", "NO_COLOR", "LESS", "PAGER")
    return {**{k: v for k, v in os.environ.items() if not k.startswith(left_out)}, "TERM": "xterm-256color", **more}


def piped(*words: object, **more: Any) -> Result:
    """One run in this process, its output no terminal."""
    return CliRunner(env={"TZ": "UTC"}).invoke(cli, [str(word) for word in words], **more)


def on_terminal(width: int, *words: object, **env: str) -> str:
    """What one run writes to a terminal of that width; its line ends are LF."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    command = [sys.executable, "-m", "clm_sessions", *map(str, words)]
    with subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment(TZ="UTC", **env),
        cwd=Path(__file__).parents[2],
    ) as process:
        os.close(slave)
        seen = b""
        while data := _read(master):
            seen += data
        process.wait(timeout=60)
    os.close(master)
    return seen.decode().replace("\r\n", "\n")


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65_536)
    except OSError:  # the other end is closed
        return b""


def bare(text: str) -> str:
    """The text without our colours."""
    return SGR.sub("", text)


def strange(text: str) -> set[str]:
    """Characters that could act on a terminal or lie to the eye, our colours left out."""
    return {c for c in bare(text) if c in BIDI or (unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t")}
