"""Rows of normalisation. The references compute in float64."""

import numpy as np
from rowlib import args, bf16, f16, f32, f64, row

LOOSE = {f16: 2e-2, bf16: 2e-1, f32: 1e-4}


def wide(*xs):
    return [np.asarray(x).astype(np.float64) for x in xs]


def kind(x, *results):
    """Results in the type of the first input."""
    return tuple(np.asarray(r).astype(x.dtype) for r in results)


class Channels:
    def __init__(self, x, data_format):
        axis = x.ndim - 1 if x.ndim == 4 and data_format == "NHWC" else 1
        self.others = tuple(i for i in range(x.ndim) if i != axis)
        self.shape = [1] * x.ndim
        self.shape[axis] = -1
        self.count = x.size // max(x.shape[axis], 1)

    def spread(self, v):
        return np.reshape(v, self.shape)


def batch_norm(x, scale, bias, mean, variance, epsilon=1e-5, momentum=0.1, data_format="NCHW"):
    given = x
    x, scale, bias, mean, variance = wide(x, scale, bias, mean, variance)
    ch = Channels(x, data_format)
    batch_mean, batch_variance = x.mean(ch.others), x.var(ch.others)
    unbiased = batch_variance * ch.count / max(ch.count - 1, 1)
    inverse = 1 / np.sqrt(batch_variance + epsilon)
    y = (x - ch.spread(batch_mean)) * ch.spread(inverse * scale) + ch.spread(bias)
    mean = (1 - momentum) * mean + momentum * batch_mean
    variance = (1 - momentum) * variance + momentum * unbiased
    return kind(given, y, mean, variance, batch_mean, inverse)


def batch_norm_inference(x, scale, bias, mean, variance, epsilon=1e-5, data_format="NCHW"):
    ch = Channels(x, data_format)
    factor = scale / np.sqrt(variance.astype(np.float64) + epsilon)
    y = (x - ch.spread(mean)) * ch.spread(factor) + ch.spread(bias)
    return y.astype(x.dtype)


def batch_norm_grad(
    dy, x, scale, mean, inverse, is_training=True, epsilon=1e-5, data_format="NCHW"
):
    del epsilon
    given = x
    dy, x, scale, mean, inverse = wide(dy, x, scale, mean, inverse)
    ch = Channels(x, data_format)
    h = (x - ch.spread(mean)) * ch.spread(inverse)
    dscale, dbias = (dy * h).sum(ch.others), dy.sum(ch.others)
    dx = dy
    if is_training:
        dx = dy - ch.spread(dbias / ch.count) - h * ch.spread(dscale / ch.count)
    return kind(given, dx * ch.spread(inverse * scale), dscale, dbias)


def channels(n):
    """scale, bias, mean, variance."""
    return f32(n), f32(n), f32(n), f32(n, low=0.5)


SAMPLES = [
    ((4, 3, 5, 6), {}),
    ((6, 5), {}),
    ((3, 2, 7), {}),
    ((2, 3, 2, 2, 3), {}),
    ((2, 4, 3, 5), {"data_format": "NHWC"}),
    ((3, 70), {"epsilon": 0.1}),
    ((2, 3, 9, 11), {"epsilon": 0.01}),
]
CHANNELS_BAD = [
    args(f32(3), *channels(3), says="'input_x' must have 2 to 5 dimensions"),
    args(f32(2, 3), *channels(4), says="'scale' must have shape [3]"),
    args(f32(2, 3), f32(3), f32(3, 1), f32(3), f32(3), says="'bias' must have shape [3]"),
    args(f32(2, 3), f32(3), f64(3), f32(3), f32(3), says="must have the same dtype"),
    args(f32(2, 3), f16(3), f16(3), f16(3), f16(3), says="'scale' must have the dtype of"),
    args(f32(2, 3), *channels(3), epsilon=0.0, says="'epsilon' must be in (0, 1]"),
    args(f32(2, 3), *channels(3), data_format="NC", says="'data_format' must be"),
]


def of_channels(shape, attrs):
    return args(f32(*shape), *channels(shape[3] if "data_format" in attrs else shape[1]), **attrs)


row(
    "BatchNorm",
    ref=batch_norm,
    good=[of_channels(s, a) for s, a in SAMPLES]
    + [of_channels((4, 2, 3, 3), {"momentum": 0.9}), of_channels((1, 3), {})],
    bad=[
        *CHANNELS_BAD,
        args(f32(2, 3), *channels(3), momentum=1.5, says="'momentum' must be in [0, 1]"),
        args(f32(0, 3), *channels(3), says="must have elements in each channel"),
    ],
    tol=LOOSE,
)
row(
    "BatchNormInference",
    ref=batch_norm_inference,
    good=[of_channels(s, a) for s, a in SAMPLES] + [of_channels((0, 3, 4, 4), {})],
    bad=CHANNELS_BAD,
    tol=LOOSE,
)


def gradient_args(shape, attrs, **more):
    n = shape[3] if attrs.get("data_format") else shape[1]
    return args(f32(*shape), f32(*shape), f32(n), f32(n), f32(n, low=0.5), **attrs, **more)


row(
    "BatchNormGrad",
    ref=batch_norm_grad,
    good=[gradient_args(s, a, is_training=t) for s, a in SAMPLES for t in (True, False)],
    bad=[
        args(f32(2, 3), f32(2, 4), f32(4), f32(4), f32(4), says="must have the same shape"),
        args(f64(2, 3), f32(2, 3), f32(3), f32(3), f32(3), says="must have the same dtype"),
        args(f32(3), f32(3), f32(3), f32(3), f32(3), says="'x' must have 2 to 5 dimensions"),
        args(f32(2, 3), f32(2, 3), f32(2), f32(3), f32(3), says="'scale' must have shape [3]"),
        args(f32(2, 3), f32(2, 3), f32(3), f32(2), f32(3), says="'saved_mean' must have shape"),
        args(f32(2, 3), f32(2, 3), f32(3), f32(3), f32(3), epsilon=2.0, says="'epsilon' must be"),
        args(f32(2, 3), f32(2, 3), f32(3), f32(3), f32(3), data_format="", says="'data_format'"),
    ],
    tol={**LOOSE, f16: 1e-1, bf16: 1.0},
)


def axes_of(x, begin):
    begin = begin % x.ndim
    return tuple(range(begin, x.ndim))


def layer_norm(x, gamma, beta, begin_norm_axis=1, begin_params_axis=1, epsilon=1e-7):
    del begin_params_axis
    given = x
    x, gamma, beta = wide(x, gamma, beta)
    axes = axes_of(x, begin_norm_axis)
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return kind(given, (x - mean) / np.sqrt(variance + epsilon) * gamma + beta, mean, variance)


def layer_norm_grad(
    dy, x, variance, mean, gamma, begin_norm_axis=1, begin_params_axis=1, epsilon=1e-7
):
    given = x
    dy, x, variance, mean, gamma = wide(dy, x, variance, mean, gamma)
    axes = axes_of(x, begin_norm_axis)
    r = 1 / np.sqrt(variance + epsilon)
    h = (x - mean) * r
    a = dy * gamma
    dx = r * (a - a.mean(axes, keepdims=True) - h * (a * h).mean(axes, keepdims=True))
    lead = tuple(range(begin_params_axis % x.ndim))
    return kind(given, dx, (dy * h).sum(lead), dy.sum(lead))


LAYERS = [
    ((3, 8), 1, 1),
    ((2, 3, 4), 1, 1),
    ((2, 3, 4), -1, -1),
    ((2, 3, 4), 1, 2),
    ((2, 3, 4), 2, 1),
    ((2, 3, 4), 0, 0),
    ((70, 65), 1, 1),
    ((5,), 0, 0),
]


def begins(norm, params):
    return {"begin_norm_axis": norm, "begin_params_axis": params}


def statistics_shape(shape, norm):
    return tuple(1 if i >= norm % len(shape) else s for i, s in enumerate(shape))


row(
    "LayerNorm",
    ref=layer_norm,
    good=[
        args(f32(*s), f32(*s[p % len(s) :]), f32(*s[p % len(s) :]), **begins(n, p))
        for s, n, p in LAYERS
    ]
    + [args(f32(0, 4), f32(4), f32(4)), args(f32(2, 4), f32(4), f32(4), epsilon=0.1)],
    bad=[
        args(f32([2.0][0]), f32(1), f32(1), says="must have at least one dimension"),
        args(f32(2, 3), f32(2), f32(3), says="'gamma' must have the shape [3]"),
        args(f32(2, 3), f32(3), f32(2, 3), says="'beta' must have the shape [3]"),
        args(f32(2, 3), f32(3), f64(3), says="'beta' must have the dtype of 'input_x'"),
        args(f32(2, 3), f32(3), f32(3), begin_norm_axis=2, says="the axis must be in [-2, 2)"),
        args(f32(2, 3), f32(3), f32(3), begin_params_axis=-3, says="the axis must be in [-2, 2)"),
        args(f32(2, 3), f32(3), f32(3), epsilon=-1.0, says="'epsilon' must be in [0, 1)"),
    ],
    tol=LOOSE,
)


def layer_args(s, n, p):
    stats = statistics_shape(s, n)
    return args(
        f32(*s), f32(*s), f32(*stats, low=0.5), f32(*stats), f32(*s[p % len(s) :]), **begins(n, p)
    )


ROWS = f32(2, 1)
row(
    "LayerNormGrad",
    ref=layer_norm_grad,
    good=[layer_args(*layer) for layer in LAYERS],
    bad=[
        args(f32(2, 3), f32(2, 4), ROWS, ROWS, f32(4), says="must have the same shape"),
        args(f64(2, 3), f32(2, 3), ROWS, ROWS, f32(3), says="must have the same dtype"),
        args(f32(2, 3), f32(2, 3), ROWS, ROWS, f32(2), says="'gamma' must have the shape [3]"),
        args(f32(2, 3), f32(2, 3), f32(2), ROWS, f32(3), says="'variance' must have shape [2, 1]"),
    ],
    tol={**LOOSE, f16: 1e-1, bf16: 1.0},
)


def l2_normalize(x, axis=0, epsilon=1e-4):
    square = (wide(x)[0] ** 2).sum(axis, keepdims=True)
    return (x / np.sqrt(np.maximum(square, epsilon))).astype(x.dtype)


row(
    "L2Normalize",
    ref=l2_normalize,
    good=[
        args(f32(3, 4)),
        args(f32(3, 4), axis=1),
        args(f32(2, 3, 4), axis=-2),
        args(f32(3, 4), epsilon=5.0),
    ],
    bad=[
        args(f32(3, 4), axis=2, says="the axis must be in [-2, 2)"),
        args(f32(3, 4), axis=(0, 1), says="'axis' must be one integer"),
    ],
    tol=LOOSE,
)
