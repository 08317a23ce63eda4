"""What a device finds wrong late: values that were there are kept, and no error is lost."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, _core, nn, ops

TESTS = Path(__file__).resolve().parent.parent


def floats(count: int) -> Tensor:
    return Tensor(np.arange(count, dtype=np.float32))


def wrong() -> Tensor:
    """A number whose index is wrong, which the device finds out later."""
    return ops.gather(Tensor(np.ones((3, 2), np.float32)), Tensor([7], ms.int32), 0)[0, 0]


@ms.jit
def added(x):
    return x.add_(1.0)


WRITES = {
    "add_": lambda x: x.add_(1.0),
    "item": lambda x: x.__setitem__(0, 100.0),
    "slice": lambda x: x.__setitem__(slice(1, None), 100.0),
    "view": lambda x: x[1:].add_(1.0),
    "filled view": lambda x: x[:1].fill_(100.0),
    "index_add_": lambda x: x.index_add_(0, Tensor([0], ms.int32), Tensor([1.0])),
    "assign": lambda x: ops.assign(x, x * 2) if isinstance(x, Parameter) else x.copy_(x * 2),
    "compiled": lambda x: added(x),
    "with a wrong value": lambda x: x.add_(wrong()),
    "an item with one": lambda x: x.__setitem__(0, wrong()),
}
MADE = {
    "on the device": lambda: floats(4) + 0,
    "on the host": lambda: floats(4),
    "held": lambda: (floats(4) + 0)[:],
    "a Parameter": lambda: Parameter(floats(4), name="p"),
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("write", WRITES)
def test_what_was_written_to_keeps_its_value(fenced, write, made):
    if write == "compiled":
        WRITES[write](MADE[made]())
    x = MADE[made]()
    wrong()
    with pytest.raises(IndexError):
        WRITES[write](x)
        ms.runtime.synchronize()
    assert x.asnumpy().tolist() == [0, 1, 2, 3]
    x.add_(1.0)  # and the next write is done
    assert x.asnumpy().tolist() == [1, 2, 3, 4]


class Updates(nn.Cell):
    """A Parameter's new value does not go into its memory: a branch makes it, or the old one is read later."""

    def __init__(self, branch: bool):
        super().__init__()
        self.p = Parameter(floats(4), name="p")
        self.branch = branch

    def construct(self, x, index):
        old = self.p * 1.0
        if not self.branch or x.sum() > 0:
            ops.assign(self.p, self.p + ops.gather(x, index, 0)[0])
        else:
            ops.assign(self.p, self.p - 1.0)
        return old * self.p


@pytest.mark.parametrize("branch", [False, True])
def test_what_a_compiled_step_was_to_update_keeps_its_value(fenced, branch):
    net, x = Updates(branch), Tensor(np.ones((3, 4), np.float32))
    net(x, Tensor([1], ms.int32))
    assert net.p.asnumpy().tolist() == [1, 2, 3, 4]
    with pytest.raises(IndexError):
        net(x, Tensor([7], ms.int32))
        ms.runtime.synchronize()
    assert net.p.asnumpy().tolist() == [1, 2, 3, 4]


def test_the_default_stream_is_that_of_the_device_that_is_set(fenced):
    assert ms.runtime.default_stream().device_name == ms.get_context("device_target")
    wrong()
    with pytest.raises(IndexError):
        ms.runtime.current_stream().synchronize()


def test_launch_blocking_raises_at_the_line(fenced):
    ms.runtime.launch_blocking()
    try:
        with pytest.raises(IndexError):
            ops.gather(Tensor(np.ones((3, 2), np.float32)), Tensor([7], ms.int32), 0)
    finally:
        ms.set_context(pynative_synchronize=False)


@pytest.mark.parametrize("look", [slice(None, None, 2), slice(1, None)])
def test_views_show_what_their_base_has(fenced, look):
    x = floats(4) + 0
    view = x[look]
    x.add_(1.0)
    wrong()
    for _ in range(2):  # it is brought up to date, which the device leaves out
        with pytest.raises(IndexError):
            view.asnumpy()
            ms.runtime.synchronize()
        assert view.asnumpy().tolist() == x.asnumpy()[look].tolist()
        wrong()
    with pytest.raises(IndexError):
        ms.runtime.synchronize()


def test_parameters_keep_theirs_under_a_gradient(fenced):
    p = Parameter(floats(3), name="p")

    def step(x):
        wrong()
        ops.assign(p, x * 2)
        return (p * x).sum()

    ms.grad(step)(floats(3))
    with pytest.raises(IndexError):
        ms.runtime.synchronize()
    assert p.asnumpy().tolist() == [0, 1, 2]


PROGRAM = """
import sys; sys.path[:0] = {path!r}
import fenced_device, mindspore as ms
from mindspore import Tensor, nn
ms.set_device(ms.register_backend(fenced_device.library()))
table = nn.Embedding(10, 4)
for i in range(5):
    table(Tensor([i * 3], ms.int32))
{end}
"""


@pytest.mark.parametrize("end, status", [("", 1), ("sys.exit(3)", 3)])
def test_the_last_error_is_shown_at_the_end(fenced, end, status):
    program = PROGRAM.format(path=[str(TESTS), *sys.path], end=end)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == status
    assert "[ERROR] IndexError: For 'Gather'" in done.stderr


def test_an_error_that_was_heard_is_not_shown_again(fenced):
    end = "try: ms.runtime.synchronize()\nexcept IndexError: print('heard')"
    program = PROGRAM.format(path=[str(TESTS), *sys.path], end=end)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0 and done.stdout == "heard\n" and "Gather" not in done.stderr


class Halved(nn.Cell):
    """Computes the same of its weight in each call, which is kept."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(floats(64 * 64).reshape(64, 64) / 4096, name="w")

    def construct(self, x):
        return ops.cast(self.w, ms.float16) + x


def packed() -> nn.Cell:
    """Convolutions whose weights are packed, with factors that are folded into them."""
    return nn.SequentialCell(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 4, 3), nn.Flatten()
    ).set_train(False)


KEPT = {
    "a cast weight": (Halved, lambda: floats(64).astype(ms.float16) / 64),
    "packed weights": (packed, lambda: floats(2 * 64).reshape(2, 1, 8, 8)),
    "weights of several Dense": (
        lambda: nn.SequentialCell(nn.Dense(64, 128), nn.ReLU(), nn.Dense(128, 64)),
        lambda: floats(128).reshape(2, 64) / 128,
    ),
    "a jitted function's views": (lambda: ms.jit(lambda x: x[1:].T + 1), lambda: floats(8).reshape(4, 2)),
}  # fmt: skip


@pytest.mark.parametrize("what", KEPT)
@pytest.mark.parametrize("when", ["before the first call", "after it"])
def test_what_calls_keep_is_made_again_after_an_error(fenced, mode, what, when):
    make, fed = KEPT[what]
    net, x = make(), fed()
    if when == "after it":
        net(x)
        ms.runtime.synchronize()
    for p in net.get_parameters() if isinstance(net, nn.Cell) else ():
        p.set_data(p.value() + 1)
    ms.runtime.synchronize()
    wrong()
    with pytest.raises(IndexError):
        net(x)  # left out
        ms.runtime.synchronize()
    right = net(x).asnumpy()
    ms.set_context(device_target="CPU")
    for p in net.get_parameters() if isinstance(net, nn.Cell) else ():
        p.set_data(Tensor(p.asnumpy()))
    assert right.tolist() == net(Tensor(x.asnumpy())).asnumpy().tolist()


def test_blocking_launches_save_what_they_read(fenced):
    """Another thread gives a tensor another value while a launch is waited for: the gradient is that of what was computed."""
    x, w = ops.ones(64), floats(64) + 0
    values = [ops.full((64,), k) + 0 for k in (1.0, 2.0)]
    stop = threading.Event()

    def write():
        while not stop.is_set():
            for value in values:
                w.copy_(value)

    ms.runtime.launch_blocking()
    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(300):
            loss, gradient = ms.value_and_grad(lambda x: (x * w).sum())(x)
            assert float(loss) == float(gradient.sum())
    finally:
        stop.set()
        thread.join()
        _core.set_launch_blocking(False)
