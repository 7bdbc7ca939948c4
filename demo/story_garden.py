"""Garden planner, first part: the beds for spring, and three later lives of that session."""

from __future__ import annotations

import json

from claude_log import ClaudeLog
from parts import OPUS, SONNET, Think
from pen import Json, Shelf, line, uuid_for
from tools import Files, bash, bash_fails, glob, grep, todos

FOLDER, CWD = "-home-dev-code-garden-planner", "/home/dev/code/garden-planner"
BEDS = """
bed,crop,family,year
1,kale,brassica,2025
1,radish,brassica,2025
2,runner bean,legume,2025
3,tomato,nightshade,2025
4,rosemary,herb,2025
4,thyme,herb,2025
5,carrot,root,2025
5,beetroot,root,2025
"""
ROTATION = '''
"""Which crop family may follow which, and in which bed."""

from dataclasses import dataclass

ORDER = ("legume", "brassica", "root", "nightshade")


@dataclass(frozen=True)
class Bed:
    number: int
    family: str


def rotate(beds):
    """Move every family on by one year."""
    moved = []
    for bed in beds:
        place = ORDER.index(bed.family)
        moved.append(Bed(bed.number, ORDER[(place + 1) % len(ORDER)]))
    return moved
'''
TEST_RED = (
    "\x1b[1m============================= test session starts ==============================\x1b[0m\n"
    "collected 5 items\n\n"
    "tests/test_rotation.py \x1b[32m.\x1b[0m\x1b[32m.\x1b[0m\x1b[31mF\x1b[0m\x1b[32m.\x1b[0m\x1b[31mF\x1b[0m"
    "\x1b[31m                                        [100%]\x1b[0m\n\n"
    "=================================== FAILURES ===================================\n"
    "\x1b[31m\x1b[1m___________________________ test_herbs_stay_in_bed_4 ___________________________\x1b[0m\n\n"
    "\x1b[1m\x1b[31mE       ValueError: tuple.index(x): x not in tuple\x1b[0m\n"
    "\x1b[1m\x1b[31mplanner/rotation.py\x1b[0m:18: ValueError\n"
    "\x1b[36m\x1b[1m=========================== short test summary info ============================\x1b[0m\n"
    "\x1b[31mFAILED\x1b[0m tests/test_rotation.py::\x1b[1mtest_herbs_stay_in_bed_4\x1b[0m - ValueError\n"
    "\x1b[31mFAILED\x1b[0m tests/test_rotation.py::\x1b[1mtest_whole_plot\x1b[0m - ValueError\n"
    "\x1b[31m\x1b[31m\x1b[1m2 failed\x1b[0m, \x1b[32m3 passed\x1b[0m\x1b[31m in 0.04s\x1b[0m\x1b[0m"
)
TEST_GREEN = (
    "\x1b[1m============================= test session starts ==============================\x1b[0m\n"
    "collected 5 items\n\n"
    "tests/test_rotation.py \x1b[32m.....\x1b[0m\x1b[32m                                             [100%]\x1b[0m\n\n"
    "\x1b[32m============================== \x1b[32m\x1b[1m5 passed\x1b[0m\x1b[32m in 0.03s ==============================\x1b[0m"
)


def fresh_files() -> Files:
    return Files(
        CWD,
        {
            "beds.csv": BEDS,
            "planner/rotation.py": ROTATION,
            "notes/frost.md": "Last frost in the valley: usually the second week of May.\n",
        },
    )


def plan_the_beds(log: ClaudeLog, files: Files) -> None:
    log.prompt(
        "Morning! Please plan the beds for spring. Last year's planting is in `beds.csv`. "
        "My rule of thumb: nothing follows its own family, and the herbs stay where they are in bed 4.",
    )
    log.reply(
        Think(
            "Two files matter: beds.csv for what grew where, and whatever code already rotates. The herbs are perennial, "
            "so any rotation that treats them like carrots will dig up a rosemary. Look first, then plan.",
        ),
        "I'll look at last year's beds and at the rotation code before I move anything.",
        todos(log, "> Read last year's beds", "  Make the rotation leave herbs alone", "  Propose the plan for 2026"),
        files.read("beds.csv"),
        files.read("planner/rotation.py"),
        glob("**/test_*.py", f"{CWD}/tests/test_rotation.py", f"{CWD}/tests/test_frost.py"),
    )
    log.reply(
        "The families rotate in one ring, and `herb` is not part of it. Let me see what the tests make of that.",
        bash_fails("python -m pytest -q tests/test_rotation.py", TEST_RED, "Run the rotation tests", seconds=2.3),
    )
    log.reply(
        Think(
            "As feared: ORDER.index('herb') raises. A flag on Bed would work, but the rule is about the family, not the "
            "bed: perennials stay. A set of perennial families says exactly that.",
        ),
        files.edit(
            "planner/rotation.py",
            'ORDER = ("legume", "brassica", "root", "nightshade")',
            'ORDER = ("legume", "brassica", "root", "nightshade")\nPERENNIAL = {"herb"}  # these never move',
        ),
        files.edit(
            "planner/rotation.py",
            "    for bed in beds:\n        place",
            "    for bed in beds:\n        if bed.family in PERENNIAL:\n            moved.append(bed)\n            continue\n        place",
        ),
    )
    log.reply(bash("python -m pytest -q tests/test_rotation.py", TEST_GREEN, "Run the rotation tests", seconds=1.9))
    propose(log)


def propose(log: ClaudeLog) -> None:
    log.reply(
        todos(log, "x Read last year's beds", "x Make the rotation leave herbs alone", "> Propose the plan for 2026"),
        bash(
            "python -m planner rotate beds.csv --year 2026",
            "bed,family,year\n1,root,2026\n2,brassica,2026\n3,legume,2026\n4,herb,2026\n5,nightshade,2026",
        ),
    )
    log.reply(
        """## Beds for spring 2026

| Bed | Last year | This year | Suggestion |
|----:|-----------|-----------|------------|
| 1 | kale, radish | **root** | carrots, then beetroot in July |
| 2 | runner beans | **brassica** | kale and one brave cauliflower |
| 3 | tomatoes | **legume** | runner beans on the old tomato canes |
| 4 | rosemary, thyme | **herb** | stays, as you asked |
| 5 | carrots, beetroot | **nightshade** | tomatoes, after the last frost |

Nothing follows its own family. Two things I changed on the way:

1. `rotate()` used to crash on herbs, because they are not part of the ring. They are now **perennial** and keep their bed.
2. The tests for that existed already and were red. They are green now.

Bed 2 gets the nitrogen your beans left behind, which is the reason to put the hungry kale there.""",
    )


def fit_the_sketch(log: ClaudeLog) -> None:
    log.prompt(
        "Lovely. This is my sketch of the plot. Does your plan fit it, and where would you put the compost?", "bed-plan"
    )
    log.reply(
        Think(
            "The sketch labels bed 1 kale and bed 2 peas: both would follow their own family. Only bed 4 agrees with the plan. "
            "So it is older than the plan, or a wish. Say which beds break the rule and which only differ.",
        ),
        """The sketch and the plan agree in one bed only, and I think the sketch is the older of the two:

- **Bed 1** says *kale*. It had kale last year, so this would repeat the family. Better: roots.
- **Bed 2** says *peas*. It had beans, same story. Better: the kale from bed 1.
- **Beds 3 and 5** say *roots* and *beans*. Allowed, but then the tomatoes have nowhere to go.
- **Bed 4** says *herbs*. We agree.
- The **compost** in the lower right corner is well placed: close to bed 5, which will want most of it.

> One thought: the path is 60 cm at its narrowest. A wheelbarrow is 65. You may know this already.""",
    )


def shed_door(log: ClaudeLog, files: Files) -> None:
    log.command("model", "opus", f"Set model to \x1b[1mopus ({OPUS})\x1b[22m")
    log.model = OPUS
    log.prompt("Ha, the wheelbarrow. Yes. Make the path wider and draw me the plan as plain text for the shed door.")
    log.reply(
        grep(
            "PATH_WIDTH",
            "planner/plot.py:7:PATH_WIDTH_CM = 60\nplanner/draw.py:21:    width = round(PATH_WIDTH_CM / 10)",
        ),
        bash("date +%F", "2026-02-03"),
    )
    log.reply(
        files.write(
            "plans/shed-door.txt",
            """
+---------+ +---------+ +---------+
| 1 ROOTS | | 2 KALE  | | 3 BEANS |
| . . . . | | o o o o | | | | | | |
| . . . . | | o o o o | | | | | | |
+---------+ +---------+ +---------+
   p a t h   ( 7 0  c m ,  f i n a l l y )
+---------+ +---------+ +---------+
| 4 HERBS | | 5 TOMS  | | compost |
| % % % % | | @   @   | |  ~ ~ ~  |
+---------+ +---------+ +---------+
""",
        ),
        bash(
            "sed -i 's/PATH_WIDTH_CM = 60/PATH_WIDTH_CM = 70/' planner/plot.py && git diff --stat",
            " planner/plot.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)",
        ),
    )
    log.reply(
        """Done: `plans/shed-door.txt`, and the path is 70 cm wide.

```text
+---------+ +---------+ +---------+
| 1 ROOTS | | 2 KALE  | | 3 BEANS |
+---------+ +---------+ +---------+
   p a t h   ( 7 0  c m ,  f i n a l l y )
+---------+ +---------+ +---------+
| 4 HERBS | | 5 TOMS  | | compost |
+---------+ +---------+ +---------+
```

Print it large; the letters are meant to be read from the kitchen.""",
    )


def commit_the_plan(log: ClaudeLog) -> None:
    log.remind("The todo list has one open item. Do not mention this to the user unless it matters.")
    log.prompt("Perfect. Commit it, please.")
    log.reply(
        bash(
            'git add -A && git commit -q -m "Rotate for 2026, leave herbs alone, widen the path" && git log --oneline -2',
            "4be1f0c Rotate for 2026, leave herbs alone, widen the path\n91d22aa Frost dates from the valley station",
            "Commit the plan",
            during=(
                {
                    "type": "hook_progress",
                    "hookEvent": "PreToolUse",
                    "hookName": "PreToolUse:Bash",
                    "command": "./tools/no-force.sh",
                },
                {"type": "bash_progress", "output": "", "fullOutput": "", "elapsedTimeSeconds": 1, "totalLines": 0},
            ),
        ),
    )
    log.reply("Committed as `4be1f0c`. Enjoy the digging.")
    log.reply(
        todos(log, "x Read last year's beds", "x Make the rotation leave herbs alone", "x Propose the plan for 2026"),
    )
    log.reply("All three items are ticked off.")


def spring(shelf: Shelf) -> ClaudeLog:
    """The session the others are copies of."""
    log = ClaudeLog(
        shelf, FOLDER, "spring", start="2026-02-03 08:41", cwd=CWD, version="2.1.40", slug="mossy-humming-kettle"
    )
    log.put(
        {"type": "summary", "summary": "Frost dates from the valley station", "leafUuid": uuid_for("an older session")}
    )
    files = fresh_files()
    plan_the_beds(log, files)
    fit_the_sketch(log)
    shed_door(log, files)
    commit_the_plan(log)
    log.put({"type": "summary", "summary": "Plan the beds for spring 2026", "leafUuid": log.parent})
    log.close()
    return log


def copied(lines: list[bytes], until: int, **changed: Json) -> tuple[list[bytes], str]:
    """The records of another session up to the ``until``-th prompt; with ``changed`` they get new uuids and these values."""
    kept: list[bytes] = []
    names: dict[str, str] = {}
    last, prompts = "", 0
    for raw in lines:
        record = json.loads(raw)
        prompts += record["type"] == "file-history-snapshot"
        if prompts > until or record["type"] == "summary":
            continue
        if "uuid" in record:
            last = record["uuid"]
            if changed:
                names[last] = last = uuid_for(f"{changed['sessionId']}/{last}")
                record.update(changed, uuid=last, parentUuid=names.get(record["parentUuid"]))
                if "sourceToolAssistantUUID" in record:
                    record["sourceToolAssistantUUID"] = names[record["sourceToolAssistantUUID"]]
        kept.append(line(record))
    return kept, last


def strawberries(shelf: Shelf, first: ClaudeLog) -> None:
    """A fork: the first records stand here as they were, with their old session id."""
    log = ClaudeLog(
        shelf, FOLDER, "strawberries", start="2026-02-04 17:05", cwd=CWD, version="2.1.40", branch="strawberries"
    )
    log.lines, log.parent = copied(first.lines, 1)
    log.context = 19_400
    log.prompt("Let's fork here. What if I gave up on vegetables altogether and planted only strawberries?")
    log.reply(
        Think("A joke, but with a real answer: strawberries are perennial too, three years at most in one bed."),
        """Then your rotation becomes very short:

```python
def rotate(beds):
    return beds  # strawberries are happy, so are the blackbirds
```

Being serious for a moment: strawberries want a new bed every **three years**, so you would still rotate, only slower.
I would give them bed 3 and keep the rest of the plan.""",
    )
    log.prompt("Deal. Bed 3 for strawberries, then, and put the beans along the fence.")
    files = fresh_files()
    log.reply(
        files.edit("beds.csv", "3,tomato,nightshade,2025", "3,tomato,nightshade,2025\n3,strawberry,perennial,2026"),
        bash("git switch -c strawberries", stderr="Switched to a new branch 'strawberries'"),
    )
    log.reply(
        "Bed 3 is promised to the strawberries until **2028**. The beans move to the fence, which was bare anyway."
    )
    log.fact("custom-title", customTitle="Strawberries instead (a fork)")
    log.close()


def late_frost(shelf: Shelf, first: ClaudeLog) -> None:
    """A resumed session of the other kind: copies with new uuids and the new session id, message ids as before."""
    log = ClaudeLog(
        shelf, FOLDER, "late frost", start="2026-02-06 07:12", cwd=CWD, version="2.1.40", slug="frosty-patient-owl"
    )
    log.lines, log.parent = copied(first.lines, 2, sessionId=log.session, slug=log.slug)
    log.context, log.model = 24_800, SONNET
    log.prompt("Picking this up again. It froze last night. Until when should I wait with the tomatoes?")
    files = fresh_files()
    log.reply(files.read("notes/frost.md"))
    log.reply(
        "Your own note says the **second week of May**. Sow indoors from 20 March, harden off in the first days of May, "
        "plant out after the 15th. Bed 5 can grow lettuce until then:\n\n"
        "- lettuce in bed 5: sow under fleece from 10 March\n"
        "- last salad: about 10 May\n"
        "- tomatoes: 16 May, if the valley station agrees",
    )
    log.fact("custom-title", customTitle="After the late frost (resumed)")
    log.close()


def write(shelf: Shelf) -> None:
    first = spring(shelf)
    strawberries(shelf, first)
    late_frost(shelf, first)
    index = {
        "version": 1,
        "entries": [
            {
                "sessionId": first.session,
                "firstPrompt": "Morning! Please plan the beds for spring.",
                "summary": "Plan the beds for spring 2026",
                "messageCount": 12,
                "created": "2026-02-03T08:43:00.000Z",
                "modified": "2026-02-03T09:01:00.000Z",
                "gitBranch": "main",
                "projectPath": CWD,
                "isSidechain": False,
            },
        ],
    }
    shelf.put(f"claude/projects/{FOLDER}/sessions-index.json", line(index))
