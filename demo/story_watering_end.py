"""The evening of the long day: the library is full, the page for the fridge is missing."""

from __future__ import annotations

from claude_log import ClaudeLog
from parts import Raw, Think, Tool
from tools import Files, bash, bash_fails, bash_stopped, glob, grep, mcp, plan, refused, skill, todos

BUSY = [
    {
        "type": "bash_progress",
        "output": f"day {day}",
        "fullOutput": f"day {day}",
        "elapsedTimeSeconds": second,
        "totalLines": day,
    }
    for second, day in ((1, 120), (2, 250))
]
SUMMARY_TWO = """This session continues from an earlier conversation that ran out of context, for the second time today.

**Done:** watering schedule with rain and heat; 39 crop files, all checked; a calendar of sowing months; a page for the fridge.

**Decisions worth keeping**
- litres are per week and square metre
- `None` means *not known*, never zero
- perennials are outside the rotation

**Open:** print the fridge page on one side of A4, then commit and tag `v0.5`."""
PAGES = """
# Plain pages

- one table, no borders, large type
- one friendly sentence at the end
- must be readable with wet hands
"""
CALENDAR = '''
"""Which crops are sown in which month."""

from planner.check import MONTHS


def months(text):
    """``Oct-Feb`` runs over the end of the year."""
    first, _, last = text.partition("-")
    start, end = MONTHS.index(first), MONTHS.index(last or first)
    count = (end - start) % 12 + 1
    return [MONTHS[(start + step) % 12] for step in range(count)]


def calendar(crops):
    return {month: sorted(c.name for c in crops if month in months(c.sow)) for month in MONTHS}
'''


def totals(log: ClaudeLog) -> None:
    log.prompt("All in! How many crops per family do we have?")
    log.reply(
        mcp(
            "sqlite",
            "query",
            {
                "sql": "select family, count(*) as n, max(litres) as thirstiest from crops group by family order by n desc limit 5"
            },
            "family|n|thirstiest\nbrassica|8|17\nnightshade|4|20\ncarrot|5|19\nlegume|3|18\ngourd|3|25",
            detail="brassica|8|17",
        )
    )
    log.reply(
        "Eight brassicas, which is many for one bed:\n\n| family | crops | thirstiest |\n|---|---:|---:|\n| brassica | 8 | 17 l |\n| carrot | 5 | 19 l |\n| nightshade | 4 | 20 l |\n| legume | 3 | 18 l |\n| gourd | 3 | **25 l** |\n\n```sql\nselect family, count(*) as n\nfrom crops\ngroup by family\norder by n desc;\n```"
    )
    log.prompt("Is every file valid TOML?")
    log.reply(
        bash(
            'for f in crops/*.toml; do python -m planner check "$f" || echo "$f BAD"; done | grep -vc ok',
            "0",
            "Count files that are not ok",
        )
    )
    log.reply("Zero files are not ok. In other words: yes.")
    log.prompt("And the two-word ones, do they have hyphens everywhere?")
    log.reply(glob("crops/*-*.toml", "crops/broad-bean.toml", "crops/runner-bean.toml"))
    log.reply("Two of them, both with a hyphen.")
    log.prompt("Which crop needs the most water in the whole garden?")
    log.reply(
        "The **pumpkin**, 25 litres a week and square metre. It also takes the most room, so it is thirsty twice."
    )
    log.prompt("Does anything drink that we do not eat?")
    log.reply(grep("edible = false", "crops/marigold.toml:8:edible = false"))
    log.reply("Only the marigold, and it has the manners to ask for just 6 litres.")
    log.prompt("And the least?")
    log.reply("Thyme, with 3. If you forget one thing on holiday, forget the thyme.")


def sowing_calendar(log: ClaudeLog, files: Files) -> None:
    log.prompt("I'd like a sowing calendar. Show me a plan first.", permissionMode="plan")
    log.reply(
        plan(
            '1. `months("Oct-Feb")` must run over the end of the year\n2. `calendar(crops)`: month -> names, sorted\n3. one test per trap: one month, a range, a range over New Year',
            "/home/dev/.claude/plans/steady-dripping-can.md",
        )
    )
    log.reply(
        files.write("planner/calendar.py", CALENDAR),
        bash_fails(
            "python -m pytest -q tests/test_calendar.py",
            "ImportError: cannot import name 'calendar' from partially initialized module 'calendar' (most likely due to a circular import)",
        ),
    )
    log.reply(
        Think(
            "A module called calendar inside the package is fine, but the test sits beside a script of the same name: sys.path. Rename it."
        ),
        bash(
            "git mv planner/calendar.py planner/sowing.py && python -m pytest -q",
            "\x1b[32m............\x1b[0m [100%]\n\x1b[32m12 passed\x1b[0m in 0.12s",
        ),
    )
    log.reply(
        "The calendar works. I renamed the module to `sowing.py`: a second `calendar` in Python is asking for trouble, and it answered."
    )
    log.prompt("What can I sow this month?")
    log.reply(bash("python -m planner sow --month Feb", "aubergine\nbroad bean\nceleriac\npepper"))
    log.reply("In February:\n\n- **broad bean**, outdoors\n- celeriac, aubergine and pepper on a warm window sill")
    log.prompt("And in March?")
    log.reply(bash("python -m planner sow --month Mar | wc -l", "21"))
    log.reply("Twenty-one crops. March is when gardeners stop answering letters.")


def stop_and_go(log: ClaudeLog) -> None:
    log.prompt("Simulate the water for the whole year.")
    log.reply(
        bash_stopped(
            "python -m planner simulate --year 2026 --step minute", "week 1 ... 22 l\nweek 2 ... 22 l\nweek 3 ... 23 l"
        )
    )
    log.interrupt(tool=True)
    log.prompt("Every minute? By the day is enough.")
    log.reply(
        bash(
            "python -m planner simulate --year 2026 --step day | tail -1", "total 7914 l", seconds=3, during=tuple(BUSY)
        )
    )
    log.reply("About **7,900 litres** a year. Your rain barrel holds 300, so it will be empty on 26 days.")
    log.prompt("Then order a bigger barrel at the shop.")
    log.reply(
        "I can put one into the basket:", refused(mcp("shop", "order", {"article": "barrel-1000", "count": 1}, ""))
    )
    log.interrupt(tool=True)
    log.prompt("No no, I was joking. No orders.")
    log.reply("Understood: no barrels. I wrote it on the wish list in `notes/` instead.")
    log.say(
        "<system-reminder>planner/water.py was changed by the user.</system-reminder>\nI renamed HEAT to HEAT_FACTOR. Still green?"
    )
    log.asked = log.clock
    log.reply(
        grep(
            "HEAT",
            "planner/water.py:7:HEAT_FACTOR = 4 / 3  # a third more above 28 degrees\nplanner/water.py:21:        wanted *= HEAT_FACTOR",
        ),
        bash("python -m pytest -q", "\x1b[32m............\x1b[0m [100%]\n\x1b[32m12 passed\x1b[0m in 0.12s"),
    )
    log.reply("Still green.")


def fridge(log: ClaudeLog, files: Files) -> None:
    log.prompt("Last thing: the page for the fridge. There is a skill for how I like my pages.")
    log.reply(skill("plain-pages", f"{files.root}/.claude/skills/plain-pages", PAGES))
    log.reply(
        todos(
            log, "x A function for one bed", "x Rain from the valley station", "x Crop files", "> A page for the fridge"
        ),
        files.write(
            "pages/fridge.html",
            """
<!doctype html>
<title>Water, week 7</title>
<h1>Water this week</h1>
<table>
  <tr><th>Bed<th>Litres
  <tr><td>1<td>62
  <tr><td>5<td>74
</table>
<p>It rained 4 mm. The thyme says thank you.</p>
""",
        ),
    )
    log.reply(
        "`pages/fridge.html` is there. It is one table and one sentence, large enough to read while holding a watering can."
    )
    log.compact(SUMMARY_TWO, left=7_400)
    log.reply(
        "I'm back, with a shorter memory. The page still has to fit one side of A4.", files.read("pages/fridge.html")
    )
    log.reply(
        files.edit(
            "pages/fridge.html",
            "<h1>Water this week</h1>",
            "<style>\n  @page { size: A4; margin: 2cm }\n  body { font: 24px sans-serif }\n</style>\n<h1>Water this week</h1>",
        )
    )
    log.reply("It fits now, with room for a drawing.")
    log.prompt("Draw me a watering can in ASCII, for that room.")
    log.reply(
        "```text\n        __\n   .---'  '.      .\n   |  H2O   |___.'  '\n   |        |---'  . ' .\n   '--------'     '  . '\n```\n\nThe drops are not to scale."
    )


def farewell(log: ClaudeLog) -> None:
    log.prompt("Perfect. Commit and tag v0.5.")
    log.reply(
        bash(
            "git add -A && git commit -q -m 'Watering schedule, 39 crops, page for the fridge' && git tag v0.5 && git describe",
            "v0.5",
        )
    )
    log.reply("Tagged `v0.5`.")
    log.shell(
        "git log --oneline -3",
        "c0ffee5 Watering schedule, 39 crops, page for the fridge\n4be1f0c Rotate for 2026, leave herbs alone, widen the path\n91d22aa Frost dates from the valley station",
    )
    log.prompt("What did we do today, in three lines?")
    log.reply(
        Raw(
            {
                "type": "server_tool_use",
                "id": "srvtoolu_demo2",
                "name": "web_search",
                "input": {"query": "how long is a gardener's day"},
            }
        ),
        "1. A watering schedule that knows rain, heat and empty beds.\n2. A library of thirty-nine crops, each checked.\n3. A page for the fridge, and no barrel.",
    )
    log.prompt("Thank you. And the courgette?")
    log.reply("**One.** I will remind you in August.")
    log.command("context", "", "Context usage: 31k of 200k tokens\n  system   14k\n  messages 17k")
    log.prompt("Will the schedule still work in winter?")
    log.reply(
        bash(
            "python -m planner water --week 2026-W50",
            "bed  litres\n  1       0\n  2       6\n  3       0\n  4       2\n  5       0",
        )
    )
    log.reply("It does, and it is modest: 8 litres in the second week of December, nearly all of it for the kale.")
    log.prompt("One more, is there a tool that waters by itself?")
    log.reply(
        Tool(
            "SprinklerControl",
            {"valve": 3, "minutes": 5, "dry_run": True},
            {"valve": 3, "state": "would open", "litres": 12},
            {"valve": 3, "dryRun": True},
        )
    )
    log.reply(
        "There is one connected, in rehearsal mode: valve 3 *would* give 12 litres. I left it closed; it is raining."
    )
    log.fact("custom-title", customTitle="The watering schedule and 39 crops")
    log.put(
        {
            "type": "pr-link",
            "sessionId": log.session,
            "prNumber": 7,
            "prUrl": "https://forge.example/garden/planner/pull/7",
            "prRepository": "garden/planner",
            "timestamp": "2026-02-10T20:00:00.000Z",
        }
    )


def finish(log: ClaudeLog, files: Files) -> None:
    totals(log)
    sowing_calendar(log, files)
    stop_and_go(log)
    fridge(log, files)
    farewell(log)
