"""Ten questions that the demo's tables answer by clicks alone: for the test that clicks, and for the page with pictures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

Step = tuple[str, ...]
"""(``table``, name), (``link``, its words), (``facet``, column, value), or (``row``, column, words of the cell)."""


@dataclass(frozen=True)
class Question:
    """What one asks, the clicks from the page of the database, and what then stands on the page in words."""

    asks: str
    steps: tuple[Step, ...]
    shows: tuple[str, ...]

    @property
    def name(self) -> str:
        """Of its picture."""
        return "-".join(re.findall(r"\w+", self.asks.lower()))


QUESTIONS = (
    Question(
        "Which tools fail most?",
        (("table", "tool_calls"), ("link", "Failed: which tools fail most")),
        ("18 rows", "Bash 11", "exec_command 4", "shell_exec 3"),
    ),
    Question(
        "Which model worked on a project on a day?",
        (("table", "requests"), ("facet", "project_id", "garden-planner"), ("facet", "day", "2026-02-10")),
        ("claude-haiku-4-5-20251001 122", "claude-opus-4-5-20251101 40", "claude-sonnet-4-5-20250929 18"),
    ),
    Question(
        "Which sessions were interrupted?",
        (("table", "sessions"), ("link", "Interrupted")),
        ("4 rows", "Three-tide days", "The watering schedule and 39 crops", "A bad evening, with a good end"),
    ),
    Question(
        "Where was the context compacted?",
        (("table", "chunks"), ("link", "Where context was compacted")),
        ("4 rows", "This session continues from an earlier conversation", "The vane freezes on still, cold nights"),
    ),
    Question(
        "Which sessions edited this file?",
        (("table", "session_files"), ("link", "Changed files"), ("facet", "file", "windvane/check.py")),
        ("windvane/check.py", "The vane says north all night"),
    ),
    Question(
        "Which sessions are still unanswered?",
        (("table", "sessions"), ("link", "Unanswered")),
        ("1 row", "Count the birds the feeder camera saw this week"),
    ),
    Question(
        "Which tool calls took longest?",
        (("table", "tool_calls"), ("link", "Slowest")),
        ("Workflow", "1 min 4 s", "ExitPlanMode", "40 s"),
    ),
    Question(
        "Which subagents ran, and who started them?",
        (("table", "sessions"), ("link", "Subagents, and who started them")),
        ("12 rows", "The watering schedule and 39 crops"),
    ),
    Question(
        "What was it doing when it was interrupted?",
        (("table", "chunks"), ("link", "Interrupted replies"), ("row", "seq", "#119")),
        ("The watering schedule and 39 crops", "interrupted"),
    ),
    Question(
        "What could not be read?",
        (("table", "ingest_issues"), ("facet", "kind", "bad_line")),
        ("3 rows", "not JSON"),
    ),
)


def walk(page: Any, address: str, question: Question) -> None:
    """Click from the page of a database to the answer."""
    page.goto(address)
    for kind, *words in question.steps:
        _click(page, kind, *words)
        page.wait_for_load_state()


def _click(page: Any, kind: str, *words: str) -> None:
    if kind == "table":
        page.locator("h2, h3").get_by_role("link", name=words[0], exact=True).first.click()
    elif kind == "link":
        page.locator(".clm-ways").get_by_role("link", name=words[0], exact=True).click()
    elif kind == "facet":
        page.locator(f'.facet-info[data-column="{words[0]}"]').get_by_role("link", name=words[1]).first.click()
    else:
        page.locator(f"td.col-{words[0]}").get_by_role("link", name=words[1]).first.click()
