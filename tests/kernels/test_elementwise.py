"""Generated elementwise kernels give the bits of the eager kernels: every scalar op, every dtype, odd sizes, broadcasting."""

from __future__ import annotations

import itertools

import bodies
import numpy as np
import pytest

from mindspore import Tensor, _core
from mindspore.common import dtype as mstype

pytestmark = pytest.mark.skipif(not bodies.available(), reason="needs llvmlite")

DTYPES = [
    "Bool", "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float16",
    "BFloat16", "Float32", "Float64",
]  # fmt: skip
OPS = {
    op["name"]: op
    for op in _core.registry()
    if op["scalar"] and not op["structural"] and not any(a[2] for a in op["attributes"])
}
GROUP = 12  # ops in one body: fewer modules to compile


def numbers(dtype: str, size: int, seed: int) -> Tensor:
    """Values of all magnitudes, with what is special at both ends."""
    rng = np.random.default_rng(seed)
    kind = getattr(mstype, dtype.lower() if dtype != "Bool" else "bool_")
    if dtype == "Bool":
        return Tensor(rng.random(size) < 0.5)
    if "Int" in dtype:
        info = np.iinfo(dtype.lower())
        values = rng.integers(-20 if info.min < 0 else 0, 20, size).astype(dtype.lower())
        ends = np.array([info.min, info.max, 0, 1], values.dtype)
    else:
        values = (rng.standard_normal(size) * 10.0 ** rng.integers(-3, 3, size)).astype(np.float64)
        ends = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 88.9, -104.0, 1.0, -1.0, 3e38])
    where = rng.permutation(size)[: len(ends)]
    values[where] = rng.permutation(ends)[: len(where)]
    with np.errstate(over="ignore"):
        return Tensor(values, kind) if "Int" not in dtype else Tensor(values)


def bits(tensor: Tensor) -> np.ndarray:
    """The elements as integers; all nans are one."""
    array = np.atleast_1d(tensor.asnumpy())
    whole = array.view(f"u{array.dtype.itemsize}").copy()
    if array.dtype.kind not in "biu":
        whole[np.isnan(array.astype(np.float64))] = 1
    return whole


def fused_and_eager(names: list[str], dtype: str, size: int) -> None:
    """One body of several ops against the ops one by one."""
    count = max(len(OPS[name]["inputs"]) for name in names)
    inputs = [numbers(dtype, size, seed) for seed in range(count)]
    lines, results, expected = [], {}, []
    for i, name in enumerate(names):
        arity = len(OPS[name]["inputs"])
        try:
            out = _core.op(name)(*inputs[:arity])
        except (TypeError, ValueError):
            continue
        if out.dtype.__str__().startswith("Complex"):
            continue
        lines.append(f"  %v{i} = {name}({', '.join(f'a{k}' for k in range(arity))})")
        results[f"%v{i}"] = bodies.type_text(out)
        expected.append((name, out))
    if not lines:
        return
    got = bodies.run("\n".join(lines), inputs, results)
    for (name, out), value in zip(expected, got):
        np.testing.assert_array_equal(bits(value), bits(out), err_msg=f"{name} of {dtype}")


def groups(dtype: str) -> list[list[str]]:
    """The ops that take only inputs of this dtype."""
    fit = [
        name
        for name, op in sorted(OPS.items())
        if all(dtype in dtypes for _, dtypes, _ in op["inputs"]) and len(op["inputs"]) <= 3
    ]
    return [list(group) for group in itertools.zip_longest(*[iter(fit)] * GROUP)]


CASES = [
    pytest.param(dtype, [n for n in group if n], id=f"{dtype}-{i}")
    for dtype in DTYPES
    for i, group in enumerate(groups(dtype))
]


@pytest.mark.parametrize(("dtype", "names"), [c for c in CASES if c.id.startswith("Float32")])
def test_every_float_op(dtype: str, names: list[str]) -> None:
    fused_and_eager(names, dtype, 1037)


@pytest.mark.slow
@pytest.mark.parametrize(("dtype", "names"), CASES)
def test_every_op(dtype: str, names: list[str]) -> None:
    for size in (1, 15, 64, 10037):
        fused_and_eager(names, dtype, size)


@pytest.mark.parametrize(
    "dtype", ["Bool", "Int8", "UInt16", "Int64", "Float16", "BFloat16", "Float64"]
)
def test_arithmetic_of_other_types(dtype: str) -> None:
    names = [n for n in ("Add", "Mul", "Sub", "Maximum", "Less", "Neg", "Abs") if n in OPS]
    fits = [n for n in names if all(dtype in types for _, types, _ in OPS[n]["inputs"])]
    fused_and_eager(fits, dtype, 261)


@pytest.mark.parametrize("source", ["Bool", "Int32", "UInt8", "Float16", "BFloat16", "Float32"])
def test_casts(source: str) -> None:
    check_casts(source, ["Bool", "Int8", "Int64", "UInt32", "Float16", "BFloat16", "Float64"])


@pytest.mark.slow
@pytest.mark.parametrize("source", DTYPES)
def test_all_casts(source: str) -> None:
    check_casts(source, DTYPES)


def check_casts(source: str, targets: list[str]) -> None:
    """Casts of one input to many types in one body."""
    x = numbers(source, 333, 5)
    lines = [f"  %v{i} = Cast(a0, dtype={t})" for i, t in enumerate(targets)]
    results = {f"%v{i}": f"{t}[333]" for i, t in enumerate(targets)}
    for target, got in zip(targets, bodies.run("\n".join(lines), [x], results)):
        kind = getattr(mstype, target.lower() if target != "Bool" else "bool_")
        expected = _core.op("Cast")(x, dtype=kind)
        np.testing.assert_array_equal(bits(got), bits(expected), err_msg=f"{source} to {target}")


def test_halves_are_rounded_after_each_op() -> None:
    x = Tensor(np.full(5, 2048, np.float16))
    lines = "  %1 = Constant(Float16[] [1.0])\n  %2 = Add(a0, %1)\n  %3 = Sub(%2, a0)"
    (got,) = bodies.run(lines, [x], {"%3": "Float16[5]"})
    assert (got.asnumpy() == 0).all()


@pytest.mark.parametrize(
    "shapes",
    [
        [(3, 5, 33), (33,)],
        [(3, 5, 33), (5, 1)],
        [(2, 3, 1, 40), (3, 1, 1)],
        [(4, 9000), (4, 1), (9000,)],
        [(17,), ()],
        [(6, 1, 20), (7, 1)],
    ],
)
def test_broadcasting(shapes: list[tuple[int, ...]]) -> None:
    rng = np.random.default_rng(1)
    inputs = [Tensor(rng.standard_normal(s).astype(np.float32)) for s in shapes]
    lines, value, expected = [], "a0", inputs[0].asnumpy()
    for i, x in enumerate(inputs[1:], 1):
        lines.append(f"  %v{i} = Mul({value}, a{i})")
        value, expected = f"%v{i}", expected * x.asnumpy()
    text = f"Float32[{', '.join(map(str, expected.shape))}]"
    (got,) = bodies.run("\n".join(lines), inputs, {value: text})
    np.testing.assert_array_equal(got.asnumpy(), expected)


def test_transposed_and_sliced_inputs() -> None:
    x = np.random.default_rng(2).standard_normal((40, 24)).astype(np.float32)
    y = np.random.default_rng(3).standard_normal((24, 40)).astype(np.float32)
    lines = "  %1 = Transpose(a0, perm=[1, 0])\n  %2 = Sub(%1, a1)"
    (got,) = bodies.run(lines, [Tensor(x), Tensor(y)], {"%2": "Float32[24, 40]"})
    np.testing.assert_array_equal(got.asnumpy(), x.T - y)


def test_powers_of_one_exponent() -> None:
    x = numbers("Float32", 100, 9)
    for exponent in (2.0, 3.0, 1.0, -1.0, 0.5, 1.7):
        lines = f"  %1 = Constant(Float32[] [{exponent}])\n  %2 = Pow(a0, %1)"
        (got,) = bodies.run(lines, [x], {"%2": "Float32[100]"})
        expected = _core.op("Pow")(x, Tensor(np.float32(exponent)))
        np.testing.assert_array_equal(bits(got), bits(expected), err_msg=f"x ** {exponent}")
