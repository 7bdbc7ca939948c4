"""What to call projects: by the last part of their path, or by as many as tell those of one name apart."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence


def labels(projects: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """A label for each (id, name, path), by id: the name where no other has it, else the end of the path."""
    named: dict[str, list[tuple[str, str]]] = {}
    for key, name, path in projects:
        named.setdefault(str(name), []).append((str(key), str(path)))
    return {
        key: label
        for name, group in named.items()
        for key, label in (_apart(group) if len(group) > 1 else [(group[0][0], name)])
    }


def _apart(group: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    parts = [path.replace("\\", "/").strip("/").split("/") for _key, path in group]
    ends: list[str] = []
    for count in range(2, max(map(len, parts)) + 1):
        ends = ["/".join(one[-count:]) for one in parts]
        if len(set(ends)) == len(ends):
            return [(key, end) for (key, _path), end in zip(group, ends, strict=True)]
    return list(group)


def settle(db: sqlite3.Connection) -> None:
    """Drop projects that no session is of, and label the others. Runs inside the caller's transaction."""
    db.execute("DELETE FROM projects WHERE id NOT IN (SELECT project_id FROM sessions WHERE project_id <> '')")
    rows = db.execute("SELECT id, name, path, label FROM projects").fetchall()
    wanted = labels(row[:3] for row in rows)
    changes = [(wanted[row[0]], row[0]) for row in rows if row[0] in wanted and row[3] != wanted[row[0]]]
    db.executemany("UPDATE projects SET label = ? WHERE id = ?", changes)
