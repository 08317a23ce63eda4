"""Rows of what the front end puts between a number, or a divisor, and the op that takes it."""

import numpy as np
from rowlib import args, f32, i32, i64, row

import mindspore as ms

row(
    "FitNumber",
    ref=lambda x, dtype, of: x.astype(np.int8),
    good=[args(i64([1, -128, 127]), dtype=ms.int8, of="Add")],
    bad=[
        args(
            i64([1, 300]),
            dtype=ms.int8,
            of="FitNumber",
            says="must fit Int8, which holds -128 to 127, but got 300",
        )
    ],
    grad=False,
)
row(
    "CheckDivisor",
    ref=lambda y, span: y,
    good=[args(i32(2, 3), span=0)],
    bad=[args(f32(2), span=0, says="must be one of")],
    grad=False,
)
