"""Rows of tensors made from attributes."""

import numpy as np
from rowlib import args, f32, i32, row

import mindspore as ms

NUMPY = {
    ms.float32: np.float32,
    ms.float64: np.float64,
    ms.int8: np.int8,
    ms.int64: np.int64,
    ms.bool_: np.bool_,
}
SHAPES = [(2, 3), (), (0, 2)]


def dtype_or(dtype, fallback=np.float32):
    return fallback if dtype is None else NUMPY[dtype]


row(
    "Fill",
    ref=lambda dtype, shape, value: np.full(shape, value, NUMPY[dtype]),
    good=[args(dtype=ms.float32, shape=s, value=2.5) for s in SHAPES]
    + [args(dtype=ms.int8, shape=(3,), value=-7), args(dtype=ms.bool_, shape=(3,), value=1)],
    bad=[args(dtype=ms.float32, shape=(-1,), value=0, says="must not be negative")],
    grad=False,
)
for name, f in (("Zeros", np.zeros), ("Ones", np.ones)):
    row(
        name,
        ref=lambda shape, dtype=None, f=f: f(shape, dtype_or(dtype)),
        good=[args(shape=s) for s in SHAPES] + [args(shape=(70000,), dtype=ms.int64)],
        bad=[args(shape=(2, -1), says="must not be negative")],
        grad=False,
    )
for name, f in (("ZerosLike", np.zeros_like), ("OnesLike", np.ones_like)):
    row(
        name,
        ref=lambda x, dtype=None, f=f: f(x, dtype=dtype_or(dtype, x.dtype)),
        good=[args(f32(2, 3)), args(i32(4)), args(f32(0, 2)), args(f32(2), dtype=ms.int64)],
    )
row(
    "SizeScalar",
    ref=lambda size, dtype, divisor=1.0, inverse=False, weak=False: np.asarray(
        divisor / size if inverse else size / divisor, NUMPY[dtype]
    ),
    good=[
        args(size=6, dtype=ms.float32),
        args(size=7, dtype=ms.float64, divisor=3.0),
        args(size=3, dtype=ms.float32, divisor=2.0, inverse=True),
        args(size=5, dtype=ms.int64, weak=True),
    ],
    bad=[args(size=-1, dtype=ms.float32, says="must not be negative")],
    grad=False,
)

row(
    "Eye",
    ref=lambda n, m=None, dtype=None: np.eye(n, m, dtype=dtype_or(dtype)),
    good=[args(n=3), args(n=2, m=4, dtype=ms.int64), args(n=4, m=2), args(n=0)],
    bad=[args(n=-1, says="must not be negative")],
    grad=False,
)


def numbers(start, end, step, maxlen=0, dtype=None):
    exact = all(isinstance(v, int) for v in (start, end, step))
    return np.arange(start, end, step).astype(dtype_or(dtype, np.int64 if exact else np.float32))


row(
    "Range",
    ref=numbers,
    good=[
        args(start=0, end=5, step=2),
        args(start=5, end=0, step=-2),
        args(start=0.0, end=1.0, step=0.25),
        args(start=3, end=3, step=1),
        args(start=0, end=4, step=1, dtype=ms.float32),
    ],
    bad=[
        args(start=0, end=5, step=0, says="the step must not be zero"),
        args(start=0, end=5, step=-1, says="the step must lead from 0 towards 5"),
        args(start=0, end=5, step=1, maxlen=4, says="at most 4 elements"),
        args(start="a", end=5, step=1, says="'start' must be an int or a float"),
        args(start=0.0, end=float("inf"), step=1, says="'end' must be finite"),
    ],
    grad=False,
)
row(
    "LinSpace",
    ref=lambda start, stop, num: np.linspace(
        np.reshape(start, ()), np.reshape(stop, ()), num
    ).astype(start.dtype),
    good=[
        args(f32(), f32(), num=5),
        args(f32(1), f32(1), num=1),
        args(f32([0]), f32([1]), num=100),
    ],
    bad=[
        args(f32(2), f32(), num=5, says="'start' must be a scalar"),
        args(f32(), f32(), num=0, says="'num' must be positive"),
    ],
)
