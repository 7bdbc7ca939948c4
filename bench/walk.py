"""The least that a look at a folder of files costs: walk it with os.scandir and stat each file. walk.py FOLDER

Prints the CPU and wall seconds of the walk alone, the best of five, as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time


def walk(folder: str) -> int:
    found, folders = 0, [folder]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    found += 1
    return found


if __name__ == "__main__":
    best = {"cpu": 1e9, "wall": 1e9, "files": 0}
    for _ in range(5):
        cpu, wall = time.process_time(), time.perf_counter()
        best["files"] = walk(sys.argv[1])
        best["cpu"] = min(best["cpu"], time.process_time() - cpu)
        best["wall"] = min(best["wall"], time.perf_counter() - wall)
    print(json.dumps(best))
