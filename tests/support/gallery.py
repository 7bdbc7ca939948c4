"""Invented chunks that show everything the renderer can do, and a page of them to look at.

python -m tests.support.gallery OUT.html
"""

from __future__ import annotations

import hashlib
import struct
import sys
import zlib
from pathlib import Path

from clm_sessions import render
from clm_sessions.model import (
    Chunk,
    ChunkContent,
    Command,
    Context,
    Image,
    Message,
    Place,
    Request,
    SessionInfo,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    ToolUse,
    Unknown,
    Usage,
)
from clm_sessions.tools import clm_describe_tool
from clm_sessions.view import chunk_view

START = 1_772_442_840_000  # 2 March 2026, 09:14 UTC
SECOND = 1_000
AGENT = SessionInfo(
    id="claude-code:garden:agent-a7",
    native_id="garden",
    format="claude-code",
    role="subagent",
    agent_id="a7",
    parent_call="t5",
    description="check companion planting",
    agent_type="Explore",
    duration_ms=58_000,
    tool_calls=7,
    usage=Usage(output=9_400),
)
STRAY = SessionInfo(
    id="claude-code:garden:agent-b2",
    native_id="garden",
    format="claude-code",
    agent_id="b2",
    description="count the seed bags",
)
INFO = SessionInfo(
    id="claude-code:garden",
    native_id="garden-planner",
    format="claude-code",
    title="Plan the beds for spring",
    version="2.1.62",
    models=("test-model-1",),
    git_branch="main",
    project_name="garden",
    prompts=12,
    tool_calls=87,
    tool_errors=3,
    subagents=2,
    compactions=1,
    usage=Usage(input=18_200, output=41_300, cache_read=1_210_000, cache_creation=96_000),
    started_at=START,
    duration_ms=7_860_000,
    context=Context(consumption=131_000),
)


def png(width: int = 320, height: int = 160) -> bytes:
    """A striped bed seen from above."""
    rows = b""
    for y in range(height):
        pixels = (((78, 122, 62) if x // 20 % 2 else (109, 76, 48)) for x in range(width))
        rows += b"\0" + b"".join(bytes(c + (y % 9) * 3 for c in pixel) for pixel in pixels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def image(data: bytes, media_type: str = "image/png") -> Image:
    return Image(media_type=media_type, sha256=hashlib.sha256(data).hexdigest(), size=len(data), data=data)


class Builder:
    """Puts messages together to one chunk."""

    def __init__(self, seq: int, kind: str, **chunk: object) -> None:
        self.seq, self.kind, self.chunk = seq, kind, chunk
        self.messages: dict[int, Message] = {}
        self.calls: list[ToolCall] = []
        self.at = START + seq * 90 * SECOND

    def say(self, *blocks: object, role: str = "assistant", origin: str = "reply", **more: object) -> Builder:
        seq = self.seq * 1000 + len(self.messages)
        self.at += 2 * SECOND
        model = "test-model-1" if role == "assistant" else None
        self.messages[seq] = Message(
            place=Place(line=seq + 1, offset=0, length=1),
            role=role,
            kind=self.kind,  # type: ignore[arg-type]
            origin=origin,
            blocks=tuple(Text(text=b) if isinstance(b, str) else b for b in blocks),  # type: ignore[misc]
            at=self.at,
            **{"model": model, **more},  # type: ignore[arg-type]
        )
        return self

    def call(
        self,
        name: str,
        value: object,
        result: object,
        ident: str = "",
        status: str = "ok",
        ms: int = 100,
        **more: object,
    ) -> Builder:
        ident = ident or f"t{self.seq}-{len(self.calls)}"
        self.say(ToolUse(id=ident, name=name, input=value))
        asked = max(self.messages)
        answer = None
        if result is not None:
            self.say(
                ToolResult(tool_use_id=ident, content=result, is_error=status == "error"),
                role="user",
                origin="tool_result",
            )  # type: ignore[arg-type]
            answer = max(self.messages)
        self.calls.append(
            ToolCall(
                id=ident,
                name=name,
                input=value,
                status=status,  # type: ignore[arg-type]
                message=asked,
                result=result,  # type: ignore[arg-type]
                result_message=answer,
                is_error=status == "error",
                chunk=self.seq,
                duration_ms=ms if result is not None else None,
                **more,  # type: ignore[arg-type]
            )
        )
        return self

    def build(self, subagents: tuple[SessionInfo, ...] = (), side: tuple[int, ...] = ()) -> ChunkContent:
        first = next(iter(self.messages))
        main = tuple(seq for seq in self.messages if seq not in side)
        start = self.messages[first].at
        facts: dict[str, object] = {
            "preview": self.messages[first].display,
            "started_at": start,
            "ended_at": self.at,
            "duration_ms": self.at - (start or 0),
            "tool_calls": len(self.calls),
            "tool_errors": sum(call.status == "error" for call in self.calls),
            **self.chunk,
        }
        chunk = Chunk(
            seq=self.seq, kind=self.kind, key=f"{self.kind}-{self.seq}", messages=main, sidechain=side, **facts
        )  # type: ignore[arg-type]
        return ChunkContent(
            session=INFO, chunk=chunk, messages=self.messages, tool_calls=tuple(self.calls), subagents=subagents
        )


BEDS = "     1→bed,crop,year\n     2→1,kale,2025\n     3→2,beans,2025\n     4→3,,2025\n     5→4,herbs,2025\n"
PATCH = [
    {
        "oldStart": 1,
        "newStart": 1,
        "lines": [" bed,crop,year", "-1,kale,2026", "-2,beans,2026", "+2,kale,2026", "+3,beans,2026", " 4,herbs,2026"],
    }
]
TEST_OUTPUT = (
    "\x1b[1m============ test session starts ============\x1b[0m\n"
    "collected 12 items\n\ntests/test_rotation.py \x1b[32m.......\x1b[0m\x1b[31mF\x1b[0m\x1b[32m....\x1b[0m  [100%]\n\n"
    "\x1b[31m\x1b[1mE   assert rotate('kale', 4) == 1\x1b[0m\n\x1b[31mE    +  where 2 = rotate('kale', 4)\x1b[0m\n"
    "fetching 10%\rfetching 60%\rfetching 100%\n"
    "\x1b[41m FAILED \x1b[0m tests/test_rotation.py::test_wraps \x1b[33m(1 warning)\x1b[0m\n"
    "\x1b[31m1 failed\x1b[0m, \x1b[32m11 passed\x1b[0m in 0.42s"
)
REPLY = """The brassicas now move **one bed clockwise** each year. Herbs stay in bed 4.

## What changed

1. `rotate()` takes the year and wraps after bed 3.
2. `beds.csv` has the plan for 2026.

| bed | 2025 | 2026 |
|---|---|---|
| 1 | kale | - |
| 2 | beans | kale |
| 3 | - | beans |

```python
def rotate(crop: str, bed: int, year: int = 2026) -> int:
    \"\"\"The bed of a crop in a year.\"\"\"
    if crop in HERBS:
        return bed  # herbs never move
    return bed % 3 + 1
```

> Kale and beans share pests with neither.

See [the guide](https://example.org/rotation), [the plan](beds.csv) and ![a bed](https://example.org/bed.png)."""


def user() -> ChunkContent:
    prompt = (
        "Rotate the brassicas, keep the herbs where they are.\nThe plan is in `beds.csv`; the shed looks like this:"
    )
    return Builder(1, "user").say(prompt, image(png()), role="user", origin="prompt").build()


def work() -> ChunkContent:
    think = "The herbs share bed 4 with the sage, so they stay. Kale follows beans, and bed 3 has been resting since last year."
    b = Builder(2, "ai", usage=Usage(output=3_100), status="error")
    b.say(Thinking(text=think)).say(Thinking(text=""))
    b.say("I will look at the plan first, then move the beds.")
    b.call("Read", {"file_path": "garden/beds.csv"}, BEDS, detail={"file": {"numLines": 5, "startLine": 1}})
    b.call(
        "Grep",
        {"pattern": "rotate(", "path": "garden/"},
        "garden/plan.py:12\ngarden/plan.py:40",
        detail={"numFiles": 1},
    )
    b.call(
        "Edit",
        {"file_path": "garden/beds.csv"},
        "The file has been updated.",
        ms=210,
        detail={"structuredPatch": PATCH},
    )
    b.call(
        "Bash",
        {"command": "pytest -q tests/test_rotation.py", "description": "Run the rotation tests"},
        "Exit code 1\n" + TEST_OUTPUT,
        status="error",
        ms=4_800,
    )
    b.call(
        "Agent",
        {
            "description": "check companion planting",
            "prompt": "List which neighbours suit **basil**.",
            "subagent_type": "Explore",
        },
        "Basil does well beside tomatoes.",
        ident="t5",
        ms=58_000,
        detail={"totalToolUseCount": 7, "totalTokens": 9_400},
    )
    b.say(REPLY)
    return b.build(subagents=(AGENT,))


def more_tools() -> ChunkContent:
    b = Builder(4, "ai", usage=Usage(output=1_240), status="interrupted")
    todos = [
        {"content": "Move the kale", "status": "completed"},
        {"content": "Draw the watering table", "status": "in_progress"},
        {"content": "Order seed potatoes", "status": "pending"},
    ]
    b.call("TodoWrite", {"todos": todos}, "Todos have been modified successfully.")
    b.call(
        "Write",
        {
            "file_path": "garden/water.py",
            "content": "LITRES = {'kale': 4, 'beans': 3}\n\n\ndef week(beds):\n    return sum(LITRES[b] for b in beds) * 7\n",
        },
        "File created.",
    )
    b.call(
        "MultiEdit",
        {
            "file_path": "garden/plan.py",
            "edits": [
                {"old_string": "YEAR = 2025", "new_string": "YEAR = 2026"},
                {
                    "old_string": "def rotate(crop):\n    return 1",
                    "new_string": "def rotate(crop, bed):\n    return bed % 3 + 1",
                },
            ],
        },
        "Applied 2 edits.",
    )
    b.call(
        "WebSearch",
        {"query": "when to sow kale in a cold frame"},
        "Found: [Sowing kale](https://example.org/kale)",
        ms=1_900,
    )
    b.call(
        "WebFetch",
        {"url": "https://example.org/kale", "prompt": "When may it go out?"},
        "From **late April**.",
        ms=2_400,
        detail={"code": 200, "bytes": 48_210},
    )
    b.call(
        "AskUserQuestion",
        {
            "questions": [
                {
                    "question": "Which bed shall rest?",
                    "options": [
                        {"label": "Bed 3", "description": "it had beans"},
                        {"label": "Bed 1", "description": "nearest to the tap"},
                    ],
                }
            ]
        },
        "User answered: Bed 3",
        detail={"answers": {"Which bed shall rest?": "Bed 3"}},
        ms=31_000,
    )
    b.call(
        "mcp__weather__forecast",
        {"place": "Leeds", "days": 3},
        '{"days": [{"rain_mm": 4}, {"rain_mm": 0}, {"rain_mm": 11}]}',
    )
    b.call("greenhouse_vent", {"angle": 30, "schedule": {"from": "09:00", "to": "11:30"}}, "vents opened")
    b.call(
        "ExitPlanMode",
        {"plan": "# Watering plan\n\n- bed 1 on Mondays\n- bed 2 *never* in the sun"},
        "User has approved your plan.",
    )
    b.say(
        "<task-notification>\n<task-id>job1</task-id>\n<status>completed</status>\n<summary>Watering finished</summary>\n</task-notification>",
        role="user",
        origin="notification",
    )
    b.say(
        '<teammate-message teammate_id="digger" summary="Bed 2 is free">Bed 2 is free, go ahead.</teammate-message>',
        role="user",
        origin="teammate",
        detail={"teammates": [{"id": "digger", "summary": "Bed 2 is free", "text": "Bed 2 is free, **go ahead**."}]},
    )
    b.say(
        "Base directory for this skill: skills/soil\n\n# Soil tests\nUse a clean trowel.",
        role="user",
        origin="injected",
        is_meta=True,
    )
    b.say(Unknown(type="sketch", data={"type": "sketch", "strokes": [1, 2, 3]}))
    b.say(ToolResult(tool_use_id="from-before", content="a late answer"), role="user", origin="tool_result")
    b.say("API Error: 529 overloaded", origin="synthetic", model="<synthetic>")
    b.call(
        "Bash",
        {
            "command": "water --slow --bed 2 --bed 3 --until sunset --verbose --log garden/water.log",
            "run_in_background": True,
        },
        None,
        status="unanswered",
    )
    b.say("[Request interrupted by user]", role="user", origin="interruption")
    b.say("Side prompt", role="user", origin="prompt", is_sidechain=True)
    return b.build(subagents=(STRAY,), side=(max(b.messages),))


def long_output() -> ChunkContent:
    b = Builder(7, "ai", usage=Usage(output=220))
    b.call("Bash", {"command": "seq 1 90000"}, "\n".join(str(n) for n in range(90_000)), ms=900)
    b.call("Read", {"file_path": "wide.txt"}, "x" * 3_000)
    b.say("Done: a very-long-word-" + "without-any-break-" * 12)
    return b.build()


def hostile() -> ChunkContent:
    bad = '<script>alert(1)</script><img src=x onerror="alert(1)"><style>body{display:none}'
    b = Builder(8, "ai")
    b.say(
        f"Markup {bad} is text.\n\n[click](javascript:alert(1)) [out](//evil.example) \u202egnirts desrever\u202c after, NUL \0, bell \a."
    )
    b.call(f"<b>{bad}", {bad: bad}, (Text(text=bad), image(b"<svg onload=alert(1)>", "image/svg+xml")))
    return b.build()


def gallery() -> list[ChunkContent]:
    command = (
        Builder(3, "user")
        .say(
            "<command-name>/model</command-name>",
            role="user",
            origin="command",
            text="/model small",
            command=Command(name="model", args="small"),
        )
        .build()
    )
    output = (
        Builder(5, "system")
        .say("Set model to \x1b[1mtest-model-2\x1b[0m", role="user", origin="command_output")
        .build()
    )
    compact = (
        Builder(6, "compact", context_before=93_000, context_after=21_000)
        .say("This session is being continued.\n\n- beds moved\n- herbs stay", role="user", origin="compact_summary")
        .build()
    )
    shell = Builder(9, "user").say("<bash-input>ls shed</bash-input>", role="user", origin="bash_command").build()
    rtl = (
        Builder(10, "user")
        .say(
            "שלום, אנא סובב את הערוגות.\n<system-reminder>Be brief.</system-reminder>",
            role="user",
            origin="prompt",
            text="שלום, אנא סובב את הערוגות.",
        )
        .build()
    )
    return [user(), work(), command, more_tools(), output, compact, long_output(), hostile(), shell, rtl]


def requests() -> list[Request]:
    sizes = {2: 51_000, 4: 93_000, 7: 24_000, 8: 31_000}
    return [
        Request(reply_id=None, model=None, message=0, usage=Usage(cache_read=size), chunk=seq)
        for seq, size in sizes.items()
    ]


def page() -> str:
    """The whole gallery as a document."""
    contents = gallery()
    chunks = [content.chunk for content in contents]
    href = "#c{}".format
    head = render.session_header_html(
        INFO, agent="Claude Code", level=1, bars=render.bars(chunks, render.context_sizes(requests())), href=href
    )
    aside = render.outline_html(render.outline(chunks), href, here=3)
    nested = render.chunk_html(
        chunk_view(user(), clm_describe_tool), options=render.Options(id_prefix="a7-", heading=3)
    )
    options = render.Options(
        heading=2,
        subagent_html=lambda key: nested if key == AGENT.id else None,
        subagent_href=lambda key: f"?agent={key}",
        more_href=lambda view, step, section: f"?all={view.seq}-{step}-{section}",
    )
    cards = "".join(render.chunk_html(chunk_view(content, clm_describe_tool), options=options) for content in contents)
    return render.page_html(
        "Plan the beds for spring",
        f'{head}<div class="clm-layout">{aside}<div class="clm-transcript">{cards}</div></div>',
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), "utf-8")
