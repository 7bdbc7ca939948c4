"""Tidewise, third part: a file that was being written when the lights went out."""

from __future__ import annotations

from claude_log import ClaudeLog
from parts import Raw, Think
from pen import Shelf
from story_tides import CWD, FOLDER
from tools import bash, bash_fails


def write(shelf: Shelf) -> None:
    """A file from a machine that lost power: every kind of bad line, and good ones between them."""
    log = ClaudeLog(
        shelf, FOLDER, "power cut", start="2026-03-06 21:47", cwd=CWD, version="2.1.150", branch="four-harbours"
    )
    log.prompt("The lights are flickering. Quick: does the import survive a power cut?")
    log.reply(
        Think("SQLite in WAL mode survives. The import commits per file, so at worst one file is imported again."),
        Raw({"type": "redacted_thinking", "data": "c2VhbGVk"}),
        "Yes. Each table is one transaction, so the worst case is one harbour to import again.",
        bash("sqlite3 tides.db 'PRAGMA journal_mode'", "wal"),
    )
    log.lines.append(b'{"parentUuid":"9c1e","isSidechain":false,"type":"assistant","message":{"model":"claude-son\n')
    log.reply("WAL it is. Shall I pull the plug for you, to be sure?")
    log.prompt("No need, the")
    log.lines.append(b"\0" * 512 + b"\n")
    log.prompt("That was the lamp. We are back. What did we lose?")
    log.reply(
        bash_fails(
            "python -m tidewise check tides.db",
            "Traceback (most recent call last):\n  ...\nsqlite3.DatabaseError: database disk image is malformed",
            code=1,
        )
    )
    joined = len(log.lines)
    log.reply(
        "The index is damaged, the rows are not.",
        bash(
            "sqlite3 tides.db '.recover' | sqlite3 healed.db && python -m tidewise check healed.db",
            "17532 tides, 0 problems",
            seconds=6,
        ),
    )
    log.lines[joined : joined + 2] = [log.lines[joined].rstrip(b"\n") + log.lines[joined + 1]]
    log.reply(
        Raw({"type": "hologram", "of": "a lighthouse", "frames": 24}),
        "Nothing was lost: 17,532 tides, as before. I kept the broken file as `tides.broken.db`, for science.",
    )
    log.entry("mood-ring", colour="relieved", message={"note": "another unknown type, this one in the chain"})
    log.lines += [b'"a line that is only a string"\n', b"[1, 2, 3]\n"]
    log.lines.append(log.lines[0] if b'"uuid"' in log.lines[0] else log.lines[1])
    log.prompt("Good. Write that down in the README and let us call it a night.")
    log.reply("Written down. Good night.")
    log.end_turn()
    log.prompt("One more thing before")
    log.lines[-1] = log.lines[-1][:210]
    log.asked = None
    log.close()
