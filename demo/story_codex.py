"""Windvane: a weather station on a roof, looked after in Codex. A helper thread, a fork, and an evening that was archived."""

from __future__ import annotations

from codex_log import SMALL, CodexLog, calls, patch, run, think, web
from pen import Shelf

CWD = "/home/robin/code/windvane"
QUESTION = (
    "Read the last ten nights in `data/` and say on which of them the vane stood still for more than an hour.\n"
    "Answer with one line a night."
)


def station(shelf: Shelf) -> None:
    """A day with the station: its helper, and a fork of it; both are written on the way."""
    log = CodexLog(shelf, "station", "2026-03-14 08:12", CWD, branch="still-nights")
    log.asks("The vane says north all night. Frozen, or broken? Look at the data of last night.", wait=3)
    log.does(
        think("**Looking at the data**\n\nA frozen vane and a broken one look alike at night; at noon they do not."),
        "I look at the night first, then at noon, when it should have thawed.",
        run("ls data | tail -3", "2026-03-12.csv\n2026-03-13.csv\n2026-03-14.csv\n"),
        run("awk -F, '$2 == 0' data/2026-03-14.csv | wc -l", "412\n"),
    )
    log.does(
        run("python -m windvane check data/2026-03-14.csv", "KeyError: 'gust'\n", code=1),
        run("head -2 data/2026-03-14.csv", "time,direction,speed\n2026-03-14T00:00,0,1.2\n"),
    )
    log.does(
        think("**Fixing the check**\n\nOld files have no gust column. The check should cope before I trust it."),
        calls(
            "update_plan",
            "Plan updated",
            explanation="First the tool, then the vane.",
            plan=[
                {"step": "Let the check read files without gusts", "status": "in_progress"},
                {"step": "Tell still nights from frozen ones", "status": "pending"},
            ],
        ),
        patch(
            "*** Update File: windvane/check.py\n@@ def rows(path):\n"
            '-        yield row["time"], row["gust"]\n+        yield row["time"], row.get("gust")\n',
            "Success. Updated the following files:\nM windvane/check.py\n",
        ),
    )
    log.does(run("python -m pytest -q", "14 passed in 0.31s\n", seconds=2.4))
    log.ends(
        "**Frozen, not broken.** From 23:10 to 06:50 the vane did not move by a degree, at 1.2 °C below zero. It has "
        "turned freely since.\n\nOn the way I taught the check to read files without a `gust` column."
    )
    log.asks("How often was that this month? Let somebody else count, I want you to think about a heater.", wait=95)
    log.does(
        "I let a helper count the nights, and look for heaters meanwhile.",
        calls("spawn_agent", None, message=QUESTION, agent_type="explorer"),
    )
    helper = counter(shelf, log)
    log.spawns(helper)
    log.does(web("heated wind vane 12 V power consumption"))
    log.at = helper.at + 2_000
    log.notified(helper, "Four of ten nights.")
    log.ends(
        "Four of the last ten nights.\n\n| heater | power | switched by |\n|---|---:|---|\n| resistor, 5 W | 2 W mean | "
        "thermistor |\n| ring, 12 W | 6 W mean | the station |\n\nI would take the resistor: it needs no code at all."
    )
    other_way(shelf, log)
    log.asks("The resistor, then. Write down how to wire it.", wait=600)
    log.does(
        think("**Writing the wiring down**"),
        patch(_WIRING, "Success. Updated the following files:\nA docs/heater.md\n"),
    )
    log.compacts(
        "The vane freezes on still, cold nights. A 5 W resistor with a thermistor was chosen; see docs/heater.md."
    )
    log.ends("It is in `docs/heater.md`, with a drawing in letters. Mind the polarity of the thermistor: it has none.")
    log.named("The frozen vane")
    log.close()


_WIRING = (
    "*** Add File: docs/heater.md\n+# A heater for the vane\n+\n+    12 V ──[ thermistor ]──[ 5 W ]── ground\n+\n"
    "+Below 3 degrees the thermistor lets the current through.\n"
)


def counter(shelf: Shelf, above: CodexLog) -> CodexLog:
    """The helper: it begins with everything the thread above has said."""
    log = CodexLog(
        shelf, "counter", above.at + 900, CWD, branch="still-nights", model=SMALL, above=above, agent="explorer"
    )
    log.asks(QUESTION, wait=0.2)
    log.does(
        think("**Counting still hours**"),
        run(
            "python -m windvane still --nights 10 --minutes 60",
            "2026-03-05  460 min\n2026-03-06    0 min\n2026-03-09  122 min\n2026-03-12   75 min\n2026-03-14  460 min\n",
        ),
    )
    log.ends("Four of ten nights:\n\n- 5 March, 460 min\n- 9 March, 122 min\n- 12 March, 75 min\n- 14 March, 460 min")
    log.close()
    return log


def other_way(shelf: Shelf, above: CodexLog) -> None:
    """A fork: the same day, gone on with in another way."""
    log = CodexLog(shelf, "other way", above.at + 200_000, CWD, branch="no-heater", above=above)
    log.asks("No heater after all. Could the station just say that the vane is frozen?", wait=20)
    log.does(
        think("**A flag instead of a heater**"),
        patch(
            "*** Update File: windvane/report.py\n@@ def line(row):\n"
            '-    return f"{row.time} {row.direction}"\n+    frozen = row.still > 60 and row.celsius < 1\n'
            "+    return f\"{row.time} {'frozen' if frozen else row.direction}\"\n",
            "Success. Updated the following files:\nM windvane/report.py\n",
        ),
        run("python -m pytest -q", "1 failed, 14 passed in 0.35s\n", code=1, seconds=2.1),
    )
    log.does(run("git diff --stat", " windvane/report.py | 3 ++-\n"))
    log.stops()
    log.asks("Wait, I forgot the time zone. Leave it red for today.", wait=9)
    log.ends("Left as it is: one red test, which names the time zone. The report says *frozen* from tomorrow on.")
    log.close()


def archived(shelf: Shelf) -> None:
    """A short evening, put away in the archive; its last call was never answered."""
    log = CodexLog(shelf, "battery", "2026-03-02 21:40", CWD, archived=True, source="exec", originator="codex_exec")
    log.asks("How long does the battery last without sun?", wait=1)
    log.does(
        "From the log of the charger: I look for the longest night.", run("grep -c discharge charger.log", "1880\n")
    )
    log.ends("About **31 hours** at the mean load of 0.4 W. A second cell would carry you over a grey weekend.")
    log.asks("Order one.", wait=12)
    log.does(
        "I cannot order anything, but I can write the order down.", calls("exec_command", None, cmd="cat > order.txt")
    )
    log.close()


def write(shelf: Shelf) -> None:
    """All of them."""
    station(shelf)
    archived(shelf)
