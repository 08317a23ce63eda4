"""Functions composed in Python (ops/function) against NumPy and PyTorch, in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from peers import torch

import mindspore
from mindspore import Tensor, ops

F = torch.nn.functional

RANDOM = np.random.default_rng(3)
X = RANDOM.uniform(-3, 3, (3, 4)).astype(np.float32)
Y = RANDOM.uniform(-3, 3, (4,)).astype(np.float32)
P = RANDOM.uniform(0.1, 0.9, (3, 4)).astype(np.float32)
I = RANDOM.integers(-9, 9, (3, 4)).astype(np.int32)  # noqa: E741  an array, not a number
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0], np.float32)


def t(f: Callable) -> Callable:
    """A PyTorch function as one of arrays."""
    return lambda *xs: f(
        *[torch.from_numpy(x) if isinstance(x, np.ndarray) else x for x in xs]
    ).numpy()


CASES: list[tuple[str, Callable, Callable, tuple]] = [
    (
        "addcmul",
        lambda a, b, c: ops.addcmul(a, b, c, 0.5),
        lambda a, b, c: a + 0.5 * b * c,
        (X, X, Y),
    ),
    (
        "addcdiv",
        lambda a, b, c: ops.addcdiv(a, b, c, 0.5),
        lambda a, b, c: a + 0.5 * b / c,
        (X, X, P),
    ),
    ("clamp", lambda x: ops.clamp(x, -1, 1), lambda x: np.clip(x, -1, 1), (X,)),
    ("clamp_ints", lambda x: ops.clamp(x, -1, 5), lambda x: np.clip(x, -1, 5), (I,)),
    (
        "clamp_widens",
        lambda x: ops.clamp(x, -0.5),
        lambda x: np.maximum(x, np.float32(-0.5), dtype=np.float32),
        (I,),
    ),
    ("clamp_crossed", lambda x: ops.clamp(x, 2.0, 1.0), lambda x: np.full_like(x, 1.0), (X,)),
    ("clip", lambda x: x.clip(-1.0, 1.0), lambda x: np.clip(x, -1, 1), (X,)),
    (
        "clip_by_value",
        lambda x, y: ops.clip_by_value(x, y, 2.0),
        lambda x, y: np.clip(x, y, np.float32(2)),
        (X, Y),
    ),
    ("copysign", ops.copysign, np.copysign, (X, SPECIAL[:4])),
    ("deg2rad", ops.deg2rad, np.deg2rad, (X,)),
    ("rad2deg", ops.rad2deg, np.rad2deg, (X,)),
    ("div", lambda x, y: ops.div(x, y), np.divide, (X, Y)),
    ("div_ints", lambda x: ops.div(x, 2), lambda x: (x / 2).astype(np.float32), (I,)),
    (
        "div_floor",
        lambda x, y: ops.div(x, y, rounding_mode="floor"),
        lambda x, y: np.floor(x / y),
        (X, Y),
    ),
    (
        "div_trunc",
        lambda x, y: ops.divide(x, y, rounding_mode="trunc"),
        lambda x, y: np.trunc(x / y),
        (X, Y),
    ),
    ("exp2", ops.exp2, np.exp2, (X,)),
    ("log2", ops.log2, np.log2, (P,)),
    ("log10", ops.log10, np.log10, (P,)),
    ("float_power", ops.float_power, np.float_power, (P, X)),
    ("fmax", ops.fmax, np.fmax, (SPECIAL, SPECIAL[::-1].copy())),
    ("fmin", ops.fmin, np.fmin, (SPECIAL, SPECIAL[::-1].copy())),
    ("frac", ops.frac, lambda x: x - np.trunc(x), (X,)),
    ("heaviside", ops.heaviside, np.heaviside, (SPECIAL[:4], SPECIAL[5:6])),
    ("isneginf", ops.isneginf, np.isneginf, (SPECIAL,)),
    ("isposinf", ops.isposinf, np.isposinf, (SPECIAL,)),
    ("ldexp", ops.ldexp, lambda x, n: np.ldexp(x, n), (X, I)),
    ("logaddexp", ops.logaddexp, np.logaddexp, (X, Y)),
    ("logaddexp_inf", ops.logaddexp, np.logaddexp, (SPECIAL[2:4], SPECIAL[2:4])),
    ("logaddexp2", ops.logaddexp2, np.logaddexp2, (X, Y)),
    ("logit", ops.logit, lambda x: np.log(x / (1 - x)), (P,)),
    ("logit_eps", lambda x: ops.logit(x, 0.2), t(lambda x: torch.logit(x, 0.2)), (P,)),
    (
        "nan_to_num",
        lambda x: ops.nan_to_num(x, 7.0),
        lambda x: np.nan_to_num(x, nan=7.0),
        (SPECIAL,),
    ),
    (
        "nan_to_num_all",
        lambda x: ops.nan_to_num(x, 1.0, 2.0, 3.0),
        lambda x: np.nan_to_num(x, nan=1, posinf=2, neginf=3),
        (SPECIAL,),
    ),
    ("round", ops.round, np.round, (X,)),
    ("round_decimals", lambda x: ops.round(x, decimals=2), lambda x: np.round(x, 2), (X,)),
    ("round_tens", lambda x: ops.round(x, decimals=-1), lambda x: np.round(x, -1), (X * 20,)),
    (
        "select",
        lambda x: ops.select(ops.greater(x, 0), x, 0.5),
        lambda x: np.where(x > 0, x, np.float32(0.5)),
        (X,),
    ),
    (
        "select_method",
        lambda x: x.select(x > 0, 1),
        lambda x: np.where(x > 0, x, np.float32(1)),
        (X,),
    ),
    ("where", lambda x: ops.where(x > 0, x, 0), lambda x: np.where(x > 0, x, np.float32(0)), (X,)),
    (
        "where_ints",
        lambda x: ops.where(x > 0, x, 0.5),
        lambda x: np.where(x > 0, x, 0.5).astype(np.float32),
        (I,),
    ),
    ("where_method", lambda x, y: x.where(x > 0, y), lambda x, y: np.where(x > 0, x, y), (X, Y)),
    ("sgn", ops.sgn, np.sign, (X,)),
    ("signbit", ops.signbit, np.signbit, (SPECIAL[:4],)),
    ("signbit_ints", ops.signbit, np.signbit, (I,)),
    ("sinc", ops.sinc, np.sinc, (np.append(X.ravel(), np.float32(0)),)),
    ("subtract", lambda x, y: ops.subtract(x, y, alpha=2), lambda x, y: x - 2 * y, (X, Y)),
    ("celu", lambda x: ops.celu(x, 2.0), t(lambda x: F.celu(x, 2.0)), (X,)),
    ("gelu", ops.gelu, t(F.gelu), (X,)),
    ("gelu_tanh", lambda x: ops.gelu(x, "tanh"), t(lambda x: F.gelu(x, approximate="tanh")), (X,)),
    ("hardshrink", ops.hardshrink, t(F.hardshrink), (X,)),
    ("hardtanh", ops.hardtanh, t(F.hardtanh), (X,)),
    ("softplus", ops.softplus, t(F.softplus), (X * 10,)),
    (
        "softplus_beta",
        lambda x: ops.softplus(x, 2.0, 5.0),
        t(lambda x: F.softplus(x, 2.0, 5.0)),
        (X,),
    ),
    ("softshrink", ops.softshrink, t(F.softshrink), (X,)),
    ("tanhshrink", ops.tanhshrink, t(F.tanhshrink), (X,)),
    (
        "threshold",
        lambda x: ops.threshold(x, 0.5, 9.0),
        t(lambda x: F.threshold(x, 0.5, 9.0)),
        (X,),
    ),
]


@pytest.mark.parametrize(("fn", "ref", "inputs"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
@pytest.mark.parametrize("mode", ["eager", "graph"])
def test_values(mode: str, fn: Callable, ref: Callable, inputs: tuple) -> None:
    def call(*xs: Any) -> Any:
        return fn(*xs)

    run = mindspore.jit(call) if mode == "graph" else call
    actual = run(*map(Tensor, inputs)).asnumpy()
    with np.errstate(all="ignore"):
        wanted = ref(*inputs)
    assert actual.dtype.kind == wanted.dtype.kind
    np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: ops.clamp(Tensor(X)), ValueError, "For 'clamp', 'min' or 'max' must be given"),
        (lambda: ops.clip_by_value(Tensor(X)), ValueError, "For 'clip_by_value'"),
        (
            lambda: ops.div(Tensor(X), 2, rounding_mode="up"),
            ValueError,
            "'rounding_mode' must be one of 'floor', 'trunc'",
        ),
        (lambda: ops.softshrink(Tensor(X), -1), ValueError, "'lambd' must not be negative"),
        (lambda: ops.celu(Tensor(X), 0), ValueError, "'alpha' must not be 0"),
    ],
)
def test_refusals(call: Callable, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        call()


def test_ties_and_kinks_have_the_documented_gradients() -> None:
    def slopes(fn: Callable, *xs: Any) -> list:
        tensors = [Tensor(np.array(x, np.float32)) for x in xs]
        grads = mindspore.grad(fn, grad_position=tuple(range(len(xs))))(*tensors)
        return [g.asnumpy().tolist() for g in (grads if isinstance(grads, tuple) else (grads,))]

    assert slopes(ops.maximum, [1, 2, 2], [1, 1, 3]) == [[0.5, 1, 0], [0.5, 0, 1]]
    assert slopes(ops.minimum, [1, 2, 2], [1, 1, 3]) == [[0.5, 0, 1], [0.5, 1, 0]]
    assert slopes(ops.abs, [0, -1, 1]) == [[0, -1, 1]]
    assert slopes(ops.relu, [0, -1, 1]) == [[0, 0, 1]]
    assert slopes(ops.relu6, [0, 6, 7]) == [[0, 1, 0]]
    assert slopes(ops.hardsigmoid, [-3, 3]) == [[0, 0]]
    assert slopes(ops.hardswish, [-3, 3]) == [[-0.5, 1.5]]
    assert slopes(ops.elu, [0]) == [[1]]
    assert slopes(ops.xlogy, [0.0], [2.0])[1] == [0]
    assert slopes(ops.pow, [0.0, 2.0], [0.0, 3.0])[0] == [0, 12]
    assert slopes(lambda x: ops.clamp(x, 0.0, 1.0), [0, -1, 1, 0.5]) == [[1, 0, 1, 1]]
    assert slopes(lambda x: ops.clamp(x, max=1.0), [0, -1, 1, 2]) == [[1, 1, 1, 0]]
    bounds = Tensor([0.0]), Tensor([1.0])
    assert slopes(lambda x: ops.clip_by_value(x, *bounds), [0, -1, 1, 2]) == [[1, 0, 1, 0]]
