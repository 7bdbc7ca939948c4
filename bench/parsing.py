"""Parse and chunk one log in a process that has not done so before: parsing.py FILE

Prints as JSON the seconds from the open file to linked chunks, the chunks and the peak memory in MB.
"""

from __future__ import annotations

import json
import resource
import sys
import time

from clm_sessions import load
from clm_sessions.plugins import from_environment

if __name__ == "__main__":
    from_environment()
    cpu, wall = time.process_time(), time.perf_counter()
    session = load(sys.argv[1])
    used = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    print(json.dumps({**used, "chunks": len(session.chunks), "messages": len(session.messages), "peak": peak}))
