"""Run one program from a process that is small: launch.py RESULT COMMAND...

Linux counts the size of whoever starts a program into that program's peak memory, so a large parent would hide it. Writes
wall, CPU and peak of the program, and its exit code, as JSON to RESULT.
"""

import json
import os
import sys
import time


def main(result, *command):
    started = time.perf_counter()
    child = os.posix_spawnp(command[0], command, os.environ)
    _pid, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - started
    scale = 1 if sys.platform == "darwin" else 1024
    found = {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * scale / 1e6}
    with open(result, "w", encoding="utf-8") as out:
        json.dump({**found, "code": os.waitstatus_to_exitcode(status)}, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
