"""Tidewise, a parser of tide tables: an old session with its helper at the project root, and one with a plan."""

from __future__ import annotations

from claude_log import EMPTY_USAGE, ClaudeLog
from parts import OPUS, Think
from pen import Shelf, uuid_for
from tools import Files, ask, bash, bash_fails, glob, grep, plan, spawn, todos

FOLDER, CWD = "-home-dev-code-tidewise", "/home/dev/code/tidewise"
TABLE = """
PORT MERROW                FEBRUARY 2026               heights in metres
 14 Sa   0412  4.5   1031  0.8   1639  4.6   2251  0.7
 15 Su   0502  4.4   1120  0.9   1728  4.4   2340  0.9
 16 Mo   0555  4.1   1214  1.2   1823  4.1   ----  ---
 17 Tu   0034  1.2   0657  3.8   1316  1.5   1926  3.8
"""
PARSER = '''
"""Reads the printed tide tables of Port Merrow."""

import re

PAIR = re.compile(r"(\\d{4})\\s+(\\d\\.\\d)")


def parse_day(line):
    """One printed line: high, low, high, low."""
    kinds = ("high", "low", "high", "low")
    return [
        (kind, time, float(height))
        for kind, (time, height) in zip(kinds, PAIR.findall(line))
    ]
'''
TESTS = '''
    """One printed line: high, low, high, low."""
    kinds = ("high", "low", "high", "low")
    return [
        (kind, time, float(height))
        for kind, (time, height) in zip(kinds, PAIR.findall(line))
    ]'''
PLAN = """
## Plan: high and low from the heights, not from the column

1. **Parse** every `time height` pair of a line, skip `----  ---`.
2. **Decide** the kind by looking at the neighbours: a tide higher than the one before it is a *high*.
   The first tide of a month asks the last one of the month before.
3. **Tests first**, with three printed lines:
   - the 14th (four tides, starts high)
   - the 16th (three tides)
   - the 17th (four tides, starts *low*)
4. Leave the public name `parse_day` as it is; add `parse_month`.

Not in this plan: daylight saving. Port Merrow prints UTC all year.
"""


def fresh_files() -> Files:
    return Files(
        CWD,
        {
            "tables/2026-02.txt": TABLE,
            "tidewise/parse.py": PARSER,
            "README.md": "# tidewise\n\nTide tables in, rows out.\n",
        },
    )


def side_talk(log: ClaudeLog) -> None:
    """Old versions wrote a helper's talk into the main file, as a sidechain."""
    main = log.parent
    log.wait(0.7)
    question = {"role": "user", "content": "Is 1926 on the 17th high?"}
    log.entry("user", parent=None, message=question, isSidechain=True)
    log.wait(0.7)
    answer = {
        "model": log.model,
        "id": "msg_01SideNote",
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Yes: 3.8 m, after 1.5 m."}],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**EMPTY_USAGE, "input_tokens": 412, "output_tokens": 14},
    }
    log.entry("assistant", message=answer, isSidechain=True)
    log.parent = main


def old_session(shelf: Shelf) -> None:
    """An era ago: helper at the project root, sidechain records in the main file, no system lines."""
    log = ClaudeLog(
        shelf,
        FOLDER,
        "first look",
        start="2026-02-08 10:04",
        cwd=CWD,
        version="1.0.108",
        model="claude-sonnet-4-20250514",
    )
    log.put(
        {
            "type": "summary",
            "summary": "Port Merrow: first look at the printed tables",
            "leafUuid": uuid_for("elsewhere"),
        }
    )
    files = fresh_files()

    def survey(agent: ClaudeLog) -> None:
        agent.reply(glob("tables/*.txt", *(f"{CWD}/tables/2026-{month:02}.txt" for month in range(1, 13))))
        agent.reply(bash("wc -l tables/*.txt | tail -1", "  377 total"))
        agent.reply("Twelve tables, 377 lines. One layout, except that February has a day with **three** tides.")

    log.prompt(
        "I have scanned the printed tide tables of Port Merrow. What is in `tables/`, and is the layout always the same?"
    )
    log.reply(
        "A quick survey first.",
        spawn(
            "Survey the tables",
            "How many tables are there, and do they share one layout?",
            survey,
            "7d1a0b2c",
            place="agent-{id}.jsonl",
            named=False,
            model="claude-sonnet-4-20250514",
        ),
    )
    log.reply(files.read("tables/2026-02.txt"))
    log.reply(
        "The layout is regular, with one trap:\n\n```text\n 16 Mo   0555  4.1   1214  1.2   1823  4.1   ----  ---\n```\n\n"
        "The lunar day is 24 h 50 min long, so about twice a month a calendar day has only **three** tides. "
        "After such a day the columns swap: the 17th starts with a *low*.",
    )
    side_talk(log)
    log.prompt("Good catch with the 16th. That is enough for today.")
    log.reply(
        "Then I would start tomorrow with a test for exactly that line. Good night, and mind the spring tide on the 18th."
    )
    log.close()


def choose(log: ClaudeLog, files: Files) -> None:
    log.prompt(
        "Today the parser learns about three-tide days. Look around, then make a plan. Do not write code yet.",
        permissionMode="plan",
    )
    log.reply(
        Think(
            "zip(kinds, ...) assumes the first tide is a high. The 17th breaks it. Let me read both files, then ask how to treat the month border."
        ),
        files.read("tidewise/parse.py"),
        files.read("tables/2026-02.txt"),
        grep(
            "parse_day",
            'tidewise/parse.py:8:def parse_day(line):\ntidewise/cli.py:14:    rows += parse_day(line)\ntests/test_parse.py:5:    assert parse_day(LINE)[0] == ("high", "0412", 4.5)',
        ),
    )
    log.reply(
        "One question before the plan, because it decides the shape of the function.",
        ask(
            "How should the first tide of a month be told apart?",
            "Month border",
            {
                "Look at the month before": "Exact, needs the previous table",
                "Compare with the next tide": "Needs no other file; the first tide is the opposite of the second",
                "Guess from the height": "Simple, wrong at neaps",
            },
            "Compare with the next tide",
        ),
    )
    log.reply(plan(PLAN, "/home/dev/.claude/plans/calm-salty-heron.md", accepted=False))
    log.interrupt(tool=True)
    log.prompt(
        "Nearly! Step 2 should use the *next* tide for the first one, as I answered. Rest is fine.",
        permissionMode="plan",
    )
    better = PLAN.replace(
        "The first tide of a month asks the last one of the month before.",
        "The first tide is the opposite of the second; no other file is needed.",
    )
    log.reply(plan(better, "/home/dev/.claude/plans/calm-salty-heron.md"))


def build(log: ClaudeLog, files: Files) -> None:
    log.reply(
        todos(log, "> Tests for the 14th, 16th and 17th", "  Parse pairs", "  Kinds from the heights"),
        files.write(
            "tests/test_three_tides.py",
            """
from tidewise.parse import parse_day

FOUR = " 14 Sa   0412  4.5   1031  0.8   1639  4.6   2251  0.7"
THREE = " 16 Mo   0555  4.1   1214  1.2   1823  4.1   ----  ---"
SWAPPED = " 17 Tu   0034  1.2   0657  3.8   1316  1.5   1926  3.8"


def kinds(line):
    return [kind for kind, _, _ in parse_day(line)]


def test_a_day_that_starts_high():
    assert kinds(FOUR) == ["high", "low", "high", "low"]


def test_a_day_of_three_tides():
    assert kinds(THREE) == ["high", "low", "high"]


def test_a_day_that_starts_low():
    assert kinds(SWAPPED) == ["low", "high", "low", "high"]
""",
        ),
    )
    log.reply(
        bash_fails(
            "python -m pytest -q tests/test_three_tides.py",
            "\x1b[32m.\x1b[0m\x1b[32m.\x1b[0m\x1b[31mF\x1b[0m\n\x1b[31mFAILED\x1b[0m tests/test_three_tides.py::\x1b[1mtest_a_day_that_starts_low\x1b[0m - "
            "AssertionError: assert ['high', 'low', ...] == ['low', 'high', ...]\n\x1b[31m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m in 0.05s",
        ),
    )
    log.reply(
        "Red for the right reason. Now the kinds come from the heights.",
        files.edit(
            "tidewise/parse.py",
            TESTS,
            '''
    """One printed line of three or four tides; high and low take turns."""
    tides = [(time, float(height)) for time, height in PAIR.findall(line)]
    high = len(tides) > 1 and tides[0][1] > tides[1][1]
    rows = []
    for time, height in tides:
        rows.append(("high" if high else "low", time, height))
        high = not high
    return rows''',
        ),
    )
    log.reply(
        bash(
            "python -m pytest -q", "\x1b[32m............\x1b[0m [100%]\n\x1b[32m12 passed\x1b[0m in 0.11s", seconds=1.4
        )
    )


def show(log: ClaudeLog) -> None:
    log.reply(
        todos(log, "x Tests for the 14th, 16th and 17th", "x Parse pairs", "x Kinds from the heights"),
        bash(
            "python -m tidewise plot tables/2026-02.txt --days 14-15 --out plots/tides.png",
            "wrote plots/tides.png (320x200)",
        ),
    )
    log.reply(fresh_files().look("plots/tides.png", "tide-chart"))
    log.reply(
        """The parser now reads all **377** lines.

### What changed
- `parse_day` decides *high* or *low* from the heights, not from the column
- three new tests, one for each kind of day

### A look at the result
The chart of 14 and 15 February shows four highs of about 4.5 m, 12 h 25 min apart, as it should be.

```python
>>> parse_day(" 17 Tu   0034  1.2   0657  3.8   1316  1.5   1926  3.8")[0]
('low', '0034', 1.2)
```""",
    )
    log.command(
        "cost",
        "",
        "Total cost:            $0.41\nTotal duration (API):  2m 12s\nTotal code changes:    31 lines added, 6 lines removed",
    )


def planned_session(shelf: Shelf) -> None:
    log = ClaudeLog(
        shelf,
        FOLDER,
        "three tides",
        start="2026-02-09 09:10",
        cwd=CWD,
        version="2.1.62",
        model=OPUS,
        branch="three-tides",
        slug="calm-salty-heron",
    )
    files = fresh_files()
    choose(log, files)
    build(log, files)
    show(log)
    log.fact("custom-title", customTitle="Three-tide days")
    log.close()


def write(shelf: Shelf) -> None:
    old_session(shelf)
    planned_session(shelf)
