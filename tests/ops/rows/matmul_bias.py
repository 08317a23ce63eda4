"""Rows of matrix products with what follows them."""

import numpy as np
from rowlib import args, bf16, f16, f32, f64, i8, row
from rows.linalg import product
from scipy import special

FOLLOW = {
    "": lambda z: z,
    "relu": lambda z: np.maximum(z, 0),
    "relu6": lambda z: np.clip(z, 0, 6),
    "sigmoid": special.expit,
    "tanh": np.tanh,
    "gelu": lambda z: 0.5 * z * (1 + special.erf(z / np.sqrt(2))),
    "gelu_tanh": lambda z: 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3))),
    "silu": lambda z: z * special.expit(z),
}


def with_bias(x, y, bias, transpose_a=False, transpose_b=False, activation=""):
    return FOLLOW[activation](product(x, y, transpose_a, transpose_b) + bias)


row(
    "MatMulBias",
    ref=with_bias,
    good=[
        args(f32(2, 3), f32(3, 4), f32(4)),
        args(f32(3, 2), f32(4, 3), f32(4), transpose_a=True, transpose_b=True),
        args(f32(0, 3), f32(3, 4), f32(4)),
        *[args(f32(5, 33), f32(33, 17), f32(17), activation=name) for name in FOLLOW],
    ],
    bad=[
        args(f32(2, 3, 4), f32(4, 5), f32(5), says="'x' must have 2 dimensions, but got 3"),
        args(f32(2, 3), f32(3), f32(4), says="'y' must be a matrix, but got shape [3]"),
        args(f32(2, 3), f32(2, 3), f32(3), says="inner sizes must be equal, but got 3 and 2"),
        args(f32(2, 3), f32(3, 4), f32(3), says="the bias must have shape [4]"),
        args(f32(2, 3), f32(3, 4), f64(4), says="must have the same dtype"),
        args(f32(2, 3), f32(3, 4), f32(4), activation="elu", says="'activation' must be"),
        args(
            f32(2, 3),
            f32(3, 4),
            f32(4),
            y_shape=(3, 4),
            says="'y' must have 1 dimensions, but got 2",
        ),
    ],
    tol={f16: 2e-2, bf16: 1e-1},
)
# What is packed is the device's own affair: of whole blocks of columns, all elements.
row(
    "MatMulPacked",
    ref=None,
    good=[],  # in BFloat16 only where the processor has it: tests of the pass run it
    bad=[args(f32(2, 16), f32(3072), y_shape=(8, 192), says="inner sizes must be equal")],
    grad=False,
)
row(
    "PackMatrix",
    ref=None,
    good=[args(f32(16, 192), rows=2, size=3072)],
    bad=[
        args(f32(16), rows=2, size=256, says="'y' must have 2 dimensions, but got 1"),
        args(f32(16, 16), rows=0, size=3072, says="'rows' must be positive, but got 0"),
        args(f32(16, 16), rows=2, size=0, says="'size' must be positive, but got 0"),
    ],
    grad=False,
)


def of_bytes(x, y, transpose_a=False, transpose_b=False):
    return product(x.astype(np.int32), y.astype(np.int32), transpose_a, transpose_b)


row(
    "MatMulInteger",
    ref=of_bytes,
    good=[
        args(i8(2, 3), i8(3, 4)),
        args(i8(2, 4, 3), i8(5, 4), transpose_a=True, transpose_b=True),
        args(i8(2, 0), i8(0, 4)),
        args(i8(0, 3), i8(3, 4)),
    ],
    bad=[
        args(i8(3), i8(3, 4), says="'x' must have at least 2 dimensions"),
        args(i8(2, 3), i8(2, 3), says="inner sizes must be equal, but got 3 and 2"),
        args(i8(2, 2, 3), i8(5, 3, 2), says="the batch dimensions must broadcast"),
    ],
    grad=False,
)
