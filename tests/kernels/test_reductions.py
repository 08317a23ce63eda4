"""Generated kernels that reduce: rows, columns, channels, everything; in one piece and in chunks; all kinds and types."""

from __future__ import annotations

import math

import bodies
import numpy as np
import pytest

from mindspore import Tensor, _core

pytestmark = pytest.mark.skipif(not bodies.available(), reason="needs llvmlite")

# The shape, and the axes that are reduced. Sizes around the vector's, the piece's, the tile's; the large ones make chunks.
CASES = [
    ((4, 17), (1,)),
    ((3, 16), (1,)),
    ((3, 2048), (1,)),
    ((3, 5000), (1,)),
    ((2, 90001), (1,)),
    ((200003,), (0,)),
    ((64, 1024), (1,)),
    ((40, 33), (0,)),
    ((70, 1025), (0,)),
    ((5000, 64), (0,)),
    ((4, 7, 49), (0, 2)),
    ((8, 2, 10007), (0, 2)),
    ((6, 7, 9, 11), (2, 3)),
    ((6, 7, 9, 11), (0, 1)),
    ((1, 50), (1,)),
    ((5, 1, 30), (2,)),
]


def texts(shape: tuple[int, ...], axes: tuple[int, ...], dtype: str) -> tuple[str, str, str]:
    """The types of full and of reduced values, and the attributes of a reduction."""
    kept = [1 if i in axes else n for i, n in enumerate(shape)]
    full = f"{dtype}[{', '.join(map(str, shape))}]"
    return (
        full,
        f"{dtype}[{', '.join(map(str, kept))}]",
        f"axis=[{', '.join(map(str, axes))}], keep_dims=true",
    )


def normal(shape: tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)


def close(got: Tensor, expected: np.ndarray, ulps: float) -> None:
    """Within some units in the last place of the largest expected element."""
    array = got.asnumpy()
    unit = np.finfo(array.dtype).eps * np.abs(expected).max()
    assert array.shape == expected.shape
    assert np.abs(array - expected).max() <= ulps * unit


@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_softmax(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    full, kept, how = texts(shape, axes, "Float32")
    lines = f"""
  %1 = ReduceMax(a0, {how})
  %2 = Sub(a0, %1)
  %3 = Exp(%2)
  %4 = ReduceSum(%3, {how})
  %5 = Div(%3, %4)"""
    x = normal(shape)
    largest = x.max(axis=axes, keepdims=True)
    e = np.exp((x - largest).astype(np.float64))
    total = e.sum(axis=axes, keepdims=True)
    y, s, m = bodies.run(lines, [Tensor(x)], {"%5": full, "%4": kept, "%1": kept})
    close(y, e / total, 3)
    close(s, total, 2)
    np.testing.assert_array_equal(m.asnumpy(), largest)


@pytest.mark.parametrize("full_output", [True, False])
@pytest.mark.parametrize(("shape", "axes"), CASES)
def test_normalisation(shape: tuple[int, ...], axes: tuple[int, ...], full_output: bool) -> None:
    full, kept, how = texts(shape, axes, "Float32")
    lines = f"""
  %1 = ReduceMean(a0, {how})
  %2 = Sub(a0, %1)
  %3 = Mul(%2, %2)
  %4 = ReduceMean(%3, {how})
  %c = Constant(Float32[] [1e-05])
  %5 = Add(%4, %c)
  %6 = Rsqrt(%5)
  %7 = Mul(%2, %6)
  %8 = Mul(%7, a1)"""
    x = normal(shape) + 3
    g = normal(shape[-1:])
    wide = x.astype(np.float64)
    mean = wide.mean(axis=axes, keepdims=True)
    scale = 1 / np.sqrt(((wide - mean) ** 2).mean(axis=axes, keepdims=True) + 1e-5)
    results = {"%8": full} if full_output else {}
    got = bodies.run(lines, [Tensor(x), Tensor(g)], {**results, "%6": kept, "%1": kept})
    close(got[-1], mean, 4)
    close(got[-2], scale, 4)
    if full_output:
        close(got[0], (wide - mean) * scale * g, 16)


@pytest.mark.parametrize(
    "dtype", ["Float16", "BFloat16", "Float32", "Float64", "Int8", "UInt16", "Int32", "Int64"]
)
@pytest.mark.parametrize(
    ("shape", "axes"), [((5, 77), (1,)), ((77, 35), (0,)), ((3, 4, 50), (0, 2))]
)
def test_every_kind_and_type(dtype: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Largest, smallest, and sums of integers are those of the eager kernels; sums of floats are near."""
    _, kept, how = texts(shape, axes, dtype)
    floating = "loat" in dtype
    values = normal(shape, np.float64) * (1 if floating else 40)
    x = Tensor(np.abs(values) if dtype.startswith("U") else values).astype(
        getattr(__import__("mindspore").common.dtype, dtype.lower())
    )
    kinds = ["ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"] + ["ReduceMean"] * floating
    lines = "\n".join(f"  %{k} = {kind}(a0, {how})" for k, kind in enumerate(kinds, 1))
    got = bodies.run(lines, [x], {f"%{k}": kept for k in range(1, len(kinds) + 1)})
    for kind, value in zip(kinds, got):
        expected = _core.op(kind)(x, axis=axes, keep_dims=True).asnumpy()
        exact = not floating or kind in ("ReduceMax", "ReduceMin")
        tolerance = 0 if exact else {2: 1e-2, 4: 2e-6, 8: 1e-13}[expected.dtype.itemsize]
        scale = np.abs(expected.astype(np.float64)).max()
        np.testing.assert_allclose(
            value.asnumpy().astype(np.float64),
            expected.astype(np.float64),
            0,
            tolerance * scale,
            err_msg=kind,
        )


def test_a_nan_wins() -> None:
    x = normal((3, 50))
    x[1, 20] = np.nan
    _, kept, how = texts((3, 50), (1,), "Float32")
    lines = f"  %1 = ReduceMax(a0, {how})\n  %2 = ReduceMin(a0, {how})"
    for got in bodies.run(lines, [Tensor(x)], {"%1": kept, "%2": kept}):
        assert np.isnan(got.asnumpy()).ravel().tolist() == [False, True, False]


def test_long_sums_keep_their_digits() -> None:
    """A total of 3 million equal numbers, which float32 alone would lose."""
    n = 3_000_000
    _, kept, how = texts((n,), (0,), "Float32")
    (got,) = bodies.run(
        f"  %1 = ReduceSum(a0, {how})", [Tensor(np.full(n, 0.1, np.float32))], {"%1": kept}
    )
    assert math.isclose(got.asnumpy().item(), n * float(np.float32(0.1)), rel_tol=1e-6)


@pytest.mark.parametrize(
    ("shape", "axes"), [((200003,), (0,)), ((64, 1024), (1,)), ((5000, 64), (0,))]
)
def test_results_do_not_depend_on_threads(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    full, kept, how = texts(shape, axes, "Float32")
    lines = f"  %1 = ReduceSum(a0, {how})\n  %2 = Div(a0, %1)\n  %3 = ReduceSum(%2, {how})"
    program = bodies.program(lines, [Tensor(normal(shape))], {"%2": full, "%3": kept})
    before = _core.num_threads()
    runs = []
    try:
        for threads in (1, 2, 3, 3):
            _core.set_num_threads(threads)
            runs.append([t.asnumpy() for t in program.run(Tensor(normal(shape)))])
    finally:
        _core.set_num_threads(before)
    for run in runs[1:]:
        for a, b in zip(run, runs[0]):
            np.testing.assert_array_equal(a, b)
