"""Run a command and say what it cost: wall and CPU seconds, peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Seconds of wall clock and of CPU (user and system), peak resident memory in MB."""

    wall: float
    cpu: float
    peak: float


def run(*command: str) -> Cost:
    """The cost of one run of a command. Raises CalledProcessError if it fails."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _pid, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    scale = 1 if sys.platform == "darwin" else 1024
    return Cost(
        wall=time.perf_counter() - started, cpu=used.ru_utime + used.ru_stime, peak=used.ru_maxrss * scale / 1e6
    )


def best(*command: str, before: object = None, rounds: int = 3) -> Cost:
    """The cheapest of several runs by CPU. ``before`` is called ahead of each."""
    costs = []
    for _ in range(rounds):
        if callable(before):
            before()
        costs.append(run(*command))
    return min(costs, key=lambda c: c.cpu)
