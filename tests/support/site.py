"""A real Datasette over real databases, and what a browser would make of its pages."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from datasette.app import Datasette

import datasette as datasette_package
from support.logs import entry, session_id, write_log

MODERN = hasattr(Datasette, "allowed")
LINE = f"Datasette {datasette_package.__version__}"
ROOT = Path(__file__).parent.parent.parent
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def site(*files: Path, metadata: dict[str, Any] | None = None, **more: Any) -> Datasette:
    """A Datasette that has started. ``metadata`` works on both lines for permissions and table settings alike."""
    ds = Datasette([str(file) for file in files], metadata=metadata, **more)
    await ds.invoke_startup()
    return ds


def cookies(ds: Datasette, actor: str | None) -> dict[str, str]:
    """What a signed-in browser sends."""
    return {"ds_actor": ds.sign({"a": {"id": actor}}, "actor")} if actor else {}


@contextmanager
def served(
    *arguments: str | Path, said: Path | None = None, uds: Path | None = None, folder: Path = ROOT
) -> Iterator[str]:
    """A ``datasette`` process in a folder; its address. What it says goes to the file ``said``. ``uds``: it listens at that Unix socket."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "datasette", "serve", "--port", str(port), *map(str, arguments)]
    command += ["--uds", str(uds)] if uds else []
    with said.open("w") if said else Path(os.devnull).open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, cwd=folder, env=env)
    try:
        for _try in range(300):
            if process.poll() is not None:
                raise RuntimeError(f"datasette ended with {process.returncode}")
            try:
                if uds is None:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                elif not uds.exists():
                    raise FileNotFoundError(uds)
                break
            except OSError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def opened(chromium: Any, base: str, **options: Any) -> Iterator[tuple[Any, list[str]]]:
    """A page, and what went wrong on it: dialogs, requests elsewhere, messages on the console."""
    context = chromium.new_context(**options)
    page = context.new_page()
    wrong: list[str] = []
    page.on("dialog", lambda dialog: (wrong.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on(
        "request",
        lambda request: None if request.url.startswith((base, "data:")) else wrong.append(f"request {request.url}"),
    )
    page.on(
        "console",
        lambda message: wrong.append(f"console {message.text}") if message.type in {"error", "warning"} else None,
    )
    page.on("pageerror", lambda error: wrong.append(f"error {error}"))
    try:
        yield page, wrong
    finally:
        context.close()


# -- pages ------------------------------------------------------------------------------------------------------

VOID = {"br", "hr", "img", "input", "meta", "link", "wbr", "area", "base", "col", "embed", "source", "track"}
INSIDE = {
    "a",
    "article",
    "aside",
    "b",
    "bdi",
    "blockquote",
    "br",
    "button",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "form",
}
INSIDE |= {
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "img",
    "input",
    "kbd",
    "label",
    "li",
    "mark",
    "nav",
    "ol",
    "p",
    "pre",
}
INSIDE |= {
    "s",
    "section",
    "small",
    "span",
    "strong",
    "summary",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "time",
    "tr",
    "ul",
}
GIVEN = {
    "class",
    "id",
    "dir",
    "href",
    "title",
    "rel",
    "tabindex",
    "datetime",
    "open",
    "start",
    "src",
    "alt",
    "loading",
    "decoding",
    "for",
}
GIVEN |= {"data-since", "data-first", "data-total", "data-marks"}
GIVEN |= {"data-n", "role", "action", "method", "type", "name", "value", "placeholder"}
SHAPES = {"svg", "rect", "title", "figure", "figcaption"}
INSIDE |= SHAPES
GIVEN |= {"x", "y", "width", "height", "rx", "stroke-dasharray", "focusable", "scope", "colspan"}
LINK = re.compile(r"(?:https?://[^\s\\]+|mailto:[^\s\\]+|#[\w-]*|\?[^\s]*|/(?!/)[^\s\\]*)")
IMAGE = re.compile(r"/(?!/)[^\s\\]+\.blob\?_blob_column=data")


class Page(HTMLParser):
    """A page: the elements outside of ``main`` (ours: before and after the log), and what is wrong inside of it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.outside: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.problems: list[str] = []
        self.text = ""
        self.ids: list[str] = []
        self.links: list[str] = []
        self.images: list[str] = []
        self.names: list[str] = []
        self.facts: list[str] = []
        self._open: list[str] = []
        self._main = 0
        self._skipped = 0
        self.feed(html)
        self.close()
        if self._open:
            self.problems.append(f"never ended: {self._open}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._skipped += tag in {"script", "style"}
        if tag == "main":
            self._main += 1  # a second one, from a log, would end the strict part and leave what follows to ``outside``
        elif self._main != 1:
            self.outside.append((tag, tuple(attrs)))
        else:
            self._inside(tag, given)
        if tag not in VOID and self._main == 1:
            self._open.append(tag)

    def _inside(self, tag: str, given: dict[str, str | None]) -> None:
        if tag not in INSIDE:
            self.problems.append(f"element <{tag}>")
        for name, value in given.items():
            if name not in GIVEN and not name.startswith("aria-"):
                self.problems.append(f"attribute {name} of <{tag}>")
            if name in {"href", "action"} and not LINK.fullmatch(value or ""):
                self.problems.append(f"link {value!r}")
            if name == "src" and not IMAGE.fullmatch(value or ""):
                self.problems.append(f"image {value!r}")
        self.ids += [given["id"]] if given.get("id") else []
        self.links += [given["href"]] if tag == "a" and given.get("href") else []
        self.images += [given["src"]] if tag == "img" and given.get("src") else []

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag in {"script", "style"}
        if self._main == 1 and (not self._open or self._open.pop() != tag):
            self.problems.append(f"</{tag}> without its beginning")
        if tag == "main":
            self._main += 1

    def handle_data(self, data: str) -> None:
        if not self._skipped:
            self.text += data

    def handle_comment(self, data: str) -> None:
        if self._main == 1:
            self.problems.append(f"comment {data!r}")

    def handle_decl(self, decl: str) -> None:
        if self._main == 1:
            self.problems.append(f"declaration {decl!r}")

    @property
    def chunks(self) -> list[int]:
        """Seqs of the cards on the page."""
        return [int(one[1:]) for one in self.ids if re.fullmatch(r"c\d+", one)]


def local(links: list[str]) -> list[str]:
    """Those links that stay on the site, without their fragments."""
    return [urlsplit(link)._replace(fragment="").geturl() for link in links if link.startswith(("/", "?"))]


# -- logs -------------------------------------------------------------------------------------------------------


def tool_turn(
    number: int, name: str, given: Any, result: Any, *, session: str, error: bool = False
) -> list[dict[str, Any]]:
    """A reply that calls a tool, and its result."""
    use = {"type": "tool_use", "id": f"t{session[-4:]}{number}", "name": name, "input": given}
    back = {"type": "tool_result", "tool_use_id": use["id"], "content": result, "is_error": error}
    return [
        entry("assistant", number, [use], session=session),
        entry("user", number + 1, [back], session=session, toolUseResult=result if isinstance(result, str) else "done"),
    ]


def full_log(folder: Path, number: int = 1, say: str = "word") -> str:
    """A session with a bit of everything that a page shows; ``say`` in all its text. Gives its id."""
    sid = session_id(number)
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    prompt = [{"type": "text", "text": f"PROMPTCANARY {say}"}, image]
    thinking = [{"type": "thinking", "thinking": f"THINKCANARY {say}", "signature": "x"}]
    write_log(
        folder / "-home-dev-garden" / f"{sid}.jsonl",
        [
            {"type": "summary", "summary": f"Title {say}", "leafUuid": f"{sid[-4:]}-9"},
            entry("user", 1, prompt, session=sid),
            entry("assistant", 2, thinking, session=sid, reply=f"m{number}a"),
            *tool_turn(3, "Bash", {"command": f"TOOLCANARY {say}"}, f"RESULTCANARY {say}", session=sid),
            *tool_turn(5, "Read", {"file_path": "/x/TOOLCANARY"}, "RESULTCANARY failed", session=sid, error=True),
            entry("assistant", 7, [{"type": "text", "text": f"REPLYCANARY {say}"}], session=sid),
            b"{not json ISSUECANARY",
            entry("user", 8, "and now?", session=sid),
            entry("assistant", 9, [{"type": "text", "text": "done"}], session=sid),
        ],
    )
    return sid
