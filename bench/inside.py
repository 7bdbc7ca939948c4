"""An import with its clocks started after all modules are loaded: inside.py [--no-search] import|ingest DB PATH...

``import`` runs the command, ``ingest`` calls what the command calls. Prints, after whatever the command prints, the CPU
and wall seconds and the peak memory in MB as JSON. ``--no-search`` takes the search indexes out of the import. They are a
promise of the product, so no option of the command does this: here the table of indexes that the writer goes by is emptied.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from clm_sessions import plugins
from clm_sessions.cli import main
from clm_sessions.ingest import ingest

LATE = ("cli.importing", "ingest.bundle", "store.writer", "formats.claude_code.records", "formats.codex.records")


def without_search() -> None:
    for name in ("schema", "migrations", "writer", "rows", "lineage"):
        module = import_module(f"clm_sessions.store.{name}")
        if hasattr(module, "FTS"):
            module.FTS = {}


def timed(step: Callable[[], object]) -> dict[str, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    step()
    used = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    scale = 1 if sys.platform == "darwin" else 1024
    return {**used, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 1e6}


if __name__ == "__main__":
    words = sys.argv[1:]
    if "--no-search" in words:
        words.remove("--no-search")
        without_search()
    for late in LATE:
        import_module(f"clm_sessions.{late}")
    registry = plugins.from_environment()
    if words[0] == "ingest":
        database, *paths = map(Path, words[1:])
        print(json.dumps(timed(lambda: ingest(database, paths, registry))))
    else:
        sys.argv = ["clm-sessions", *words]
        print(json.dumps(timed(main)))
