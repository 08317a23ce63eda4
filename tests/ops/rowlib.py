"""The language of rows: `row(...)`, `args(...)` and the makers of sample arrays.

    row("MatMul", ref=np.matmul,
        good=[args(f32(2, 3), f32(3, 4)), args(f32(3, 2), f32(3, 4), transpose_a=True)],
        bad=[args(f32(2, 3), f32(2, 3), says="inner sizes must be equal")],
        tol={bf16: 2e-2})

Inputs are given once, as float32 or int32 samples; the engine tries the other dtypes that the op
admits. Attributes go by keyword. `ref` gets NumPy arrays (half types as float32) and attributes; it
is None where there is no reference. `grad=False`: the gradient is not what finite differences give,
or there is none; `grad=wrt(0, outputs=[0])`: it is, with respect to these inputs and of these
outputs.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np


class Maker:
    """Makes sample arrays of one dtype: `f32(2, 3)`, `f32(4, low=0.5)` or of values, `f32([1])`."""

    def __init__(self, dtype: Any):
        self.dtype = np.dtype(dtype)
        self.count = 0

    def __call__(
        self, *shape: Any, low: float | None = None, high: float | None = None
    ) -> np.ndarray:
        if len(shape) == 1 and not isinstance(shape[0], int):
            return np.array(shape[0]).astype(self.dtype)
        self.count += 1
        random = np.random.default_rng(
            zlib.crc32(f"{self.dtype} {self.count % 64} {shape}".encode())
        )
        kind = self.dtype.kind
        if kind == "b":
            return random.random(shape) < 0.5
        if kind in "iu":
            low = (0 if kind == "u" else -9) if low is None else low
            return random.integers(
                int(low), int(9 if high is None else high), shape, endpoint=True
            ).astype(self.dtype)
        low, high = -2.0 if low is None else low, 2.0 if high is None else high
        values = random.uniform(low, high, shape)
        if kind == "c":
            values = values + 1j * random.uniform(low, high, shape)
        return np.asarray(values).astype(self.dtype)

    def __repr__(self) -> str:
        return str(self.dtype)


b1 = Maker(np.bool_)
i8, i16, i32, i64 = Maker(np.int8), Maker(np.int16), Maker(np.int32), Maker(np.int64)
u8, u16, u32, u64 = Maker(np.uint8), Maker(np.uint16), Maker(np.uint32), Maker(np.uint64)
f16, bf16 = Maker(np.float16), Maker(ml_dtypes.bfloat16)
f32, f64 = Maker(np.float32), Maker(np.float64)
c64, c128 = Maker(np.complex64), Maker(np.complex128)


@dataclass
class Args:
    """One call: inputs by position, attributes by name."""

    inputs: tuple
    attrs: dict
    says: str = ""
    kink: bool = False


@dataclass(frozen=True)
class Wrt:
    """Which inputs have a gradient, and of which outputs; None: of all."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...] | None


def wrt(*inputs: int, outputs: Sequence[int] | None = None) -> Wrt:
    """The gradient of a row: with respect to some inputs, of some outputs."""
    return Wrt(inputs, None if outputs is None else tuple(outputs))


@dataclass
class Row:
    """What is tested of one op."""

    name: str
    ref: Callable | None
    good: Sequence[Args]
    bad: Sequence[Args] = ()
    tol: dict = field(default_factory=dict)
    grad: bool | Wrt = True

    def tolerance(self, dtype: np.dtype) -> float:
        for maker, value in self.tol.items():
            if maker.dtype == dtype:
                return value
        return DEFAULT_TOLERANCE.get(dtype.name, 0.0)


DEFAULT_TOLERANCE = {
    "float16": 3e-3,
    "bfloat16": 2e-2,
    "float32": 2e-5,
    "float64": 1e-10,
    "complex64": 2e-5,
    "complex128": 1e-10,
}

ROWS: dict[str, Row] = {}


def args(*inputs: Any, says: str = "", kink: bool = False, **attrs: Any) -> Args:
    """Arguments of a raw op. `kink`: there is no derivative at these values."""
    return Args(inputs, attrs, says, kink)


def row(
    name: str,
    *,
    ref: Callable | None,
    good: Sequence[Args],
    bad: Sequence[Args] = (),
    tol: dict | None = None,
    grad: bool | Wrt = True,
) -> None:
    """Declare the row of an op."""
    if name in ROWS:
        raise ValueError(f"two rows for {name}")
    ROWS[name] = Row(name, ref, list(good), list(bad), tol or {}, grad)
