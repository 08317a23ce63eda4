"""Many single ops, eager, each on about 10^5 elements: a slow kernel shows in the sum."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

from cases.timing import best_of


def _numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.rand(*shape, dtype=dtype) * 1.9 + 0.1


def _times(calls: list[Callable[[], object]]) -> Callable[[], float]:
    for call in calls:
        best_of(call, 3, 20)
    return lambda: sum(best_of(call, 20, 5) for call in calls)


def eager_elementwise() -> Callable[[], float]:
    """Activations, arithmetic, comparison and conversion."""
    x, y, z = (_numbers(10**5) for _ in range(3))
    wide = _numbers(10**5, dtype=torch.float64)
    rows, row, column = _numbers(1000, 100), _numbers(100), _numbers(1000, 1)
    return _times(
        [
            lambda: torch.relu(x),
            lambda: functional.gelu(x),
            lambda: functional.silu(x),
            lambda: torch.sigmoid(x),
            lambda: torch.sigmoid(wide),
            lambda: torch.tanh(x),
            lambda: torch.exp(x),
            lambda: torch.log(wide),
            lambda: functional.hardswish(x),
            lambda: torch.clamp(x, 0.5, 1.0),
            lambda: torch.addcmul(x, y, z, value=0.5),
            lambda: torch.lerp(x, y, 0.3),
            lambda: functional.smooth_l1_loss(x, y, reduction="none"),
            lambda: torch.where(x > y, x, y),
            lambda: x.to(torch.float16),
            lambda: rows * row,
            lambda: rows + column,
        ]
    )


def eager_rows() -> Callable[[], float]:
    """Reductions, softmax and products over short rows and long ones, along both axes."""
    short, long = _numbers(33333, 3), _numbers(1000, 100)
    wide, vector = _numbers(300, 300, dtype=torch.float64), _numbers(300, dtype=torch.float64)
    few, many = _numbers(3), _numbers(100)
    calls = []
    for x in (short, long):
        for axis in (0, 1):
            calls += [
                lambda x=x, axis=axis: torch.sum(x, axis),
                lambda x=x, axis=axis: torch.amax(x, axis),
                lambda x=x, axis=axis: torch.argmax(x, axis),
                lambda x=x, axis=axis: torch.softmax(x, axis),
                lambda x=x, axis=axis: torch.log_softmax(x, axis),
            ]
    calls += [lambda: torch.matmul(short, few), lambda: torch.matmul(long, many)]
    calls += [lambda: torch.matmul(wide, vector), lambda: torch.matmul(wide, wide)]
    return _times(calls)
