"""Loops that time a call."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable

CPU_TIME = os.environ.get("BENCHMARK_CLOCK") == "process"


def best_of(call: Callable[[], object], repeats: int, inner: int = 1) -> float:
    """The quickest of `repeats` timings of `inner` calls, in milliseconds per call."""
    clock = time.process_time if CPU_TIME else time.perf_counter
    gc.collect()
    gc.disable()
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        for _ in range(inner):
            call()
        best = min(best, clock() - start)
    gc.enable()
    return best / inner * 1e3


def resident_mb() -> float:
    """Resident memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_over(call: Callable[[], object]) -> float:
    """The highest resident memory while `call` runs, sampled every 2 ms, in MB."""
    peak, done = resident_mb(), threading.Event()

    def sample() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, resident_mb())

    thread = threading.Thread(target=sample)
    thread.start()
    call()
    done.set()
    thread.join()
    return peak
