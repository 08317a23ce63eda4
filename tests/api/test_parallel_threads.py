"""What one thread is told of parallel training is not what others go by."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _core, context, nn
from mindspore.compile.program import deep
from mindspore.nn.optim import _divided
from mindspore.parallel.auto_parallel import AutoParallel


def elsewhere(work):
    """What a thread of its own finds."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join()
    return found[0]


@pytest.fixture
def told():
    """This thread compiles for two processes."""
    _core.set_parallel((("d", 2),))
    yield
    _core.set_parallel(None)


def test_others_compile_whole_programs_meanwhile(told):
    assert _core.parallel_key()
    assert elsewhere(_core.parallel_key) == ""
    x = Tensor(np.ones(3, np.float32))
    assert elsewhere(lambda: ms.jit(lambda v: v * 2)(x).asnumpy().tolist()) == [2, 2, 2]


def test_settings_of_a_network_are_those_of_its_thread():
    network = AutoParallel(nn.Dense(2, 2), parallel_mode="dynamic_programming")
    before = context.get_auto_parallel_context("parallel_mode")
    with network.settings():
        assert context.planned()
        assert not elsewhere(context.planned)
        named = elsewhere(lambda: context.get_auto_parallel_context("parallel_mode"))
        assert named == before
        # A change inside is one of the network, for so long.
        ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
    assert context.get_auto_parallel_context("parallel_mode") == before
    assert not context.planned()


def test_deep_programs_keep_the_settings_of_their_thread():
    network = AutoParallel(nn.Dense(2, 2))
    attempts = []

    def work():
        attempts.append(threading.current_thread())
        if len(attempts) == 1:
            raise RecursionError
        return context.planned()

    limit = sys.getrecursionlimit()
    try:
        with network.settings():
            assert deep.call(work, lambda: True)
    finally:
        sys.setrecursionlimit(limit)
    assert attempts[0] is not attempts[1]


def test_optimizers_of_rows_are_made_by_one_thread():
    _divided._building.inner = True
    try:
        assert not elsewhere(lambda: _divided._building.inner)
    finally:
        _divided._building.inner = False
