"""Meeple bot, which answers questions about the rules of an invented board game, Lighthouse Keepers."""

from __future__ import annotations

from claude_log import ClaudeLog
from parts import OPUS, Think, Tool
from pen import Shelf
from tools import Files, ask, bash, glob, grep, skill, todos

FOLDER, CWD = "-home-dev-code-meeple-bot", "/home/dev/code/meeple-bot"
RULES = """
# Lighthouse Keepers

Two to four keepers keep three lamps burning through a night of nine bells.

## 3 Fog
- At each bell, roll the fog die. On 5 or 6 the fog rises by one.
- A boat that enters a field with fog 3 or more stops there.
- **A lit lamp lowers the fog on its island by one, but never below zero.**

## 4 Oil
- A keeper carries at most four oil.
- Two keepers on one island may trade oil freely.
"""
SOURCE = """
export function fogAfterBell(fog, die, lampLit) {
  if (die >= 5) fog += 1;
  if (lampLit) fog -= 1;
  return fog;
}

export function canEnter(field) {
  return field.fog < 3;
}
"""
SKILL = """
# Rules lookup

1. Find the section of the rule book that answers the question. Quote it, with its number.
2. If two sections disagree, say so; never invent a ruling.
3. End with one sentence a tired player can follow.
"""


def fresh_files() -> Files:
    return Files(CWD, {"rules/lighthouse.md": RULES, "src/fog.js": SOURCE})


def lookup(shelf: Shelf) -> None:
    """A skill with its text, a picture in the prompt, a bug, a command of the user's own."""
    log = ClaudeLog(
        shelf, FOLDER, "fog", start="2026-02-12 20:15", cwd=CWD, version="2.1.62", slug="brave-flickering-lamp"
    )
    files = fresh_files()
    log.prompt(
        "We are stuck in the middle of a game. Fog is 3 and our boat wants to get to the island with the lit lamp. Allowed?",
        "board",
    )
    log.reply(
        "A rules question. There is a skill for that.",
        skill("rules-lookup", "/home/dev/.claude/skills/rules-lookup", SKILL),
    )
    log.reply(
        files.read("rules/lighthouse.md"),
        grep("fog 3", "rules/lighthouse.md:7:- A boat that enters a field with fog 3 or more stops there.", "rules/"),
    )
    log.reply(
        """**Yes, you may enter, and then you stop.**

> *Section 3:* "A boat that enters a field with fog 3 or more **stops there**."

The section forbids sailing *on*, not sailing *in*. The lit lamp lowers the fog on its own island by one, so the island itself has fog 2 and you may land there next turn.

One sentence for tired players: *sail in, stop, land at the next bell.*""",
    )
    two_bugs(log, files)
    log.fact("custom-title", customTitle="Stuck in the fog")
    log.close()


def two_bugs(log: ClaudeLog, files: Files) -> None:
    log.prompt("Thanks! But the bot in our chat said no. Why?")
    log.reply(files.read("src/fog.js"), glob("test/**/*.js", f"{CWD}/test/fog.test.js"))
    log.reply(
        Think(
            "canEnter returns false at fog 3: it reads 'stops' as 'may not enter'. And fogAfterBell can go below zero. Two bugs, both against section 3."
        ),
        "The bot is wrong, in two places. `canEnter` forbids what the rules only slow down, and the fog can fall **below zero**.",
        files.edit(
            "src/fog.js",
            "  if (lampLit) fog -= 1;\n  return fog;",
            "  if (lampLit) fog = Math.max(0, fog - 1);\n  return fog;",
        ),
        files.edit(
            "src/fog.js",
            "export function canEnter(field) {\n  return field.fog < 3;\n}",
            "/** A boat may always sail in; in thick fog it may not sail on. Section 3. */\nexport function mustStop(field) {\n  return field.fog >= 3;\n}",
        ),
    )
    log.reply(
        bash(
            "npm test --silent",
            "\x1b[32m✔\x1b[39m fog never falls below zero \x1b[90m(0.41ms)\x1b[39m\n\x1b[32m✔\x1b[39m a boat stops in thick fog \x1b[90m(0.12ms)\x1b[39m\n# tests 2\n# pass 2\n# fail 0",
            seconds=2.7,
        )
    )
    log.reply(
        """Fixed both. The heart of it:

```js
export function mustStop(field) {
  return field.fog >= 3;   // section 3: you stop, you do not bounce
}
```

Sail on, and mind the ninth bell.""",
    )
    log.say(
        "<command-message>score-night is running…</command-message>\n<command-name>/score-night</command-name>\n<command-args>3 lamps, 9 bells</command-args>"
    )
    log.say(
        [
            {
                "type": "text",
                "text": "# Score a night\nThree points for each lamp that burned at the ninth bell. Add two if no oil is left over. Explain in one line.",
            }
        ],
        isMeta=True,
    )
    log.reply("3 lamps at the ninth bell: **9 points**, plus 2 if your oil cans are empty.")


def unfinished(shelf: Shelf) -> None:
    """A session that is still waiting: for two commands and for an answer."""
    log = ClaudeLog(
        shelf, FOLDER, "expansion", start="2026-03-12 18:31", cwd=CWD, version="2.1.150", model=OPUS, branch="expansion"
    )
    log.fact("permission-mode", permissionMode="default")
    log.prompt("Let us add the expansion, *The Second Keeper*. What does it change?")
    create = Tool(
        "TaskCreate",
        {"subject": "Read the expansion", "description": "List every changed rule"},
        "Task #1 created: Read the expansion",
        {"task": {"id": "1", "subject": "Read the expansion"}},
    )
    log.reply(create, glob("rules/*.md", f"{CWD}/rules/lighthouse.md", f"{CWD}/rules/second-keeper.md"))
    log.reply(
        Tool(
            "TaskUpdate",
            {"taskId": "1", "status": "in_progress"},
            "Updated task #1",
            {
                "success": True,
                "taskId": "1",
                "updatedFields": ["status"],
                "statusChange": {"from": "pending", "to": "in_progress"},
            },
        )
    )
    log.reply(
        "It adds a second lamp per island, and it leaves one thing open.",
        ask(
            "When both lamps of an island are lit, how much does the fog fall?",
            "Fog",
            {"By one": "As in the base game", "By two": "One per lamp", "Ask the designer": "Leave it open for now"},
            "By two",
        ),
    )
    log.fact("ai-title", aiTitle="Add the expansion")
    log.reply(
        Think("Two lamps, two steps. Tests first: run them in the background of my mind, no, in the terminal."),
        todos(log, "> Two lamps lower the fog by two", "  The second keeper's oil"),
        bash("npm test --silent -- --grep lamps", "ok"),
    )
    log.reply(
        "Now the long one: I play ten thousand games against myself.",
        Tool(
            "Bash",
            {
                "command": "node tools/selfplay.js --games 10000",
                "description": "Play ten thousand games",
                "timeout": 600_000,
            },
            None,
        ),
        Tool("Read", {"file_path": f"{CWD}/rules/second-keeper.md"}, None),
    )
    log.asked = None
    log.close()


def write(shelf: Shelf) -> None:
    lookup(shelf)
    unfinished(shelf)
