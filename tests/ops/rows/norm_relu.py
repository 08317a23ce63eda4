"""Rows of batch normalisation joined with an activation. The references compute in float64."""

import numpy as np
from rowlib import args, bf16, f16, f32, f64, row

LOOSE = {f16: 3e-2, bf16: 3e-1, f32: 1e-4}
# Few channels and many, more pixels than one segment has, sizes that no vector divides.
SHAPES = [(6, 5), (2, 4, 3, 5), (3, 5, 7, 19), (9, 33, 29, 3), (2, 5, 5, 130)]


def moments(x):
    x = x.astype(np.float64).reshape(-1, x.shape[-1])
    return x.mean(0), x.var(0), len(x)


def kind(x, *results):
    return tuple(np.asarray(r).astype(x.dtype) for r in results)


def activate(z, activation):
    return np.clip(z, 0, 6 if activation == "relu6" else None)


def relu(x, scale, bias, mean, variance, epsilon=1e-5, momentum=0.1, activation="relu", other=0.0):
    batch_mean, batch_variance, count = moments(x)
    inverse = 1 / np.sqrt(batch_variance + epsilon)
    z = (x.astype(np.float64) - batch_mean) * (inverse * scale) + bias + other
    unbiased = batch_variance * count / (count - 1)
    moved = mean + momentum * (batch_mean - mean), variance + momentum * (unbiased - variance)
    return kind(x, activate(z, activation), *moved, batch_mean, inverse)


def add_relu(x, scale, bias, mean, variance, residual, epsilon=1e-5, momentum=0.1):
    return relu(x, scale, bias, mean, variance, epsilon, momentum, other=residual)


def gradients(g, x, scale, mean, inverse):
    flat = tuple(range(x.ndim - 1))
    h = (x.astype(np.float64) - mean) * inverse
    dscale, dbias = (g * h).sum(flat), g.sum(flat)
    count = x.size // x.shape[-1]
    return (g - dbias / count - h * dscale / count) * inverse * scale, dscale, dbias


def relu_grad(dy, x, scale, bias, mean, inverse, epsilon=1e-5, activation="relu"):
    del epsilon
    z = (x.astype(np.float64) - mean) * (inverse * scale) + bias
    g = np.where((z > 0) & ((z <= 6) | (activation == "relu")), dy, 0)
    return kind(x, *gradients(g, x, scale, mean, inverse))


def add_relu_grad(dy, y, x, scale, mean, inverse, epsilon=1e-5):
    del epsilon
    g = np.where(y > 0, dy, 0)
    return kind(x, *gradients(g, x, scale, mean, inverse), g)


def channels(n):
    """scale, bias, mean, variance."""
    return f32(n), f32(n), f32(n), f32(n, low=0.5)


def bad(before, after=()):
    """Refusals that ops with x at place len(before) share."""
    x = f32(2, 3)
    return [args(*before, x, f32(2), *channels(3)[1:], *after, says="must have shape [3]")]


row(
    "BatchNormRelu",
    ref=relu,
    good=[args(f32(*s), *channels(s[-1])) for s in SHAPES]
    + [args(f32(4, 3, 2, 7), *channels(7), activation="relu6", momentum=0.9)],
    bad=bad([]) + [args(f32(2, 3), *channels(3), activation="tanh", says="'activation' must be")],
    tol=LOOSE,
)
row(
    "BatchNormAddRelu",
    ref=add_relu,
    good=[args(f32(*s), *channels(s[-1]), f32(*s)) for s in SHAPES],
    bad=bad([], [f32(2, 3)])
    + [
        args(f32(2, 3), *channels(3), f32(2, 4), says="must have the same shape"),
        args(f32(2, 3), *channels(3), f64(2, 3), says="must have the same dtype"),
    ],
    tol=LOOSE,
)
row(
    "BatchNormReluGrad",
    ref=relu_grad,
    good=[args(f32(*s), f32(*s), *channels(s[-1])) for s in SHAPES]
    + [args(f32(4, 3, 2, 7), f32(4, 3, 2, 7), *channels(7), activation="relu6")],
    bad=bad([f32(2, 3)])
    + [
        args(f32(2, 4), f32(2, 3), *channels(3), says="must have the same shape"),
        args(f64(2, 3), f32(2, 3), *channels(3), says="must have the same dtype"),
        args(f32(2, 3), f32(2, 3), *channels(3), activation="", says="'activation' must be"),
    ],
    tol={**LOOSE, f16: 1e-1, bf16: 1.0, f32: 1e-3},
)
row(
    "BatchNormAddReluGrad",
    ref=add_relu_grad,
    good=[args(f32(*s), f32(*s), f32(*s), *channels(s[-1])[1:]) for s in SHAPES],
    bad=[
        args(f32(2, 3), f32(2, 4), f32(2, 3), *channels(3)[1:], says="must have the same shape"),
        args(f64(2, 3), f32(2, 3), f32(2, 3), *channels(3)[1:], says="must have the same dtype"),
        args(f32(2, 3), f32(2, 3), f32(2, 3), *channels(2)[1:], says="must have shape [3]"),
    ],
    tol={**LOOSE, f16: 1e-1, bf16: 1.0, f32: 1e-3},
)
