"""Tidewise, second part: work in the background, a workflow of helpers, servers, a notebook, and a file that suffered."""

from __future__ import annotations

import json

from claude_log import HAIKU, OPUS, SONNET, Agent, ClaudeLog, Raw, Think, Tool, image
from pen import Json, Shelf, line
from story_tides import CWD, FOLDER, fresh_files
from tools import bash, bash_fails, mcp, spawn

SQL = """WITH ranked AS (
  SELECT harbour, at, height,
         rank() OVER (PARTITION BY harbour ORDER BY height DESC) AS place
  FROM tides
  WHERE kind = 'high'
)
SELECT harbour, at, height FROM ranked WHERE place <= 3 ORDER BY harbour, place;"""
WORKFLOW = "wf_7f3a91"


def opening(log: ClaudeLog) -> None:
    """What newer versions write before the first prompt."""
    log.fact("permission-mode", permissionMode="acceptEdits")
    log.fact("mode", mode="normal")
    attach(
        log,
        type="skill_listing",
        content="- tide-words: explain a term of the tide tables",
        skillCount=1,
        isInitial=True,
    )
    attach(log, type="deferred_tools_delta", addedNames=["mcp__sqlite__query"], addedLines=[], removedNames=[])


def attach(log: ClaudeLog, **attachment: Json) -> None:
    log.entry("attachment", attachment=attachment)


def import_all(log: ClaudeLog) -> None:
    log.prompt(
        "Import all four harbours into tides.db in the background, and meanwhile let a helper write the page about the database."
    )
    attach(
        log,
        type="hook_success",
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
    log.put(
        {
            "type": "queue-operation",
            "operation": "enqueue",
            "timestamp": "2026-03-04T13:26:00.000Z",
            "sessionId": log.session,
            "content": text,
        }
    )
    log.put(
        {
            "type": "queue-operation",
            "operation": "dequeue",
            "timestamp": "2026-03-04T13:26:00.200Z",
            "sessionId": log.session,
        }
    )
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
    log.reply("And the page is written. `docs/database.md`, 40 lines.")


def ask_the_database(log: ClaudeLog) -> None:
    log.prompt("Nice. What are the three highest tides of each harbour?")
    attach(log, type="queued_command", prompt="and please as a table", commandMode="prompt")
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
    log.reply("The cell runs. I also left the old curve of 14 and 15 February above it, because it is pretty.")


def dump(log: ClaudeLog) -> None:
    log.prompt("Print every tide of Candle Point in March. I want to read them on the train.")
    rows = [
        f"2026-03-{day:02} {hour:02}:{minute:02}  {'high' if n % 2 else 'low '}  {3.2 + (2.6 if n % 2 else -2.4) + day % 7 / 10:.1f} m"
        for day in range(1, 32)
        for n, (hour, minute) in enumerate(((1, day + 9), (7, day + 17), (13, day + 24), (19, day + 28)))
    ]
    whole = "Candle Point, March 2026, UTC\n" + "\n".join(rows * 4)
    head = "\n".join(rows[:12])
    call = bash("python -m tidewise print candle-point 2026-03 --wide", "x", "Print the month")
    call.output = f"<persisted-output>\nOutput too large ({len(whole) // 1000} kB). The whole of it is in {{path}}\n\nPreview:\n{head}\n...\n</persisted-output>"
    call.keep_whole = whole
    call.detail["stdout"] = head
    call.detail["persistedOutputPath"] = "tool-results"
    log.reply(call)
    log.reply(
        "Here is the month. It is long, so the whole of it lies beside the log; the first three days:\n\n```text\n"
        + head
        + "\n```"
    )


def workflow(log: ClaudeLog) -> None:
    log.prompt("Run the release workflow as a rehearsal.")
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
            "transcriptDir": f"subagents/workflows/{WORKFLOW}",
        },
        seconds=64,
    )
    log.reply("A rehearsal only: nothing leaves this machine.", call)
    start = log.clock - 62_000
    for ident, prompt, answer in (
        (
            "a3e11ea500000001",
            "Step 1: check that the changelog names every change since v0.3.",
            "All six changes are named. One line is longer than the others and funnier.",
        ),
        (
            "a3e11ea500000002",
            "Step 2: build the wheel and install it in an empty environment.",
            "The wheel is 24 kB, installs in 2 s, and `tidewise --version` says 0.4.0.",
        ),
    ):
        agent = log.sub(
            Agent(
                ident,
                prompt,
                lambda _: None,
                place="{session}/subagents/workflows/" + WORKFLOW + "/agent-{id}.jsonl",
                model=HAIKU,
            ),
            start,
        )
        agent.prompt(prompt)
        agent.reply(
            bash(
                "git log --oneline v0.3..HEAD | wc -l" if ident.endswith("1") else "python -m build --wheel",
                "6" if ident.endswith("1") else "Successfully built tidewise-0.4.0-py3-none-any.whl",
                seconds=3,
            )
        )
        agent.reply(answer)
        agent.close()
        folder = f"claude/projects/{FOLDER}/{log.session}/subagents/workflows/{WORKFLOW}"
        log.shelf.put(
            f"{folder}/agent-{ident}.meta.json",
            line({"agentType": "workflow-step", "description": prompt[:6], "toolUseId": call.id}),
        )
    log.shelf.put(
        f"claude/projects/{FOLDER}/{log.session}/subagents/workflows/{WORKFLOW}/journal.jsonl",
        line({"type": "started", "key": "step-1"}) + line({"type": "started", "key": "step-2"}),
    )
    log.reply("Both steps passed. The real release is one flag away, and I will not touch that flag unless you ask.")
    log.put(
        {
            "type": "pr-link",
            "sessionId": log.session,
            "prNumber": 12,
            "prUrl": "https://forge.example/tidewise/pull/12",
            "prRepository": "tidewise/tidewise",
            "timestamp": "2026-03-04T14:10:00.000Z",
        }
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
    import_all(log)
    notices(log)
    ask_the_database(log)
    notebook(log)
    dump(log)
    workflow(log)
    attach(log, type="task_reminder", content=[], itemCount=0)
    attach(log, type="date_change", newDate="2026-03-05")
    log.put({"type": "system-mood", "note": "a record type nobody has told us about", "sessionId": log.session})
    log.fact("ai-title", aiTitle="Four harbours in one database")
    log.fact("last-prompt", lastPrompt="Run the release workflow as a rehearsal.", leafUuid=log.parent)
    log.fact("bridge-session", bridgeSessionId="bridge-demo", lastSequenceNum=41)
    log.close()


def suffered(shelf: Shelf) -> None:
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


def write(shelf: Shelf) -> None:
    background(shelf)
    suffered(shelf)
