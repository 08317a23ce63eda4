"""Rows of pooling."""

import numpy as np
from rowlib import args, f32, f64, row


def pair(value):
    value = (value,) if isinstance(value, int) else tuple(value)
    return value[-2:] if len(value) == 4 else (value * 2)[:2]


class Windows:
    """The elements of each window, as lists of rows and columns."""

    def __init__(self, shape, **a):
        last = a.get("data_format", "NCHW") == "NHWC"
        self.sizes = shape[1:3] if last else shape[2:]
        kernel, stride = pair(a.get("kernel_size", 1)), pair(a.get("strides", 1))
        dilation = pair(a.get("dilation", 1))
        mode = a.get("pad_mode", "valid").lower()
        pads = a.get("pad", 0)
        pads = (pads,) * 4 if isinstance(pads, int) else pads
        self.axes = []
        for i in (0, 1):
            size, k, s, d = self.sizes[i], kernel[i], stride[i], dilation[i]
            before, after = pads[2 * i : 2 * i + 2]
            span = (k - 1) * d + 1
            if mode == "same":
                out = -(-size // s)
                before = max(0, (out - 1) * s + span - size) // 2
            else:
                steps = size + before + after - span
                out = steps // s + 1
                if a.get("ceil_mode") and steps % s and out * s < size + before:
                    out += 1
            starts = [o * s - before for o in range(out)]
            taps = [[t + j * d for j in range(k)] for t in starts]
            # Elements inside, and how many count when the padding does.
            self.axes.append(
                [
                    ([t for t in w if 0 <= t < size], min(w[0] + k, size + after) - w[0])
                    for w in taps
                ]
            )

    def each(self):
        for i, (rows, row_count) in enumerate(self.axes[0]):
            for j, (columns, column_count) in enumerate(self.axes[1]):
                yield i, j, rows, columns, row_count * column_count

    @property
    def out(self):
        return len(self.axes[0]), len(self.axes[1])


def planes(f):
    """A function of [n, c, h, w] arrays for either format."""

    def run(*xs, **a):
        last = a.get("data_format", "NCHW") == "NHWC"
        xs = [np.moveaxis(x, -1, 1) if last else x for x in xs]
        results = f(*xs, **{**a, "data_format": "NCHW"})
        move = lambda y: np.ascontiguousarray(np.moveaxis(y, 1, -1)) if last else y
        return tuple(map(move, results)) if isinstance(results, tuple) else move(results)

    return run


def first_maxima(x, a):
    """(i, j, position) arrays [n, c] of the first maximum of each window."""
    width = x.shape[3]
    for i, j, rows, columns, _ in Windows(x.shape, **a).each():
        flat = x[:, :, rows][:, :, :, columns].reshape(*x.shape[:2], len(rows) * len(columns))
        at = np.argmax(flat, axis=-1)  # of NumPy: the first one, and a nan wins
        yield (
            i,
            j,
            np.array(rows)[at // len(columns)] * width + np.array(columns)[at % len(columns)],
        )


def gather(x, values, a):
    n, c = x.shape[:2]
    y = np.zeros((n, c, *Windows(x.shape, **a).out), x.dtype)
    mask = np.zeros(y.shape, np.int32)
    flat = values.reshape(n, c, x.shape[2] * x.shape[3])
    for i, j, at in first_maxima(x, a):
        y[:, :, i, j] = np.take_along_axis(flat, at[..., None], -1)[..., 0]
        mask[:, :, i, j] = at
    return y, mask


@planes
def max_pool(x, **a):
    return gather(x, x, a)[0]


@planes
def max_pool_with_argmax(x, **a):
    return gather(x, x, a)


@planes
def max_pool_grad_grad(x, values, **a):
    return gather(x, values, a)[0]


@planes
def max_pool_grad(x, dy, **a):
    n, c = x.shape[:2]
    dx = np.zeros((n, c, x.shape[2] * x.shape[3]), x.dtype)
    for i, j, at in first_maxima(x, a):
        for k in np.ndindex(n, c):
            dx[(*k, at[k])] += dy[(*k, i, j)]
    return dx.reshape(x.shape)


def divisor(rows, columns, count, a):
    if a.get("divisor_override"):
        return a["divisor_override"]
    return count if a.get("count_include_pad") else len(rows) * len(columns)


@planes
def avg_pool(x, **a):
    w = Windows(x.shape, **a)
    y = np.zeros((*x.shape[:2], *w.out), x.dtype)
    for i, j, rows, columns, count in w.each():
        y[:, :, i, j] = x[:, :, rows][:, :, :, columns].sum((2, 3)) / divisor(
            rows, columns, count, a
        )
    return y


def avg_pool_grad(dy, input_size, **a):
    @planes
    def run(dy, **a):
        last = shape_last
        shape = [input_size[i] for i in ((0, 3, 1, 2) if last else (0, 1, 2, 3))]
        dx = np.zeros(shape, dy.dtype)
        for i, j, rows, columns, count in Windows(shape, **a).each():
            share = dy[:, :, i, j] / divisor(rows, columns, count, a)
            dx[np.ix_(range(shape[0]), range(shape[1]), rows, columns)] += share[:, :, None, None]
        return dx

    shape_last = a.get("data_format", "NCHW") == "NHWC"
    return run(dy, **a)


def distinct(*shape):
    """Numbers without ties, far apart: a finite difference must not change which is largest."""
    random = np.random.default_rng(sum(shape))
    return f32(random.permutation(int(np.prod(shape))).reshape(shape) / 8.0)


COMMON = [
    ((2, 3, 6, 7), {"kernel_size": 2, "strides": 2}),
    ((2, 3, 7, 7), {"kernel_size": 3, "strides": 2, "pad_mode": "same"}),
    ((1, 2, 6, 5), {"kernel_size": (3, 2), "strides": (1, 2), "pad_mode": "VALID"}),
    ((2, 3, 8, 8), {"kernel_size": 3, "strides": 2, "pad_mode": "pad", "pad": 1}),
    ((1, 2, 7, 6), {"kernel_size": 3, "strides": 1, "pad_mode": "pad", "pad": (1, 0, 0, 1)}),
    ((2, 1, 8, 7), {"kernel_size": 3, "strides": 3, "pad_mode": "pad", "ceil_mode": True}),
    ((2, 6, 5, 3), {"kernel_size": 2, "strides": 2, "data_format": "NHWC"}),
    ((1, 1, 35, 40), {"kernel_size": (1, 1, 4, 5), "strides": 4}),
]
DILATED = (
    (1, 2, 9, 9),
    {"kernel_size": 3, "strides": 2, "dilation": 2, "pad_mode": "pad", "pad": 2},
)

X = (1, 1, 4, 4)


def refused(make):
    return [
        make(X, {"kernel_size": 0}, "'kernel_size' must be positive"),
        make(X, {"kernel_size": (2, -1)}, "'kernel_size' must be positive"),
        make(X, {"kernel_size": 2**62}, "'kernel_size' must be positive and less than 2^31"),
        make(X, {"kernel_size": (1, 2, 3)}, "'kernel_size' must be an int or a tuple of 2 or 4"),
        make(X, {"kernel_size": 5}, "must be at least that of the kernel, but got 4 and 5"),
        make(X, {"strides": 0}, "'strides' must be positive"),
        make(X, {"pad_mode": "full"}, "'pad_mode' must be one of"),
        make(X, {"pad": 1}, "'pad' must be 0 unless 'pad_mode' is 'pad'"),
        make(X, {"pad_mode": "pad", "pad": 1}, "'pad' must be at most half of the kernel"),
        make(X, {"pad_mode": "pad", "pad": -1}, "'pad' must not be negative"),
        make(X, {"data_format": "NCWH"}, "'data_format' must be 'NCHW' or 'NHWC'"),
        make((4, 4, 4), {}, "must have 4 dimensions"),
        make((1, 1, 0, 4), {}, "the height and width of the input must be positive"),
    ]


def out_shape(shape, a):
    w = Windows(shape, **a)
    if a.get("data_format") == "NHWC":
        return (shape[0], *w.out, shape[3])
    return (*shape[:2], *w.out)


def max_row(name, ref, second=None, extra_bad=(), grad=True):
    """`second` makes the shape of the second input from that of x."""

    def make(shape, a, x=None, says=""):
        x = distinct(*shape) if x is None else x
        if second is None:
            return args(x, says=says, **a)
        shape = X if says else second(shape, a)
        return args(x, f32(*shape), says=says, **a)

    row(
        name,
        ref=ref,
        good=[make(s, a) for s, a in [*COMMON, DILATED]] + [make((0, 2, 4, 4), {"kernel_size": 2})],
        grad=grad,
        bad=[make(s, a, says=says) for s, a, says in refused(lambda *z: z)]
        + list(extra_bad)
        + [make(X, {"dilation": 0}, says="'dilation' must be positive")],
    )


max_row("MaxPool", max_pool)
max_row("MaxPoolWithArgmax", max_pool_with_argmax)
max_row(
    "MaxPoolGrad",
    max_pool_grad,
    out_shape,
    [
        args(f32(*X), f32(1, 1, 3, 3), kernel_size=2, strides=2, says="'dy' must have the shape"),
        args(f32(*X), f64(1, 1, 2, 2), kernel_size=2, strides=2, says="must have the same dtype"),
    ],
)
max_row(
    "MaxPoolGradGrad",
    max_pool_grad_grad,
    lambda shape, a: shape,
    [
        args(f32(*X), f32(1, 1, 3, 3), says="must have the same shape"),
        args(f32(*X), f64(*X), says="must have the same dtype"),
    ],
)

AVERAGES = [
    *COMMON,
    (
        (2, 3, 7, 8),
        {"kernel_size": 3, "strides": 2, "pad_mode": "pad", "pad": 1, "count_include_pad": True},
    ),
    (
        (1, 2, 7, 8),
        {
            "kernel_size": 3,
            "strides": 2,
            "pad_mode": "pad",
            "pad": 1,
            "ceil_mode": True,
            "count_include_pad": True,
        },
    ),
    ((1, 2, 6, 6), {"kernel_size": 2, "strides": 2, "divisor_override": 3}),
]
NEGATIVE = "'divisor_override' must not be negative"
row(
    "AvgPool",
    ref=avg_pool,
    good=[args(f32(*s), **a) for s, a in AVERAGES] + [args(f32(0, 2, 4, 4), kernel_size=2)],
    bad=refused(lambda shape, a, says: args(f32(*shape), says=says, **a))
    + [args(f32(*X), divisor_override=-1, says=NEGATIVE)],
)
row(
    "AvgPoolGrad",
    ref=avg_pool_grad,
    good=[args(f32(*out_shape(s, a)), input_size=s, **a) for s, a in AVERAGES],
    bad=refused(lambda shape, a, says: args(f32(*X), input_size=shape, says=says, **a))
    + [args(f32(1, 1, 3, 3), input_size=X, kernel_size=3, says="'dy' must have the shape")],
)


# ---- adaptive ------------------------------------------------------------------------------------
def cells(size, count):
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def adaptive_shape(shape, output_size):
    wanted = (output_size,) if isinstance(output_size, int) else output_size
    wanted = (wanted * 2)[:2]
    return (*shape[:-2], *(s if w == -1 else w for s, w in zip(shape[-2:], wanted)))


def adaptive(x, output_size):
    y = np.zeros(adaptive_shape(x.shape, output_size), x.dtype)
    for i, (top, bottom) in enumerate(cells(x.shape[-2], y.shape[-2])):
        for j, (left, right) in enumerate(cells(x.shape[-1], y.shape[-1])):
            y[..., i, j] = x[..., top:bottom, left:right].mean((-1, -2))
    return y


def adaptive_grad(dy, input_size):
    dx = np.zeros(input_size, dy.dtype)
    for i, (top, bottom) in enumerate(cells(dx.shape[-2], dy.shape[-2])):
        for j, (left, right) in enumerate(cells(dx.shape[-1], dy.shape[-1])):
            area = (bottom - top) * (right - left)
            dx[..., top:bottom, left:right] += dy[..., i : i + 1, j : j + 1] / area
    return dx


GRIDS = [((2, 3, 7, 6), 3), ((2, 3, 7, 6), (1, 1)), ((3, 5, 4), (-1, 2)), ((1, 2, 3, 3), (5, 2))]
row(
    "AdaptiveAvgPool2D",
    ref=adaptive,
    good=[args(f32(*s), output_size=o) for s, o in GRIDS],
    bad=[
        args(f32(4, 4), output_size=2, says="the input must have 3 or 4 dimensions"),
        args(f32(1, 0, 4), output_size=2, says="the height and width of the input"),
        args(f32(*X), output_size=0, says="'output_size' must be positive"),
        args(f32(*X), output_size=(1, 2, 3), says="'output_size' must be an int or a tuple of 2"),
    ],
)
row(
    "AdaptiveAvgPool2DGrad",
    ref=adaptive_grad,
    good=[args(f32(*adaptive_shape(s, o)), input_size=s) for s, o in GRIDS],
    bad=[
        args(f32(4, 4), input_size=X, says="'dy' must have as many dimensions as the input"),
        args(f32(2, 1, 2, 2), input_size=X, says="'dy' must have the shape"),
        args(f32(1, 1, 0, 2), input_size=X, says="'output_size' must be positive"),
    ],
)
