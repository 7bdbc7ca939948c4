"""A private database is served to this machine alone; requests from elsewhere are refused before Datasette sees them.

Private is every database of ours without the marker of a published copy. One of them makes the whole server private:
start page, searches, SQL across databases and the pages of other plugins tell of all databases at once.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from datasette_clm import csp, detect
from datasette_clm._compat import Datasette, StartupError

Asgi = Callable[..., Awaitable[None]]
LOOPBACK, AUTHENTICATED, ANYONE = "loopback", "authenticated", "anyone"
_HANDED_ON = re.compile(r"via|forwarded|(x-forwarded|x-real|x-original|x-envoy)\b.*|.*-(client|connecting)-ip")
_outside: ContextVar[bool] = ContextVar("clm_sessions_outside", default=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """To whom private databases are served, and the host names by which this machine may be asked for besides its own."""

    serve: str = LOOPBACK
    hosts: Collection[str] = ()


def rule(datasette: Datasette) -> Rule:
    """The rule in the plugin's settings, ``serve_private`` and ``local_hosts``. StartupError if they say something else."""
    given = datasette.plugin_config("clm-sessions") or {}
    if not isinstance(given, Mapping):
        raise StartupError(f"plugin clm-sessions: its settings are pairs, for instance serve_private: {LOOPBACK}")
    serve, hosts = given.get("serve_private", LOOPBACK), given.get("local_hosts", [])
    if serve not in (LOOPBACK, AUTHENTICATED, ANYONE):
        raise StartupError(f'plugin clm-sessions: serve_private is "{LOOPBACK}", "{AUTHENTICATED}" or "{ANYONE}"')
    if not isinstance(hosts, list) or not all(isinstance(host, str) for host in hosts):
        raise StartupError('plugin clm-sessions: local_hosts is a list of host names, for instance ["laptop.test"]')
    return Rule(serve=serve, hosts=frozenset(host.lower() for host in hosts))


def gate(datasette: Datasette, app: Asgi) -> Asgi:
    """The application, which requests from elsewhere do not reach while the server holds a private database."""

    async def gated(scope: Mapping[str, Any], receive: object, send: Asgi) -> None:
        if scope["type"] == "lifespan" or not detect.holds_private(datasette):
            await app(scope, receive, send)
            return
        now = rule(datasette)
        why = None if now.serve == ANYONE else foreign(scope, now.hosts)
        if why is not None and now.serve == LOOPBACK:
            await _refuse(scope, send, why)
            return
        # What a plugin asks of Datasette while it answers a request from elsewhere is from elsewhere, too.
        token = _outside.set(_outside.get() or why is not None)
        try:
            await app(scope, receive, send)
        finally:
            _outside.reset(token)

    return gated


def closed_to(actor: Mapping[str, Any] | None) -> bool:
    """Whether the request being answered may see nothing: it is from elsewhere, and nobody has signed in."""
    return actor is None and _outside.get()


def foreign(scope: Mapping[str, Any], hosts: Collection[str] = ()) -> str | None:
    """Why an ASGI request was not made on this machine, to this machine, by a page of this machine; None if it was.

    The address is the socket's. A Unix socket has none: it is there to be handed on to, so it counts as elsewhere.
    """
    client = scope.get("client")
    if not client:
        return "it came over a Unix socket"
    if not _is_loopback(str(client[0])):
        return "it came from another address"
    if scope.get("http_version") == "1.0":
        return "a proxy handed it on (it is HTTP/1.0)"
    headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    if any(_HANDED_ON.fullmatch(name) for name, _value in headers):
        return "a proxy handed it on (its headers say so)"
    named = [value for name, value in headers if name == "host"]
    if len(named) != 1 or not _is_here(f"//{named[0]}", hosts):
        return "it asked for a host name that is not one of this machine"
    if not all(_is_here(value, hosts) for name, value in headers if name == "origin"):
        return "a page of another site made it"
    return None


def _is_here(address: str, hosts: Collection[str]) -> bool:
    try:
        host = (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return False
    return host == "localhost" or host.endswith(".localhost") or host in hosts or _is_loopback(host)


def _is_loopback(address: str) -> bool:
    try:
        ip = ip_address(address)
    except ValueError:
        return False
    return (getattr(ip, "ipv4_mapped", None) or ip).is_loopback


_REFUSAL = """\
403: this server holds a private database of agent sessions and answers this machine alone. Your request: {why}.

On this machine, open it at http://127.0.0.1 or http://localhost with the port of the server, without a proxy.
To show sessions to others, make a redacted copy with "clm-sessions publish" and serve that copy alone.
To serve the private database itself, set "serve_private" of the plugin clm-sessions (docs/publish.md says how).
"""


async def _refuse(scope: Mapping[str, Any], send: Asgi, why: str) -> None:
    if scope["type"] != "http":
        await send({"type": "websocket.close", "code": 1008})
        return
    given = {**csp.PLAIN, "content-type": "text/plain; charset=utf-8", "cache-control": "no-store"}
    headers = [(name.encode(), value.encode()) for name, value in given.items()]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": _REFUSAL.format(why=why).encode()})
