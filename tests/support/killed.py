"""Imports that die. Run as a program it imports again and again, each time in a child killed at another statement.

It reads one JSON object from standard input (``logs``, ``template``: a database to begin with or null, ``batch``: bytes in
a transaction, ``points``: {statement number: database}) and answers with one. A statement number of 0 means: to the end.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

SUPPORT = Path(__file__).parent.parent


def run(**order: Any) -> dict[str, Any]:
    """``statements`` of the run to the end by number, ``status``: by point, how its child ended."""
    done = subprocess.run(
        [sys.executable, "-m", "support.killed"],
        input=json.dumps(order, default=str),
        capture_output=True,
        text=True,
        check=False,
        cwd=SUPPORT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(SUPPORT), str(SUPPORT.parent)])},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _import(order: dict[str, Any], database: str, stop: int, record: str) -> None:
    """Import in this process, which kills itself when statement ``stop`` begins."""
    from clm_sessions import ingest, plugins
    from clm_sessions.prices import Book

    count = 0
    kinds: list[str] = []

    def trace(sql: str) -> None:
        nonlocal count
        count += 1
        kinds.append(sql.split(None, 1)[0].upper())
        if count == stop:
            os.kill(os.getpid(), signal.SIGKILL)

    connect = sqlite3.connect

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        db = connect(*arguments, **options)
        db.set_trace_callback(trace)
        return db

    sqlite3.connect = traced  # type: ignore[assignment]
    ingest.BATCH = order["batch"]
    ingest.ingest(Path(database), [Path(order["logs"])], plugins.build(entry_points=False), book=Book(packaged=False))
    Path(record).write_text(json.dumps(kinds))


def main() -> None:
    """Answer one order."""
    order = json.load(sys.stdin)
    status: dict[str, int] = {}
    record = f"{next(iter(order['points'].values()))}.statements"
    for stop, database in order["points"].items():
        if order["template"]:
            shutil.copy(order["template"], database)
        child = os.fork()
        if not child:
            try:
                _import(order, database, int(stop), record)
            except BaseException:  # noqa: BLE001 - a child must not go on as its parent
                sys.excepthook(*sys.exc_info())
                os._exit(1)
            os._exit(0)
        status[stop] = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    statements = json.loads(Path(record).read_text()) if "0" in order["points"] else []
    json.dump({"status": status, "statements": statements}, sys.stdout)


if __name__ == "__main__":
    main()
