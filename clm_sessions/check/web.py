"""A site that is being served on this machine: what its pages say, and what a Datasette leaves open."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import PurePath
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urldefrag, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from clm_sessions.check.files import PRIVATE_PAGE, private_page, texts
from clm_sessions.check.findings import Finder, Finding
from clm_sessions.errors import UsageError

PAGES = 200
LARGEST = 32_000_000
_TIMEOUT = 30
_LINK = re.compile(r"""(?:href|src)=(?:"([^"]*)"|'([^']*)')""")
_CLOSED = {
    "allow_download": "anyone may download the file itself",
    "default_allow_sql": "anyone may ask it any SQL",
}


def check_site(address: str, finder: Finder) -> Iterator[Finding]:
    """Secrets on the pages that are linked below an address (``PAGES`` at most), and what a Datasette there leaves open.

    UsageError if it is not on this machine, or does not answer.
    """
    if not _local(address):
        raise UsageError(f"{address}: only a site on this machine is checked, such as http://127.0.0.1:8001/")
    site = _Site(address)
    kind, body = site.get(address)
    if kind is None:
        raise UsageError(f"{address}: {body.decode('utf-8', 'replace')}")
    yield from _settings(site, address)
    pages, left = [address], False
    for page in pages:
        kind, body = site.get(page)
        if kind is None:
            continue
        if private_page(body):
            yield Finding(place=page, kind="private", what=PRIVATE_PAGE)
        name = "x.json" if "json" in kind else "x.html"
        for place, text in texts(name, body):
            yield from finder(f"{page}{place}", text)
        if "html" in kind:
            fresh = dict.fromkeys(link for link in _links(page, body) if site.holds(link))
            news = [link for link in fresh if link not in pages]
            left |= len(pages) + len(news) > PAGES
            pages += news[: PAGES - len(pages)]
    if left:
        yield Finding(
            place=address, kind="unread", what=f"only {PAGES:,} of its pages were checked; check the file too"
        )


def _settings(site: _Site, address: str) -> Iterator[Finding]:
    roots = dict.fromkeys((f"{address.rstrip('/')}/", urljoin(address, "/")))
    answers = {root: site.json(f"{root}-/settings.json") for root in roots}
    root = next((root for root, answer in answers.items() if isinstance(answer, dict)), None)
    if root is None:
        return
    settings = answers[root]
    for name, why in _CLOSED.items():
        if settings.get(name):
            yield Finding(place=f"{address} {name}", kind="setting", what=f"{why}: serve it with --setting {name} off")
    listed = site.json(f"{root}-/databases.json")
    databases = listed.get("databases", []) if isinstance(listed, dict) else listed if isinstance(listed, list) else []
    for database in (each for each in databases if isinstance(each, dict) and isinstance(each.get("name"), str)):
        base = root + quote(str(database.get("route") or database["name"]))
        if len(PurePath(str(database.get("path") or "")).parts) > 1:
            yield Finding(place=f"{root}-/databases", kind="setting", what="tells in which folder the file lies: start it in that folder, with the bare name")  # fmt: skip
        if site.json(f"{base}/raw_blocks.json?_size=1&_shape=array"):
            yield Finding(place=base, kind="private", what="a private database is being served: publish a copy")


def _links(page: str, body: bytes) -> Iterator[str]:
    for found in _LINK.finditer(body.decode("utf-8", "replace")):
        yield urldefrag(urljoin(page, unescape(found[1] or found[2] or ""))).url


def _local(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Stay(HTTPRedirectHandler):
    """Follows a redirect only on the same machine."""

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:  # noqa: ANN401
        return super().redirect_request(req, fp, code, msg, headers, newurl) if _local(newurl) else None


class _Site:
    """One origin. No proxy is asked, and no other machine."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._opener = build_opener(ProxyHandler({}), _Stay())

    def holds(self, link: str) -> bool:
        """Whether a link leads to this origin."""
        return link.startswith(f"{self._origin}/") and not link.endswith((".css", ".png", ".db"))

    def get(self, address: str) -> tuple[str | None, bytes]:
        """(media type, body); (None, what went wrong)."""
        try:
            with self._opener.open(Request(address), timeout=_TIMEOUT) as answer:  # noqa: S310 - http to this machine
                return answer.headers.get_content_type(), answer.read(LARGEST)
        except (HTTPError, URLError, OSError, ValueError) as error:
            return None, str(error).encode()

    def json(self, address: str) -> Any:  # noqa: ANN401 - any JSON value
        """The JSON at an address; None if there is none."""
        kind, body = self.get(address)
        try:
            return json.loads(body) if kind is not None and "json" in kind else None
        except (ValueError, RecursionError):
            return None
