"""The search page: places grouped by session, with facets beside them that narrow. ``search_data`` has the same for machines."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clm_sessions import times
from clm_sessions.render.escape import bdi, esc
from clm_sessions.store.search import RANKED, Hit, pieces
from clm_sessions.store.words import terms
from clm_sessions.view.words import one_line, plural
from datasette_clm import search_ask, search_data, search_find
from datasette_clm.safe import safe
from datasette_clm.search_ask import SORTS, TITLES, WORDS, SearchAsk
from datasette_clm.search_find import Results
from datasette_clm.urls import Urls
from datasette_clm.visit import Answer, Body, Page, Visit, json_body

WANTS = ("tool_calls", "session_models")
_VALUES, _MOST = 7, 60
_PARTS = {"thinking": "thinking", "input": "input", "output": "output"}
_ORIGINS = {"prompt": "prompt", "reply": "reply", "command": "command", "summary": "summary"}


def answer(db: sqlite3.Connection, visit: Visit) -> Answer:
    """Places and sessions that hold some words."""
    begun = time.perf_counter()
    ask = search_ask.parse(visit.args, tables=visit.tables)
    if visit.format == ".csv":
        found = search_find.first(db, ask, visit.tables)
        return Body(content=search_data.csv(found, ask.q, visit.urls), kind="text/csv", data=True)
    results = search_find.find(db, ask, visit.tables)
    if visit.format == ".json":
        return json_body(search_data.json(results, visit.urls))
    took = round((time.perf_counter() - begun) * 1000)
    return Page(template="clm_search.html", page=_page(results, visit, took))


# -- the page ---------------------------------------------------------------------------------------------------


def _page(results: Results, visit: Visit, took: int) -> dict[str, Any]:
    ask, urls = results.ask, visit.urls
    title = f"Search: {one_line(ask.q, 60)}" if ask.q else "Search"
    return {
        "title": title,
        "ask": ask,
        "action": urls.search(),
        "kept": [(k, v) for k, v in ask.query(q="", page=1).items() if k not in {"q", "page"}],
        "summary": _summary(results),
        "took": f"{took:,} ms",
        "approximate": f"The words are very common: the newest {RANKED:,} messages and tool calls that hold them were "
        "looked at, and the numbers beside are of these."
        if results.capped
        else None,
        "without": [_without(term.text, ask, urls) for term in terms(ask.q) if term.excluded],
        "sorts": [
            {"label": sort, "href": urls.searching(ask.query(sort=sort)), "on": ask.sort == sort} for sort in SORTS
        ],
        "chosen": [_chip(name, value, ask, urls) for name, value in ask.chosen.items()],
        "session": _session(results, urls) if ask.session else None,
        "facets": list(_facets(results, urls)),
        "groups": [_group(sid, hits, results, urls) for sid, hits in results.hits.items()],
        "titles": [(urls.session(sid), one_line(text, 120)) for sid, text in results.titles],
        "all_titles": urls.searching(ask.query(where=TITLES)) if len(results.titles) > 5 and not ask.where else None,
        "problem": results.problem,
        "empty": _advice(results, urls) if ask.q and not results.hits and not results.titles else None,
        "pager": _pager(results, urls),
        "json": urls.searching(ask.query(page=ask.page), ".json"),
        "csv": urls.searching(ask.query(), ".csv"),
        "sql": urls.sql(*search_data.sql(ask, visit.tables)) if ask.q and results.found.queries else None,
    }


def _summary(results: Results) -> str:
    """How much was found, in words."""
    number = len(results.found.places)
    if not number:
        return ""
    where = "" if results.ask.session else f" in {plural(len(results.counts.sessions), 'session')}"
    return f"{'The newest ' if results.capped else ''}{plural(number, 'place')}{where}"


def _chip(name: str, value: str, ask: SearchAsk, urls: Urls) -> dict[str, Any]:
    return {"name": name, "value": safe(bdi(one_line(value, 60))), "href": urls.searching(ask.query(**{name: ""}))}


def _without(word: str, ask: SearchAsk, urls: Urls) -> dict[str, Any]:
    """Something left out, with the search that takes it for a word."""
    quoted = ask.q.replace(f'-"{word}"', f'"{word}"').replace(f"-{word}", f'"-{word}"')
    return {"word": safe(bdi(word)), "href": urls.searching(ask.query(q=quoted))}


def _session(results: Results, urls: Urls) -> dict[str, Any]:
    hit = next((hit for hits in results.hits.values() for hit in hits), None)
    return {
        "title": one_line(hit.title or hit.session_id, 100) if hit else one_line(results.ask.session, 60),
        "href": urls.session(results.ask.session),
        "leave": urls.searching(results.ask.query(session="")),
    }


def _facets(results: Results, urls: Urls) -> Iterator[dict[str, Any]]:
    counts = results.counts
    kinds = {WORDS[kind]: number for kind, number in counts.kinds.items() if kind in WORDS}
    if results.titles:
        kinds[TITLES] = len(results.titles)
    yield from _facet("where", "Where", kinds, results, urls)
    yield from _facet("tool", "Tool", counts.tools, results, urls)
    if not results.ask.session:
        yield from _facet("project", "Project", counts.projects, results, urls)
        yield from _facet("model", "Model of the session", counts.models, results, urls)
        yield from _facet("format", "Format", counts.formats, results, urls)
    months = Counter[str]()
    for day, number in counts.days.items():
        months[day[:7]] += number
    by_day = len(months) == 1 or len(counts.days) <= _VALUES
    newest = sorted((counts.days if by_day else months).items(), reverse=True)
    yield from _facet("time", "Day (UTC)" if by_day else "Month (UTC)", dict(newest), results, urls)


def _facet(name: str, label: str, values: Mapping[str, int], results: Results, urls: Urls) -> Iterator[dict[str, Any]]:
    """A facet with something to choose between, or with something chosen."""
    ask = results.ask
    chosen = getattr(ask, name)
    if len(values) < 2 and not chosen:
        return
    links = [
        {
            "label": safe(bdi(one_line(value, 60))),
            "count": f"{number:,}",
            "href": urls.searching(ask.query(**{name: "" if value == chosen else value})),
            "on": value == chosen,
        }
        for value, number in list(values.items())[:_MOST]
    ]
    yield {"name": name, "label": label, "values": links[:_VALUES], "more": links[_VALUES:]}


def _group(sid: str, hits: Sequence[Hit], results: Results, urls: Urls) -> dict[str, Any]:
    """A session with its first places."""
    more = results.counts.sessions.get(sid, 0) - len(hits)
    ask = results.ask
    return {
        "title": one_line(hits[0].title or sid, 110),
        "href": urls.session(sid),
        "project": one_line(hits[0].project or "", 60),
        "hits": [_hit(hit, ask.q, urls) for hit in hits],
        "more": plural(more, "more place") if more > 0 and not ask.session else None,
        "more_href": urls.searching(ask.query(session=sid)),
    }


def _hit(hit: Hit, q: str, urls: Urls) -> dict[str, Any]:
    said = [(_said(text) if hit.part == "input" else text, marked) for text, marked in pieces(hit.snippet)]
    return {
        "what": safe(bdi(one_line(_what(hit), 50))),
        "tool": hit.kind == "tool_call",
        "number": (hit.chunk_seq or 0) + 1,
        "href": urls.found(hit.session_id, hit.chunk_seq or 0, q),
        "at": times.iso(hit.at),
        "snippet": safe("".join(f"<mark>{esc(text)}</mark>" if marked else esc(text) for text, marked in said)),
    }


def _what(hit: Hit) -> str:
    if hit.kind == "tool_call":
        return f"{hit.name} {hit.part}"
    return _PARTS.get(hit.part) or _ORIGINS.get(hit.name) or hit.name.replace("_", " ")


def _said(text: str) -> str:
    """Arguments are searched as they are logged, as JSON; here line ends and quotes in them are as one reads them."""
    return text.replace("\\n", "\n").replace('\\"', '"')


def _pager(results: Results, urls: Urls) -> dict[str, Any]:
    ask, pages = results.ask, results.pages
    number = min(ask.page, pages)
    return {
        "words": f"Page {number:,} of {pages:,}",
        "pages": pages,
        "previous": urls.searching(ask.query(page=number - 1)) if number > 1 else None,
        "next": urls.searching(ask.query(page=number + 1)) if number < pages else None,
    }


def _advice(results: Results, urls: Urls) -> list[dict[str, str]]:
    """Searches that may find more than this one, which found nothing."""
    ask = results.ask
    advice = []
    if ask.chosen or ask.session:
        advice.append(("everywhere, without the filters", SearchAsk(q=ask.q)))
    words = [term for term in terms(ask.q) if not term.excluded]
    if words and not words[-1].prefix:
        start = words[-1].text if len(words[-1].text) < 7 else words[-1].text[:-2]
        advice.append(
            ("words that begin so", SearchAsk(q=" ".join([*(f'"{w.text}"' for w in words[:-1]), f"{start}*"])))
        )
    if len(words) > 1:
        advice += [("one word of it", SearchAsk(q=word.text)) for word in words[:4]]
    return [{"why": why, "q": one_line(other.q, 60), "href": urls.searching(other.query())} for why, other in advice]
