"""``clm-sessions search``: full-text search over everything that was said and done."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any

import click

from clm_sessions import times
from clm_sessions.cli import options
from clm_sessions.cli.common import line, on_terminal, paint, write
from clm_sessions.cli.tables import fit, wide
from clm_sessions.errors import UsageError
from clm_sessions.library import open_db
from clm_sessions.store.search import KINDS, LIMIT, Hit, fts_query, pieces

_SNIPPET = 600


@click.command("search")
@click.argument("arguments", nargs=-1, required=True, metavar="TEXT... [DB]", type=click.Path())
@options.narrowing("project", "tool", "model", "format", "day", "since", "until")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only in texts of this kind.")
@click.option("--limit", default=20, show_default=True, help="How many places, best first; 0 for all.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def search(arguments: Sequence[str], kinds: Sequence[str], limit: int, as_json: bool, **asked: Any) -> None:  # noqa: ANN401 - see options.narrow
    """Find the places that hold all words of TEXT, best first. Any text is a query.

    "quoted words" are a phrase, word* finds what begins so, -word leaves out (flags of one or two letters are words),
    accents and case do not matter; put -- before a text that begins with a dash. What a fork copied is found in the session it comes from. In a pipe it is a line for each place,
    with tabs between: session, chunk, time, what it is, project, snippet with the words found between ** and **.
    """
    text, database = options.words_and_database(arguments)
    narrow, tz = options.narrow(**asked)
    if narrow.tools and set(kinds) - {"tool", "input", "output"}:
        raise UsageError("--tool finds calls of tools only; leave out --kind")
    with open_db(database) as db:
        hits = db.search(text, limit=limit or LIMIT, narrow=narrow, kinds=kinds, noise=False, copies=False)
        short = db.short_ids() if on_terminal() and not as_json else {}
    if as_json:
        write(f"{json.dumps(_data(hit))}\n" for hit in hits)
    elif on_terminal():
        width = shutil.get_terminal_size().columns
        write(_shown(hits, short, tz, width))
        click.echo(_ending(text, hits, limit, short), err=not hits)
    else:
        write("\t".join(_record(hit, tz)) + "\n" for hit in hits)


def _shown(hits: Sequence[Hit], short: Mapping[str, str], tz: tzinfo, width: int) -> Iterator[str]:
    for hit in hits:
        place = (
            f"{line(short.get(hit.session_id, hit.session_id))} #{'?' if hit.chunk_seq is None else hit.chunk_seq + 1}"
        )
        about = [options.clock(hit.at, tz), line(hit.project or ""), line(hit.name, 60)]
        start = f"{place}  {' · '.join(part for part in about if part)}"
        title = fit(line(hit.title or "", 200), max(0, width - wide(start) - 3))
        shown = (
            paint(place, fg="cyan") + start[len(place) :] + (paint(f" · {title}", dim=True) if len(title) > 3 else "")
        )
        yield f"{shown if wide(start) <= width else fit(start, width)}\n    {_marked(hit, width - 4)}\n\n"


def _marked(hit: Hit, width: int) -> str:
    """The snippet on one line, around the first word that was found."""
    parts = _pieces(hit)
    before = parts[0][0] if parts and not parts[0][1] else ""
    room = max(10, width // 3)
    if wide(before) > room:
        while wide(before) > room:
            before = before[1 + len(before) // 8 :]
        parts = [(f"…{before}", False), *parts[1:]]
    shown, left = "", width
    for text, found in parts:
        cut = fit(_said(text) if hit.kind == "tool_call" else text, left)
        shown += paint(cut, bold=True, fg="yellow") if found else cut
        left -= wide(cut)
        if left <= 0:
            break
    return shown


def _said(text: str) -> str:
    """Arguments are searched as they are logged, as JSON; here line ends and quotes in them are as one reads them."""
    return text.replace("\\n", " ").replace('\\"', '"')


def _pieces(hit: Hit) -> list[tuple[str, bool]]:
    """The snippet in pieces, white space drawn together, nothing in them that acts on a terminal."""
    found = [(" ".join(line(f"|{text}|", _SNIPPET).split())[1:-1], marked) for text, marked in pieces(hit.snippet)]
    return [(text, marked) for text, marked in found if text]


def _record(hit: Hit, tz: tzinfo) -> list[str]:
    snippet = "".join(f"**{text}**" if marked else text for text, marked in _pieces(hit))
    chunk = "" if hit.chunk_seq is None else str(hit.chunk_seq + 1)
    name = line(hit.name)
    return [line(hit.session_id), chunk, options.clock(hit.at, tz), name, line(hit.project or ""), snippet]


def _ending(text: str, hits: Sequence[Hit], limit: int, short: Mapping[str, str]) -> str:
    if not hits:
        return "no letter or digit to look for" if fts_query(text) is None else "nothing found"
    first = next((hit for hit in hits if hit.chunk_seq is not None), None)
    more = "the best are shown, see more with --limit; " if len(hits) == limit else ""
    if first is None or first.chunk_seq is None:
        return paint(more.rstrip("; "), dim=True)
    place = f"{line(short.get(first.session_id, first.session_id))} --chunks {first.chunk_seq + 1}"
    return paint(f"{more}read one: clm-sessions show {place}", dim=True)


def _data(hit: Hit) -> dict[str, Any]:
    return {
        "session": hit.session_id,
        "title": hit.title,
        "project": hit.project,
        "chunk": hit.chunk_seq,
        "message": hit.message_seq,
        "kind": hit.kind,
        "name": hit.name,
        "at": times.iso(hit.at),
        "pieces": [{"text": text, "found": found} for text, found in pieces(hit.snippet)],
    }
