"""The pages of the plugin and their addresses. Every one of a database passes the guard; all answer GET and HEAD only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clm_sessions.render import css
from datasette_clm import ask as asking
from datasette_clm import csp, data, detect, find, guard, html, loader, markdown, raw
from datasette_clm._compat import Datasette, NotFound, Request, Response, add_cors_headers, tilde_decode
from datasette_clm.guard import Access
from datasette_clm.urls import Urls

_DB, _SID = r"(?P<database>[^/]+)", r"(?P<session>[^/.]+)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request that has passed the guard."""

    datasette: Datasette
    request: Request
    access: Access

    @property
    def urls(self) -> Urls:
        """Addresses in the database of the request."""
        return Urls(self.datasette, self.access.name)

    @property
    def sid(self) -> str:
        """The session in the address."""
        return str(tilde_decode(self.request.url_vars["session"]))

    def number(self, name: str) -> int:
        """A number in the address; -1, which nothing has, if it is too long to be one."""
        found = asking.number(self.request.url_vars[name])
        return -1 if found is None else found

    @property
    def format(self) -> str:
        """``.json``, ``.md`` or nothing."""
        return self.request.url_vars.get("format") or ""

    @property
    def describe(self) -> loader.Describe:
        """The describers of tool calls."""
        return detect.state(self.datasette).registry.describe


Answer = Callable[[Visit], Awaitable[Response]]


def guarded(answer: Answer, needs: Sequence[str], wants: Sequence[str] = ()) -> Callable[..., Awaitable[Response]]:
    """A view that asks for permission on every table ``answer`` reads before ``answer`` sees the request."""

    async def view(datasette: Datasette, request: Request) -> Response:
        if request.method not in {"GET", "HEAD"}:
            return _refused()
        access = await guard.enter(datasette, request, needs, wants)
        return await answer(Visit(datasette=datasette, request=request, access=access))

    return view


def routes() -> list[tuple[str, Callable[..., Awaitable[Response]]]]:
    """What Datasette is told: pattern and view."""
    session = rf"^/{_DB}/-/session/{_SID}"
    return [
        (r"^/-/clm-sessions/clm\.css$", _style),
        (rf"{session}(?P<format>\.json|\.md)?$", guarded(_session, loader.NEEDS, loader.WANTS)),
        (rf"{session}/cards$", guarded(_cards, loader.NEEDS, loader.WANTS)),
        (rf"{session}/chunk/(?P<chunk>\d+)(?P<format>\.json|\.md)?$", guarded(_chunk, loader.NEEDS, loader.WANTS)),
        (rf"{session}/chunk/(?P<chunk>\d+)/text$", guarded(_text, loader.NEEDS, loader.WANTS)),
        (rf"{session}/raw/(?P<message>\d+)$", guarded(_raw, (*raw.NEEDS,))),
        (rf"^/{_DB}/-/search(?P<format>\.json)?$", guarded(_search, loader.NEEDS, ("tool_calls",))),
    ]


# -- the answers ------------------------------------------------------------------------------------------------


async def _session(visit: Visit) -> Response:
    wanted = asking.parse(visit.request.args)
    found = await visit.access.read(lambda db: loader.load(db, visit.access.tables, visit.sid, wanted, visit.describe))
    if found is None:
        raise _missing()
    if visit.format == ".json":
        return _json(visit, data.session_json(found, visit.urls))
    if visit.format == ".md":
        page = found.page
        place = f"chunks {page.first:,} to {page.last:,} of {page.total:,}, page {page.number} of {page.pages}"
        return _markdown(visit, markdown.session_md(found.info, found.views, place, data.TEXT_LIMIT))
    formats = detect.state(visit.datasette).registry.formats
    agent = formats.get(found.info.format)
    return await _page(visit, "clm_session.html", html.session_page(found, visit.urls, agent))


async def _cards(visit: Visit) -> Response:
    number = asking.number(visit.request.args.get("page"))
    found = await visit.access.read(
        lambda db: loader.load_cards(db, visit.access.tables, visit.sid, number, visit.describe)
    )
    if found is None:
        raise _missing()
    info, page, views = found
    how = html.options(visit.urls, info.id, visit.access.tables, heading=4)
    return _answer(html.fragment(views, page, visit.urls, info.id, how), "text/html; charset=utf-8", csp.PLAIN)


async def _chunk(visit: Visit) -> Response:
    found = await _one(visit)
    info, content, view = found
    raw_too = set(raw.NEEDS) <= visit.access.tables
    if visit.format == ".json":
        body = data.chunk_json(view, visit.urls, info.id, images="attachments" in visit.access.tables, limit=None)
        raws = [visit.urls.raw(info.id, seq) for seq in content.messages] if raw_too else []
        return _json(visit, {"ok": True, "session": info.id, **body, "raw_urls": raws})
    if visit.format == ".md":
        return _markdown(visit, markdown.session_md(info, [view], f"chunk {view.number} of {info.chunks:,}", None))
    return await _page(
        visit, "clm_chunk.html", html.chunk_page(info, content, view, visit.urls, visit.access.tables, raw_too=raw_too)
    )


async def _text(visit: Visit) -> Response:
    _info, _content, view = await _one(visit)
    step, section = (asking.number(visit.request.args.get(name)) for name in ("step", "section"))
    try:
        sections = (
            view.sections
            if visit.request.args.get("step") in {None, ""}
            else view.steps[step if step is not None else -1].sections
        )
        found = sections[section if section is not None else 0]
    except IndexError:
        raise _missing("There is no such part of the chunk") from None
    return _answer(markdown.section_text(found), "text/plain; charset=utf-8", csp.PLAIN)


async def _one(visit: Visit) -> Any:  # noqa: ANN401 - what load_chunk gives, without None
    found = await visit.access.read(
        lambda db: loader.load_chunk(db, visit.access.tables, visit.sid, visit.number("chunk"), visit.describe)
    )
    if found is None:
        raise _missing("No such session or chunk")
    return found


async def _raw(visit: Visit) -> Response:
    found = await visit.access.read(lambda db: raw.record(db, visit.sid, visit.number("message")))
    if found is None:
        raise _missing("No such message, or the database holds no raw records")
    return _answer(found, "text/plain; charset=utf-8", csp.PLAIN)


async def _search(visit: Visit) -> Response:
    q = asking.parse(visit.request.args).q
    only = visit.request.args.get("session") or None
    tables = visit.access.tables
    places, titles = await visit.access.read(
        lambda db: (find.places(db, q, tables, session=only), [] if only else find.titles(db, q))
    )
    if visit.format == ".json":
        return _json(visit, data.search_json(q, places, titles, visit.urls))
    return await _page(visit, "clm_search.html", html.search_page(q, only, places, titles, visit.urls))


async def _style(request: Request) -> Response:
    if request.method not in {"GET", "HEAD"}:
        return _refused()
    headers = {"cache-control": "public, max-age=3600", "x-content-type-options": "nosniff"}
    return _answer(css() + shell_css(), "text/css; charset=utf-8", headers)


def shell_css() -> str:
    """The rules for what stands around the cards, added to the one stylesheet."""
    from importlib import resources

    return resources.files("datasette_clm").joinpath("shell.css").read_text("utf-8")


# -- how answers are given --------------------------------------------------------------------------------------


async def _page(visit: Visit, template: str, page: Mapping[str, Any]) -> Response:
    context = {"database": visit.access.name, "page": page}
    body, headers = await csp.render(visit.datasette, visit.request, template, context)
    return _answer(body, "text/html; charset=utf-8", headers)


def _json(visit: Visit, body: object) -> Response:
    import json

    text = json.dumps(body, ensure_ascii=False, default=str).encode("utf-8", "replace").decode()
    return _answer(text, "application/json; charset=utf-8", {**csp.PLAIN, **_cors(visit)})


def _markdown(visit: Visit, text: str) -> Response:
    return _answer(text, "text/markdown; charset=utf-8", {**csp.PLAIN, **_cors(visit)})


def _cors(visit: Visit) -> dict[str, str]:
    headers: dict[str, str] = {}
    if visit.datasette.cors:
        add_cors_headers(headers)
    return headers


def _answer(body: str | bytes, content_type: str, headers: Mapping[str, str]) -> Response:
    given = body if isinstance(body, bytes) else body.encode("utf-8", "replace")
    return Response(body=given, content_type=content_type, headers=dict(headers))


def _refused() -> Response:
    return Response(
        body=b"Only GET and HEAD", status=405, content_type="text/plain; charset=utf-8", headers={"allow": "GET, HEAD"}
    )


def _missing(words: str = "No such session") -> Exception:
    error: Exception = NotFound(words)
    return error
