"""The same program on NumPy arrays and on Tensors, in both modes: what it returns, and what became of its arguments, must agree."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Tensor, context, nn

MODES = {"eager": context.PYNATIVE_MODE, "graph": context.GRAPH_MODE}


def grid(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


def results(value: Any) -> list[np.ndarray]:
    if isinstance(value, (tuple, list)):
        return [a for item in value for a in results(item)]
    return [value.asnumpy() if isinstance(value, Tensor) else np.asarray(value)]


def run(
    program: Callable, mode: str, *arrays: np.ndarray, compiled: bool = True
) -> list[np.ndarray]:
    """Results, then arguments, of the program on tensors; with `compiled`, a fall back to eager code is an error."""
    context.set_context(mode=MODES[mode])
    tensors = [Tensor(a) for a in arrays]
    function = ms.jit(program) if mode == "graph" else program
    for _ in range(2):  # the second call runs what the first compiled
        tensors = [Tensor(a) for a in arrays]
        with warnings.catch_warnings():
            if compiled:
                warnings.simplefilter("error")
            value = function(*tensors)
    return [*results(value), *(t.asnumpy() for t in tensors)]


def check(
    program: Callable, *arrays: np.ndarray, numpy: Callable | None = None, compiled: bool = True
) -> None:
    """Both modes against the program, or its NumPy spelling, on arrays."""
    own = [a.copy() for a in arrays]
    expected = results((numpy or program)(*own)) + own
    for mode in MODES:
        found = run(program, mode, *arrays, compiled=compiled)
        assert len(found) == len(expected)
        for i, (a, b) in enumerate(zip(found, expected)):
            np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=f"{mode}, value {i}")


def open_sizes(program, *sizes):
    """The program in a Cell that is compiled for all sizes of its argument."""

    class Net(nn.Cell):
        def construct(self, a):
            return program(a)

    net = Net()
    net.set_inputs(Tensor(shape=sizes, dtype=ms.float32))
    return net
