"""Loops that time a call."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable

CPU_TIME = os.environ.get("BENCHMARK_CLOCK") == "process"
PERIOD = float(os.environ.get("BENCHMARK_PERIOD", "0"))  # seconds over which a mean is wanted


def best_of(call: Callable[[], object], repeats: int, inner: int = 1) -> float:
    """The quickest of `repeats` timings of `inner` calls, in milliseconds per call; or their mean, where a period is set."""
    if PERIOD:
        return _mean_of(call, PERIOD)
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


def _mean_of(call: Callable[[], object], period: float) -> float:
    """Milliseconds of a call, of all those that begin within a period, three at least."""
    calls, start = 0, time.perf_counter()
    while (past := time.perf_counter() - start) < period or calls < 3:
        call()
        calls += 1
    return past / calls * 1e3


def steady(call: Callable[[], object], budget: float = 60.0) -> Callable[[], float]:
    """What takes the best of up to seven timings of a call, each of 3 ms at least, within some `budget` of milliseconds."""
    for _ in range(2):
        call()
    once = best_of(call, 2)
    inner = max(1, int(3 / max(once, 1e-3)))
    return lambda: best_of(call, max(1, min(7, int(budget / (inner * once)))), inner)


def first_less_later(step: Callable[[], object]) -> float:
    """What the first call takes beyond the best of three later ones, in seconds."""
    clock = time.process_time if CPU_TIME else time.perf_counter
    start = clock()
    step()
    first = clock() - start
    return first - best_of(step, 3) / 1e3


def in_fresh_process(module: str, function: str, warm: bool) -> Callable[[], float]:
    """What `cases.<module>.<function>()` gives in a process of its own with an empty folder for what frameworks
    cache; `warm`: in a second process with the folder that a first one has left.
    """
    code = f"from cases.{module} import {function}; print('figure', {function}())"
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = os.pathsep.join([here, os.environ.get("PYTHONPATH", "")])

    def measure() -> float:
        with tempfile.TemporaryDirectory() as folder:
            caches = {"XDG_CACHE_HOME": folder, "TORCHINDUCTOR_CACHE_DIR": folder}
            for _ in range(2 if warm else 1):
                done = subprocess.run(
                    [sys.executable, "-c", code],
                    capture_output=True,
                    text=True,
                    check=True,
                    env={**os.environ, **caches, "PYTHONPATH": path},
                )
        return float(done.stdout.split("figure ")[-1].split()[0])

    return measure


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
