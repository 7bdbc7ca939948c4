"""Writes the invented logs: ``python demo/make_logs.py [FOLDER]`` (default: ``demo/logs``). Same bytes on every run."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import story_clm
import story_codex
import story_companions
import story_garden
import story_harbour
import story_lantern
import story_meeple
import story_powercut
import story_team
import story_tides
import story_watering
from pen import Shelf

STORIES = (
    story_garden,
    story_companions,
    story_tides,
    story_harbour,
    story_powercut,
    story_meeple,
    story_team,
    story_lantern,
    story_watering,
    story_clm,
    story_codex,
)


def main(folder: Path) -> None:
    shelf = Shelf()
    for story in STORIES:
        story.write(shelf)
    for old in ("claude", "clm", "codex"):
        shutil.rmtree(folder / old, ignore_errors=True)
    shelf.write(folder)
    size = sum(map(len, shelf.files.values()))
    print(f"{len(shelf.files)} files, {size / 1e6:.2f} MB in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "logs")
