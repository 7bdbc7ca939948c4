"""Requests as they come from elsewhere, without a network: straight to the ASGI application of a real Datasette."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LAN = ("192.0.2.7", 50000)
HERE = ("127.0.0.1", 50000)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str


async def ask(ds: Any, path: str, *, client: Any = HERE, version: str = "1.1", headers: Any = None) -> Reply:
    """One GET. ``headers`` as a dict, or as pairs; ``Host`` is that of this machine if it is not among them."""
    pairs = list(headers.items() if isinstance(headers, dict) else headers or [])
    if not any(name.lower() == "host" for name, _value in pairs):
        pairs.append(("host", "127.0.0.1:8001"))
    raw, _mark, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": version,
        "method": "GET",
        "scheme": "http",
        "path": raw,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in pairs if value is not None],
        "client": client,
        "server": ("127.0.0.1", 8001),
    }
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await ds.app()(scope, receive, send)
    start = next(one for one in sent if one["type"] == "http.response.start")
    body = b"".join(one.get("body", b"") for one in sent if one["type"] == "http.response.body")
    told = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return Reply(status=start["status"], headers=told, text=body.decode("utf-8", "replace"))
