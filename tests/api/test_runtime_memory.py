"""mindspore.runtime and mindspore.hal: what the process holds of memory."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _core, hal, ops, runtime

pytestmark = pytest.mark.host_device  # memory of the host

MB = 1 << 20


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.parametrize("module", [runtime, hal])
def test_figures_follow_what_is_held(module):
    module.empty_cache()
    before = module.memory_allocated()
    module.reset_peak_memory_stats()
    x = ops.ones((32 * MB // 4,), ms.float32)
    assert module.memory_allocated() - before >= 32 * MB
    del x
    assert module.memory_allocated() <= before + MB
    assert module.max_memory_allocated() - before >= 32 * MB
    stats = module.memory_stats("CPU")
    assert stats["total_idle_memory"] >= 32 * MB  # kept for the next tensor of this size
    assert stats["total_reserved_memory"] == module.memory_reserved()
    assert module.max_memory_reserved() >= module.memory_reserved()
    assert "idle memory" in module.memory_summary()
    module.empty_cache()
    assert module.memory_stats()["total_idle_memory"] == 0


def test_small_tensors_go_back_to_the_system_from_below_one_that_is_held():
    runtime.empty_cache()
    before = resident()
    tensors = [ops.ones((MB // 16,), ms.float32) for _ in range(1024)]  # of 256 KB
    assert resident() - before >= 200 * MB
    kept = tensors.pop()
    tensors.clear()
    runtime.empty_cache()
    assert resident() - before <= 32 * MB
    assert kept.shape == (MB // 16,)


def test_each_maximum_counts_anew_from_its_own_reset() -> None:
    runtime.empty_cache()
    runtime.reset_peak_memory_stats()
    x = ops.ones((64 * MB // 4,), ms.float32)
    del x
    runtime.empty_cache()
    runtime.reset_max_memory_reserved()
    assert runtime.max_memory_reserved() < runtime.max_memory_allocated() - 32 * MB
    y = ops.ones((16 * MB // 4,), ms.float32)
    runtime.reset_max_memory_allocated()
    del y
    runtime.empty_cache()
    runtime.reset_max_memory_allocated()
    assert runtime.max_memory_reserved() >= runtime.max_memory_allocated() + 16 * MB


def test_emptying_the_cache_gives_pages_back_to_the_system():
    runtime.empty_cache()
    before = resident()
    x = ops.ones((200 * MB // 4,), ms.float32)
    del x
    assert resident() - before > 150 * MB
    runtime.empty_cache()
    assert resident() - before < 50 * MB


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_large_results_are_written_where_the_last_one_was(mode):
    ms.set_context(mode=mode)
    x = Tensor(np.ones(24 * MB // 4, np.float32))
    double = ms.jit(lambda x: x * 2) if mode == ms.GRAPH_MODE else (lambda x: x * 2)

    def address() -> int:
        return double(x).asnumpy().ctypes.data

    address()
    assert len({address() for _ in range(5)}) == 1


def test_reserved_memory_never_exceeds_what_was_used_at_one_time():
    code = """
from mindspore import ops, runtime
import mindspore as ms
MB = 1 << 20
for megabytes in (100, 70, 90, 40, 110, 60):
    ops.ones((megabytes * MB // 4,), ms.float32)
assert runtime.max_memory_allocated() >= 110 * MB
assert runtime.max_memory_reserved() <= runtime.max_memory_allocated() + 2 * MB
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_a_maximum_that_was_told_does_not_shrink() -> None:
    runtime.empty_cache()
    runtime.reset_max_memory_reserved()
    kept = ops.ones((1024, 1024), ms.float32) + 1
    kept.asnumpy()
    del kept  # the cache keeps its pages,
    small = [Tensor(np.zeros(4)) for _ in range(1000)]  # of which small blocks know nothing
    told = runtime.max_memory_reserved()
    del small
    assert runtime.max_memory_reserved() >= told


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="'device_target' must be one of"):
        runtime.memory_stats("Abacus")
    with pytest.raises(TypeError, match="'device_target' must be a str"):
        hal.reset_peak_memory_stats(3)


def test_recycling_by_the_older_name():
    x = ops.ones((MB,), ms.float32)
    del x
    ms.ms_memory_recycle()
    assert _core.memory_stats()[2] == 0


def _child(queue) -> None:
    queue.put(float(ops.ones((3 * MB,), ms.float32).sum().asnumpy()))


def test_a_forked_child_allocates_while_the_parent_was_allocating():
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            ops.ones((2 * MB,), ms.float32)

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        fork = multiprocessing.get_context("fork")
        for _ in range(3):
            queue = fork.SimpleQueue()
            child = fork.Process(target=_child, args=(queue,))
            child.start()
            child.join(60)
            assert child.exitcode == 0
            assert queue.get() == 3 * MB
    finally:
        stop.set()
        thread.join()
