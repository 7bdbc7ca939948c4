"""Write docs/questions.md and its pictures from the demo: ``.venv/bin/python docs/questions.py``. Needs the dev group and Chromium."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
from support.questions import QUESTIONS, Question, Step, walk  # noqa: E402 - what the test clicks too

_HEAD = """# Ten questions, by clicks

From the page of the demo's database (`./demo/run` serves it), without SQL. A test clicks the same
(`tests/browser/test_ten_questions.py`); `docs/questions.py` writes this page.
"""
_WAYS = {"table": "the table **{}**", "link": "**{}**", "facet": "the facet {} → **{}**", "row": "the row's {} **{}**"}


def page() -> str:
    """The page as Markdown."""
    return "\n".join([_HEAD, *(_section(number, one) for number, one in enumerate(QUESTIONS, 1))])


def _section(number: int, question: Question) -> str:
    way = ", then ".join(map(_words, question.steps))
    return f"## {number}. {question.asks}\n\n{way[0].upper()}{way[1:]}.\n\n![{question.asks}](questions/{question.name}.png)\n"


def _words(step: Step) -> str:
    return _WAYS[step[0]].format(*step[1:])


def main() -> None:
    """Write the page and the pictures."""
    from playwright.sync_api import sync_playwright

    from support.lab import CHROMIUM
    from support.site import served

    (HERE / "questions.md").write_text(page(), "utf-8")
    (HERE / "questions").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        db = Path(folder) / "demo.db"
        logs = HERE.parent / "demo" / "logs"
        subprocess.run([sys.executable, "-m", "clm_sessions", "import", str(db), str(logs)], check=True)
        with served(db) as address:
            browser = playwright.chromium.launch(**CHROMIUM)
            shown = browser.new_page(viewport={"width": 1280, "height": 800})
            for question in QUESTIONS:
                walk(shown, f"{address}/demo", question)
                shown.screenshot(path=HERE / "questions" / f"{question.name}.png")
            browser.close()


if __name__ == "__main__":
    main()
