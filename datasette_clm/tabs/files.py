"""The files of a session: each that it or its subagents changed, with its changes in order, and those only read."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from clm_sessions.times import iso
from clm_sessions.view.words import near
from datasette_clm import ask, loader
from datasette_clm.pages import page_of
from datasette_clm.safe import safe
from datasette_clm.tabs import head
from datasette_clm.tabs.changes import file_html, paths_html
from datasette_clm.tabs.touching import Change, File, changed, only_read
from datasette_clm.visit import Answer, Missing, Page, Visit, json_body

FILES, CHANGES, READ = 50, 20, 200
"""Files on a page; changes on a page of one file; files named that were only read."""


def answer(db: sqlite3.Connection, visit: Visit) -> Answer:
    """All files, or with ``file`` a page of the changes of one."""
    info = loader.session_info(db, visit.tables, visit.sid)
    if info is None:
        return Missing()
    files, unseen = changed(db, visit.registry.describe, info)
    path, asked = visit.args.get("file") or "", ask.number(visit.args.get("page"))
    one = files.get(path) if path else None
    if path and one is None:
        return Missing(words="No such file was changed in this session")
    page = page_of(range(len(one.changes) if one else len(files)), CHANGES if one else FILES, page=asked)
    kept = {"file": path} if path else {}
    shown = [one] if one else [list(files.values())[n] for n in page.seqs]
    first, last = (page.first - 1, page.last) if one and page.total else (0, None)
    read = [] if one else only_read(db, visit.registry.describe, info, files)
    if visit.format == ".json":
        body = {
            **head.json_head(visit, info, "files"),
            **head.json_paging(page, visit, info, "files", **kept),
            "files": [_data(file, file.changes[first:last], visit) for file in shown],
            "read": [{"path": path, "reads": n} for path, n in read],
            "calls_not_looked_at": unseen,
        }
        return json_body(body)
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
