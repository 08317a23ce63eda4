"""Rows of ops that are several steps in one pass. Their numbers are their own: rows of other files keep theirs."""

import numpy as np
from rowlib import Maker, args, bf16, f16, row

f32, i32 = Maker("float32"), Maker("int32")
LOOSE = {f16: 2e-2, bf16: 1e-1}
UNEQUAL = args(f32(2), f32(3), says="must broadcast")
PAIR = args(f32(2, 3), f32(2, 3, low=-4, high=8))

row(
    "LeakyReLUGrad",
    ref=lambda dy, x, alpha=0.2: np.where(x > 0, dy, dy * alpha).astype(dy.dtype),
    good=[PAIR, args(f32(4), f32(4), alpha=0.5)],
    bad=[UNEQUAL],
)
row(
    "HSigmoidGrad",
    ref=lambda dy, x: np.where((x > -3) & (x < 3), dy / 6, 0).astype(dy.dtype),
    good=[PAIR],
    bad=[UNEQUAL],
)
row(
    "HSwishGrad",
    ref=lambda dy, x: dy * np.where(np.abs(x) <= 3, x / 3 + 0.5, x > 0),
    good=[PAIR],
    bad=[UNEQUAL],
    tol=LOOSE,
)
row(
    "Clip",
    ref=lambda x, low, high: np.minimum(np.maximum(x, low), high),
    good=[
        args(f32(2, 3, low=-3, high=3), f32(), f32(3, low=1, high=2)),
        args(f32(4, low=-3, high=3), -1.0, 1.0),
        args(i32(2, 3), i32([1]), i32([3])),
    ],
    bad=[args(f32(2), f32(3), f32(2), says="must broadcast")],
)
row(
    "ClipGrad",
    ref=lambda dy, x, low, high: dy * ((x > low) & (x < high)),
    good=[args(f32(2, 3), f32(2, 3, low=-3, high=3), -1.0, 1.0)],
    bad=[args(f32(2), f32(3), f32(2), f32(2), says="must broadcast")],
)
row(
    "MultiplyAdd",
    ref=lambda x, a, b, factor: x + a * b * factor,
    good=[
        args(f32(2, 3), f32(2, 3), f32(3), f32()),
        args(f32(3), f32(2, 3), f32(3), 0.5),
    ],
    bad=[args(f32(2), f32(3), f32(2), f32(), says="must broadcast")],
)
row(
    "DivideAdd",
    ref=lambda x, a, b, factor: x + a / b * factor,
    good=[
        args(f32(2, 3), f32(2, 3), f32(3, low=1, high=2), f32()),
        args(f32(3), f32(2, 3), f32(3, low=-2, high=-1), 0.5),
    ],
    bad=[args(f32(2), f32(3), f32(2), f32(), says="must broadcast")],
)


def smooth_l1(x, y, beta=1.0):
    d = np.abs(x - y)
    return np.where(d < beta, d * d * 0.5 / beta, d - 0.5 * beta)


row(
    "SmoothL1",
    ref=smooth_l1,
    good=[args(f32(2, 3), f32(2, 3)), args(f32(5), f32(5), beta=0.5)],
    bad=[UNEQUAL],
)
row(
    "SmoothL1Grad",
    ref=lambda dy, x, y, beta=1.0: dy * np.clip((x - y) / beta, -1, 1),
    good=[args(f32(2, 3), f32(2, 3), f32(2, 3)), args(f32(5), f32(5), f32(5), beta=0.5)],
    bad=[args(f32(2), f32(3), f32(2), says="must broadcast")],
)
