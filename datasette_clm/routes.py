"""The addresses of the plugin. Every one of a database passes the guard; all answer GET and HEAD only."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from clm_sessions.render import css
from datasette_clm import answers, cookbook, csp, detect, guard, live, loader, overview, raw, review, search_page, tabs
from datasette_clm._compat import Datasette, NotFound, Request, Response, add_cors_headers, may_execute, tilde_decode
from datasette_clm.urls import STYLE, Urls
from datasette_clm.visit import Answer, Body, Make, Missing, Page, Visit

View = Callable[..., Awaitable[Any]]
_DB, _SID = r"(?P<database>[^/]+)", r"(?P<session>[^/.]+)"


def routes() -> list[tuple[str, View]]:
    """What Datasette is told: pattern and view."""
    session, needs, wants = rf"^/{_DB}/-/session/{_SID}", loader.NEEDS, loader.WANTS
    return [
        (rf"^{STYLE}$".replace(".", r"\."), _style),
        (rf"{session}(?P<format>\.json|\.md)?$", guarded(answers.session, needs, wants)),
        (rf"{session}/cards$", guarded(answers.cards, needs, wants)),
        (rf"{session}/since$", guarded(live.since, needs, wants)),
        (rf"{session}/chunk/(?P<chunk>\d+)(?P<format>\.json|\.md)?$", guarded(answers.chunk, needs, wants)),
        (rf"{session}/chunk/(?P<chunk>\d+)/cards$", guarded(answers.part, needs, wants)),
        (rf"{session}/chunk/(?P<chunk>\d+)/text$", guarded(answers.text, needs, wants)),
        (rf"{session}/raw/(?P<message>\d+)$", guarded(answers.record, raw.NEEDS)),
        (rf"^/{_DB}/-/overview(?P<format>\.json)?$", guarded(overview.answer, overview.NEEDS, overview.WANTS)),
        (rf"^/{_DB}/-/search(?P<format>\.json|\.csv)?$", guarded(search_page.answer, needs, search_page.WANTS)),
        *((rf"^/{_DB}{pattern}", guarded(make, need, want)) for pattern, make, need, want in tabs.ROUTES),
        (rf"^/{_DB}/-/review$", guarded(review.answer, review.NEEDS)),
        (rf"^/{_DB}/-/review/rules$", guarded(review.rules_file, review.NEEDS)),
        (rf"^/{_DB}/-/cookbook$", guarded(cookbook.answer, cookbook.NEEDS, cookbook.WANTS, sql=True)),
    ]


def guarded(make: Make, needs: Sequence[str], wants: Sequence[str] = (), *, sql: bool = False) -> View:
    """A view that asks for permission on every table ``make`` reads before ``make`` is called.

    ``sql``: and whether SQL may be run.
    """

    async def view(datasette: Datasette, request: Request) -> Response:
        if request.method not in {"GET", "HEAD"}:
            return _refused()
        access = await guard.enter(datasette, request, needs, wants)
        visit = Visit(
            tables=access.tables,
            place={name: tilde_decode(part) for name, part in request.url_vars.items() if part},
            args=request.args,
            urls=Urls(datasette, access.name),
            registry=detect.state(datasette).registry,
            sql=sql and await may_execute(datasette, request.actor, access.name),
            book=detect.state(datasette).book,
        )
        return await _response(datasette, request, access.name, await access.read(lambda db: make(db, visit)))

    return view


async def _response(datasette: Datasette, request: Request, database: str, answer: Answer) -> Response:
    if isinstance(answer, Missing):
        raise NotFound(answer.words)
    if isinstance(answer, Body):
        headers = dict(csp.PLAIN)
        if answer.name:
            headers["content-disposition"] = f'attachment; filename="{answer.name}"'
        if answer.data and datasette.cors:
            add_cors_headers(headers)
        return _send(answer.content, answer.kind, headers)
    return await _page(datasette, request, database, answer)


async def _page(datasette: Datasette, request: Request, database: str, page: Page) -> Response:
    more = await asyncio.to_thread(page.finish) if page.finish else {}
    context = {"database": database, "page": {**page.page, **more}}
    body, headers = await csp.render(datasette, request, page.template, context)
    return _send(body, "text/html", headers)


async def _style(request: Request) -> Response:
    if request.method not in {"GET", "HEAD"}:
        return _refused()
    kept = "public, max-age=31536000, immutable" if request.args.get("v") == style_version() else "no-cache"
    return _send(stylesheet(), "text/css", {"cache-control": kept, "x-content-type-options": "nosniff"})


@cache
def stylesheet() -> str:
    """The one stylesheet: the core's rules for cards, and ours for what stands around them, a file for each kind of page."""
    ours = sorted(resources.files("datasette_clm").joinpath("styles").iterdir(), key=lambda file: file.name)
    return css() + "".join(file.read_text("utf-8") for file in ours)


@cache
def style_version() -> str:
    """A digest of the stylesheet: a browser keeps it for as long as it does not change."""
    return hashlib.sha256(stylesheet().encode()).hexdigest()[:12]


def _send(content: str | bytes, kind: str, headers: Mapping[str, str]) -> Response:
    body = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    return Response(body=body, content_type=f"{kind}; charset=utf-8", headers=dict(headers))


def _refused() -> Response:
    return Response(body=b"Only GET and HEAD", status=405, content_type="text/plain", headers={"allow": "GET, HEAD"})
