"""How much the rows ahead may take: a part of the memory that there is, in bytes. And pipelines without room for a thread."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore import _core

MIB = 1 << 20
V1 = "4:memory:/a/b\n1:cpu,cpuacct:/a/b\n0::/\n"
V2 = "0::/a/b\n"
MACHINE = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@pytest.mark.parametrize(
    ("groups", "file", "limit", "expected"),
    [
        (V2, "a/b/memory.max", str(256 * MIB), 8 * MIB),
        (V2, "a/memory.max", str(256 * MIB), 8 * MIB),
        (V1, "memory/a/b/memory.limit_in_bytes", str(512 * MIB), 16 * MIB),
        (V2, "a/b/memory.max", "1000000", 4 * MIB),  # never less
        (V2, "a/b/memory.max", "max", None),
        (V2, "a/b/memory.max", "", None),
        (V1, "memory/a/b/memory.limit_in_bytes", str(2**63 - 4096), None),
    ],
)
def test_a_queue_has_a_part_of_what_the_container_has(tmp_path, groups, file, limit, expected):
    for name, text in (("proc/self/cgroup", groups), (f"sys/fs/cgroup/{file}", limit)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = _core.dataset.queue_bytes(str(tmp_path))
    if expected is None:  # the machine has memory, too, and swap
        assert min(MACHINE // 32, 1 << 30) <= found <= 1 << 30
    else:
        assert found == expected
    assert 4 * MIB <= _core.dataset.queue_bytes() <= 1 << 30


def test_rows_ahead_stay_within_it(monkeypatch):
    monkeypatch.setattr(_core.dataset, "queue_bytes", lambda: 4 * MIB)
    made = []

    def large(x):
        made.append(int(x))
        return np.full(MIB, x, np.uint8)

    data = ds.NumpySlicesDataset(np.arange(60, dtype=np.uint8), ["x"], shuffle=False).map(large)
    before = ds.config.get_prefetch_size()
    ds.config.set_prefetch_size(40)
    try:
        iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        next(iterator)
        time.sleep(0.3)
        # What is made while the sizes are not known yet comes on top.
        assert len(made) <= 1 + 4 + _core.num_threads() + 2, made
        assert sum(1 for _ in iterator) == 59
    finally:
        ds.config.set_prefetch_size(before)


WITHOUT_THREADS = """
import os, resource, threading
import numpy as np
import mindspore.dataset as ds

rows = np.arange(64, dtype=np.int32)
source = ds.NumpySlicesDataset(rows, ["n"], shuffle=False, num_parallel_workers=4)
cast = source.map(ds.transforms.TypeCast("float32"), num_parallel_workers=4).batch(4)
# No room for the stack of another thread.
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * os.sysconf("SC_PAGE_SIZE") + (4 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
try:
    threading.Thread(target=print).start()
    raise SystemExit("there was room")
except RuntimeError as error:
    assert "start new thread" in str(error)
found = [row[0] for row in cast.create_tuple_iterator(num_epochs=1, output_numpy=True)]
assert np.array_equal(np.concatenate(found), rows.astype(np.float32)), found
"""


def test_threads_that_the_system_does_not_give():
    program = [sys.executable, "-c", WITHOUT_THREADS]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        program, capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
