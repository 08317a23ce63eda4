"""Rows of comparison, logic, bits, selection and conversion."""

import numpy as np
from rowlib import args, b1, c64, f32, i32, i64, row, u8

import mindspore

BAD_SHAPES = args(f32(2, 3), f32(2, 4), says="must broadcast, but got [2, 3] and [2, 4]")
CLOSE = [
    args(f32(2, 3), f32(2, 3)),
    args(i32(3, 4), i32(4)),
    args(f32([1, 2, np.nan]), f32([1, 3, np.nan])),
]

for name, ref in (
    ("Equal", np.equal),
    ("NotEqual", np.not_equal),
    ("Greater", np.greater),
    ("GreaterEqual", np.greater_equal),
    ("Less", np.less),
    ("LessEqual", np.less_equal),
):
    complex_case = [args(c64(3), c64(3))] if "Equal" in name and len(name) <= 8 else []
    row(
        name,
        ref=ref,
        good=[*CLOSE, args(b1(4), b1(4)), *complex_case],
        bad=[BAD_SHAPES],
        grad=False,
    )

row(
    "ApproximateEqual",
    ref=lambda x, y, tolerance=1e-5: np.abs(np.float64(x) - np.float64(y)) < tolerance,
    good=[
        args(f32([1, 2, 3]), f32([1, 2.5, 3])),
        args(f32([1, 2, 3]), f32([1.25, 2.75, 3]), tolerance=0.5),
        args(i32(5), i32(5)),
    ],
    bad=[BAD_SHAPES],
    grad=False,
)
row(
    "IsClose",
    ref=lambda x, y, rtol=1e-5, atol=1e-8, equal_nan=False: np.isclose(x, y, rtol, atol, equal_nan),
    good=[
        args(f32([1, 2, np.inf, np.nan]), f32([1, 2.5, np.inf, np.nan])),
        args(f32([np.nan, 1]), f32([np.nan, np.inf]), equal_nan=True),
        args(f32([1, 2]), f32([1.5, 4]), rtol=0.0, atol=1.0),
        args(i32(5), i32(5)),
    ],
    bad=[BAD_SHAPES],
    grad=False,
)

for name, ref in (("IsNan", np.isnan), ("IsInf", np.isinf), ("IsFinite", np.isfinite)):
    row(
        name,
        ref=ref,
        good=[
            args(f32([1, np.nan, np.inf, -np.inf])),
            args(i32(3)),
            args(b1(3)),
            args(c64([1, complex(1, np.nan), complex(-np.inf, 1), complex(np.nan, np.inf)])),
        ],
        bad=[args(f32(2), f32(2), says="but got 2 positional arguments")],
        grad=False,
    )

for name, ref in (
    ("LogicalAnd", np.logical_and),
    ("LogicalOr", np.logical_or),
    ("LogicalXor", np.logical_xor),
):
    row(
        name,
        ref=ref,
        good=[args(b1(3, 4), b1(4)), args(f32([0, 1, 2]), f32([0, 0, 3])), args(b1(3), i32(3))],
        bad=[args(b1(2), b1(3), says="must broadcast")],
        grad=False,
    )
row(
    "LogicalNot",
    ref=np.logical_not,
    good=[args(b1(3, 4)), args(f32([0, 1, 2])), args(i32(3))],
    bad=[args(b1(2), b1(2), says="but got 2 positional arguments")],
    grad=False,
)

BITS = [args(i32(3, 4), i32(4)), args(b1(5), b1(5)), args(u8(6), u8(6))]
for name, ref in (
    ("BitwiseAnd", np.bitwise_and),
    ("BitwiseOr", np.bitwise_or),
    ("BitwiseXor", np.bitwise_xor),
):
    row(
        name,
        ref=ref,
        good=BITS,
        grad=False,
        bad=[
            args(f32(2), f32(2), says="must be one of"),
            args(i32(2), i32(3), says="must broadcast"),
        ],
    )
row(
    "Invert",
    ref=np.invert,
    good=[args(i32(3, 4)), args(b1(5)), args(u8(6))],
    bad=[args(f32(2), says="must be one of")],
    grad=False,
)
row(
    "LeftShift",
    ref=np.left_shift,
    good=[args(i32(3, 4, low=0), i32(4, low=0, high=3)), args(u8([255, 1]), u8([1, 7]))],
    bad=[args(f32(2), f32(2), says="must be one of")],
    grad=False,
)
row(
    "RightShift",
    ref=np.right_shift,
    good=[args(i32(3, 4), i32(4, low=0, high=3)), args(u8([255, 128]), u8([1, 7]))],
    bad=[args(f32(2), f32(2), says="must be one of")],
    grad=False,
)

row(
    "Select",
    ref=np.where,
    good=[
        args(b1(2, 3), f32(2, 3), f32(2, 3)),
        args(b1(3), f32(2, 1), f32()),
        args(b1(4), i32(4), i32(4)),
        args(b1(3), f32(3), i32(3)),
        args(b1(3), c64(3), c64(3)),
    ],
    bad=[
        args(b1(2), f32(3), f32(3), says="must broadcast"),
        args(f32(3), f32(3), f32(3), says="'condition' must be one of [Bool]"),
    ],
)


def cast(x, dtype):
    return x.astype(mindspore.dtype_to_nptype(dtype))


row(
    "Cast",
    ref=cast,
    good=[
        args(f32(2, 3), dtype=mindspore.float64),
        args(f32(2, 3), dtype=mindspore.float32),
        args(f32(5), dtype=mindspore.int32),
        args(i32(2, 3), dtype=mindspore.float32),
        args(f32([0.0, 0.5, np.nan]), dtype=mindspore.bool_),
        args(b1(4), dtype=mindspore.int64),
        args(i64([300, -1]), dtype=mindspore.uint8),
        args(f32(3), dtype=mindspore.complex64),
    ],
    bad=[
        args(f32(2), f32(2), dtype=mindspore.float32, says="the call must be Cast(x, dtype)"),
        args(f32(2), says="dtype"),
    ],
)
