"""Make the pictures of the docs from the demo logs: ``.venv/bin/python docs/shots.py``. Needs the dev group and Chromium."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))
from support import lab  # noqa: E402 - the helper that starts JupyterLab lives with the tests

LOGS = HERE.parent / "demo" / "logs"
SESSION = "81d62477-2bbe-4869-a861-ed30d6cd686c"
SIZE = {"width": 1280, "height": 800}
PORT = 8765
CELL = f'import jupyter_clm as jc\n\njc.load_all("logs")["{SESSION[:8]}"].view()'


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(**lab.CHROMIUM)
        page = browser.new_page(viewport=SIZE)
        datasette(Path(folder), page)
        site(Path(folder), page)
        notebook(Path(folder), browser)
        browser.close()


def datasette(folder: Path, page) -> None:
    db = folder / "sessions.db"
    command = [sys.executable, "-m", "clm_sessions", "serve", str(db), str(LOGS), "--port", str(PORT)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{PORT}/sessions/-/session/{SESSION}"
        wait(url)
        page.goto(url)
        page.screenshot(path=HERE / "datasette.png")
    finally:
        server.terminate()
        server.wait()


def site(folder: Path, page) -> None:
    db, public = folder / "demo.db", folder / "public.db"
    commands = (["import", db, LOGS], ["publish", db, public, "--all"], ["site", public, folder / "site"])
    for command in commands:
        subprocess.run(
            [sys.executable, "-m", "clm_sessions", *map(str, command)], stdout=subprocess.DEVNULL, check=True
        )
    page.goto(f"{(folder / 'site' / 'index.html').as_uri()}#q=rain")
    page.locator(".clm-places").first.wait_for()
    page.screenshot(path=HERE / "site.png")


def notebook(folder: Path, browser) -> None:
    server = lab.start(folder / "lab")
    try:
        (server.root / "logs").symlink_to(LOGS)
        path = server.write("session.ipynb", [CELL])
        book = lab.Notebook(browser, server, **SIZE).open(path)
        book.run()
        book.page.locator(".clm-chunk:visible").first.wait_for()
        book.page.screenshot(path=HERE / "notebook.png")
    finally:
        lab.stop(server)


def wait(url: str) -> None:
    for _ in range(120):
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.25)
    raise SystemExit(f"no answer from {url}")


if __name__ == "__main__":
    main()
