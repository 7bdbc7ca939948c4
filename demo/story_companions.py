"""Garden planner, second part: three helpers at once, one of which sends a helper of its own."""

from __future__ import annotations

from claude_log import ClaudeLog
from parts import HAIKU, OPUS, SONNET, Agent, Think
from pen import Json, Shelf, line, uuid_for
from story_garden import CWD, FOLDER, fresh_files
from tools import bash, fetch, glob, grep, search, spawn

NEIGHBOURS = '''
"""Who likes whom. A pair is written once, in the order of the alphabet."""

FRIENDS = {("basil", "tomato"), ("carrot", "leek"), ("bean", "maize")}
FOES = {("bean", "onion"), ("dill", "carrot")}


def verdict(one, other):
    pair = tuple(sorted((one, other)))
    if pair in FRIENDS:
        return "friends"
    return "foes" if pair in FOES else "strangers"
'''

SORTED_PAIRS = '''"""Who likes whom."""


def pairs(*texts):
    """Pairs in any order, kept in the order of the alphabet."""
    return {tuple(sorted(text.split())) for text in texts}

'''


def read_notes(log: ClaudeLog) -> None:
    """First helper: what the gardener wrote down."""
    log.reply(
        "I'll search the notes for crops mentioned together.",
        glob("notes/**/*.md", f"{CWD}/notes/frost.md", f"{CWD}/notes/2024.md", f"{CWD}/notes/2025.md"),
        grep(
            "next to|beside|between",
            "notes/2024.md:12:Basil next to the tomatoes: no whitefly this year.\n"
            "notes/2024.md:31:Onions beside the beans. Both sulked.\n"
            "notes/2025.md:8:Marigolds between the carrots, very pretty, no idea if useful.\n"
            "notes/2025.md:22:Mint next to anything: do not. It owns the path now.",
            "notes",
        ),
    )
    log.reply(
        "### From the notes\n\n"
        "| pair | year | remark |\n|---|---|---|\n"
        "| basil + tomato | 2024 | good, no whitefly |\n"
        "| onion + bean | 2024 | bad, both sulked |\n"
        "| marigold + carrot | 2025 | pretty, effect unknown |\n"
        "| mint + anything | 2025 | **bad**, it spreads |",
    )


def read_code(log: ClaudeLog) -> None:
    """Second helper: what the program knows. It finds a bug on the way."""
    files = fresh_files()
    files.texts["planner/neighbours.py"] = NEIGHBOURS.lstrip("\n")
    log.reply(files.read("planner/neighbours.py"))
    log.reply(
        Think(
            "Pairs must be in alphabetical order, and ('dill', 'carrot') is not. So verdict('carrot', 'dill') says strangers."
        ),
        "One pair looks wrong. I'll check before I claim it.",
        bash(
            "python -c \"from planner.neighbours import verdict; print(verdict('dill', 'carrot'))\"",
            "strangers",
            "Ask for a pair that should be foes",
        ),
    )
    log.reply(
        "### From the code\n\n"
        "`planner/neighbours.py` knows three friendly pairs and two hostile ones.\n\n"
        '**Bug:** `FOES` holds `("dill", "carrot")`, but `verdict()` sorts the pair first, so it is never found. '
        'Write it as `("carrot", "dill")`.',
    )


def check_one_claim(log: ClaudeLog) -> None:
    """The helper's helper: one page, one claim."""
    log.reply(
        fetch(
            "https://almanac.example/companions/marigold",
            "Do marigolds protect carrots? What is the evidence?",
            "The page says marigold roots are *thought* to deter some eelworms. It calls the evidence for carrot fly "
            '"mostly hope" and recommends fleece instead.',
        ),
    )
    log.reply("Marigolds: perhaps against eelworms, **not** against carrot fly. Use fleece.")


def read_the_web(log: ClaudeLog) -> None:
    """Third helper: what others say; it hands one claim on."""
    log.reply(
        search(
            "companion planting evidence marigold carrot",
            ("Marigold - The Almanac", "https://almanac.example/companions/marigold"),
            ("Planting by the moon, a diary", "https://moon-diary.example/march"),
            ("Companion planting: what was tested", "https://trials.example/companions"),
        ),
    )
    log.reply(
        "The marigold claim deserves a closer look; I'll have it checked while I read the trials.",
        spawn(
            "Check the marigold claim",
            "Read https://almanac.example/companions/marigold and tell me what it says about marigolds and carrots. "
            "Two sentences.",
            check_one_claim,
            "a4c0ffee5eed0004",
            kind="Explore",
            meta={"agentType": "Explore", "description": "Check the marigold claim", "toolUseId": "{call}"},
        ),
        fetch(
            "https://trials.example/companions/2019",
            "List tested pairs with their outcome",
            "Page not found.",
            code=404,
        ),
    )
    log.reply(
        "### From the web\n\n"
        "1. Leeks and carrots: **tested**, modest effect on carrot fly.\n"
        "2. Marigolds and carrots: *mostly hope*; fleece works.\n"
        "3. Planting by the moon: charming, untested.\n\n"
        "The 2019 trial page is gone (404), so I left its numbers out.",
    )


def helpers() -> list[Json]:
    """The three calls of one reply."""
    progress = {
        "type": "agent_progress",
        "agentId": "a4c0ffee5eed0001",
        "prompt": "Search the notes",
        "message": {"type": "assistant", "message": {"usage": {"input_tokens": 9_999, "output_tokens": 9_999}}},
    }
    return [
        spawn(
            "Search the garden notes",
            "Look through notes/ for remarks about which crops grew well or badly next to each other. Return a table.",
            read_notes,
            "a4c0ffee5eed0001",
            kind="Explore",
            during=(progress,),
            meta={"agentType": "Explore", "description": "Search the garden notes", "toolUseId": "{call}"},
        ),
        spawn(
            "Read the neighbour code",
            "Read planner/neighbours.py. Which pairs does it know, and is anything wrong with it?",
            read_code,
            "a4c0ffee5eed0002",
            model=SONNET,
            meta={"agentType": "general-purpose", "description": "Read the neighbour code"},
        ),
        spawn(
            "Look for evidence",
            "Find out which companion planting claims were ever tested. Prefer trials to diaries. Give sources.",
            read_the_web,
            "a4c0ffee5eed0003",
            model=SONNET,
        ),
    ]


def ask_three(log: ClaudeLog) -> None:
    log.prompt(
        "Which of my crops should be neighbours? Look in my notes, in the code and on the web, all at once please, "
        "and then tell me where the three disagree.",
    )
    log.reply(
        Think("Three independent sources: three helpers in parallel, each with a narrow question. Then I compare."),
        "Three questions, three helpers. I'll compare what they bring back.",
        *helpers(),
    )
    log.reply(
        Think(
            "Compare: basil/tomato is in notes and code. Marigold: notes undecided, web says hope. Dill bug explains why it never showed."
        ),
        """## Good and bad neighbours

| pair | notes | code | web | so |
|------|:-----:|:----:|:---:|----|
| basil + tomato | yes | yes | - | **plant together** |
| carrot + leek | - | yes | tested | **plant together** |
| bean + onion | no | no | - | keep apart |
| carrot + dill | - | *bug* | - | keep apart, and fix the code |
| carrot + marigold | pretty | - | mostly hope | for beauty only |
| mint + anything | **no** | - | - | in a pot, with a lid |

**Where they disagree:** only about marigolds. Your notes are undecided, the web is sceptical.
""",
    )


def fix_the_pair(log: ClaudeLog) -> None:
    log.prompt("Fix the dill bug and make it impossible to write a pair the wrong way round.")
    files = fresh_files()
    files.texts["planner/neighbours.py"] = NEIGHBOURS.lstrip("\n")
    log.reply(
        Think("Make a helper that sorts on construction; then the order in the source no longer matters.", hidden=True),
        files.multi_edit(
            "planner/neighbours.py",
            (
                'FRIENDS = {("basil", "tomato"), ("carrot", "leek"), ("bean", "maize")}',
                'FRIENDS = pairs("basil tomato", "carrot leek", "bean maize")',
            ),
            ('FOES = {("bean", "onion"), ("dill", "carrot")}', 'FOES = pairs("bean onion", "dill carrot")'),
            (
                '"""Who likes whom. A pair is written once, in the order of the alphabet."""\n',
                SORTED_PAIRS,
            ),
        ),
    )
    log.reply(
        bash(
            "python -m pytest -q",
            "\x1b[32m.................\x1b[0m [100%]\n\x1b[32m17 passed\x1b[0m in 0.21s",
            seconds=2.2,
        )
    )
    log.reply(
        'Fixed. `pairs()` sorts for you, so `"dill carrot"` and `"carrot dill"` are the same pair now. 17 tests pass.'
    )


def hidden_agents(log: ClaudeLog) -> None:
    """Runs the program makes for itself: they are logs, and nobody wants them in a list."""

    def warm(agent: ClaudeLog) -> None:
        agent.reply("Ready when you are.")

    def suggest(agent: ClaudeLog) -> None:
        agent.reply("run the tests again with the leek data")

    for ident, prompt, story in (
        ("a0000000warmup00", "Warmup", warm),
        ("aprompt_suggestion-5eed01", "Suggest what the user might type next.", suggest),
        ("acompact-5eed02", "Summarise the conversation so far.", warm),
    ):
        agent = log.sub(Agent(ident, prompt, story, model=HAIKU), log.clock)
        agent.prompt(prompt)
        story(agent)
        agent.close()


def orphan(shelf: Shelf) -> None:
    """A helper whose main log is gone."""
    session = uuid_for("a session somebody deleted")
    log = ClaudeLog(
        shelf,
        FOLDER,
        "orphan",
        start="2026-02-07 19:30",
        cwd=CWD,
        version="2.1.40",
        session=session,
        agent="a0dead1eaf000001",
        path=f"{session}/subagents/agent-a0dead1eaf000001.jsonl",
        model=HAIKU,
    )
    log.prompt("Count the seed packets in seeds.csv that expire this year.")
    log.reply(bash("awk -F, '$4 == 2026' seeds.csv | wc -l", "11"))
    log.reply("Eleven packets expire in 2026, most of them parsnip.")
    log.close()
    shelf.put(
        f"claude/projects/{FOLDER}/{session}/subagents/agent-a0dead1eaf000001.meta.json",
        line({"agentType": "Explore", "description": "Count old seed packets"}),
    )


def write(shelf: Shelf) -> None:
    log = ClaudeLog(
        shelf,
        FOLDER,
        "companions",
        start="2026-02-05 18:22",
        cwd=CWD,
        version="2.1.52",
        model=OPUS,
        branch="neighbours",
        slug="gentle-orbiting-marigold",
    )
    ask_three(log)
    fix_the_pair(log)
    hidden_agents(log)
    log.fact("custom-title", customTitle="Good and bad neighbours")
    log.fact("agent-name", agentName="neighbours")
    log.close()
    orphan(shelf)
