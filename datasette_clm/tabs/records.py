"""The raw view: every line of the log with what became of it, and one line at a time as indented JSON."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clm_sessions import giveback, render
from clm_sessions.errors import ClmError, DatabaseError
from clm_sessions.model import DISPOSITIONS, SessionInfo
from clm_sessions.render.escape import bdi
from clm_sessions.times import iso
from clm_sessions.view import Section
from clm_sessions.view.blocks import json_section
from clm_sessions.view.words import one_line, plural, size
from datasette_clm import ask, loader
from datasette_clm.safe import safe
from datasette_clm.tabs import head
from datasette_clm.tabs.lines import Line, Source, kind, moment, parsed, source, walk
from datasette_clm.visit import Answer, Body, Missing, Page, Visit, json_body

ROWS, WHOLE, DOWNLOAD = 100, 1_000_000, 64_000_000
"""Lines on a page; characters of one record that are shown; bytes of a log that are sent in one piece."""
_COUNTED = frozenset(("message", "fact", "duplicate", "issue"))
_NOTES = frozenset(("repaired", "refused"))
"""Issues beside the disposition of a line, not instead of it."""
_UNREAD = "the database holds no raw records (--no-raw)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What is known of the lines of a log without reading it.

    By number the messages (seq, chunk, whether noise), issues and facts; by type of record the dispositions that occur. ``pending``: the
    number of the unfinished last line, if there is one.
    """

    messages: Mapping[int, tuple[int, int | None, bool]]
    issues: Mapping[int, str]
    facts: frozenset[int]
    types: Mapping[str, Mapping[str, int]]
    pending: int | None


def answer(db: sqlite3.Connection, visit: Visit) -> Answer:
    """A page of lines from ``from`` on, only those of one ``type`` if asked; with ``line`` that line alone."""
    info = loader.session_info(db, visit.tables, visit.sid)
    log = source(db, visit.sid) if info else None
    if info is None:
        return Missing()
    if log is None:
        log = Source(id="", generation=0, lines=0, kept=0)
    number = ask.number(visit.args.get("line"))
    try:
        if number is not None:
            return _record(db, visit, info, log, number)
        return _list(db, visit, info, log)
    except DatabaseError as error:
        return Missing(words=str(error))


def download(db: sqlite3.Connection, visit: Visit) -> Answer:
    """The whole log, byte for byte, as a file to save."""
    try:
        log = giveback.find(db, visit.sid)[0]
        number = log.generation()
        if log.sizes[number] > DOWNLOAD:
            return Missing(words=f"The log has {size(log.sizes[number])}: clm-sessions export-log {visit.sid}")
        content = b"".join(giveback.read(db, log))
    except ClmError as error:
        return Missing(words=str(error))
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", visit.sid).strip(".-")[:80] or "session"
    return Body(content=content, kind="application/octet-stream", name=f"{name}.jsonl")


# -- the list ---------------------------------------------------------------------------------------------------


def _list(db: sqlite3.Connection, visit: Visit, info: SessionInfo, log: Source) -> Answer:
    first = max(1, ask.number(visit.args.get("from")) or 1)
    only = (visit.args.get("type") or "")[:200]
    told = _told(db, visit, info.id, log, first)
    rows: list[dict[str, Any]] = []
    reached = first - 1
    for line in walk(db, log, info.id, first) if log.kept else ():
        reached = line.number
        record = parsed(line.data)
        name = kind(record, told.types)
        if not only or name == only:
            rows.append(_row(line, name, record, told))
        if len(rows) == ROWS:
            break
    following = reached + 1 if reached < log.lines and log.kept else None
    if visit.format == ".json":
        body = {
            **head.json_head(visit, info, "raw"),
            "lines": log.lines,
            "dispositions": _dispositions(db, visit, log),
            "types": told.types,
            "archived_bytes": log.kept,
            "from": first,
            "next_url": _from(visit, info, following, only, ".json") if following else None,
            "records": [_data(row, visit, info) for row in rows],
        }
        return json_body(body)
    return Page(
        template="clm_raw.html",
        page={
            **head.head(db, visit, info, "raw", "Raw records"),
            "sum": _sum(db, visit, log),
            "types": _types(told.types, visit, info, only),
            "only": safe(bdi(one_line(only, 80))) if only else None,
            "all": visit.urls.tab(info.id, "raw"),
            "rows": [_shown(row, visit, info) for row in rows],
            "kept": size(log.kept) if log.kept else None,
            "unread": _UNREAD,
            "download": visit.urls.log(info.id) if 0 < log.kept <= DOWNLOAD else None,
            "command": f"clm-sessions export-log {info.id}",
            "pager": _pager(visit, info, log, (first, reached), only),
            "json": _from(visit, info, first if first > 1 else None, only, ".json"),
        },
    )


def _from(visit: Visit, info: SessionInfo, line: int | None, only: str, format: str = "") -> str:  # noqa: A002
    return visit.urls.tab(info.id, "raw", format, {"from": line, "type": only})


def _pager(visit: Visit, info: SessionInfo, log: Source, span: tuple[int, int], only: str) -> dict[str, Any]:
    first, reached = span
    more = reached < log.lines and log.kept > 0
    last = max(1, log.lines - ROWS + 1)
    words = f"Lines {first:,}\u2013{reached:,} of {log.lines:,}" if reached >= first else f"No lines of {log.lines:,}"
    return {
        "first": _from(visit, info, None, only) if first > 1 else None,
        "previous": _from(visit, info, max(1, first - ROWS), only) if first > 1 else None,
        "next": _from(visit, info, reached + 1, only) if more else None,
        "last": _from(visit, info, last, only) if more and not only else None,
        "words": words + (" looked at" if only else ""),
        "pages": 2 if more or first > 1 else 1,
    }


def _told(db: sqlite3.Connection, visit: Visit, sid: str, log: Source, first: int) -> Told:
    """What is told of the lines from ``first`` on, as far as a page may reach."""
    span = (sid, first)
    messages = db.execute(
        "SELECT line, min(seq), chunk_seq, kind FROM messages WHERE session_id = ? AND line >= ? AND earlier IS NULL "
        "GROUP BY line ORDER BY line LIMIT 20000",
        span,
    )
    types: dict[str, dict[str, int]] = {}
    if "record_types" in visit.tables:
        rows = db.execute(
            "SELECT type, disposition, records FROM record_types WHERE source_id = ? ORDER BY 1, 2", (log.id,)
        )
        for name, disposition, n in rows:
            types.setdefault(name, {})[disposition] = n
    issues = "SELECT line, kind FROM ingest_issues WHERE session_id = ? AND source_id = ? AND line >= ? LIMIT 20000"
    facts = "SELECT DISTINCT line FROM facts WHERE session_id = ? AND line >= ? AND side IS NULL LIMIT 20000"
    return Told(
        messages={line: (seq, chunk, kind == "hard_noise") for line, seq, chunk, kind in messages},
        issues=dict(db.execute(issues, (sid, log.id, first)).fetchall()) if "ingest_issues" in visit.tables else {},
        facts=frozenset(row[0] for row in db.execute(facts, span)) if "facts" in visit.tables else frozenset(),
        types=types,
        pending=log.lines if _dispositions(db, visit, log).get("pending") else None,
    )


def _row(line: Line, name: str | None, record: Any, told: Told) -> dict[str, Any]:  # noqa: ANN401 - a JSON value
    message, chunk, _noise = told.messages.get(line.number, (None, None, False))
    return {
        "line": line.number,
        "type": name,
        "disposition": _disposition(line, name, told),
        "bytes": line.length,
        "at": moment(record),
        "message": message,
        "chunk": chunk,
    }


def _disposition(line: Line, name: str | None, told: Told) -> str:
    """What became of a line; where only its type tells, all that became of lines of that type and is not ruled out."""
    if told.issues.get(line.number, "repaired") not in _NOTES:
        return f"issue: {told.issues[line.number]}"
    if line.data is not None and not line.data.strip():
        return "blank"
    if line.number == told.pending:
        return "pending"
    known = dict.fromkeys(told.types.get(name, {}) if name else ())
    found = told.messages.get(line.number)
    if len(known) > 1 and found is not None:
        return "noise" if found[2] and "noise" in known else "message"
    if len(known) > 1 and "fact" in known and line.number in told.facts:
        return "fact"
    rest = [one for one in known if len(known) == 1 or one not in {"message", "issue"}]
    return " or ".join(rest) or ("message" if found is not None else "")


def _dispositions(db: sqlite3.Connection, visit: Visit, log: Source) -> dict[str, int]:
    if "source_lines" not in visit.tables:
        return {}
    rows = dict(db.execute("SELECT disposition, lines FROM source_lines WHERE source_id = ?", (log.id,)).fetchall())
    return {name: rows[name] for name in DISPOSITIONS if rows.get(name)}


def _sum(db: sqlite3.Connection, visit: Visit, log: Source) -> str:
    """``43 lines = 40 messages + 3 facts``."""
    found = _dispositions(db, visit, log).items()
    parts = " + ".join(plural(n, name) if name in _COUNTED else f"{n:,} {name}" for name, n in found)
    return plural(log.lines, "line") + (f" = {parts}" if parts else "")


def _types(
    types: Mapping[str, Mapping[str, int]], visit: Visit, info: SessionInfo, only: str
) -> Sequence[Mapping[str, Any]]:
    """The types of records as filters."""
    return [
        {
            "label": safe(bdi(one_line(name, 60))),
            "count": f"{sum(found.values()):,}",
            "about": ", ".join(f"{n:,} {disposition}" for disposition, n in found.items()),
            "href": _from(visit, info, None, "" if name == only else name),
            "on": name == only,
        }
        for name, found in sorted(types.items(), key=lambda item: (-sum(item[1].values()), item[0]))
        if name != "?"
    ]


def _data(row: Mapping[str, Any], visit: Visit, info: SessionInfo) -> dict[str, Any]:
    return {
        **row,
        "at": iso(row["at"]),
        "raw_url": visit.urls.raw(info.id, row["message"]) if row["message"] is not None else None,
        "url": visit.urls.tab(info.id, "raw", query={"line": row["line"]}),
    }


def _shown(row: Mapping[str, Any], visit: Visit, info: SessionInfo) -> dict[str, Any]:
    chunk = row["chunk"]
    return {
        "line": f"{row['line']:,}",
        "href": visit.urls.tab(info.id, "raw", query={"line": row["line"]}),
        "type": safe(bdi(one_line(row["type"] or "", 60))),
        "disposition": row["disposition"],
        "size": size(row["bytes"]),
        "at": iso(row["at"]),
        "message": row["message"],
        "chunk": None if chunk is None else chunk + 1,
        "place": None if chunk is None else visit.urls.at(info.id, chunk),
    }


# -- one line ---------------------------------------------------------------------------------------------------


def _record(db: sqlite3.Connection, visit: Visit, info: SessionInfo, log: Source, number: int) -> Answer:
    line = next((line for line in walk(db, log, info.id, number) if line.number >= number), None) if log.kept else None
    if line is None or line.number != number or line.data is None:
        return Missing(words=f"There is no line {number:,} that can be shown" if log.kept else _UNREAD)
    told = _told(db, visit, info.id, log, number)
    record = parsed(line.data)
    row = _row(line, kind(record, told.types), record, told)
    text = line.data.decode("utf-8", "replace")
    if visit.format == ".json":
        body = {**head.json_head(visit, info, "raw"), "record": _data(row, visit, info), "text": text[:WHOLE]}
        return json_body(body)
    section = Section(kind="code", text=text) if record is None else json_section(record)
    how = render.Options(max_output=WHOLE, budget=None)
    query = {"line": number}
    return Page(
        template="clm_record.html",
        page={
            **head.head(db, visit, info, "raw", f"Line {number:,}"),
            "number": f"{number:,}",
            "row": _shown(row, visit, info),
            "html": safe(render.section_html(section, render.Place(how))),
            "previous": visit.urls.tab(info.id, "raw", query={"line": number - 1}) if number > 1 else None,
            "next": visit.urls.tab(info.id, "raw", query={"line": number + 1}) if number < log.lines else None,
            "back": _from(visit, info, (number - 1) // ROWS * ROWS + 1, ""),
            "json": visit.urls.tab(info.id, "raw", ".json", query),
        },
    )
