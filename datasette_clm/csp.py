"""Headers of our pages: scripts only from this server, and those few that Datasette's own page writes inline."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping

from datasette_clm._compat import Datasette, Request

_INLINE = re.compile(r"<(script|style)\b([^>]*)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
PLAIN: Mapping[str, str] = {
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
"""For answers that are no pages: nothing in them runs or loads anything."""


async def render(
    datasette: Datasette, request: Request, template: str, context: Mapping[str, object]
) -> tuple[str, Mapping[str, str]]:
    """A page and its headers.

    The inline scripts that may run are found in the same template rendered without ``page``, that is without a word
    of a log: a script that a log smuggled into the page could not be among them.
    """
    html: str = await datasette.render_template(template, dict(context), request=request)
    neutral = {key: value for key, value in context.items() if key != "page"}
    blank: str = await datasette.render_template(template, neutral, request=request)
    return html, {
        "content-security-policy": policy(blank),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
    }


def policy(trusted: str) -> str:
    """The policy that lets run what stands inline in ``trusted`` HTML, and nothing else that is inline."""
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for tag, attributes, body in _INLINE.findall(trusted):
        if "src=" not in attributes.lower() and body.strip():
            digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
            hashes[tag.lower()].append(f"'sha256-{digest}'")
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *dict.fromkeys(hashes["script"]))),
            " ".join(("style-src 'self'", *dict.fromkeys(hashes["style"]))),
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "form-action 'self'",
            "frame-ancestors 'self'",
            "base-uri 'none'",
        )
    )
