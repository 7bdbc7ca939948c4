"""Run the command with its CPU clock started after its imports: inside.py [--no-search] import DB PATH...

Prints what the command prints and then, as JSON, the CPU and wall seconds and the peak memory in MB.
``--no-search`` takes the search indexes out of the import. They are a promise of the product, so no option of the
command does this: here the table of indexes that the writer goes by is emptied.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from importlib import import_module

from clm_sessions import plugins
from clm_sessions.cli import main


def without_search() -> None:
    for name in ("schema", "migrations", "writer", "rows", "lineage"):
        module = import_module(f"clm_sessions.store.{name}")
        if hasattr(module, "FTS"):
            module.FTS = {}


if __name__ == "__main__":
    words = sys.argv[1:]
    if "--no-search" in words:
        words.remove("--no-search")
        without_search()
    import_module("clm_sessions.store.migrations")
    plugins.from_environment()
    sys.argv = ["clm-sessions", *words]
    cpu, wall = time.process_time(), time.perf_counter()
    try:
        main()
    finally:
        used = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        used["peak"] = (
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
        )
        print(json.dumps(used))
