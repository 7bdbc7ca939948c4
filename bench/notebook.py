#!/usr/bin/env python3
"""How fast ``session.view()`` is in JupyterLab in Chromium, beside the least that an output and a widget take there.

It imports a session of 5,000 chunks and one of 100,000, opens both databases in a notebook and shows them. For each: the
time from running the cell until a chunk is seen, the first in a fresh kernel and the median of some later ones; the same of
``HTML("…")`` and of one ``ipywidgets.HTML``, by turns; the median time to turn a page, beside a click that changes one text;
elements in the page; models in the kernel before, while and after the view is there; and by how much the saved notebook grows. A third session holds
pictures: what they cost stands apart. Needs playwright, jupyterlab, and the extra ``jupyter``.

    bench/notebook.py                    a table
    bench/notebook.py --check            also fails if a goal is missed
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tests")]
from report import Goal, Row, machine, text
from transcript import SESSION, records

from support import lab

VISIBLE_MS = {5_000: 1_500, 100_000: 3_000}
FLIP_MS, ELEMENTS, GROWTH_KB = 150, 1_500, 100
"""The goals: run to visible by the number of chunks, median of turning a page, elements, growth of a notebook."""
PICTURES, PIXELS = 40, 200
FLOOR_TEXT, FLOOR_WIDGET, FLOOR_CLICK, VIEW, CLOSE = range(2, 7)
"""Cells of the notebook, from 0."""

RUN = """async ([cell, wanted]) => {
  const book = window.jupyterapp.shell.currentWidget;
  book.content.activeCellIndex = cell;
  const output = book.content.widgets[cell];
  await window.jupyterapp.commands.execute('notebook:clear-cell-output');
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  await frame();
  const begun = performance.now();
  window.jupyterapp.commands.execute('notebook:run-cell');
  for (;;) {
    await frame();
    const seen = output.node.querySelector(wanted);
    if (seen && seen.getBoundingClientRect().height > 0) break;
    if (performance.now() - begun > 60000) throw new Error('nothing to be seen of ' + wanted);
  }
  await frame();
  return performance.now() - begun;
}"""
FLIP = """async (cell) => {
  const view = window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node;
  const next = [...view.querySelectorAll('button')].find((b) => b.textContent === 'Next');
  const place = () => view.querySelector('.widget-html .clm-pane').getAttribute('aria-label');
  const before = place();
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const begun = performance.now();
  next.click();
  while (place() === before) await frame();
  await frame();
  return performance.now() - begun;
}"""
ELEMENTS_OF = (
    "(cell) => window.jupyterapp.shell.currentWidget.content.widgets[cell].outputArea.node.querySelectorAll('*').length"
)
MODELS = """async () => {
  const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
  return Object.keys((await kernel.requestCommInfo({ target_name: 'jupyter.widget' })).content.comms).length;
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one session took: milliseconds, elements, models before, with and after the view, bytes of its outputs."""

    chunks: int
    opening: float
    first: float
    later: float
    text: float
    widget: float
    click: float
    flip: float
    elements: int
    models: tuple[int, int, int]
    growth: int


def picture(rng: random.Random) -> str:
    """A PNG of noise, about 120 KB, in base64."""

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + rng.randbytes(PIXELS * 3) for _ in range(PIXELS))
    head = struct.pack(">IIBBBBB", PIXELS, PIXELS, 8, 2, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")
    return base64.b64encode(png).decode()


def illustrated(lines: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The same records with a picture in every prompt."""
    rng = random.Random(2)
    for line in lines:
        said = line["message"]["content"]
        if isinstance(said, str):
            source = {"type": "base64", "media_type": "image/png", "data": picture(rng)}
            line["message"]["content"] = [{"type": "text", "text": said}, {"type": "image", "source": source}]
        yield line


def database(folder: Path, lines: Iterator[dict[str, Any]]) -> Path:
    """A database of one session with these records; the one that is there, if it is."""
    if (folder / "bench.db").exists():
        return folder / "bench.db"
    log = folder / "logs" / "-home-dev-garden" / f"{SESSION}.jsonl"
    log.parent.mkdir(parents=True)
    with log.open("w") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    command = [
        sys.executable,
        "-m",
        "clm_sessions",
        "import",
        "--no-raw",
        str(folder / "bench.db"),
        str(folder / "logs"),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "bench.db"


CLICK = """button, html = ipywidgets.Button(description='Next'), ipywidgets.HTML()
count = iter(range(10**6))
def turn(_button=None):
    html.value = f'<p class=clm-pane aria-label={next(count)}>seen</p>'
turn()
button.on_click(turn)
ipywidgets.VBox([button, html])"""


def cells(path: Path) -> list[str]:
    """A notebook that opens a database, shows the floors and the view, and closes it."""
    return [
        "import ipywidgets\nimport jupyter_clm as jc\nfrom IPython.display import HTML\n'ready'",
        f"db = jc.open({str(path)!r})\nsession = db.sessions[0]\n'ready'",
        "HTML('<p class=floor>seen</p>')",
        "ipywidgets.HTML('<p class=floor>seen</p>')",
        CLICK,
        "view = session.view()\nview",
        "view.close()\n'closed'",
    ]


def look(browser: Any, server: lab.Lab, name: str, path: Path, chunks: int, rounds: int) -> Seen:
    """What the view of the one session of a database takes."""
    book = lab.Notebook(browser, server).open(server.write(f"{name}.ipynb", cells(path)))
    book.page.set_default_timeout(120_000)

    def run(cell: int, wanted: str) -> float:
        taken: float = book.page.evaluate(RUN, [cell, wanted])
        book.idle()
        return taken

    # The widget of the floor comes first, so that the page has loaded what shows widgets.
    done = ".jp-OutputArea-output"
    run(0, done)
    opening = run(1, done)
    run(FLOOR_WIDGET, ".floor")
    run(FLOOR_CLICK, ".clm-pane")
    before = book.page.evaluate(MODELS)
    first = run(VIEW, ".clm-view .clm-chunk")
    with_view, elements = book.page.evaluate(MODELS), book.page.evaluate(ELEMENTS_OF, VIEW)
    pages = range(min(20, chunks // 10 - 1))
    flips = [(book.page.evaluate(FLIP, FLOOR_CLICK), book.page.evaluate(FLIP, VIEW)) for _ in pages]
    elements = max(elements, book.page.evaluate(ELEMENTS_OF, VIEW))
    book.save()
    saved = json.loads((server.root / f"{name}.ipynb").read_text())
    growth = len(json.dumps(saved["cells"][VIEW]["outputs"])) + len(json.dumps(saved["metadata"].get("widgets", "")))
    run(CLOSE, done)
    after = book.page.evaluate(MODELS)
    turns = [
        (run(FLOOR_TEXT, ".floor"), run(FLOOR_WIDGET, ".floor"), run(VIEW, ".clm-view .clm-chunk"), run(CLOSE, done))
        for _ in range(rounds)
    ]
    book.shut_down()
    book.close()
    least, least_widget, later, _closing = (statistics.median(column) for column in zip(*turns, strict=True))
    return Seen(
        chunks=chunks,
        opening=opening,
        first=first,
        later=later,
        text=least,
        widget=least_widget,
        click=statistics.median(least for least, _flip in flips),
        flip=statistics.median(flip for _least, flip in flips),
        elements=elements,
        models=(before, with_view, after),
        growth=growth,
    )


def rows(seen: Seen) -> Iterator[Row]:
    """The figures of one session, judged."""
    what, limit = f"{seen.chunks:,} chunks", VISIBLE_MS.get(seen.chunks)
    floors = f"an HTML string {seen.text:.0f} ms, one widget {seen.widget:.0f} ms; opening the database {seen.opening:.0f} ms"
    yield Row(
        what=f"{what}: run to visible, first in the kernel", value=seen.first, limit=limit, unit="ms", detail=floors
    )
    ratio = f"{seen.later / seen.widget:.1f} x one widget, {seen.later / seen.text:.1f} x an HTML string"
    yield Row(what=f"{what}: run to visible, later", value=seen.later, limit=limit, unit="ms", detail=ratio)
    click = f"a click that changes one text {seen.click:.0f} ms"
    yield Row(what=f"{what}: a page turned, median", value=seen.flip, limit=FLIP_MS, unit="ms", detail=click)
    yield Row(what=f"{what}: elements, static form included", value=seen.elements, limit=ELEMENTS, unit="elements")
    yield Row(what=f"{what}: the notebook grows by", value=seen.growth / 1000, limit=GROWTH_KB, unit="KB")
    before, shown, after = seen.models
    told = f"{before} before, {shown} with the view, {after} after it was closed"
    yield Row(what=f"{what}: models left behind", value=after - before, limit=0, unit="models", detail=told)


def measure(asked: argparse.Namespace) -> list[Row]:
    """All rows."""
    from playwright.sync_api import sync_playwright

    found: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = asked.keep or Path(name)
        server = lab.start(Path(name) / "lab")
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(**{**lab.CHROMIUM, "executable_path": asked.chromium})
                for chunks in asked.chunks or VISIBLE_MS:
                    path = database(folder / str(chunks), records(chunks, 20_000))
                    found += rows(look(browser, server, f"n{chunks}", path, chunks, asked.rounds))
                path = database(folder / "pictures", illustrated(records(PICTURES * 2, 20_000)))
                for row in rows(look(browser, server, "pictures", path, PICTURES * 2, asked.rounds)):
                    found.append(
                        Row(what=f"with pictures, {row.what}", value=row.value, unit=row.unit, detail=row.detail)
                    )
                browser.close()
        finally:
            lab.stop(server)
    return found


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--chunks", type=int, action="append", help="so many chunks only; may be repeated")
    parser.add_argument("--rounds", type=int, default=5, help="how often a cell is run; the median counts")
    parser.add_argument("--chromium", default=lab.CHROMIUM["executable_path"], help="the browser's program")
    parser.add_argument("--keep", type=Path, help="where databases are kept for the next run")
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    asked = parser.parse_args()
    goal = Goal(number=9, title="The view in JupyterLab", rows=measure(asked))
    print(f"{machine(())}\n\n{text(goal).partition(': ')[2]}")
    return int(asked.check and goal.verdict != "met")


if __name__ == "__main__":
    sys.exit(main())
