"""Rows of the ops around graphs; those on function values are tested in tests/cpp."""

import numpy as np
from rowlib import args, f32, row

from mindspore import _core

ONES = np.ones((2, 3), np.float32)
TYPE = (11, 2, 2, 3)  # Float32[2, 3]
give_ones = _core.HostFunction(lambda x: [_core.Tensor(ONES)])
give_two = _core.HostFunction(lambda x: [x, x])

row(
    "HostCall",
    ref=lambda x, **_: ONES,
    good=[args(f32(4), function=give_ones.number, types=TYPE)],
    bad=[
        args(f32(4), function=give_ones.number, types=(11, 2, 2), says="is damaged"),
        args(f32(4), function=give_ones.number, types=(-1,), says="must be tensors"),
        args(f32(4), function=give_ones.number, types=(11, 1, 7), says="as declared"),
        args(f32(4), function=give_two.number, types=TYPE, says="must return 1 tensors"),
        args(f32(4), function=0, types=TYPE, says="no function with the number"),
    ],
    grad=False,
)
