"""Values that one thread writes over while others read them: whole ones, of before or after."""

from __future__ import annotations

import copy
import logging
import pickle
import threading
import time

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn, ops

pytestmark = pytest.mark.host_device  # a device writes in the order of its stream
SIZE = 1 << 21  # elements: a step takes long enough to be met


class Step(nn.Cell):
    """Adds one to each element, in place."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(np.zeros(SIZE, np.float32)), name="weight")

    def construct(self):
        ops.assign(self.weight, self.weight + 1)
        return self.weight[0] * 1


@pytest.fixture
def weight():
    """A Parameter that another thread trains."""
    context.set_context(mode=context.GRAPH_MODE)
    net, stop, steps = Step(), threading.Event(), []
    net()

    def train():
        while not stop.is_set():
            net()
            steps.append(1)

    thread = threading.Thread(target=train)
    thread.start()
    yield net.weight
    stop.set()
    thread.join()
    assert net.weight.asnumpy().tolist() == [len(steps) + 1] * SIZE  # no step is lost


def compiled(weight):
    read = ms.jit(lambda: weight * 1)
    read()
    return lambda: read()


READS = {
    "asnumpy": lambda p: lambda: p.asnumpy().copy(),
    "copy": lambda p: lambda: p.copy(),
    "value": lambda p: lambda: p.value(),
    "op": lambda p: lambda: p * 1,
    "compiled": compiled,
    "deepcopy": lambda p: lambda: copy.deepcopy(p),
    "pickle": lambda p: lambda: pickle.loads(pickle.dumps(p)),
    "snapshot": lambda p: lambda: ms._core.io.snapshot(p),
}


@pytest.mark.parametrize("kind", READS)
def test_values_are_whole(weight, kind):
    read = READS[kind](weight)
    end = time.monotonic() + 0.5
    seen = 0
    while time.monotonic() < end or not seen:
        value = read()
        value = value.asnumpy() if isinstance(value, Tensor) else value
        if kind == "asnumpy":  # an array goes on to be written to: it is whole when it is given
            value = value[:1]
        assert value.min() == value.max()
        seen += 1


class Looking(logging.Handler):
    """What compiled code logs comes here while its graph runs."""

    def __init__(self, weight):
        super().__init__()
        self.weight, self.seen = weight, []

    def emit(self, record):
        reader = threading.Thread(target=lambda: self.seen.append((self.weight * 1).asnumpy()))
        reader.start()
        reader.join(30)
        assert not reader.is_alive()
        self.seen.append(self.weight.asnumpy())


def test_nobody_waits_for_a_run_that_may_wait_for_him():
    context.set_context(mode=context.GRAPH_MODE)
    weight = Parameter(Tensor(np.zeros(8, np.float32)), name="weight")
    logger, looking = logging.getLogger("written_meanwhile"), Looking(weight)
    logger.addHandler(looking)

    @ms.jit
    def step(x):
        ops.assign(weight, weight + x)
        logger.warning("added %s", x)
        return weight.sum()

    try:
        assert step(Tensor(1.0)) == 8
    finally:
        logger.removeHandler(looking)
    assert [a.shape for a in looking.seen] == [(8,), (8,)]
    assert weight.asnumpy().tolist() == [1] * 8
