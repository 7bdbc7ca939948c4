"""The first page: every session on one line or two, newest first. Scripts narrow it, search it and put it in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clm_sessions.model import SessionInfo
from clm_sessions.render.escape import bdi, esc
from clm_sessions.render.when import moment, time_html
from clm_sessions.site.about import About
from clm_sessions.site.activity import strip
from clm_sessions.site.facets import Facets
from clm_sessions.site.frame import page
from clm_sessions.view.words import count, duration, one_line, plural
from clm_sessions.zones import UTC


def listing(
    infos: Sequence[SessionInfo],
    facets: Facets,
    names: Mapping[str, str],
    agents: Mapping[str, str],
    about: About,
    first_prompts: Mapping[str, str],
) -> str:
    """The page. ``names``: the file of each session; ``agents``: the label of each format; ``first_prompts``: plain text."""
    rows = "".join(
        _row(info, facets.of(n), names, agents, first_prompts.get(info.id, "")) for n, info in enumerate(infos)
    )
    beside = facets.html()
    body = (
        f'<header class="clm-top"><h1 class="clm-title">{bdi(about.title)}</h1>'
        f'<p class="clm-sum">{" · ".join(_sums(infos))}</p></header>\n{strip(infos)}{_SEARCH}'
        f'<div class="{"clm-browse" if beside else "clm-alone"}">{beside}<section aria-labelledby="clm-list-h">'
        f'<div class="clm-count"><h2 id="clm-list-h"><span role="status">{plural(len(infos), "session")}</span></h2>{_ORDER}</div>\n'
        f'<ol class="clm-sessions">\n{rows}</ol>\n{_NOTHING}<p class="clm-rest" hidden><button type="button">Show more</button></p></section></div>\n'
    )
    return page(about.title, body, about=about, script="search")


_SEARCH = (
    '<form class="clm-find" role="search" hidden><label class="clm-sr" for="clm-q">Search prompts, titles and replies</label>'
    '<input id="clm-q" type="search" placeholder="Search prompts, titles and replies" autocomplete="off" maxlength="200">'
    "<button>Search</button></form>\n"
)
_NOTHING = (
    '<p class="clm-nothing" hidden>No session fits. All words must stand in one prompt, title or reply; longer words, and the '
    "last one, may be the beginning of a word. What tools said is not searched here.</p>\n"
)
_ORDER = (
    '<label class="clm-order" hidden>Order <select><option value="0">newest first</option><option value="1">longest</option>'
    '<option value="2">most tool calls</option><option value="3">most output tokens</option></select></label>'
)


def _sums(infos: Sequence[SessionInfo]) -> Iterator[str]:
    projects = {info.project_name for info in infos if info.project_name}
    times = [info.started_at for info in infos if info.started_at is not None]
    tokens = sum(info.usage.output or 0 for info in infos)
    calls = sum(info.tool_calls for info in infos)
    if len(projects) > 1:
        yield plural(len(projects), "project")
    if times:
        days = [moment(ms, UTC).split(",")[0] for ms in (min(times), max(times))]
        yield days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"
    yield plural(sum(info.prompts for info in infos), "prompt")
    if calls:
        yield plural(calls, "tool call")
    if tokens:
        yield f"{count(tokens)} output tokens"


def _row(info: SessionInfo, has: str, names: Mapping[str, str], agents: Mapping[str, str], prompt: str) -> str:
    title = one_line(info.title or prompt or info.native_id, 160)
    sizes = (info.duration_ms or 0, info.tool_calls, info.usage.output or 0)
    said = one_line(prompt, 200)
    about = f'<p class="clm-said-first" dir="auto">{esc(said)}</p>' if said and said != title else ""
    return (
        f'<li class="clm-card" data-has="{has}" data-sizes="{" ".join(map(str, sizes))}">'
        f'<a class="clm-open" href="sessions/{esc(names[info.id])}.html">{bdi(title)}</a>'
        f'{about}<p class="clm-facts">{" · ".join(_facts(info, agents))}</p></li>\n'
    )


def _facts(info: SessionInfo, agents: Mapping[str, str]) -> Iterator[str]:
    if info.project_name:
        yield f'<b class="clm-project">{bdi(one_line(info.project_name, 40))}</b>'
    if info.started_at is not None:
        yield time_html(info.started_at, UTC)
    yield bdi(agents.get(info.format, info.format))
    if info.models:
        more = f" +{len(info.models) - 1}" if len(info.models) > 1 else ""
        yield f"{bdi(one_line(info.models[0], 40))}{more}"
    yield plural(info.prompts, "prompt")
    if info.tool_calls:
        yield plural(info.tool_calls, "tool call")
    if info.tool_errors:
        yield f'<span class="clm-pill clm-is-error">✗ {info.tool_errors:,} failed</span>'
    if info.interruptions:
        yield '<span class="clm-pill clm-is-interrupted">⊘ interrupted</span>'
    if info.subagents:
        yield plural(info.subagents, "subagent")
    if info.duration_ms:
        yield duration(info.duration_ms)
