"""Rows of activation functions."""

import numpy as np
from rowlib import args, b1, bf16, f16, f32, i32, row
from scipy import special

LOOSE = {f16: 5e-3, bf16: 4e-2}


def sigmoid(x):
    return special.expit(x)


def softplus(x):
    return np.logaddexp(x, 0).astype(x.dtype)


def gelu(x, approximate="tanh"):
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + special.erf(x / np.sqrt(2)))


def gelu_grad(dy, x, approximate="tanh"):
    if approximate == "none":
        return dy * (
            0.5 * (1 + special.erf(x / np.sqrt(2))) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
        )
    c = np.sqrt(2 / np.pi)
    t = np.tanh(c * (x + 0.044715 * x**3))
    return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x))


def keep(f):
    """A reference whose result has the type of its input."""

    def ref(x, **attrs):
        return np.asarray(f(x, **attrs)).astype(x.dtype)

    return ref


def activation(name, ref, extra=(), **options):
    row(
        name,
        ref=keep(ref),
        good=[args(f32(2, 3, low=-4, high=4)), args(f32(7, low=-8, high=8)), *extra],
        bad=[args(b1(2), b1(2), b1(2), says="the call must be")],
        tol=LOOSE,
        **options,
    )


activation("ReLU", lambda x: np.maximum(x, 0), (args(i32(4)),))
activation("ReLU6", lambda x: np.clip(x, 0, 6))
activation(
    "LeakyReLU", lambda x, alpha=0.2: np.where(x > 0, x, alpha * x), (args(f32(4), alpha=0.1),)
)
activation("Sigmoid", sigmoid, (args(f32([-100.0, 100.0])),))
activation("LogSigmoid", lambda x: -softplus(-x), (args(f32([-100.0, 100.0])),))
activation("Softplus", softplus, (args(f32([-100.0, 100.0])),))
activation("Softsign", lambda x: x / (1 + np.abs(x)))
activation("SiLU", lambda x: x * sigmoid(x))
activation("Mish", lambda x: x * np.tanh(softplus(x)))
activation(
    "Elu", lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)), (args(f32(4), alpha=0.5),)
)
activation(
    "SeLU", lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))
)
activation("HSigmoid", lambda x: np.clip(x + 3, 0, 6) / 6)
activation("HSwish", lambda x: x * np.clip(x + 3, 0, 6) / 6)
activation("FastGeLU", lambda x: x * sigmoid(1.702 * x))
activation(
    "HShrink", lambda x, lambd=0.5: np.where(np.abs(x) <= lambd, 0, x), (args(f32(4), lambd=1.0),)
)
row(
    "SoftShrink",
    ref=keep(lambda x, lambd=0.5: np.sign(x) * np.maximum(np.abs(x) - lambd, 0)),
    tol=LOOSE,
    good=[args(f32(2, 3)), args(f32(4), lambd=1.0)],
    bad=[args(f32(2), lambd=-1.0, says="'lambd' must not be negative, but got -1")],
)
row(
    "CeLU",
    ref=keep(lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x / alpha))),
    tol=LOOSE,
    good=[args(f32(2, 3)), args(f32(4), alpha=2.0)],
    bad=[args(f32(2), alpha=0.0, says="'alpha' must not be 0")],
)
row(
    "GeLU",
    ref=keep(gelu),
    tol=LOOSE,
    good=[args(f32(2, 3, low=-4, high=4)), args(f32(7), approximate="none")],
    bad=[
        args(
            f32(2),
            approximate="cubic",
            says="'approximate' must be 'none' or 'tanh', but got 'cubic'",
        )
    ],
)


def prelu(x, weight):
    shape = [1] * x.ndim
    if x.ndim > 1:
        shape[1] = -1
    return np.where(x > 0, x, x * weight.reshape(shape))


row(
    "PReLU",
    ref=prelu,
    good=[
        args(f32(2, 3, 4), f32(3)),
        args(f32(2, 3), f32(1)),
        args(f32(5), f32(1)),
        args(f32(0, 3), f32(3)),
    ],
    bad=[
        args(f32(2, 3), f32(2), says="must be 1 or the channels of 'x' (3), but got 2"),
        args(f32(2, 3), f32(3, 1), says="'weight' must have 1 dimensions"),
        args(f32(2, 3), i32(3), says="must be one of"),
    ],
)

PAIR = args(f32(2, 3), f32(2, 3, low=-4, high=8))
UNEQUAL = args(f32(2), f32(3), says="must broadcast")
row(
    "ReluGrad",
    ref=lambda dy, y: np.where(y > 0, dy, 0).astype(dy.dtype),
    good=[PAIR],
    bad=[UNEQUAL],
)
row(
    "ReLU6Grad",
    ref=lambda dy, x: np.where((x > 0) & (x <= 6), dy, 0).astype(dy.dtype),
    good=[PAIR],
    bad=[UNEQUAL],
)
row(
    "SigmoidGrad",
    ref=lambda y, dy: dy * y * (1 - y),
    good=[args(f32(2, 3, low=0, high=1), f32(2, 3))],
    bad=[UNEQUAL],
)
row(
    "SiLUGrad",
    ref=lambda dy, x: dy * (sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
    good=[PAIR],
    bad=[UNEQUAL],
    tol=LOOSE,
)
row(
    "GeLUGrad",
    ref=lambda dy, x, approximate="tanh": gelu_grad(dy, x, approximate),
    tol=LOOSE,
    good=[PAIR, args(f32(4), f32(4), approximate="none")],
    bad=[UNEQUAL],
)
