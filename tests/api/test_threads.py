"""Threads, forked children and Ctrl-C: one network called from many places at once."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, _core, nn, ops

THREADS, ROUNDS = 8, 10


class Net(nn.Cell):
    """A convolution, statistics, a loop over tensors and a dense layer."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.relu = nn.ReLU()
        self.head = nn.Dense(8, 10)

    def construct(self, x):
        x = self.relu(self.norm(self.conv(x))).mean((2, 3))
        count = ops.zeros((), ms.int32)
        while count < 3:
            x = x * 0.9 + count
            count = count + 1
        return self.head(x)


def in_threads(work):
    """work(i) in THREADS threads that start together."""
    barrier = Barrier(THREADS)

    def run(i):
        barrier.wait(60)
        return work(i)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def inputs():
    rng = np.random.default_rng(5)
    return [Tensor(rng.standard_normal((4, 1, 16, 16)).astype(np.float32)) for _ in range(THREADS)]


@pytest.mark.parametrize("calls", [ROUNDS, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
def test_one_network_in_eight_threads(mode, warm, calls):
    net, xs = Net(), inputs()
    expected = [Net.__call__(net, x).asnumpy() for x in xs] if warm else None
    results = in_threads(lambda i: [net(xs[i]).asnumpy() for _ in range(calls)])
    if expected is None:
        expected = [net(x).asnumpy() for x in xs]
    for rounds, wanted in zip(results, expected):
        for result in rounds:
            np.testing.assert_array_equal(result, wanted)


def test_gradients_in_eight_threads(mode):
    net, xs = Net(), inputs()
    weights = net.trainable_params()

    def loss(x):
        return (net(x) ** 2).mean()

    def flat(x):
        value, grads = ms.value_and_grad(loss, None, weights)(x)
        return np.concatenate([value.asnumpy().ravel(), *(g.asnumpy().ravel() for g in grads)])

    expected = [flat(x) for x in xs]
    results = in_threads(lambda i: [flat(xs[i]) for _ in range(ROUNDS)])
    for rounds, wanted in zip(results, expected):
        for result in rounds:
            np.testing.assert_array_equal(result, wanted)


def test_networks_of_their_own_train_in_threads(mode):
    """Each thread trains a network of its own, from the same weights on the same data."""
    x = inputs()[0]
    labels = Tensor(np.array([1, 2, 3, 4], np.int32))
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    start = Net().parameters_dict()

    def train(_):
        net = Net()
        ms.load_param_into_net(net, start)
        optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), optimizer).set_train()
        return [float(step(x, labels).asnumpy()) for _ in range(ROUNDS)]

    curves = in_threads(train)
    assert curves[0][-1] < curves[0][0]
    assert all(curve == curves[0] for curve in curves)


def run(program: str, tmp_path: Path, threads: int = 2) -> subprocess.CompletedProcess:
    """The program as a file in a process of its own."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program))
    return subprocess.run(
        [sys.executable, path],
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        capture_output=True,
        text=True,
        timeout=90,
    )


FORK = """
    import os, signal, sys
    import numpy as np
    import mindspore as ms
    from mindspore import Parameter, Tensor, nn, ops

    ms.set_context(mode={mode})
    net = nn.SequentialCell(nn.Conv2d(8, 16, 3), nn.ReLU(), nn.Flatten(), nn.Dense(16 * 32 * 32, 8))
    x = Tensor(np.ones((8, 8, 32, 32), np.float32))

    def work():
        big = Tensor(np.ones((512, 512), np.float32))
        return float((ops.matmul(big, big) / 512).exp().log().sum() + net(x).mean())

    expected = work()
    child = os.fork()
    if child == 0:
        signal.alarm(40)  # a child that hangs is killed, and the parent sees it
        same = abs(work() - expected) <= 1e-5 * abs(expected)
        os._exit(0 if same else 3)
    _, status = os.waitpid(child, 0)
    assert work() == expected
    sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.parametrize("mode_value", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def test_a_forked_child_computes(mode_value, tmp_path):
    done = run(FORK.format(mode=mode_value), tmp_path)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr}"


INTERRUPT = """
    import os, signal, sys, threading, time
    import numpy as np
    import mindspore as ms
    from mindspore import Tensor, ops

    # A shell that runs the tests in the background has them ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ms.set_context(mode={mode})

    @ms.jit
    def compiled(x):
        i = ops.zeros((), ms.int32)
        while i < 2000000000:
            x = x * 0.5 + 1.0
            i = i + 1
        return x

    def eager(x):
        while True:
            x = x * 0.5 + 1.0

    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        {function}(Tensor(np.ones((4, 4), np.float32)))
    except KeyboardInterrupt:
        took = time.monotonic() - start
        value = (Tensor([1.0, 2.0]) + 1).asnumpy()  # and the session goes on
        sys.exit(0 if took < 30 and value.tolist() == [2.0, 3.0] else 4)
    sys.exit(5)
"""


@pytest.mark.parametrize("function", ["eager", "compiled"])
def test_ctrl_c_stops_a_long_loop(function, tmp_path):
    done = run(INTERRUPT.format(function=function, mode=ms.PYNATIVE_MODE), tmp_path)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr}"


DEEP = """
    import os, signal, sys, threading
    import mindspore as ms
    from mindspore import Tensor

    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.setrecursionlimit(30000)

    def deep(x, left):
        if left == 0:
            return x
        items = [item for item in range(300)]
        return deep(x + 1, left - 1)

    threading.Timer(2.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        ms.jit(lambda x: deep(x, 5000))(Tensor(1.0))
    except KeyboardInterrupt:
        sys.exit(0 if ms.jit(lambda x: x + 1)(Tensor(1.0)) == 2 else 4)
"""


def test_ctrl_c_while_a_deep_program_is_traced(tmp_path):
    done = run(DEEP, tmp_path)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr}"


SLOW = """
    import os, signal, sys, threading
    import numpy as np
    import mindspore as ms
    from mindspore import Tensor, ops

    signal.signal(signal.SIGINT, signal.default_int_handler)
    big = Tensor(np.ones((600, 600), np.float32))

    @ms.jit
    def slow(x, passes):
        i = ops.zeros((), ms.int32)
        while i < passes:  # each takes some milliseconds
            x = ops.matmul(x, big) / 600
            i = i + 1
        return x

    slow(big, Tensor(1, ms.int32))  # compiled
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        slow(big, Tensor(4000, ms.int32))
    except KeyboardInterrupt:
        sys.exit(0)
    sys.exit(5)
"""


def test_ctrl_c_stops_a_loop_of_long_passes(tmp_path):
    done = run(SLOW, tmp_path)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr}"


DAEMON = """
    import sys, threading, time
    import numpy as np
    import mindspore as ms
    from mindspore import Parameter, Tensor, nn, ops

    x = Tensor(np.ones((400, 400), np.float32))
    small = Tensor(np.ones((4, 4), np.float32))
    net = nn.Dense(400, 400)

    @ms.jit
    def tells(x):
        y = x * 2
        print(y.sum(), file=open("/dev/null", "w"))
        return y + 1

    work = {{
        "long": lambda: ops.matmul(x, x),
        "compiled": lambda: ms.jit(net)(x),
        "compiling": lambda: ms.jit(lambda a: ops.exp(a) * 2)(small),
        "printing": lambda: str(small[0, [1, 2]]),
        "telling": lambda: tells(small),
    }}[{name!r}]

    def forever():
        while True:
            work()

    for _ in range(2):
        threading.Thread(target=forever, daemon=True).start()
    time.sleep(0.5)
    sys.stdout.write("fine\\n")
"""


@pytest.mark.parametrize("name", ["long", "compiled", "compiling", "printing", "telling"])
def test_the_process_ends_while_daemons_compute(name, tmp_path):
    for _ in range(3):
        done = run(DAEMON.format(name=name), tmp_path)
        assert done.returncode == 0 and done.stdout == "fine\n", (done.returncode, done.stderr)


BUSY_FORK = """
    import os, signal, sys, threading
    import numpy as np
    import mindspore as ms
    from mindspore import Tensor, ops

    x = Tensor(np.ones((64, 1024), np.float32))

    @ms.jit
    def f(x):
        ys = [x]
        for _ in range(12):
            ys.append(ops.softmax(ys[-1] * 1.01))
        for y in ys:
            x = ops.softmax(x * y)
        return x

    f(x)

    def work():
        while True:
            f(x)

    for _ in range(3):
        threading.Thread(target=work, daemon=True).start()
    for _ in range(60):
        child = os.fork()
        if child == 0:
            signal.alarm(40)  # a child that hangs is killed, and the parent sees it
            f(x)
            ms.jit(lambda x: x + 1)(x)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            os._exit(3)
    os._exit(0)
"""


def test_children_of_busy_threads_compute(tmp_path):
    done = run(BUSY_FORK, tmp_path)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr}"


VIEWS_THAT_PART = """
    import threading, time
    import numpy as np
    import mindspore as ms
    from mindspore import Tensor

    base, other = Tensor(np.zeros((700, 700), np.float32)), Tensor(np.ones((7, 3), np.float32))
    views, wrong, stop = [base.T[3:].T[5:]], [], []

    def read():
        at = 0
        while not stop:
            at += 1
            base[0, 0] = float(at)  # the view is stale now, and made anew when it is read
            shape = (views[0] + 0).shape
            if shape != (695, 697):
                wrong.append(shape)

    def part():
        for _ in range(100):
            view = views[0]
            time.sleep(0.0007)
            view.set_dtype(ms.float16)
            rows = [other[1:] for _ in range(70)]  # may lie where the steps of the view lay
            if view.dtype != ms.float16:
                wrong.append(view.dtype)
            views[0] = base.T[3:].T[5:]
        stop.append(True)

    threads = [threading.Thread(target=f) for f in (read, part)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("wrong:", wrong)
"""


def test_a_view_gets_a_value_of_its_own_while_it_is_made_anew(tmp_path):
    done = run(VIEWS_THAT_PART, tmp_path)
    assert done.returncode == 0 and done.stdout == "wrong: []\n", (done.returncode, done.stderr)


class Adding(nn.Cell):
    """Adds to a Parameter what takes long to compute."""

    def __init__(self):
        super().__init__()
        self.total = ms.Parameter(Tensor(np.zeros((300, 300), np.float32)), name="total")

    def construct(self, x):
        y = x
        for _ in range(8):
            y = ops.matmul(y, x) / 300
        ops.assign_add(self.total, y)
        return self.total[0, 0] * 1


def test_a_value_taken_while_another_thread_trains_stays(mode):
    net, x = Adding(), Tensor(np.ones((300, 300), np.float32))
    net(x)
    taken, stop = [], []

    def train():
        while not stop:
            net(x)
            _core.synchronize()  # a late device would fall behind for ever

    with ThreadPoolExecutor(1) as pool:
        training = pool.submit(train)
        while len(taken) < 60 and not training.done():
            value = net.total.value()
            taken.append((value, float(value[0, 0])))
            time.sleep(0.005)
        stop.append(True)
        training.result()
    assert [float(value[0, 0]) for value, _ in taken] == [first for _, first in taken]


def test_a_parameter_that_another_thread_assigns_keeps_its_gradient():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    p = Parameter(Tensor(np.ones(3, np.float32)), name="p")
    x = Tensor([1.0, 2.0, 3.0])

    def assign():
        ops.assign(p, Tensor(np.full(3, 2, np.float32)))

    def f(x, elsewhere):
        if elsewhere:
            thread = threading.Thread(target=assign)
            thread.start()
            thread.join()
        else:
            assign()
        return (p * x).sum()

    gradient = ms.value_and_grad(f, None, [p])
    loss, (of_p,) = gradient(x, True)
    assert loss == 12 and of_p.asnumpy().tolist() == [1, 2, 3]
    # What this thread assigns is a value that does not depend on the one before.
    loss, (of_p,) = gradient(x, False)
    assert loss == 12 and of_p.asnumpy().tolist() == [0, 0, 0]


WAITS_FOR_A_WRITER = """
    import threading
    import numpy as np
    import mindspore as ms
    from mindspore import Tensor, ops

    ms.set_context(mode=ms.GRAPH_MODE)
    buffer, x, other = (Tensor(np.full(3, v, np.float32)) for v in (0, 1, 2))

    def fetch(v):
        thread = threading.Thread(target=lambda: other.__setitem__(0, 5.0), daemon=True)
        thread.start()
        thread.join()
        return (v * 2,)

    fetched = ops.PyFunc(fetch, [ms.float32], [(3,)], [ms.float32], [(3,)])

    @ms.jit
    def step(buffer, x):
        buffer[:] = fetched(x)[0]
        return buffer.sum()

    print(step(buffer, x), buffer.asnumpy().tolist(), other.asnumpy().tolist())
"""


def test_python_code_of_a_graph_waits_for_a_thread_that_writes(tmp_path):
    """The graph writes into its argument, and so does the thread into another tensor."""
    done = run(WAITS_FOR_A_WRITER, tmp_path)
    assert done.stdout == "6.0 [2.0, 2.0, 2.0] [5.0, 2.0, 2.0]\n", done.stderr
