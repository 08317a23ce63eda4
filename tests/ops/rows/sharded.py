"""What a program that is cut over processes does between its ops, in one process: tests/parallel has more of them."""

import numpy as np
from rowlib import args, b1, f32, i32, row

import mindspore as ms

ONE = {"group": "alone", "members": 1, "rank": 0}
TWO = {"group": "alone", "members": 2, "rank": 0}


def same(x, **_):
    return x


row(
    "ShardEnter",
    ref=same,
    good=[args(f32(2, 3), **ONE), args(i32(), **ONE)],
    bad=[args(f32(3), **{**ONE, "rank": 1}, says="'rank' must be in [0, 1), but got 1")],
)
row(
    "ShardSum",
    ref=same,
    good=[args(f32(2, 3), **ONE), args(f32(3), op="max", **ONE), args(b1(4), **ONE)],
    bad=[
        args(f32(3), op="prod", says="must be 'sum', 'max' or 'min', but got 'prod'", **ONE),
        args(f32(3), **{**ONE, "rank": -1}, says="'rank' must be in [0, 1), but got -1"),
    ],
)
for name in ("ShardGather", "ShardScatter", "ShardSlice"):
    row(
        name,
        ref=same,
        good=[
            args(f32(4, 3), dim=0, counts=(4,), **ONE),
            args(f32(2, 3, 2), dim=1, counts=(3,), **ONE),
            args(b1(4), dim=0, counts=(4,), **ONE),
        ],
        bad=[
            args(f32(), dim=0, counts=(1,), says="'dim' must be in [0, 0), but got 0", **ONE),
            args(f32(3), dim=0, counts=(1, 2), says="each of the 1 processes", **ONE),
            args(f32(3), dim=0, counts=(4,), says="dimension 0 of 'x' must be 4", **ONE),
        ],
    )


def exchange(sends, receives, shape, **more):
    return {
        "sends": sends,
        "receives": receives,
        "shape": shape,
        "back_sends": receives,
        "back_receives": sends,
        **ONE,
        **more,
    }


ALL = (0, 2, 0, 3)
row(
    "ShardExchange",
    ref=same,
    good=[args(f32(2, 3), **exchange(ALL, ALL, (2, 3)))],
    bad=[
        args(f32(3), says="must have 2 entries", **exchange((0, 3), (0,), (3,))),
        args(f32(3), says="as many sizes as 'x'", **exchange((0, 3), (0, 3), ())),
    ],
)
row(
    "ShardNumber",
    ref=lambda dtype, value: np.float32(value),
    good=[args(dtype=ms.float32, value=2.5)],
    grad=False,
)
row("StageMark", ref=same, good=[args(f32(2, 3), part=1), args(i32(4), part=0, back=True)])
row(
    "StageMove",
    ref=same,
    good=[args(f32(2, 3), source=0, target=1), args(b1(4), source=1, target=0)],
)
row("ShardHint", ref=same, good=[args(f32(2, 3), layout="[dp, -]"), args(f32())])
