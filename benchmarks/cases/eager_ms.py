"""Many single ops, eager, each on about 10^5 elements: a slow kernel shows in the sum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mindspore as ms
from cases.timing import best_of
from mindspore import Tensor, ops


def _numbers(*shape: int, dtype: type = np.float32) -> Tensor:
    return Tensor(np.random.default_rng(0).uniform(0.1, 2, shape).astype(dtype))


def _times(calls: list[Callable[[], object]]) -> Callable[[], float]:
    for call in calls:  # generated code is there once a kernel has run for some time
        best_of(call, 3, 500)
    return lambda: sum(best_of(call, 20, 5) for call in calls)


def eager_elementwise() -> Callable[[], float]:
    """Activations, arithmetic, comparison and conversion."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    x, y, z, wide = (*(_numbers(10**5) for _ in range(3)), _numbers(10**5, dtype=np.float64))
    rows, row, column = _numbers(1000, 100), _numbers(100), _numbers(1000, 1)
    return _times(
        [
            lambda: ops.relu(x),
            lambda: ops.gelu(x, approximate="none"),
            lambda: ops.silu(x),
            lambda: ops.sigmoid(x),
            lambda: ops.sigmoid(wide),
            lambda: ops.tanh(x),
            lambda: ops.exp(x),
            lambda: ops.log(wide),
            lambda: ops.hardswish(x),
            lambda: ops.clamp(x, 0.5, 1.0),
            lambda: ops.addcmul(x, y, z, 0.5),
            lambda: ops.lerp(x, y, 0.3),
            lambda: ops.smooth_l1_loss(x, y),
            lambda: ops.where(x > y, x, y),
            lambda: ops.cast(x, ms.float16),
            lambda: rows * row,
            lambda: rows + column,
        ]
    )


def eager_rows() -> Callable[[], float]:
    """Reductions, softmax and products over short rows and long ones, along both axes."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    short, long, wide = (
        _numbers(33333, 3),
        _numbers(1000, 100),
        _numbers(300, 300, dtype=np.float64),
    )
    few, many, vector = _numbers(3), _numbers(100), _numbers(300, dtype=np.float64)
    calls = []
    for x in (short, long):
        for axis in (0, 1):
            calls += [
                lambda x=x, axis=axis: ops.sum(x, axis),
                lambda x=x, axis=axis: ops.amax(x, axis),
                lambda x=x, axis=axis: ops.argmax(x, axis),
                lambda x=x, axis=axis: ops.softmax(x, axis),
                lambda x=x, axis=axis: ops.log_softmax(x, axis),
            ]
    calls += [lambda: ops.matmul(short, few), lambda: ops.matmul(long, many)]
    calls += [lambda: ops.matmul(wide, vector), lambda: ops.matmul(wide, wide)]
    return _times(calls)
