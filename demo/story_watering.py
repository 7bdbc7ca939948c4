"""Garden planner, the long day: a watering schedule, a library of crops, two compactions."""

from __future__ import annotations

from claude_log import ClaudeLog
from parts import HAIKU, OPUS, SONNET, Think
from pen import Shelf
from story_crops import Crop, crops
from story_garden import CWD, FOLDER
from story_watering_end import finish
from tools import Files, ask, bash, bash_fails, fetch, grep, mcp, search, spawn, todos

WATER = '''
"""How much water each bed wants this week."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Need:
    bed: int
    litres: float


def need(bed, crops, rain_mm=0.0):
    """Litres for one bed; a millimetre of rain is a litre a square metre."""
    wanted = max(crop.litres_per_week for crop in crops) * bed.area
    return Need(bed.number, max(0.0, wanted - rain_mm))
'''
CHECK = '''
"""Checks a crop file and says what is wrong, one line per fault."""

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def faults(crop):
    if not 0 < crop["depth_cm"] < 20:
        yield "depth_cm must lie between 0 and 20"
    first, _, last = crop["sow"].partition("-")
    if last and MONTHS.index(first) > MONTHS.index(last):
        yield "sow ends before it begins"
    if MONTHS.index(first) * 30 + crop["days"] > 365:
        yield "not ripe within the year"
'''
SUMMARY_ONE = """This session continues from an earlier conversation that ran out of context.

## What was asked
Build a watering schedule for the five beds (`planner/water.py`), then fill `crops/` with one TOML file per crop.

## What is done
1. `need()` works per square metre and subtracts rain; 9 tests.
2. 19 crops are in: kale, carrot, leek, runner bean, pea, tomato, potato, onion, garlic, beetroot, radish, lettuce, spinach, chard, courgette, pumpkin, cucumber, maize, basil.
3. `planner/check.py` accepts crops that ripen next year, and seeds that lie on the surface.

## What is next
Dill, far from the carrots. About twenty crops to go."""


def schedule(log: ClaudeLog, files: Files) -> None:
    log.prompt(
        "Today: a watering schedule. Each bed should get what its thirstiest crop needs, less what the rain brings."
    )
    log.reply(
        Think(
            "The area of a bed is in plot.py. Rain in millimetres is litres per square metre: multiply by the area too, or large beds drown."
        ),
        "Let me see what is there already.",
        todos(
            log, "> A function for one bed", "  Rain from the valley station", "  Crop files", "  A page for the fridge"
        ),
        files.read("planner/water.py"),
        grep("area", "planner/plot.py:15:    area: float  # square metres"),
    )
    log.reply(
        "The draft subtracts the rain once, not per square metre. On a bed of 6 m² that is a sixth of the truth.",
        files.edit(
            "planner/water.py",
            "    return Need(bed.number, max(0.0, wanted - rain_mm))",
            "    return Need(bed.number, max(0.0, wanted - rain_mm * bed.area))",
        ),
        bash(
            "python -m pytest -q tests/test_water.py",
            "\x1b[32m....\x1b[0m [100%]\n\x1b[32m4 passed\x1b[0m in 0.04s",
            seconds=1.5,
        ),
    )
    log.reply(
        "One bed is right now:\n\n```python\nneed(bed_5, [tomato, basil], rain_mm=4)\n# Need(bed=5, litres=96.0)   6 m2 x 20 l, less 24 l of rain\n```"
    )


def rain(log: ClaudeLog, files: Files) -> None:
    log.attach("edited_text_file", filename=f"{CWD}/planner/plot.py", snippet="15\tarea: float  # square metres")
    log.prompt("What about a week with more rain than need?")
    log.reply(
        "Covered: `max(0.0, ...)`. The bed gets nothing, and next week starts from zero, because soil forgets quickly in raised beds."
    )
    log.prompt("Where does the rain come from?")
    log.reply(
        "From the sky, and as numbers:",
        fetch(
            "https://valley-weather.example/api",
            "How do I get the rain of the last seven days?",
            "`GET /rain?days=7` returns JSON: a list of `{day, mm}`. No key needed. One request a minute.",
        ),
    )
    log.reply(
        files.write(
            "planner/rain.py",
            '''
"""Rain of the last seven days, from the valley station."""

import json
from urllib.request import urlopen

URL = "https://valley-weather.example/rain?days=7"


def millimetres(opener=urlopen):
    with opener(URL, timeout=10) as answer:
        return sum(day["mm"] for day in json.load(answer))
''',
        ),
        bash_fails(
            "python -c 'from planner.rain import millimetres; print(millimetres())'",
            'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n  File "planner/rain.py", line 10, in millimetres\nurllib.error.URLError: <urlopen error [Errno -2] Name or service not known>',
        ),
    )
    log.reply(
        "This sandbox has no network, so the call fails *here*. The function takes an `opener`, and the test hands it three days of invented rain instead."
    )


def taste(log: ClaudeLog) -> None:
    log.prompt("While we are at it: do tomatoes care whether it is rain or tap water?")
    call = search(
        "tomatoes rain water tap water hard water taste",
        ("Hard water in the garden - The Almanac", "https://almanac.example/water/hard"),
        ("I sang to my tomatoes", "https://moon-diary.example/july"),
    )
    call.during = (
        {"type": "query_update", "query": "tomatoes rain water tap water hard water taste"},
        {
            "type": "search_results_received",
            "resultCount": 2,
            "query": "tomatoes rain water tap water hard water taste",
        },
    )
    log.reply(call)
    log.reply(
        "A little. Tap water here is hard, and lime locks up iron, so leaves may yellow. Rain is better, tap water is fine. "
        "Nothing I found supports singing, but nothing speaks against it.",
    )


def choices(log: ClaudeLog, files: Files) -> None:
    log.prompt("Good. Should the schedule know about heat as well?")
    log.reply(
        ask(
            "How should heat count?",
            "Heat",
            {
                "Not at all": "Keep it simple",
                "A third more above 28 °C": "One rule, easy to explain",
                "A curve": "Precise, hard to explain",
            },
            "A third more above 28 °C",
        )
    )
    log.reply(
        files.edit(
            "planner/water.py", "def need(bed, crops, rain_mm=0.0):", "def need(bed, crops, rain_mm=0.0, hottest=None):"
        ),
        files.edit(
            "planner/water.py",
            "    wanted = max(crop.litres_per_week for crop in crops) * bed.area",
            "    wanted = max(crop.litres_per_week for crop in crops) * bed.area\n    if hottest is not None and hottest > 28:\n        wanted *= 4 / 3",
        ),
    )
    log.reply("A third more above 28 °C, and nothing at all if the temperature is **not known**: `None` is not zero.")
    log.shell(
        "python -m planner water --week 2026-W07",
        "bed  litres\n  1      62\n  2      48\n  3      30\n  4      22\n  5      74",
    )


def second_look(log: ClaudeLog, files: Files) -> None:
    log.prompt("The numbers look right! Can I have them as a picture?")
    log.reply(
        mcp(
            "plot",
            "bars",
            {"title": "Litres per week", "values": [62, 48, 30, 22, 74]},
            [{"type": "text", "text": "water-chart.png, 320x200"}],
            seconds=1.2,
            during=(
                {"type": "mcp_progress", "status": "started", "serverName": "plot", "toolName": "bars"},
                {
                    "type": "mcp_progress",
                    "status": "completed",
                    "serverName": "plot",
                    "toolName": "bars",
                    "elapsedTimeMs": 1130,
                },
            ),
        )
    )
    log.reply(files.look("plots/water-chart.png", "water-chart"))
    log.reply("Bed 5 drinks most, bed 4 (herbs) least. The picture lies in `plots/`.")
    log.prompt("Ask somebody else to look over the module. I am too close to it.", wait=90)

    def review(agent: ClaudeLog) -> None:
        agent.reply(files.read("planner/water.py"))
        agent.reply(bash("python -m pytest -q", "\x1b[32m.........\x1b[0m [100%]\n\x1b[32m9 passed\x1b[0m in 0.09s"))
        agent.reply(
            "### Review of `water.py`\n\n- correct: rain and heat both scale with the area\n- `max()` of an empty list raises when a bed has **no crop**; return 0 litres instead\n- the 4/3 deserves a name"
        )

    log.reply(
        spawn(
            "Review water.py",
            "Review planner/water.py with fresh eyes. Correctness first, names second. Be brief.",
            review,
            "5eed0fca1e",
            tool="Agent",
            kind="reviewer",
            model=HAIKU,
            place="{session}/agent_{id}.jsonl",
        )
    )
    log.reply(
        files.multi_edit(
            "planner/water.py",
            (
                "    wanted = max(crop.litres_per_week for crop in crops) * bed.area",
                "    wanted = max((crop.litres_per_week for crop in crops), default=0) * bed.area",
            ),
            ("        wanted *= 4 / 3", "        wanted *= HEAT"),
            ("\n\n@dataclass", "\nHEAT = 4 / 3  # a third more above 28 degrees\n\n\n@dataclass"),
        ),
    )
    log.reply(
        "The reviewer found an empty bed that would have crashed us. Both remarks are in: `default=0`, and the factor is called `HEAT`."
    )
    log.command("model", "haiku", f"Set model to \x1b[1mhaiku ({HAIKU})\x1b[22m")
    log.model = HAIKU


def add(log: ClaudeLog, files: Files, crop: Crop, number: int) -> None:
    """One crop: a prompt, a file, a check, an answer."""
    log.prompt(crop.prompt)
    name = crop.name.replace(" ", "-")
    path = f"crops/{name}.toml"
    write, check = files.write(path, crop.toml()), f"python -m planner check {path}"
    if crop.name == "garlic":
        log.reply(write, bash_fails(check, f"{path}: not ripe within the year"))
        log.reply(
            Think(
                "Garlic sleeps through the winter: a harvest next year is fine. The rule is simply wrong, so drop it."
            ),
            files.edit(
                "planner/check.py",
                '    if MONTHS.index(first) * 30 + crop["days"] > 365:\n        yield "not ripe within the year"\n',
                "",
            ),
        )
    elif crop.name == "basil":
        log.reply(write, bash_fails(check, f"{path}: depth_cm must lie between 0 and 20"))
        log.reply(
            files.edit(
                "planner/check.py", '    if not 0 < crop["depth_cm"] < 20:', '    if not 0 <= crop["depth_cm"] < 20:'
            )
        )
    elif number % 5 == 2:
        log.reply(
            Think(f"{crop.name.capitalize()} belongs to the family {crop.family}. Check that the rotation knows it."),
            write,
            grep(crop.family, f'planner/families.py:{number + 6}:    "{crop.family}",'),
        )
    else:
        log.reply(write)
    log.reply(bash(check, f"{path}: \x1b[32mok\x1b[0m", seconds=0.4))
    facts = f"sow {crop.sow}, {crop.depth} cm deep, {crop.spacing} cm apart"
    title = crop.name.capitalize()
    endings = (
        f"**{title}** is in: {facts}. {crop.remark}",
        f"{title}: {facts}, ready after **{crop.days} days**. {crop.remark}",
        f"`{path}` written and checked.\n\n- {facts}\n- {crop.litres} litres a week\n\n{crop.remark}",
    )
    log.reply(endings[number % 3])


def write(shelf: Shelf) -> None:
    log = ClaudeLog(
        shelf,
        FOLDER,
        "watering",
        start="2026-02-10 08:04",
        cwd=CWD,
        version="2.1.79",
        model=SONNET,
        branch="watering",
        slug="steady-dripping-can",
        weight=11,
    )
    files = Files(CWD, {"planner/water.py": WATER, "planner/check.py": CHECK})
    schedule(log, files)
    rain(log, files)
    taste(log)
    choices(log, files)
    second_look(log, files)
    every = crops()
    for number, crop in enumerate(every[:19]):
        add(log, files, crop, number)
    log.compact(SUMMARY_ONE)
    log.wait(5400)
    for number, crop in enumerate(every[19:], 19):
        add(log, files, crop, number)
    log.command("model", "opus", f"Set model to \x1b[1mopus ({OPUS})\x1b[22m")
    log.model = OPUS
    finish(log, files)
    log.close()
