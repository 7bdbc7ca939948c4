"""Tidewise, second part: work in the background, a workflow of helpers, servers, a notebook, and a file that suffered."""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta, timezone

from claude_log import ClaudeLog
from parts import HAIKU, OPUS, SONNET, Agent, Raw, Tool, image
from pen import Shelf, line
from story_tides import CWD, FOLDER, fresh_files
from tools import bash, mcp, spawn

SQL = """WITH ranked AS (
  SELECT harbour, at, height,
         rank() OVER (PARTITION BY harbour ORDER BY height DESC) AS place
  FROM tides
  WHERE kind = 'high'
)
SELECT harbour, at, height FROM ranked WHERE place <= 3 ORDER BY harbour, place;"""
WORKFLOW = "wf_7f3a91"
STEPS = (
    (
        "Step 1: check that the changelog names every change since v0.3.",
        "git log --oneline v0.3..HEAD | wc -l",
        "6",
        "All six changes are named. One line is longer than the others, and funnier.",
    ),
    (
        "Step 2: build the wheel and install it in an empty environment.",
        "python -m build --wheel",
        "Successfully built tidewise-0.4.0-py3-none-any.whl",
        "The wheel is 24 kB, installs in 2 s, and `tidewise --version` says 0.4.0.",
    ),
)


def opening(log: ClaudeLog) -> None:
    """What newer versions write before the first prompt."""
    log.fact("permission-mode", permissionMode="acceptEdits")
    log.fact("mode", mode="normal")
    log.attach(
        "skill_listing",
        content="- tide-words: explain a term of the tide tables",
        skillCount=1,
        isInitial=True,
    )
    log.attach("deferred_tools_delta", addedNames=["mcp__sqlite__query"], addedLines=[], removedNames=[])


def import_all(log: ClaudeLog) -> None:
    log.prompt(
        "Import all four harbours into tides.db in the background, and meanwhile let a helper write the page about the database."
    )
    log.attach(
        "hook_success",
        hookName="UserPromptSubmit",
        toolUseID="hook-1",
        hookEvent="UserPromptSubmit",
        content="",
        stdout="",
        stderr="",
        exitCode=0,
        command="./tools/tell-the-time.sh",
        durationMs=12,
    )

    def write_page(agent: ClaudeLog) -> None:
        agent.reply(fresh_files().read("README.md"))
        agent.reply(
            fresh_files().write(
                "docs/database.md", "# The database\n\nOne table, `tides`: harbour, at (UTC), kind, height in metres.\n"
            )
        )
        agent.reply("`docs/database.md` is written: one table, four columns, one example query.")

    launch = bash(
        "python -m tidewise import tables/ --all --db tides.db",
        "Command running in background with ID: b4k7d2",
        "Import every harbour",
    )
    launch.input["run_in_background"] = True
    launch.detail["backgroundTaskId"] = "b4k7d2"
    helper = spawn(
        "Write the database page",
        "Write docs/database.md: what the table holds, the units, one example query. Short.",
        write_page,
        "a9b1e77e00000001",
        model=SONNET,
        waits=False,
        tool="Agent",
        given={"run_in_background": True},
        output="Agent launched in the background. You will be told when it is done.",
        detail={
            "isAsync": True,
            "status": "async_launched",
            "agentId": "a9b1e77e00000001",
            "description": "Write the database page",
            "prompt": "Write docs/database.md: what the table holds, the units, one example query. Short.",
            "outputFile": "/home/dev/.cache/tasks/a9b1e77e00000001.output",
        },
        meta={"agentType": "general-purpose", "description": "Write the database page", "toolUseId": "{call}"},
    )
    log.reply("Both are off. I'll report as they come in.", launch, helper)
    log.reply("Meanwhile: is there anything you want to know from the data once it is there?")


def notices(log: ClaudeLog) -> None:
    log.wait(35)
    text = "<task-notification>\n<task-id>b4k7d2</task-id>\n<status>completed</status>\n</task-notification>"
    log.stamped("queue-operation", operation="enqueue", content=text)
    log.stamped("queue-operation", operation="dequeue")
    log.notice(
        task_id="b4k7d2",
        status="completed",
        summary='Background command "Import every harbour" completed (exit code 0)',
        output_file="/home/dev/.cache/tasks/b4k7d2.output",
    )
    log.reply("The import is done: **17,532** tides of four harbours, no line refused.")
    log.wait(20)
    log.notice(
        task_id="a9b1e77e00000001",
        status="completed",
        summary='Agent "Write the database page" completed',
        result="docs/database.md is written.",
    )
    log.reply("And the page is written. `docs/database.md`: one table, four columns, one query.")


def ask_the_database(log: ClaudeLog) -> None:
    log.prompt("Nice. What are the three highest tides of each harbour?")
    log.attach("queued_command", prompt="and please as a table", commandMode="prompt")
    found = Tool(
        "ToolSearch",
        {"query": "select:mcp__sqlite__query", "max_results": 3},
        [{"type": "tool_reference", "tool_name": "mcp__sqlite__query"}],
        {"matches": ["mcp__sqlite__query"], "query": "select:mcp__sqlite__query", "total_deferred_tools": 6},
    )
    log.reply(found)
    rows = [
        {"harbour": "Candle Point", "at": "2026-09-30T05:51Z", "height": 6.1},
        {"harbour": "Gullhaven", "at": "2026-03-21T18:12Z", "height": 5.4},
        {"harbour": "Otter Quay", "at": "2026-09-29T17:08Z", "height": 3.3},
        {"harbour": "Port Merrow", "at": "2026-03-21T17:55Z", "height": 5.2},
    ]
    log.reply(
        mcp(
            "sqlite",
            "query",
            {"sql": SQL},
            [{"type": "text", "text": json.dumps(rows, indent=1)}],
            detail=[{"type": "text", "text": json.dumps(rows)}],
            seconds=0.8,
        )
    )
    log.reply(
        f"""The first of each, to keep it short:

| harbour | when (UTC) | metres |
|---|---|---:|
| Candle Point | 30 Sep, 05:51 | **6.1** |
| Gullhaven | 21 Mar, 18:12 | 5.4 |
| Port Merrow | 21 Mar, 17:55 | 5.2 |
| Otter Quay | 29 Sep, 17:08 | 3.3 |

All within a day of an equinox spring tide, which is a good sign. The query, for the README:

```sql
{SQL}
```""",
    )


def notebook(log: ClaudeLog) -> None:
    log.prompt("Put that query into `explore.ipynb` as a new cell, with a bar chart, and show me how it looks.")
    source = "import pandas as pd\n\ntop = pd.read_sql(QUERY, db)\ntop.groupby('harbour').height.max().plot.barh()"
    edit = Tool(
        "NotebookEdit",
        {
            "notebook_path": f"{CWD}/explore.ipynb",
            "cell_id": "c3",
            "new_source": source,
            "cell_type": "code",
            "edit_mode": "insert",
        },
        "Inserted cell c3",
        {
            "new_source": source,
            "cell_id": "c3",
            "cell_type": "code",
            "language": "python",
            "edit_mode": "insert",
            "error": "",
        },
    )
    log.reply(edit)
    log.reply(
        mcp(
            "browser",
            "take_screenshot",
            {"format": "png"},
            [{"type": "text", "text": "Captured the page at 320x200."}, image("tide-chart")],
            detail=[{"type": "text", "text": "Captured the page at 320x200."}],
            seconds=2.1,
        )
    )
    note = Tool(
        "NotebookEdit",
        {
            "notebook_path": f"{CWD}/explore.ipynb",
            "cell_id": "c1",
            "new_source": "# Four harbours",
            "cell_type": "markdown",
            "edit_mode": "replace",
        },
        "Updated cell c1",
        {
            "new_source": "# Four harbours",
            "cell_id": "c1",
            "cell_type": "markdown",
            "language": "markdown",
            "edit_mode": "replace",
            "error": "",
        },
    )
    log.attach(
        "diagnostics",
        files=[{"uri": f"{CWD}/explore.ipynb", "diagnostics": [{"message": "unused import", "severity": "Hint"}]}],
        isNew=True,
    )
    log.reply("The heading still said *one harbour*.", note)
    log.reply("The cell runs. I also left the old curve of 14 and 15 February above it, because it is pretty.")


def tides_of_a_year() -> str:
    """Four invented tides a day, 50 minutes later each day."""
    rows = []
    for day in range(365):
        date = datetime(2026, 1, 1, tzinfo=timezone.utc) + timedelta(days=day)
        for number in range(4):
            at = date + timedelta(minutes=(day * 50 + number * 372) % 1440)
            swing = 2.1 + 0.5 * math.cos(day / 14.77 * 2 * math.pi)
            kind, height = ("high", 3.5 + swing) if number % 2 else ("low ", 3.5 - swing)
            rows.append(f"{at:%Y-%m-%d %H:%M}  {kind}  {height:.1f} m")
    return "\n".join(sorted(rows))


def dump(log: ClaudeLog) -> None:
    log.prompt("Print every tide of Candle Point this year. I want to read them on the train.")
    whole = tides_of_a_year()
    head = "\n".join(whole.splitlines()[:12])
    call = bash("python -m tidewise print candle-point 2026", head, "Print the year")
    call.output = (
        f"<persisted-output>\nOutput too large ({len(whole) // 1000} kB). The whole of it is in {{path}}\n\n"
        f"Preview:\n{head}\n...\n</persisted-output>"
    )
    call.keep_whole = whole
    log.reply(call)
    log.reply(
        f"Here is the year. It is long, so the whole of it lies beside the log; the first three days:\n\n"
        f"```text\n{head}\n```\n\nA fine read, if a little repetitive."
    )


def equinox(log: ClaudeLog) -> None:
    """A search the service itself made: its blocks stand in the reply."""
    log.prompt("Why are the highest tides always around the equinox?")
    log.reply(
        Raw(
            {
                "type": "server_tool_use",
                "id": "srvtoolu_tide1",
                "name": "web_search",
                "input": {"query": "equinox spring tide why"},
            }
        ),
        Raw(
            {
                "type": "web_search_tool_result",
                "tool_use_id": "srvtoolu_tide1",
                "content": [
                    {"type": "web_search_result", "title": "Spring tides", "url": "https://tides.example/springs"}
                ],
            }
        ),
        "Because sun, moon and the **equator** line up then. At the equinox the sun stands over the equator, so its pull and "
        "the moon's add up in the same plane. Your own data shows it: all four record tides fall within a day of it.",
    )


def step(log: ClaudeLog, call: str, ident: str, task: tuple[str, str, str, str], start: int) -> None:
    """One step of the workflow: its log lies a folder deeper, and only meta.json knows the call."""
    prompt, command, output, answer = task
    place = "{session}/subagents/workflows/" + WORKFLOW + "/agent-{id}.jsonl"
    agent = log.sub(Agent(ident, prompt, lambda _: None, place=place, model=HAIKU), start)
    agent.prompt(prompt)
    agent.reply(bash(command, output, seconds=3))
    agent.reply(answer)
    agent.close()
    meta = {"agentType": "workflow-step", "description": prompt.split(":")[0], "toolUseId": call}
    log.shelf.put(f"claude/projects/{FOLDER}/{agent.path.replace('.jsonl', '.meta.json')}", line(meta))


def workflow(log: ClaudeLog) -> None:
    log.prompt("Run the release workflow as a rehearsal.")
    folder = f"{log.session}/subagents/workflows/{WORKFLOW}"
    call = Tool(
        "Workflow",
        {"name": "release-rehearsal", "args": {"dry_run": True}},
        "Workflow release-rehearsal finished: 2 of 2 steps passed.",
        {
            "runId": WORKFLOW,
            "workflowName": "release-rehearsal",
            "status": "completed",
            "summary": "2 of 2 steps passed",
            "taskId": "w1",
            "taskType": "workflow",
            "scriptPath": "workflows/release.js",
            "transcriptDir": folder,
        },
        seconds=64,
    )
    log.reply("A rehearsal only: nothing leaves this machine.", call)
    for number, task in enumerate(STEPS, 1):
        step(log, call.id, f"a3e11ea50000000{number}", task, log.clock - 62_000)
    journal = b"".join(line({"type": "started", "key": f"step-{number}"}) for number in (1, 2))
    log.shelf.put(f"claude/projects/{FOLDER}/{folder}/journal.jsonl", journal)
    log.reply("Both steps passed. The real release is one flag away, and I will not touch that flag unless you ask.")
    log.stamped(
        "pr-link", prNumber=12, prUrl="https://forge.example/tidewise/pull/12", prRepository="tidewise/tidewise"
    )


def background(shelf: Shelf) -> None:
    log = ClaudeLog(
        shelf,
        FOLDER,
        "harbours",
        start="2026-03-04 13:20",
        cwd=CWD,
        version="2.1.150",
        model=OPUS,
        branch="four-harbours",
    )
    opening(log)
    log.attach("file", filename="README.md", displayPath="README.md", content={"type": "text", "text": "# tidewise"})
    import_all(log)
    notices(log)
    ask_the_database(log)
    notebook(log)
    dump(log)
    log.wait(1500)
    log.entry(
        "system", subtype="away_summary", content="While you were away: nothing. The tides came and went.", isMeta=False
    )
    log.stamped("queue-operation", operation="enqueue", content="and tell me when it is high water")
    log.stamped("queue-operation", operation="remove")
    equinox(log)
    workflow(log)
    log.attach("task_reminder", content=[], itemCount=0)
    log.attach("date_change", newDate="2026-03-05")
    log.put({"type": "system-mood", "note": "a record type nobody has told us about", "sessionId": log.session})
    log.fact("ai-title", aiTitle="Four harbours in one database")
    log.fact("last-prompt", lastPrompt="Run the release workflow as a rehearsal.", leafUuid=log.parent)
    log.fact("bridge-session", bridgeSessionId="bridge-demo", lastSequenceNum=41)
    log.close()


def write(shelf: Shelf) -> None:
    background(shelf)
