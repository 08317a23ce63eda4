"""Random graphs of elementwise ops, views and reductions: compiled, and so fused, against the same ops one by one.

What no sum of floats leads to must have the same bits. Behind such sums, which fused code adds up in another order, values
carry a bound of their error, and take part only in ops through which the bound can be followed. As a program:
`python tests/kernels/random_bodies.py --count 1000 --seed 7`.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from bodies import type_text

from mindspore import Tensor, _core
from mindspore.common import dtype as mstype

INTEGERS = ["Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"]
DTYPES = ["Float32"] * 8 + ["Float16", "BFloat16", "Float64", "Bool", *INTEGERS]
SIZES = [1, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 200, 513, 1025]
EPSILON = {"Float16": 2.0**-10, "BFloat16": 2.0**-7, "Float32": 2.0**-23, "Float64": 2.0**-52}
OPS = {op["name"]: op for op in _core.registry()}
UNARY = [
    name
    for name, op in OPS.items()
    if op["scalar"]
    and not op["structural"]
    and len(op["inputs"]) == 1
    and not any(a[2] for a in op["attributes"])
]
BINARY = [
    "Add", "Sub", "Mul", "Div", "RealDiv", "Maximum", "Minimum", "Less", "LessEqual", "Equal", "NotEqual", "Greater",
    "GreaterEqual", "LogicalAnd", "LogicalOr", "FloorDiv", "Mod", "FloorMod", "Pow", "Atan2", "SquaredDifference",
]  # fmt: skip
GENTLE_UNARY = ["Neg", "Abs", "Tanh", "Sigmoid", "Sin", "Cos", "ReLU"]  # none is steeper than 1
GENTLE_BINARY = ["Add", "Sub", "Mul", "Maximum", "Minimum"]
REDUCTIONS = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"]


@dataclass
class Value:
    """A value of the graph, what the ops one by one gave for it, and how far fused code may be off."""

    name: str
    tensor: Tensor
    error: float = 0.0
    uses: int = 0

    @property
    def dtype(self) -> str:
        return str(self.tensor.dtype)

    @property
    def array(self) -> np.ndarray:
        return self.tensor.asnumpy().astype(np.float64)

    @property
    def largest(self) -> float:
        return float(np.abs(self.array).max(initial=0.0))


class Body:
    """A random graph, made op by op."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.tame = bool(
            self.random.random() < 0.6
        )  # with sums of floats; then without inf and nan
        self.lines: list[str] = []
        self.values: list[Value] = []
        self.shape = self._shape()
        for _ in range(self.random.integers(1, 5)):
            self._input()
        self.inputs = list(self.values)
        for _ in range(self.random.integers(2, 25)):
            self._step()
        made = [v for v in self.values if v not in self.inputs]
        self.outputs = [v for v in made if v.uses == 0 or self.random.random() < 0.1]

    def _shape(self) -> tuple[int, ...]:
        rank = self.random.integers(1, 5)
        while True:
            shape = tuple(int(n) for n in self.random.choice(SIZES, rank))
            if self.random.random() < 0.03:
                shape = (*shape[:-1], 0)
            if np.prod(shape) <= 200_000:
                return shape

    def _input(self) -> None:
        shape = tuple(n if self.random.random() < 0.8 else 1 for n in self.shape)
        shape = (
            shape[self.random.integers(0, len(shape) + 1) :]
            if self.random.random() < 0.2
            else shape
        )
        dtype = (
            str(self.random.choice(DTYPES))
            if not self.values or self.random.random() < 0.4
            else self.values[0].dtype
        )
        self.values.append(Value(f"a{len(self.values)}", self._numbers(dtype, shape)))

    def _numbers(self, dtype: str, shape: tuple[int, ...]) -> Tensor:
        kind = getattr(mstype, dtype.lower() if dtype != "Bool" else "bool_")
        if dtype == "Bool":
            return Tensor(self.random.random(shape) < 0.5)
        if dtype in INTEGERS:
            low = 0 if dtype.startswith("U") else -9
            return Tensor(self.random.integers(low, 10, shape).astype(dtype.lower()))
        values = np.asarray(self.random.standard_normal(shape))
        if not self.tame:
            ends = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, 88.9, -104.0, 1.0, 3e38])
            values = np.where(
                self.random.random(shape) < 0.05, self.random.choice(ends, shape), values
            )
        with np.errstate(over="ignore"):
            return Tensor(values, kind)

    def _pick(self, test: Any = lambda v: True) -> Value | None:
        fit = [v for v in self.values if test(v)]
        if not fit:
            return None
        return fit[-1 - int(min(self.random.exponential(3), len(fit) - 1))]

    def _step(self) -> None:
        kind = self.random.random()
        if kind < 0.35:
            self._apply(self._unary)
        elif kind < 0.7:
            self._apply(self._binary)
        elif kind < 0.76:
            self._apply(self._select)
        elif kind < 0.84:
            self._apply(self._cast)
        elif kind < 0.92:
            self._apply(self._view)
        else:
            self._apply(self._reduce)

    def _apply(self, make: Any) -> None:
        made = make()
        if made is None:
            return
        op, operands, attributes, error = made
        if not all(
            v.dtype in taken for v, (_, taken, _) in zip(operands, OPS[op]["inputs"], strict=False)
        ):
            return  # calls from Python convert; graphs do not
        try:
            out = _core.op(op)(*(v.tensor for v in operands), **attributes)
        except (TypeError, ValueError, IndexError):
            return
        if str(out.dtype).startswith("Complex") or out.size > 400_000:
            return
        value = Value(f"%v{len(self.values)}", out)
        error = error(value.largest) if callable(error) else error
        if not np.isfinite(error) or (error and not np.isfinite(value.largest)):
            return
        if error:
            value.error = error + 2 * EPSILON[value.dtype] * value.largest
        text = ", ".join(
            [v.name for v in operands] + [f"{k}={_text(v)}" for k, v in attributes.items()]
        )
        self.lines.append(f"  {value.name} = {op}({text})")
        for v in operands:
            v.uses += 1
        self.values.append(value)

    def _unary(self) -> Any:
        x = self._pick()
        if x is None:
            return None
        name = str(
            self.random.choice(GENTLE_UNARY if x.error or self.random.random() < 0.3 else UNARY)
        )
        return name, [x], {}, x.error

    def _binary(self) -> Any:
        x = self._pick()
        y = self._pick(lambda v: x is not None and v.dtype == x.dtype)
        if x is None or y is None:
            return None
        if not (x.error or y.error):
            name = str(self.random.choice(BINARY if self.random.random() < 0.6 else GENTLE_BINARY))
            return name, [x, y], {}, 0.0
        name = str(self.random.choice(GENTLE_BINARY))
        error = x.error + y.error
        if name == "Mul":
            error = x.error * y.largest + y.error * x.largest + x.error * y.error
        return name, [x, y], {}, error

    def _select(self) -> Any:
        c = self._pick(lambda v: v.dtype == "Bool")
        x = self._pick()
        y = self._pick(lambda v: x is not None and v.dtype == x.dtype)
        if c is None or x is None or y is None:
            return None
        return "Select", [c, x, y], {}, max(x.error, y.error)

    def _cast(self) -> Any:
        x = self._pick(lambda v: not v.error)
        if x is None:
            return None
        to = str(self.random.choice(DTYPES))
        outside = not np.isfinite(x.array).all() or x.largest > 100 or x.array.min(initial=0) < 0
        if to in INTEGERS and x.dtype in EPSILON and outside:
            return None  # no platform promises what this gives
        return "Cast", [x], {"dtype": getattr(mstype, to.lower() if to != "Bool" else "bool_")}, 0.0

    def _view(self) -> Any:
        x = self._pick()
        if x is None:
            return None
        shape, rank = tuple(x.tensor.shape), x.tensor.ndim
        match int(self.random.integers(4)):
            case 0:
                return (
                    "Transpose",
                    [x],
                    {"perm": tuple(int(i) for i in self.random.permutation(rank))},
                    x.error,
                )
            case 1:
                at = int(self.random.integers(rank + 1))
                return "Reshape", [x], {"shape": (*shape[:at], 1, *shape[at:])}, x.error
            case 2 if rank > 1:
                at = int(self.random.integers(rank - 1))
                return (
                    "Reshape",
                    [x],
                    {"shape": (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :])},
                    x.error,
                )
            case _:
                return (
                    "BroadcastTo",
                    [x],
                    {"shape": np.broadcast_shapes((1,) * len(self.shape), shape)},
                    x.error,
                )

    def _reduce(self) -> Any:
        x = self._pick(lambda v: v.tensor.ndim > 0)
        if x is None:
            return None
        rank = x.tensor.ndim
        axes = tuple(i for i in range(rank) if self.random.random() < 0.5) or (
            int(self.random.integers(rank)),
        )
        name = str(self.random.choice(REDUCTIONS))
        attributes = {"axis": axes, "keep_dims": bool(self.random.random() < 0.5)}
        if name in ("ReduceMax", "ReduceMin") and _either_zero(name, x.array, axes):
            return None
        if name in ("ReduceMax", "ReduceMin") or x.dtype not in EPSILON:
            return name, [x], attributes, x.error
        if not self.tame or name == "ReduceProd" or not np.isfinite(x.largest):
            return None
        count = np.prod([x.tensor.shape[i] for i in axes])
        total = np.abs(x.array).sum(axis=axes).max(initial=0.0)
        error = (
            40 * max(EPSILON[x.dtype] if x.dtype == "Float64" else 0, EPSILON["Float32"]) * total
            + count * x.error
        )
        return (
            name,
            [x],
            attributes,
            float(error / max(count, 1) if name == "ReduceMean" else error) + 1e-300,
        )

    # ---- the graph as a program

    def text(self) -> str:
        """The graph's text."""
        head = ", ".join(f"{v.name}: {type_text(v.tensor)}" for v in self.inputs)
        types = ", ".join(type_text(v.tensor) for v in self.outputs)
        body = "\n".join(self.lines)
        return f"graph main({head}) -> ({types}) {{\n{body}\n  return {', '.join(v.name for v in self.outputs)}\n}}\n"

    def check(self, generate: bool) -> None:
        """Runs the program and compares; `generate`: with machine code for every group, however small."""
        if not self.outputs:
            return
        _core.assembler.generate_always(generate)
        try:
            program = _core.assembler.TextProgram(self.text())
        finally:
            _core.assembler.generate_always(False)
        for _ in range(2):
            results = program.run(*(v.tensor for v in self.inputs))
            for value, got in zip(self.outputs, results, strict=True):
                self._compare(value, got)

    def _compare(self, value: Value, got: Tensor) -> None:
        assert str(got.dtype) == value.dtype and got.shape == value.tensor.shape, value.name
        if value.error:
            off = float(np.abs(got.asnumpy().astype(np.float64) - value.array).max(initial=0.0))
            assert off <= 2 * value.error, (
                f"{value.name} is off by {off}, more than {2 * value.error}"
            )
            return
        same = _bits(got) == _bits(value.tensor)
        assert same.all(), (
            f"{value.name} differs at {np.argwhere(~same)[0]}: {np.atleast_1d(got.asnumpy())[~same][0]} "
            f"instead of {np.atleast_1d(value.tensor.asnumpy())[~same][0]}"
        )


def _either_zero(name: str, array: np.ndarray, axes: tuple[int, ...]) -> bool:
    """Whether an extreme is a zero of either sign: which one depends on the order, which is free, and a later op may divide by it."""
    if not array.size:
        return False
    extreme = array.max(axes) if name == "ReduceMax" else array.min(axes)
    zero, negative = array == 0, np.signbit(array)
    return bool(((extreme == 0) & (zero & negative).any(axes) & (zero & ~negative).any(axes)).any())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def _bits(tensor: Tensor) -> np.ndarray:
    """The elements as integers; all nans are one."""
    array = np.atleast_1d(tensor.asnumpy())
    whole = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").copy()
    if array.dtype.kind not in "biu":
        whole[np.isnan(array.astype(np.float64))] = 1
    return whole


def check(seed: int) -> None:
    """One random graph, with machine code and by the interpreter."""
    with np.errstate(all="ignore"):
        body = Body(seed)
        for generate in (True, False):
            try:
                body.check(generate)
            except Exception as error:
                how = "machine code" if generate else "the interpreter"
                raise AssertionError(f"seed {seed}, {how}: {error}\n{body.text()}") from error


def main() -> None:
    """Graphs until one differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    end, failures, done = time.monotonic() + options.seconds, 0, 0
    for seed in range(options.seed, options.seed + options.count):
        if time.monotonic() > end:
            break
        done += 1
        try:
            check(seed)
        except AssertionError as error:
            failures += 1
            print(error, flush=True)
    print(f"{done} graphs, {failures} differ")


if __name__ == "__main__":
    main()
