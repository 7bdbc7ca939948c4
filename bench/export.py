#!/usr/bin/env python3
"""How a session of 5,000 chunks does as one HTML page: how long it takes to write, and how it behaves in Chromium.

It writes a log and imports it as ``bench/transcript.py`` does, exports it redacted and private, opens the page from its file
and says: bytes, elements, the time to the first contentful paint (median of some loads), until all of it is there, and how long
finding a word, going on to the next place, filtering and scrolling take. Needs playwright.

    bench/export.py                  a table
    bench/export.py --check          also fails if the first paint takes longer than a second, or what a reader does
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from transcript import SESSION, corpus, paint

MOST_MS = 1_000
"""The goal for the first paint, and for each thing that a reader does but the first search, which reads all texts."""
DONE = "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SCROLL = """async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  let longest = 0, last = await frame();
  for (let n = 1; n <= 100; n += 1) {
    scrollTo(0, document.documentElement.scrollHeight * n / 100);
    const now = await frame();
    longest = Math.max(longest, now - last);
    last = now;
  }
  return longest;
}"""
CLICK = "document.querySelector({!r}).click()"
FIND = (
    "const box = document.querySelector('#clm-q'); box.value = {!r}; box.dispatchEvent(new Event('input')); "
    "await new Promise((done) => setTimeout(done, 150))"
)
ACTS = {
    "first search": FIND.format("zeppelin"),
    "second search": FIND.format("render cursor"),
    "next place": CLICK.format("#clm-next"),
    "only failures": CLICK.format("[data-only=errors]"),
    "everything again": CLICK.format("#clm-clear"),
    "only prompts": CLICK.format("[data-only=user]"),
    "all again": CLICK.format("[data-only=user]"),
    "open all steps": CLICK.format("#clm-all"),
    "close all steps": CLICK.format("#clm-all"),
}


def exported(database: Path, out: Path, *options: str) -> float:
    """Write the page; seconds it took."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "clm_sessions", "export", SESSION, str(database), "-o", str(out), *options]
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def look(browser: Any, address: str, loads: int) -> dict[str, float]:
    """What the page takes, in milliseconds unless it says otherwise."""
    found = {"first paint": paint(browser, address, loads)}
    page = browser.new_page(viewport={"width": 1300, "height": 900}, bypass_csp=True)
    page.goto(address)
    found["all there"] = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    found["elements (count)"] = page.evaluate("document.querySelectorAll('*').length")
    for name, act in ACTS.items():
        if page.locator("[data-only=errors]").count() or "errors" not in act:
            timed = (
                f"async () => {{ const began = performance.now(); {act}; {DONE}; return performance.now() - began }}"
            )
            found[name] = page.evaluate(timed) - (150 if "search" in name else 0)
    found["longest frame while scrolling"] = page.evaluate(SCROLL)
    page.close()
    return found


def main() -> int:
    """The command."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chunks", type=int, default=5_000)
    parser.add_argument("--loads", type=int, default=5)
    parser.add_argument("--chromium", help="the browser's program, if playwright brings none")
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        database = corpus(Path(name), asked.chunks, 4_000)
        page = Path(name) / "page.html"
        print(f"written: private {exported(database, page, '--private'):.1f} s, ", end="")
        print(f"redacted {exported(database, page):.1f} s, {page.stat().st_size / 1e6:.1f} MB\n")
        browser = playwright.chromium.launch(executable_path=asked.chromium, args=["--no-sandbox"])
        found = look(browser, page.as_uri(), asked.loads)
        browser.close()
    print("| what | ms |\n|---|--:|")
    for label, value in found.items():
        print(f"| {label} | {value:,.0f} |")
    free = {"all there", "elements (count)", "first search"}
    missed = [label for label, value in found.items() if value > MOST_MS and label not in free]
    if missed:
        print(f"Missed: {', '.join(missed)}")
    return 1 if missed and asked.check else 0


if __name__ == "__main__":
    sys.exit(main())
