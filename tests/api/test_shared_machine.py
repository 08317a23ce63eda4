"""Machines that several processes share: the number of threads, and how they wait, which no bit of a result depends on."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _core, ops

NONE = float("inf")
needs_schedstat = pytest.mark.skipif(
    not os.path.exists("/proc/self/schedstat"), reason="the kernel does not count waiting"
)


@pytest.fixture
def waiting():
    yield _core.set_waiting
    _core.set_waiting(None)


@contextmanager
def busy_processors():
    """Two processes for each processor that do nothing but run."""
    code = "import os\nwhile os.getppid() > 1: sum(range(10000))"
    count = 2 * len(os.sched_getaffinity(0))
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def run(code: str, **environment: str) -> str:
    """What a process of its own prints."""
    settings = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=settings,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- control groups


V1 = "9:name=systemd:/\n4:memory:/a/b\n1:cpu,cpuacct:/a/b\n0::/\n"
V2 = "0::/a/b\n"


@pytest.mark.parametrize(
    ("files", "memory", "processors"),
    [
        ({}, None, NONE),
        ({"proc/self/cgroup": V2}, None, NONE),
        ({"proc/self/cgroup": "nonsense\n\n::\n0::/a/b"}, None, NONE),
        (
            {"proc/self/cgroup": V2, "a/b/cpu.max": "150000 100000", "a/b/memory.max": "4096\n"},
            4096,
            1.5,
        ),
        (
            {"proc/self/cgroup": V2, "a/b/cpu.max": "max 100000", "a/b/memory.max": "max"},
            None,
            NONE,
        ),
        (
            {"proc/self/cgroup": V2, "a/b/cpu.max": "max 100000", "a/cpu.max": "20000 10000"},
            None,
            2,
        ),
        (
            {"proc/self/cgroup": V2, "a/b/cpu.max": "50000 10000", "a/cpu.max": "20000 10000"},
            None,
            2,
        ),
        ({"proc/self/cgroup": V2, "cpu.max": "30000 10000", "memory.max": "8192"}, 8192, 3),
        ({"proc/self/cgroup": V2, "a/b/cpu.max": "0 0"}, None, NONE),
        ({"proc/self/cgroup": V2, "a/b/cpu.max": ""}, None, NONE),
        (
            {
                "proc/self/cgroup": V1,
                "cpu/a/b/cpu.cfs_quota_us": "250000",
                "cpu/a/b/cpu.cfs_period_us": "100000",
                "memory/a/memory.limit_in_bytes": "12288",
            },
            12288,
            2.5,
        ),
        (
            {
                "proc/self/cgroup": V1,
                "cpu/a/b/cpu.cfs_quota_us": "-1",
                "cpu/a/b/cpu.cfs_period_us": "100000",
                "cpu/a/cpu.cfs_quota_us": "50000",
                "cpu/a/cpu.cfs_period_us": "100000",
            },
            None,
            0.5,
        ),
        ({"proc/self/cgroup": V1, "cpu/a/b/cpu.cfs_quota_us": "50000"}, None, NONE),
    ],
)
def test_grants_of_control_groups(tmp_path, files, memory, processors):
    for name, text in files.items():
        path = tmp_path / (name if name.startswith("proc") else f"sys/fs/cgroup/{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = _core.granted_by_control_groups(str(tmp_path))
    assert found == (2**64 - 1 if memory is None else memory, processors)
    most = len(os.sched_getaffinity(0))
    assert _core.default_threads(str(tmp_path)) == max(1, min(most, processors) // 1)


# ---- the number of threads


@pytest.mark.parametrize("variable", ["3", ""])
def test_threads_at_the_start(variable):
    found = run("from mindspore import _core; print(_core.num_threads())", OMP_NUM_THREADS=variable)
    assert int(found) == (int(variable) if variable else _core.default_threads(""))


def test_the_number_of_threads_holds_in_all_threads():
    before = _core.num_threads()
    with ThreadPoolExecutor(1) as pool:
        try:
            for count in (3, 1, 2):
                ms.set_context(runtime_num_threads=count)
                assert _core.num_threads() == pool.submit(_core.num_threads).result() == count
        finally:
            _core.set_num_threads(before)
            ms.set_context(runtime_num_threads=0)


# ---- how threads wait


TRAINING = """
import hashlib, sys
import numpy as np
import mindspore as ms
from mindspore import Tensor, _core, nn

_core.set_waiting({"brief": True, "long": False, "automatic": None}[sys.argv[1]])
ms.set_seed(1)
net = nn.SequentialCell(
    nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Dense(16 * 32 * 32, 100)
)
optimizer = nn.Adam(net.trainable_params(), 1e-3)
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
rng = np.random.default_rng(0)
for _ in range(15):
    images = rng.standard_normal((16, 3, 32, 32)).astype(np.float32)
    labels = rng.integers(0, 100, 16).astype(np.int32)
    last = step(Tensor(images), Tensor(labels))
bits = b"".join(p.asnumpy().tobytes() for p in net.get_parameters())
print(float(last), hashlib.sha256(bits).hexdigest())
"""


def trained(waiting: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", TRAINING, waiting], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_load_changes_no_bit():
    alone = trained("long")
    assert trained("brief") == alone
    with busy_processors():
        assert trained("automatic") == alone


def test_all_regions_come_to_the_teams_of_the_package():
    code = """
    import numpy as np
    from mindspore import Tensor, ops
    x = Tensor(np.ones((512, 512), np.float32))
    ops.exp(ops.matmul(x, x)).asnumpy()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env={**os.environ, "LD_DEBUG": "bindings"},
        timeout=120,
    )
    assert done.returncode == 0
    lines = [line for line in done.stderr.splitlines() if "symbol `GOMP_parallel" in line]
    for library in ("libdnnl", "libms_cpu"):
        bound = [line.split(" to ")[1] for line in lines if library in line.split(" to ")[0]]
        assert bound and all("libms_core" in to for to in bound), lines


def test_an_update_takes_the_threads_that_products_take():
    code = """
    import os
    import mindspore as ms
    from mindspore import nn, ops

    net = nn.Dense(600, 600)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    slope = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

    @ms.jit
    def train(x):
        loss, gradients = slope(x)
        optimizer(gradients)
        return loss

    x = ops.ones((600, 600))
    for step in (ms.jit(lambda x: slope(x)[0]), train):
        step(x).asnumpy()
        print(len(os.listdir("/proc/self/task")))
    """
    without, of_both = run(code, OMP_NUM_THREADS="3").split()
    assert without == of_both


FILTER_GRADIENT = """
import sys
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn

rng = np.random.default_rng(0)
images = rng.standard_normal((int(sys.argv[1]), 6, 12, 12)).astype(np.float32)
filters = Tensor(rng.standard_normal((16, 6, 5, 5)).astype(np.float32))
net = nn.Conv2d(6, 16, 5, pad_mode="valid", weight_init=filters)
(found,) = ms.grad(lambda x: (net(x) ** 2).sum(), None, net.trainable_params())(Tensor(images))
np.save(sys.argv[2], found.asnumpy())
"""


@pytest.mark.parametrize("batch", [8, 7, 1])
def test_gradients_of_filters_by_parts_of_the_batch(tmp_path, batch):
    found = []
    for threads in "12":
        path = tmp_path / f"{threads}.npy"
        done = subprocess.run(
            [sys.executable, "-c", FILTER_GRADIENT, str(batch), str(path)],
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": threads, "MS_LOG": "dispatch"},
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        parts = threads == "2" and batch % 2 == 0
        assert ("onednn in parts\n" in done.stdout + done.stderr) == parts
        found.append(np.load(path))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=1e-4 * abs(found[0]).max())


def sleeps() -> int:
    """How often threads of this process have gone to sleep."""
    total = 0
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/status") as file:
            total += sum(int(line.split()[1]) for line in file if line.startswith("voluntary"))
    return total


@pytest.mark.serial
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="nobody waits")
def test_brief_waits_end_in_sleep(waiting):
    x = Tensor(np.ones((512, 512), np.float32))
    waiting(True)
    assert _core.waits_briefly()
    ops.exp(x)
    before = sleeps()
    for _ in range(100):
        ops.exp(x)
        time.sleep(0.001)  # in which this thread sleeps, too
    assert sleeps() - before > 150
    waiting(False)
    assert not _core.waits_briefly()


def becomes(state: bool) -> bool:
    """Whether waits become brief, or long, while there is work in long launches."""
    x, end = Tensor(np.ones((1024, 1024), np.float32)), time.monotonic() + 30
    while _core.waits_briefly() != state and time.monotonic() < end:
        ops.matmul(x, x)
    return _core.waits_briefly() == state


@needs_schedstat
@pytest.mark.serial
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="nobody waits")
def test_waits_follow_the_load():
    with busy_processors():
        assert becomes(True)
        assert becomes(False)  # for a moment, to see
        assert becomes(True)
    assert becomes(False)


UNDER_LOAD = """
import time
import numpy as np
from mindspore import Tensor, _core, ops

x, end, seen = Tensor(np.ones(({size}, {size}), np.float32)), time.monotonic() + 1.5, False
while time.monotonic() < end:
    ops.matmul(x, x)
    seen |= _core.waits_briefly()
print(seen)
"""


@pytest.mark.parametrize(
    "settings",
    [{"GOMP_SPINCOUNT": "30000"}, {"OMP_WAIT_POLICY": "active"}, {"OMP_NUM_THREADS": "1"}],
)
def test_who_decides_how_threads_wait_decides_alone(settings):
    with busy_processors():
        assert run(UNDER_LOAD.format(size=1024), **settings) == "False\n"


def test_a_forked_child_computes_while_waits_are_brief(waiting):
    waiting(True)
    x = Tensor(np.ones((512, 512), np.float32))
    expected = float(ops.matmul(x, x).sum())
    child = os.fork()
    if child == 0:
        os._exit(0 if float(ops.matmul(x, x).sum()) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert float(ops.matmul(x, x).sum()) == expected


@pytest.mark.parametrize("computed", [False, True], ids=["at first", "later"])
def test_how_threads_wait_outlives_a_fork(computed):
    code = f"""
    import os
    from mindspore import _core, ops
    x = ops.ones((512, 512))
    if {computed}: ops.matmul(x, x)
    _core.set_waiting(True)
    child = os.fork()
    if child == 0: os._exit(0 if _core.waits_briefly() else 1)
    assert os.waitpid(child, 0)[1] == 0
    ops.matmul(x, x)
    assert _core.waits_briefly()
    """
    run(code)


def test_where_there_are_no_threads_work_is_done_or_refused():
    code = """
    import os, resource
    import numpy as np
    from mindspore import Tensor, ops
    x = Tensor(np.ones((1024, 1024), np.float32))
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    # Enough for a result, and too little for stacks of threads.
    resource.setrlimit(resource.RLIMIT_AS, (used + (30 << 20), resource.RLIM_INFINITY))
    assert abs(float(ops.exp(x)[1000, 3]) - np.e) < 1e-5
    try:
        ops.matmul(x, x)
    except MemoryError as error:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert "threads" in str(error) or "memory" in str(error), error
    else:
        raise AssertionError("there were threads")
    assert float(ops.matmul(x, x)[0, 0]) == 1024  # there are now
    """
    run(code, OMP_NUM_THREADS="8", OMP_WAIT_POLICY="")  # of libgomp the process would die


def test_the_import_leaves_the_environment_as_it_is():
    code = """
    import os, subprocess
    def seen():
        return subprocess.run(["env"], capture_output=True, check=True).stdout
    before = dict(os.environ), seen(), os.sched_getaffinity(0)
    import mindspore
    assert before == (dict(os.environ), seen(), os.sched_getaffinity(0))
    """
    run(code)


AFFINITY = """
    import os
    import mindspore as ms
    from mindspore import Tensor, _core, ops
    x = ops.ones((400, 400))
    (x @ x + x).asnumpy()  # there are threads now
    wanted = max(os.sched_getaffinity(0))
    ms.runtime.set_cpu_affinity(True, [str(wanted)])
    (x @ x + x).asnumpy()
    found = {tuple(os.sched_getaffinity(int(thread))) for thread in os.listdir("/proc/self/task")}
    print(found == {(wanted,)}, _core.num_threads())
"""


def test_all_threads_are_bound():
    assert run(AFFINITY).split() == ["True", "1"]
