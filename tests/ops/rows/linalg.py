"""Rows of matrix products."""

import numpy as np
from rowlib import args, b1, bf16, c64, f16, f32, f64, i32, row

LOOSE = {f16: 2e-2, bf16: 1e-1}


def product(x, y, transpose_a=False, transpose_b=False):
    x = np.swapaxes(x, -1, -2) if transpose_a else x
    y = np.swapaxes(y, -1, -2) if transpose_b else y
    return np.matmul(x, y)


row(
    "MatMul",
    ref=product,
    good=[
        args(f32(2, 3), f32(3, 4)),
        args(f32(3, 2), f32(3, 4), transpose_a=True),
        args(f32(2, 3), f32(4, 3), transpose_b=True),
        args(f32(3, 2), f32(4, 3), transpose_a=True, transpose_b=True),
        args(f32(33, 65), f32(65, 70)),
        args(f32(1, 7), f32(7, 1)),
        args(f32(2, 0), f32(0, 3)),
        args(f32(0, 3), f32(3, 2)),
        args(i32(2, 3), i32(3, 4)),
        args(c64(2, 3), c64(3, 4)),
    ],
    bad=[
        args(f32(2, 3), f32(2, 3), says="the inner sizes must be equal, but got 3 and 2"),
        args(f32(2, 3), f64(3, 2), says="must have the same dtype, but got Float32 and Float64"),
        args(f32(2, 3, 4), f32(4, 5), says="'x' must have 2 dimensions, but got 3"),
        args(f32(3, 4), f32(4), says="'y' must have 2 dimensions, but got 1"),
        args(b1(2, 2), b1(2, 2), says="the dtype of 'x' must be one of"),
    ],
    tol=LOOSE,
)
row(
    "BatchMatMul",
    ref=product,
    good=[
        args(f32(2, 3, 4), f32(2, 4, 5)),
        args(f32(2, 4, 3), f32(2, 5, 4), transpose_a=True, transpose_b=True),
        args(f32(2, 1, 3, 4), f32(5, 4, 2)),
        args(f32(3, 4), f32(2, 4, 5)),
        args(f32(2, 3, 4), f32(4, 5)),
        args(f32(0, 3, 4), f32(0, 4, 5)),
        args(i32(2, 3, 4), i32(1, 4, 5)),
    ],
    bad=[
        args(f32(2, 3, 4), f32(2, 3, 4), says="the inner sizes must be equal, but got 4 and 3"),
        args(f32(2, 3, 4), f32(3, 4, 2), says="the batch dimensions must broadcast"),
        args(f32(4), f32(4, 2), says="'x' must have at least 2 dimensions"),
        args(f32(2, 2), f32(2), says="'y' must have at least 2 dimensions"),
        args(f32(2, 2), f16(2, 2), says="must have the same dtype"),
    ],
    tol=LOOSE,
)


def bias_add(x, bias, data_format="NCHW"):
    axis = x.ndim - 1 if data_format == "NHWC" else 1
    shape = [1] * x.ndim
    shape[axis] = -1
    return x + bias.reshape(shape)


row(
    "BiasAdd",
    ref=bias_add,
    good=[
        args(f32(2, 3), f32(3)),
        args(f32(2, 3, 4, 5), f32(3)),
        args(f32(2, 4, 5, 3), f32(3), data_format="NHWC"),
        args(f32(2, 3, 2, 2, 2), f32(3), data_format="NCDHW"),
        args(f32(0, 3), f32(3)),
        args(i32(2, 3, 4), i32(3)),
    ],
    bad=[
        args(f32(2, 3), f32(4), says="'bias' must have as many elements as there are channels"),
        args(f32(3), f32(3), says="'input_x' must have 2 to 5 dimensions"),
        args(f32(2, 3), f32(3, 1), says="'bias' must have 1 dimensions"),
        args(f32(2, 3), f16(3), says="must have the same dtype"),
        args(f32(2, 3), f32(3), data_format="HWC", says="'data_format' must be one of"),
        args(f32(2, 3), f32(3), data_format="NCDHW", says="must have 5 dimensions with 'NCDHW'"),
    ],
)


def differences(x, y):
    """Of all pairs of rows."""
    return x[..., :, None, :] - y[..., None, :, :]


def apart(one, other):
    """Rows of which no two values are near each other: the size of a difference has a kink at 0."""
    quarters = (np.round(f32(*shape) * 4) / 4 for shape in (one, other))
    return next(quarters), next(quarters) + np.float32(0.125)


for name, size in (("SquaredDistances", np.square), ("AbsoluteDistances", np.abs)):
    row(
        name,
        ref=lambda x, y, size=size: size(differences(x, y)).sum(-1),
        good=[
            args(*apart((2, 3), (4, 3))),
            args(*apart((2, 3, 5), (2, 4, 5))),
            args(*apart((101, 7), (37, 7))),
            args(*apart((7, 300), (5, 300))),
            args(*apart((0, 3), (4, 3))),
        ],
        bad=[
            args(f32(3), f32(3), says="the inputs must have at least 2 dimensions"),
            args(f32(2, 3), f32(2, 4), says="of the same sizes but for the last but one"),
            args(f32(2, 3), f64(2, 3), says="must have the same dtype"),
            args(i32(2, 3), i32(2, 3), says="the dtype of 'x' must be one of"),
        ],
        tol=LOOSE,
    )
WRONG_GRADIENT = "'dout', 'x' and 'y' must have the shapes"
row(
    "AbsoluteDistancesGrad",
    ref=lambda dout, x, y: (dout[..., None] * np.sign(differences(x, y))).sum(-2),
    good=[
        args(f32(2, 4), f32(2, 3), f32(4, 3)),
        args(f32(2, 3, 4), f32(2, 3, 5), f32(2, 4, 5)),
        args(f32(41, 37), f32(41, 101), f32(37, 101)),
        args(f32(0, 4), f32(0, 3), f32(4, 3)),
        args(f32(3, 0), f32(3, 2), f32(0, 2)),
    ],
    bad=[
        args(f32(3), f32(3), f32(3), says=WRONG_GRADIENT),
        args(f32(4, 2), f32(2, 3), f32(4, 3), says=WRONG_GRADIENT),
        args(f32(2, 4), f32(2, 3), f32(4, 2), says=WRONG_GRADIENT),
        args(f32(2, 4), f64(2, 3), f32(4, 3), says="must have the same dtype"),
        args(f32(2, 4), f32(2, 3), f64(4, 3), says="must have the same dtype"),
        args(i32(2, 4), i32(2, 3), i32(4, 3), says="the dtype of 'dout' must be one of"),
    ],
    tol=LOOSE,
)
