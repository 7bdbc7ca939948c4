"""What tests of the notebook front end share."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import jupyter_clm

LOGS = Path(__file__).parents[2] / "demo/logs"


def environment(**more: str) -> dict[str, str]:
    """The environment of a process that must import the package that these tests import."""
    return {**os.environ, "PYTHONPATH": str(Path(jupyter_clm.__file__).parents[1]), **more}


def plain(html: str) -> str:
    """The text of HTML as a program without style sheets shows it."""
    parser = _Text()
    parser.feed(html)
    return " ".join(" ".join(parser.words).split())


def cards_of(html: str) -> str:
    """The HTML without the style and what only the wrappers of the notebook have, for ``safety.check``."""
    html = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    html = re.sub(r' (role="[a-z]+"|scope="(row|col)"|aria-live="polite")', "", html)
    return html.replace(" jp-toc-ignore", "").replace("jp-toc-ignore", "clm-x")


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.hidden = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self.hidden = self.hidden and tag != "style"

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.words.append(data)
