"""The files of a session: each that it or its subagents changed, with its changes in order, and those only read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from clm_sessions.model import SessionInfo
from clm_sessions.store import reader
from clm_sessions.times import iso
from clm_sessions.tools.touched import absolute, touches
from clm_sessions.view.words import near, one_line
from datasette_clm import ask, loader
from datasette_clm.pages import page_of
from datasette_clm.safe import safe
from datasette_clm.tabs import head
from datasette_clm.tabs.changes import Change, File, file_html, paths_html
from datasette_clm.visit import Answer, Body, Missing, Page, Visit

FILES, CHANGES, READ = 50, 20, 200
"""Files on a page; changes on a page of one file; files named that were only read."""
SESSIONS, CALLS, CHARACTERS = 200, 1_500, 8_000_000
"""How many subagents, calls and characters of arguments are looked at for one page."""


def answer(db: sqlite3.Connection, visit: Visit) -> Answer:
    """All files, or with ``file`` a page of the changes of one."""
    info = loader.session_info(db, visit.tables, visit.sid)
    if info is None:
        return Missing()
    files, unseen = changed(db, visit, info)
    path, asked = visit.args.get("file") or "", ask.number(visit.args.get("page"))
    one = files.get(path) if path else None
    if path and one is None:
        return Missing(words="No such file was changed in this session")
    page = page_of(range(len(one.changes) if one else len(files)), CHANGES if one else FILES, page=asked)
    kept = {"file": path} if path else {}
    shown = [one] if one else [list(files.values())[n] for n in page.seqs]
    first, last = (page.first - 1, page.last) if one and page.total else (0, None)
    read = [] if one else _read(db, visit, info, files)
    if visit.format == ".json":
        body = {
            **head.json_head(visit, info, "files"),
            **head.json_paging(page, visit, info, "files", **kept),
            "files": [_data(file, file.changes[first:last], visit) for file in shown],
            "read": [{"path": path, "reads": n} for path, n in read],
            "calls_not_looked_at": unseen,
        }
        return Body(content=json.dumps(body, ensure_ascii=False), kind="application/json", data=True)
    limit = (first, last, True) if one else (0, 5, False)
    return Page(
        template="clm_files.html",
        page={
            **head.head(db, visit, info, "files", "Files"),
            "files": safe("".join(file_html(shown, limit, visit, info))),
            "count": len(files),
            "unseen": unseen,
            "read": safe(paths_html([(near(path, info.cwd), n) for path, n in read[:READ]])),
            "read_count": len(read),
            "all": visit.urls.tab(info.id, "files") if one else None,
            "pager": head.pager(page, visit, info, "files", "Changes" if one else "Files", **kept),
            "json": visit.urls.tab(
                info.id, "files", ".json", {**kept, "page": page.number if page.number > 1 else None}
            ),
        },
    )


def _data(file: File, changes: Sequence[Change], visit: Visit) -> dict[str, Any]:
    return {
        "path": file.path,
        "added": file.added,
        "removed": file.removed,
        "changes_count": len(file.changes),
        "changes": [
            {
                "what": change.touch.what,
                "failed": change.touch.failed,
                "added": change.touch.added,
                "removed": change.touch.removed,
                "tool": change.call.name,
                "session": change.session,
                "chunk": change.call.chunk,
                "at": iso(change.call.started_at),
                "diff": [f"{line.sign}{line.text}" for section in change.touch.sections for line in section.diff][
                    :2_000
                ],
                "url": visit.urls.at(change.session, change.call.chunk or 0),
            }
            for change in changes
        ],
    }


# -- reading ----------------------------------------------------------------------------------------------------


def changed(db: sqlite3.Connection, visit: Visit, info: SessionInfo) -> tuple[dict[str, File], int]:
    """The files that were changed, by path, in the order of their first change; and how many calls were too many."""
    whose = _sessions(db, info.id)
    listed, unseen = _calls(db, visit, info.id)
    changes: list[Change] = []
    for sid, group in groupby(listed, lambda pair: pair[0]):
        cwd, who = whose.get(sid, (None, ""))
        for call in reader.tool_calls(db, sid, seqs=[seq for _sid, seq in group], images=False):
            view = visit.registry.describe(call)
            found = touches(call, view, cwd) if view else ()
            changes += (Change(touch=touch, call=call, session=sid, who=who) for touch in found)
    if all(change.call.started_at is not None for change in changes):
        changes.sort(key=lambda change: change.call.started_at or 0)
    files: dict[str, File] = {}
    for change in changes:
        path = change.touch.path
        files.setdefault(path, File(path=path, name=near(path, info.cwd))).changes.append(change)
    return files, unseen


def _sessions(db: sqlite3.Connection, sid: str) -> Mapping[str, tuple[str | None, str]]:
    """(working directory, name of a subagent) of a session and its subagents."""
    rows = db.execute(
        f"{head.TREE} SELECT s.id, s.cwd, coalesce(s.description, s.title, s.agent_id, s.id) "
        "FROM tree JOIN sessions s ON s.id = tree.id LIMIT ?",
        (sid, SESSIONS),
    )
    return {row[0]: (row[1], "" if row[0] == sid else one_line(row[2], 60)) for row in rows}


def _named(db: sqlite3.Connection, visit: Visit, sid: str, family: str) -> list[str]:
    """Names of the tools of a family that the session and its subagents used."""
    sql = f"{head.TREE} SELECT DISTINCT t.name FROM tree CROSS JOIN tool_calls t ON t.session_id = tree.id"
    names = [row[0] for row in db.execute(sql, (sid,))]
    return [name for name in names if head.family(visit.registry.describe, name) == family]


def _calls(db: sqlite3.Connection, visit: Visit, sid: str) -> tuple[list[tuple[str, int]], int]:
    """(session, seq) of the calls that may have changed a file, as many as may be looked at; and how many more there are."""
    names = _named(db, visit, sid, "edit")
    rows = db.execute(
        f"{head.TREE} SELECT t.session_id, t.seq, length(t.input) FROM tree CROSS JOIN tool_calls t "
        f"ON t.session_id = tree.id WHERE t.name IN ({', '.join('?' * len(names))}) ORDER BY t.session_id <> ?, t.session_id, t.seq",
        (sid, *names, sid),
    ).fetchall()
    taken: list[tuple[str, int]] = []
    left = CHARACTERS
    for session, seq, size in rows[:CALLS]:
        left -= size
        if left < 0:
            break
        taken.append((session, seq))
    return taken, len(rows) - len(taken)


def _read(db: sqlite3.Connection, visit: Visit, info: SessionInfo, files: Mapping[str, File]) -> list[tuple[str, int]]:
    """(path, how often) of the files that were read and not changed."""
    names = _named(db, visit, info.id, "read")
    rows = db.execute(
        f"{head.TREE} SELECT t.path, count(*) FROM tree CROSS JOIN tool_calls t ON t.session_id = tree.id "
        f"WHERE t.name IN ({', '.join('?' * len(names))}) AND t.path IS NOT NULL AND t.status = 'ok' GROUP BY 1 ORDER BY 2 DESC, 1",
        (info.id, *names),
    )
    found: dict[str, int] = {}
    for path, n in rows:
        whole = absolute(path, info.cwd)
        if whole not in files:
            found[whole] = found.get(whole, 0) + n
    return list(found.items())
