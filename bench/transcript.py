#!/usr/bin/env python3
"""How fast the transcript of a session of 5,000 chunks is in Chromium, beside the very same HTML as a static file.

It writes a log, imports it, serves it with ``datasette`` and opens pages: the first, one from the middle, one found by a
word of chunk 4,900, and one with a tool output of 5 MB, which is then opened. For each: bytes, elements, the time to the
first contentful paint (median of some loads, with its ratio to the static file), and the longest frame while the page is
scrolled from its top to its end. Needs playwright, and the extra ``datasette``.

    bench/transcript.py                  a table
    bench/transcript.py --check          also fails if a goal is missed
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

PAINT_MS, ELEMENTS, OPEN_MS = 500, 15_000, 1_500
"""The goals: first contentful paint, elements on a page, and until a step of 5 MB shows what it holds."""
SESSION = "be5e0000-0000-4000-8000-000000005000"
WORDS = [
    "bed",
    "water",
    "plan",
    "rotate",
    "crop",
    "spring",
    "table",
    "column",
    "test",
    "module",
    "commit",
    "branch",
    "render",
    "chunk",
    "cursor",
    "index",
]
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
SCROLL = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  let longest = 0, last = await frame();
  for (let y = 0; y < document.documentElement.scrollHeight; y += 600) {
    scrollTo(0, y);
    const now = await frame();
    longest = Math.max(longest, now - last);
    last = now;
  }
  return longest;
}"""


def prose(rng: random.Random, size: int) -> str:
    """About ``size`` characters of lines."""
    lines = (" ".join(rng.choices(WORDS, k=10)) for _ in range(size // 60 + 1))
    return "\n".join(lines)[:size]


def records(chunks: int, big: int) -> Iterator[dict[str, Any]]:
    """A log of so many chunks, three tool calls and some text in each reply; the last output has ``big`` characters."""
    rng = random.Random(1)
    number = 0

    def line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
        nonlocal number
        number += 1
        clock = f"2026-03-{1 + number // 86_400:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
        message = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"m{number}", "type": "message", "model": "bench-model"}
            message["usage"] = {"input_tokens": 20, "output_tokens": 200, "cache_read_input_tokens": number * 3}
        about = {"type": kind, "uuid": f"u{number}", "parentUuid": None, "sessionId": SESSION, "isSidechain": False}
        return {
            **about,
            "cwd": "/home/dev/garden",
            "version": "2.1.100",
            "timestamp": clock,
            "message": message,
            **more,
        }

    for turn in range(chunks // 2):
        yield line("user", f"Prompt {turn}: {prose(rng, 200)}" + (" zeppelin" if turn * 2 == chunks - 100 else ""))
        for step in range(3):
            use = {"type": "tool_use", "id": f"t{turn}-{step}", "name": ("Bash", "Read", "Grep")[step]}
            given = ({"command": "make all"}, {"file_path": "/home/dev/garden/a.py"}, {"pattern": "bed"})[step]
            size = big if turn == chunks // 2 - 1 and step == 0 else rng.randint(200, 4_000)
            yield line("assistant", [{**use, "input": given}])
            yield line("user", [{"type": "tool_result", "tool_use_id": use["id"], "content": prose(rng, size)}])
        yield line("assistant", [{"type": "text", "text": prose(rng, 600)}])


def corpus(folder: Path, chunks: int, big: int) -> Path:
    """The database of that log."""
    log = folder / "logs" / "-home-dev-garden" / f"{SESSION}.jsonl"
    log.parent.mkdir(parents=True)
    log.write_text("".join(json.dumps(one) + "\n" for one in records(chunks, big)))
    command = [sys.executable, "-m", "clm_sessions", "import", str(folder / "bench.db"), str(folder / "logs")]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "bench.db"


@contextmanager
def served(database: Path) -> Iterator[str]:
    """A ``datasette`` process; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "datasette", "serve", str(database), "--port", str(port)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        for _try in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


class Quiet(SimpleHTTPRequestHandler):
    """Says nothing."""

    def log_message(self, *_arguments: Any) -> None:
        """Not even that."""


@contextmanager
def static(folder: Path) -> Iterator[str]:
    """A server of files; its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def paint(browser: Any, address: str, loads: int) -> float:
    """Milliseconds to the first contentful paint, the median of some loads, each with nothing cached."""
    times = []
    for _load in range(loads):
        context = browser.new_context(viewport={"width": 1300, "height": 900}, bypass_csp=True)
        page = context.new_page()
        page.goto(address, wait_until="load")
        while (found := page.evaluate(PAINT)) is None:
            page.wait_for_timeout(20)
        times.append(found)
        context.close()
    return statistics.median(times)


def saved(browser: Any, base: str, path: str, folder: Path) -> tuple[str, int]:
    """The page and what it loads as files; the name of the page, and its bytes."""
    page = browser.new_page()
    answers: list[Any] = []
    page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108 - playwright marks what it is given
    body = page.goto(base + path).body()
    page.wait_for_load_state("networkidle")
    for answer in answers[1:]:
        file = folder / answer.url.removeprefix(base).split("?")[0].lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(answer.body())
    name = f"page{abs(hash(path))}.html"
    (folder / name).write_bytes(body)
    page.close()
    return name, len(body)


def look(browser: Any, base: str, floor: str, folder: Path, path: str, loads: int) -> dict[str, Any]:
    """What one page takes."""
    name, size = saved(browser, base, path, folder)
    ours, least = paint(browser, base + path, loads), paint(browser, f"{floor}/{name}", loads)
    page = browser.new_page(viewport={"width": 1300, "height": 900}, bypass_csp=True)
    page.goto(base + path)
    elements = page.evaluate("document.querySelectorAll('*').length")
    longest = page.evaluate(SCROLL)
    page.close()
    return {"kb": size // 1000, "elements": elements, "paint": ours, "static": least, "frame": longest}


def opened(browser: Any, address: str) -> float:
    """Milliseconds from the click on the step of 5 MB until its text stands there."""
    page = browser.new_page(viewport={"width": 1300, "height": 900})
    page.goto(address)
    step = page.locator(".clm-item").last.locator("details.clm-step").first
    step.scroll_into_view_if_needed()
    began = time.perf_counter()
    step.locator("summary").first.click()
    step.locator(".clm-terminal").first.wait_for()
    taken = (time.perf_counter() - began) * 1000
    page.close()
    return taken


def measure(chunks: int, big: int, loads: int, chromium: str | None) -> tuple[dict[str, dict[str, Any]], float]:
    """All pages by name, and the opening of the big step."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = corpus(folder, chunks, big)
        (folder / "static").mkdir()
        root = f"/bench/-/session/{SESSION}"
        pages = {
            "first page": root,
            "from the middle": f"{root}?chunk={chunks // 2}",
            "found in chunk 4,900": f"{root}?q=zeppelin",
            "last, with 5 MB": f"{root}?chunk={chunks - 1}",
        }
        with served(database) as base, static(folder / "static") as floor, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            found = {label: look(browser, base, floor, folder / "static", path, loads) for label, path in pages.items()}
            taken = opened(browser, base + pages["last, with 5 MB"])
            browser.close()
    return found, taken


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chunks", type=int, default=5_000)
    parser.add_argument("--loads", type=int, default=5)
    parser.add_argument("--chromium", help="the browser's program, if playwright brings none")
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    asked = parser.parse_args()
    found, taken = measure(asked.chunks, 5_000_000, asked.loads, asked.chromium)
    print("| page | KB | elements | first paint, ms | static file, ms | ratio | longest frame, ms |")
    print("|---|---|---|---|---|---|---|")
    for label, one in found.items():
        ratio = one["paint"] / one["static"]
        print(
            f"| {label} | {one['kb']} | {one['elements']:,} | {one['paint']:.0f} | {one['static']:.0f} | {ratio:.1f} | {one['frame']:.0f} |"
        )
    print(f"\nA tool output of 5 MB shows {taken:.0f} ms after the click.")
    missed = [label for label, one in found.items() if one["paint"] > PAINT_MS or one["elements"] > ELEMENTS]
    missed += ["5 MB"] if taken > OPEN_MS else []
    if missed:
        print(f"Missed: {', '.join(missed)}")
    return 1 if missed and asked.check else 0


if __name__ == "__main__":
    sys.exit(main())
