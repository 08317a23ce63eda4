"""One program in both modes: the same value, the same gradient, or the same exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import Tensor, grad, jit

POINTS = [[1.5, -2.0, 3.0], [1.5, 5.0, 0.0], [0.5, -3.0, 2.0], [0.45, -0.6, 0.9]]
RAISED = (
    IndexError,
    UnboundLocalError,
    ValueError,
)  # what programs raise at some points, as Python says


def outcome(function: Callable, x: Tensor) -> Any:
    """What a program gives, or the type of what it raises."""
    try:
        return function(x)
    except RAISED as error:
        return type(error)


def check(function: Callable, point: list) -> None:
    """Runs a program of a float32 tensor of three elements eagerly and compiled, and its gradient."""
    x = Tensor(np.array(point, np.float32))
    eager, compiled = outcome(function, x), outcome(jit(function, fullgraph=True), x)
    if isinstance(eager, type):
        assert compiled is eager
        return
    assert compiled.dtype is eager.dtype
    np.testing.assert_allclose(compiled.asnumpy(), eager.asnumpy(), rtol=1e-5, atol=1e-6)
    slope = jit(lambda v: grad(function)(v), fullgraph=True)(x)
    np.testing.assert_allclose(slope.asnumpy(), grad(function)(x).asnumpy(), rtol=1e-4, atol=1e-5)
