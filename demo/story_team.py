"""Meeple bot, second part: a team that writes letters, and an evening on which much goes wrong."""

from __future__ import annotations

from collections.abc import Callable

from claude_log import EMPTY_USAGE, ClaudeLog
from parts import HAIKU, OPUS, Tool
from pen import Json, Shelf, iso, token
from story_meeple import CWD, FOLDER, fresh_files
from tools import bash, bash_fails, bash_stopped, grep, refused, spawn


def mate(name: str, colour: str, section: int, story: Callable[[ClaudeLog], None]) -> Tool:
    """Spawn a teammate; its log begins with a letter from the lead."""
    title, prompt = f"Read section {section}", f"Which rules of section {section} lack an example?"
    return spawn(
        title,
        f'<teammate-message teammate_id="team-lead" summary="{title}">{prompt}</teammate-message>',
        story,
        f"a7ea3{section:011}",
        waits=False,
        model=HAIKU,
        given={"team_name": "rulebook", "name": name, "prompt": prompt},
        output=f"Spawned {name}@rulebook.",
        detail={
            "status": "teammate_spawned",
            "agent_id": f"{name}@rulebook",
            "name": name,
            "team_name": "rulebook",
            "color": colour,
        },
    )


def team(shelf: Shelf) -> None:
    """Two teammates who work on their own and write letters."""
    log = ClaudeLog(
        shelf, FOLDER, "team", start="2026-02-16 14:02", cwd=CWD, version="2.1.62", model=OPUS, slug="quiet-tidal-choir"
    )

    def lamp(agent: ClaudeLog) -> None:
        agent.reply(fresh_files().read("rules/lighthouse.md"))
        agent.reply("Section 3 has three rules and no example. I drafted two examples for the lit lamp.")

    def oil(agent: ClaudeLog) -> None:
        agent.reply(
            grep(
                "oil",
                "rules/lighthouse.md:12:- A keeper carries at most four oil.\nrules/lighthouse.md:13:- Two keepers on one island may trade oil freely.",
            )
        )
        agent.reply(
            "Section 4 never says what happens to the fifth oil. I suggest: it is spilled, and the gulls are sad."
        )

    log.prompt("Make a small team and go through the rule book: which rules lack an example?")
    log.reply(
        "Two sections, two readers.",
        mate("lamplighter", "yellow", 3, lamp),
        mate("oilcan", "green", 4, oil),
    )
    log.reply(
        Tool(
            "SendMessage",
            {
                "type": "message",
                "recipient": "oilcan",
                "summary": "The fifth oil",
                "content": "Please also look at what happens to a fifth oil.",
            },
            "Message sent to oilcan.",
        )
    )
    letters(log)
    log.fact("custom-title", customTitle="A team for the rule book")
    log.close()


def letters(log: ClaudeLog) -> None:
    log.wait(12)
    log.say(
        '<teammate-message teammate_id="lamplighter" color="yellow" summary="Section 3 read">Section 3 has three rules and no example. I drafted two for the lit lamp.</teammate-message>'
    )
    log.wait(4)
    log.say(
        '<teammate-message color="green" teammate_id="oilcan" summary="The fifth oil is spilled">Section 4 never says what happens to the fifth oil. My suggestion: it is spilled, and the gulls are sad.</teammate-message>'
    )
    log.reply(
        """The team reports:

- **Section 3** (lamplighter): no examples at all; two drafts for the lit lamp are ready.
- **Section 4** (oilcan): the *fifth oil* has no rule. Suggestion: it is spilled.

I like the gulls. Shall I put both into the rule book?""",
    )
    log.prompt("Both, gulls included.")
    files = fresh_files()
    log.reply(
        files.edit(
            "rules/lighthouse.md",
            "- A keeper carries at most four oil.",
            "- A keeper carries at most four oil. A fifth is spilled; the gulls are sad.\n  *Example: Ada has four oil and finds one. She spills it. Nobody is happy.*",
        )
    )
    log.reply("Done. Section 4 now has a rule, an example and some regret.")
    log.reply(
        Tool(
            "SendMessage",
            {"type": "shutdown_response", "recipient": "team-lead", "approve": True, "content": "All read."},
            "Shutdown approved.",
        )
    )


def bad_evening(shelf: Shelf) -> None:
    """Interruptions, a refusal, API errors and a change of mind."""
    log = ClaudeLog(
        shelf,
        FOLDER,
        "deploy",
        start="2026-02-19 19:40",
        cwd=CWD,
        version="2.1.79",
        branch="deploy",
        slug="stormy-even-keel",
    )
    log.prompt("Start the bot locally and keep it running.")
    log.reply(
        bash_stopped(
            "node src/bot.js", "bot: connected to the chat\nbot: 3 tables are waiting\nbot: heartbeat\nbot: heartbeat"
        )
    )
    log.interrupt(tool=True)
    log.prompt("In the background, please! Not in front of me.")
    launch = bash("node src/bot.js", "Command running in background with ID: shell_1", "Start the bot")
    launch.input["run_in_background"] = True
    log.reply(launch)
    log.reply(
        Tool(
            "BashOutput",
            {"bash_id": "shell_1"},
            "<status>running</status>\n<stdout>\nbot: connected to the chat\n</stdout>",
            {
                "shellId": "shell_1",
                "command": "node src/bot.js",
                "status": "running",
                "exitCode": None,
                "stdout": "bot: connected to the chat",
                "stderr": "",
                "stdoutLines": 1,
                "stderrLines": 0,
                "timestamp": iso(log.clock),
            },
        )
    )
    log.reply("It runs in the background as `shell_1` and is connected.")
    clean_up(log)
    api_trouble(log)
    rewind(log)
    log.reply(
        Tool(
            "KillBash",
            {"shell_id": "shell_1"},
            '{"success":true,"message":"Stopped shell_1"}',
            {"success": True, "message": "Stopped shell_1", "shell_id": "shell_1"},
        )
    )
    log.reply("The bot is stopped, the page is deployed, and there is tea left in the pot.")
    log.fact("custom-title", customTitle="A bad evening, with a good end")
    log.close()


def clean_up(log: ClaudeLog) -> None:
    log.prompt("Now clean up the old test games.")
    log.reply(
        "I would empty the whole games folder:",
        refused(bash("rm -rf data/games/*", "", "Delete all games")),
    )
    log.interrupt(tool=True)
    log.prompt("Whoa, no. Only the ones called test-*.")
    log.reply(bash("ls -d data/games/test-* | wc -l && rm -r data/games/test-*", "14"))
    log.reply("Fourteen test games are gone; the 203 real ones are untouched. Sorry for the fright.")


def api_trouble(log: ClaudeLog) -> None:
    log.prompt("Good. Deploy the rules page.")
    for attempt in (1, 2):
        log.wait(4 * attempt)
        log.entry(
            "system",
            subtype="api_error",
            level="error",
            error={"status": 529, "message": "overloaded"},
            retryInMs=4000 * attempt,
            retryAttempt=attempt,
            maxRetries=10,
            isMeta=False,
        )
    synthetic(log, "API Error: 529 The service is overloaded. Try again in a moment.", "server_error")
    log.prompt("Try again?")
    log.reply(
        bash_fails(
            "npm run deploy",
            "> deploy\n> rsync -a site/ shed:/srv/rules\n\nrsync: connection unexpectedly closed (0 bytes received so far)\nrsync error: unexplained error (code 255)",
            "Deploy the page",
            code=255,
            seconds=12,
        )
    )
    log.reply("The machine called `shed` does not answer.", Tool("Bash", {"command": "ping -c 1 shed"}, None))
    log.interrupt()
    synthetic(log, "No response requested.")


def synthetic(log: ClaudeLog, text: str, error: str = "") -> None:
    """A record the program made in the name of the model."""
    message = {
        "id": token("", log.dice.fresh(), 12),
        "model": "<synthetic>",
        "role": "assistant",
        "stop_reason": "stop_sequence",
        "stop_sequence": "",
        "type": "message",
        "usage": EMPTY_USAGE,
        "content": [{"type": "text", "text": text}],
    }
    about: dict[str, Json] = {"isApiErrorMessage": True, "error": error} if error else {}
    log.entry("assistant", message=message, **about)


def rewind(log: ClaudeLog) -> None:
    """Two prompts under one parent: the person went back and asked something else."""
    fork = log.parent
    log.prompt("Rewrite the deploy script in Rust.")
    log.reply("That is a bold answer to a machine that is switched off. Shall I look whether `shed` is running first?")
    log.end_turn()
    log.parent = fork
    log.prompt("The shed was unplugged, silly me. It is back, deploy again.")
    log.reply(
        bash(
            "npm run deploy",
            "> deploy\n> rsync -a site/ shed:/srv/rules\n\nsent 18,402 bytes  received 214 bytes",
            seconds=3,
        )
    )


def write(shelf: Shelf) -> None:
    team(shelf)
    bad_evening(shelf)
