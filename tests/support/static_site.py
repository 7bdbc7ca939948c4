"""A static site, and what stands in its files."""

from __future__ import annotations

import json
import re
from contextlib import closing
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urldefrag, urljoin

from clm_sessions import plugins
from clm_sessions.site import Built, build
from clm_sessions.store.connect import open_reader

REGISTRY = plugins.build(entry_points=False)
LABELS = {name: known.label for name, known in REGISTRY.formats.items()}


def made(database: Path, folder: Path, **more: Any) -> Built:
    """The site of a database, private ones too."""
    with closing(open_reader(database)) as db:
        return build(db, folder, REGISTRY.describe, agents=LABELS, **{"private": True, **more})


def files(folder: Path) -> dict[str, bytes]:
    """Name below the folder, and bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def data(folder: Path, name: str) -> Any:
    """What a data script hands over."""
    text = (folder / "data" / f"{name}.js").read_bytes().decode("ascii")
    found = re.fullmatch(r'clmData\("([a-z0-9-]+)",(.*)\);\n', text)
    assert found is not None
    assert found[1] == name
    return json.loads(found[2])


class Html(HTMLParser):
    """The elements of a page, its ids, links and text outside of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.words += data

    @property
    def ids(self) -> set[str]:
        return {given["id"] for _tag, given in self.elements if "id" in given}

    def links(self, name: str) -> set[tuple[str, str]]:
        """(file, fragment) of the links of the page ``name`` that stay in the site."""
        found = [given["href"] for tag, given in self.elements if tag in {"a", "link"} and "href" in given]
        found += [given["src"] for tag, given in self.elements if tag == "script"]
        joined = [
            urldefrag(urljoin(f"http://site/{name}", link)) for link in found if ":" not in link.partition("#")[0]
        ]
        return {(one.url.removeprefix("http://site/"), one.fragment) for one in joined}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_said: object) -> None:
        pass


class Server:
    """The folder on a web server; ``base`` is its address."""

    def __init__(self, folder: Path) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
