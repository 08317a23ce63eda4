"""Rows of random ops: what must hold of every stream. Distributions: tests/api/test_random.py."""

import numpy as np
from rowlib import args, f32, i32, i64, row, wrt

import mindspore as ms

NEGATIVE = args(shape=(-1,), says="must not be negative")
for name in ("StandardNormal", "UniformReal"):
    row(
        name,
        ref=None,
        good=[args(shape=(3, 70)), args(shape=(0,)), args(shape=(), seed=3)],
        bad=[NEGATIVE],
        grad=False,
    )
row(
    "UniformInt",
    ref=lambda low, high, **_: np.full((5,), low),
    good=[args(i32([4]), i32([5]), shape=(5,)), args(i64([4]), i64([5]), shape=(5,))],
    bad=[
        args(i32([1]), i64([2]), shape=(2,), says="the same dtype"),
        args(i32(2), i32([2]), shape=(2,), says="must be a scalar"),
        args(i32([1]), i32([2]), shape=(-2,), says="must not be negative"),
    ],
    grad=False,
)
row(
    "RandomPermutation",
    ref=None,
    good=[args(n=10), args(n=0), args(n=5, dtype=ms.int32)],
    bad=[
        args(n=-1, says="'n' must be in"),
        args(n=3, dtype=ms.float32, says="'dtype' must be Int32 or Int64"),
    ],
    grad=False,
)
row("RandomOffset", ref=None, good=[args()], grad=False)
row(
    "SetRandomOffset",
    ref=None,
    good=[args(np.int64(7))],
    bad=[args(i64([1, 2]), says="'offset' must be a scalar")],
    grad=False,
)
row(
    "Bernoulli",
    ref=lambda x, p, **_: np.broadcast_to(p, x.shape).astype(x.dtype),
    good=[args(f32(2, 3), f32([1])), args(i32(4), f32([0, 1, 1, 0])), args(f32(2, 3), f32([0]))],
    bad=[
        args(f32(2, 3), f32(2), says="'p' must broadcast to the shape of 'x'"),
        args(f32(2, 3), f32(3), says="'p' must be a scalar or have the shape of 'x'"),
    ],
    grad=False,
)
row(
    "Multinomial",
    ref=lambda x, num_samples, **_: np.full((*x.shape[:-1], num_samples), 1),
    good=[
        args(f32([0, 2, 0]), num_samples=5),
        args(f32([[0, 1], [0, 9]]), num_samples=3),
        args(f32([0, 2, 0]), num_samples=1, replacement=False),
    ],
    bad=[
        args(f32(2, 2, 2), num_samples=1, says="1 or 2 dimensions"),
        args(f32([1, 1]), num_samples=-1, says="must not be negative"),
        args(f32(2, 0), num_samples=1, says="at least one weight"),
        args(f32([1, 1]), num_samples=3, replacement=False, says="at most the 2 weights"),
        args(f32([1, 1]), num_samples=3, dtype=ms.float32, says="'dtype' must be Int32 or Int64"),
        args(f32([1, -1]), num_samples=3, says="finite and not negative"),
        args(f32([0, 0]), num_samples=3, says="at least 1 positive weights"),
    ],
    grad=False,
)
row(
    "Dropout",
    ref=lambda x, keep_prob=0.5, Seed0=0, Seed1=0: (x, np.ones_like(x)),
    good=[args(f32(3, 50), keep_prob=1.0), args(f32(0), keep_prob=1.0)],
    bad=[args(f32(2), keep_prob=0.0, says="'keep_prob' must be in (0, 1]")],
)
row(
    "DropoutGrad",
    ref=lambda dy, mask, keep_prob=0.5: dy * mask / np.asarray(keep_prob, dy.dtype),
    good=[args(f32(2, 3), f32([[0, 1, 0], [1, 1, 0]]), keep_prob=0.25)],
    bad=[
        args(f32(2), f32(3), says="the same shape"),
        args(f32(2), f32(2), keep_prob=2.0, says="'keep_prob' must be in (0, 1]"),
        args(f32(2), f32(2).astype(np.float64), says="the same dtype"),
    ],
    grad=wrt(0),
)
