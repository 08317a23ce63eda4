"""Rows of convolution and its two gradients. The references are loops over output positions."""

import numpy as np
from rowlib import args, bf16, f16, f32, f64, row

LOOSE = {f16: 2e-2, bf16: 2e-1, f32: 1e-4}


def pair(value):
    value = (value,) if isinstance(value, int) else tuple(value)
    return value[-2:] if len(value) == 4 else (value * 2)[:2]


class Geometry:
    """Where windows lie."""

    def __init__(self, height, width, **a):
        self.kernel = pair(a["kernel_size"])
        self.stride = pair(a.get("stride", 1))
        self.dilation = pair(a.get("dilation", 1))
        self.group = a.get("group", 1)
        self.last = a.get("data_format", "NCHW") == "NHWC"
        mode = a.get("pad_mode", "valid").lower()
        pads = a.get("pad", 0)
        pads = (pads,) * 4 if isinstance(pads, int) else tuple(pads) * (4 // len(pads))
        sizes = (height, width)
        spans = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation)]
        if mode == "same":
            pads = ()
            for size, span, stride in zip(sizes, spans, self.stride):
                total = max(0, (-(-size // stride) - 1) * stride + span - size)
                pads += (total // 2, total - total // 2)
        self.pads = pads
        self.out = tuple(
            (sizes[i] + pads[2 * i] + pads[2 * i + 1] - spans[i]) // self.stride[i] + 1
            for i in (0, 1)
        )

    def positions(self):
        """(output row, output column, rows of the padded input, its columns)."""
        for i in range(self.out[0]):
            for j in range(self.out[1]):
                yield i, j, self._taps(0, i), self._taps(1, j)

    def _taps(self, axis, i):
        start = i * self.stride[axis]
        span = self.kernel[axis] * self.dilation[axis]
        return slice(start, start + span, self.dilation[axis])

    def padded(self, x):
        top, bottom, left, right = self.pads
        return np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))

    def cropped(self, x, height, width):
        top, _, left, _ = self.pads
        return x[:, :, top : top + height, left : left + width]


def first(x, last):
    return np.moveaxis(x, -1, 1) if last else x


def back(x, last):
    return np.ascontiguousarray(np.moveaxis(x, 1, -1)) if last else x


def conv(x, w, **a):
    last = a.get("data_format", "NCHW") == "NHWC"
    x, w = first(x, last), first(w, last)
    g = Geometry(*x.shape[2:], **a)
    padded = g.padded(x)
    y = np.zeros((x.shape[0], w.shape[0], *g.out), x.dtype)
    c, o = x.shape[1] // g.group, w.shape[0] // g.group
    for k in range(g.group):
        part = padded[:, k * c : (k + 1) * c]
        filters = w[k * o : (k + 1) * o]
        for i, j, rows, columns in g.positions():
            y[:, k * o : (k + 1) * o, i, j] = np.einsum(
                "nchw,ochw->no", part[:, :, rows, columns], filters
            )
    return back(y, last)


def input_grad(dy, w, input_size, pad_list=None, **a):
    del pad_list
    last = a.get("data_format", "NCHW") == "NHWC"
    dy, w = first(dy, last), first(w, last)
    n, channels, height, width = np.array(input_size)[[0, 3, 1, 2] if last else [0, 1, 2, 3]]
    g = Geometry(height, width, **a)
    dx = g.padded(np.zeros((n, channels, height, width), dy.dtype))
    c, o = channels // g.group, w.shape[0] // g.group
    for k in range(g.group):
        for i, j, rows, columns in g.positions():
            dx[:, k * c : (k + 1) * c, rows, columns] += np.einsum(
                "no,ochw->nchw", dy[:, k * o : (k + 1) * o, i, j], w[k * o : (k + 1) * o]
            )
    return back(g.cropped(dx, height, width), last)


def filter_grad(dy, x, filter_size, pad_list=None, **a):
    del pad_list
    last = a.get("data_format", "NCHW") == "NHWC"
    dy, x = first(dy, last), first(x, last)
    g = Geometry(*x.shape[2:], **a)
    padded = g.padded(x)
    c, o = x.shape[1] // g.group, dy.shape[1] // g.group
    dw = np.zeros((dy.shape[1], c, *g.kernel), dy.dtype)
    for k in range(g.group):
        for i, j, rows, columns in g.positions():
            dw[k * o : (k + 1) * o] += np.einsum(
                "no,nchw->ochw",
                dy[:, k * o : (k + 1) * o, i, j],
                padded[:, k * c : (k + 1) * c, rows, columns],
            )
    dw = back(dw, last)
    assert dw.shape == tuple(filter_size)
    return dw


# Shapes of x, w and attributes; the samples of all three ops follow from them.
PROBLEMS = [
    ((2, 3, 7, 6), (4, 3, 3, 3), {}),
    ((2, 3, 7, 6), (4, 3, 3, 3), {"pad_mode": "same", "stride": 2}),
    ((1, 2, 6, 6), (2, 2, 3, 2), {"pad_mode": "SAME", "dilation": 2}),
    ((2, 4, 5, 8), (6, 2, 3, 1), {"pad_mode": "pad", "pad": (1, 2, 0, 1), "group": 2}),
    ((1, 4, 6, 5), (4, 1, 3, 3), {"pad_mode": "pad", "pad": 2, "group": 4, "stride": (2, 1)}),
    ((2, 5, 4, 4), (3, 5, 1, 1), {}),
    ((1, 3, 9, 9), (2, 3, 1, 1), {"stride": (1, 1, 2, 3)}),
    ((1, 1, 8, 8), (1, 1, 3, 3), {"dilation": (3, 2), "pad_mode": "pad", "pad": 3}),
    ((2, 3, 6, 5), (4, 3, 3, 3), {"data_format": "NHWC", "pad_mode": "same", "stride": 2}),
    ((2, 4, 5, 6), (4, 2, 2, 2), {"data_format": "NHWC", "group": 2}),
    ((2, 4, 8, 8), (4, 4, 1, 1), {"data_format": "NHWC", "stride": 2}),
]


def expand(x, w, attrs):
    """The shape of y, and all attributes."""
    attrs = {"out_channel": w[0], "kernel_size": w[2:], **attrs}
    if attrs.get("data_format") == "NHWC":
        g = Geometry(x[2], x[3], **attrs)
        move = lambda s: (s[0], *s[2:], s[1])
        return move(x), move(w), (x[0], *g.out, w[0]), attrs
    g = Geometry(*x[2:], **attrs)
    return x, w, (x[0], w[0], *g.out), attrs


def problems(make):
    return [make(*expand(x, w, attrs)) for x, w, attrs in PROBLEMS]


X, W = (1, 2, 5, 5), (2, 2, 3, 3)
ATTRS = {"out_channel": 2, "kernel_size": 3}


def refused(make):
    """What all three refuse; `make(x, w, attributes, says)`."""
    return [
        make(X[1:], W, ATTRS, "must have 4 dimensions"),
        make(X, W[1:], ATTRS, "must have 4 dimensions"),
        make(X, W, {**ATTRS, "kernel_size": 2}, "the weight must have shape [2, 2, 2, 2]"),
        make(X, W, {**ATTRS, "out_channel": 3}, "the weight must have shape [3, 2, 3, 3]"),
        make(X, W, {**ATTRS, "out_channel": 0}, "'out_channel' must be positive, but got 0"),
        make(X, W, {**ATTRS, "stride": 0}, "'stride' must be positive"),
        make(X, W, {**ATTRS, "stride": (1, -2)}, "'stride' must be positive"),
        make(X, W, {**ATTRS, "stride": (1, 2, 3)}, "'stride' must be an int or a tuple of 2 or 4"),
        make(X, W, {**ATTRS, "stride": (2, 1, 1, 1)}, "must be 1 for the batch and the channels"),
        make(X, W, {**ATTRS, "stride": 2**62}, "'stride' must be positive and less than 2^31"),
        make(X, W, {**ATTRS, "dilation": 0}, "'dilation' must be positive"),
        make(X, W, {**ATTRS, "dilation": 2**62}, "'dilation' must be positive and less than"),
        make(
            X, W, {**ATTRS, "dilation": 3}, "must be at least that of the kernel, but got 5 and 7"
        ),
        make(X, W, {**ATTRS, "pad_mode": "full"}, "'pad_mode' must be one of"),
        make(X, W, {**ATTRS, "pad": 1}, "'pad' must be 0 unless 'pad_mode' is 'pad'"),
        make(X, W, {**ATTRS, "pad_mode": "pad", "pad": -1}, "'pad' must not be negative"),
        make(X, W, {**ATTRS, "pad_mode": "pad", "pad": (1, 2)}, "'pad' must be an int or a tuple"),
        make(X, W, {**ATTRS, "mode": 0}, "'mode' must be 1"),
        make(X, W, {**ATTRS, "group": 0}, "'group' must be positive"),
        make((1, 3, 5, 5), (2, 1, 3, 3), {**ATTRS, "group": 2}, "must be divisible by 'group' 2"),
        make((1, 0, 5, 5), (2, 0, 3, 3), ATTRS, "must have at least one channel"),
        make(X, W, {**ATTRS, "data_format": "CHWN"}, "'data_format' must be 'NCHW' or 'NHWC'"),
    ]


row(
    "Conv2D",
    ref=conv,
    good=problems(lambda x, w, y, a: args(f32(*x), f32(*w), **a))
    + [args(f32(0, 3, 5, 5), f32(2, 3, 3, 3), out_channel=2, kernel_size=3)],
    bad=[
        *refused(lambda x, w, a, says: args(f32(*x), f32(*w), says=says, **a)),
        args(f32(*X), f64(*W), says="must have the same dtype", **ATTRS),
        args(f32(1, 2, 2, 2), f32(*W), says="the height of the input after padding", **ATTRS),
    ],
    tol=LOOSE,
)
row(
    "Conv2DBackpropInput",
    ref=input_grad,
    good=problems(lambda x, w, y, a: args(f32(*y), f32(*w), input_size=x, **a)),
    bad=[
        *refused(
            lambda x, w, a, says: args(f32(1, 2, 3, 3), f32(*w), input_size=x, says=says, **a)
        ),
        args(f32(1, 2, 4, 3), f32(*W), input_size=X, says="of the convolution's output", **ATTRS),
        args(f32(1, 2, 3, 3), f64(*W), input_size=X, says="must have the same dtype", **ATTRS),
        args(
            f32(1, 2, 3, 3),
            f32(*W),
            input_size=X,
            pad_list=(1, 1, 1, 1),
            **ATTRS,
            says="'pad_list' must equal 'pad'",
        ),
    ],
    tol=LOOSE,
)
row(
    "Conv2DBackpropFilter",
    ref=filter_grad,
    good=problems(lambda x, w, y, a: args(f32(*y), f32(*x), filter_size=w, **a)),
    bad=[
        *refused(
            lambda x, w, a, says: args(f32(1, 2, 3, 3), f32(*x), filter_size=w, says=says, **a)
        ),
        args(f32(1, 2, 4, 3), f32(*X), filter_size=W, says="of the convolution's output", **ATTRS),
        args(f32(1, 2, 3, 3), f64(*X), filter_size=W, says="must have the same dtype", **ATTRS),
        args(
            f32(1, 2, 3, 3),
            f32(*X),
            filter_size=W,
            pad_list=(1, 1, 1, 1),
            **ATTRS,
            says="'pad_list' must equal 'pad'",
        ),
    ],
    tol=LOOSE,
)


def conv_bias(x, w, bias, addend=None, activation="", **a):
    y = conv(x, w, **a)
    y = y + first(bias.reshape(1, 1, 1, -1), a.get("data_format") != "NHWC")
    if addend is not None:
        y = y + addend
    return ACTIVATIONS[activation](y.astype(np.float64)).astype(x.dtype)


ACTIVATIONS = {
    "": lambda y: y,
    "relu": lambda y: np.maximum(y, 0),
    "relu6": lambda y: np.clip(y, 0, 6),
    "silu": lambda y: y / (1 + np.exp(-y)),
    "hswish": lambda y: y * np.clip(y / 6 + 0.5, 0, 1),
}


def epilogue(x, w, y, a):
    return args(f32(*x), f32(*w), f32(w[0]), **a)


ONE = {"out_channel": 2, "kernel_size": 1}
row(
    "Conv2DBias",
    ref=conv_bias,
    good=problems(epilogue)
    + [
        args(f32(1, 2, 3, 4), f32(2, 2, 1, 1), f32(2), activation=name, **ONE)
        for name in ("relu6", "silu", "hswish")
    ],
    bad=[
        *refused(lambda x, w, a, says: args(f32(*x), f32(*w), f32(2), says=says, **a)),
        args(f32(*X), f64(*W), f32(2), says="must have the same dtype", **ATTRS),
        args(f32(*X), f32(*W), f64(2), says="must have the same dtype", **ATTRS),
        args(f32(*X), f32(*W), f32(3), says="the bias must have shape [2]", **ATTRS),
        args(f32(*X), f32(*W), f32(2), activation="elu", says="'activation' must be", **ATTRS),
    ],
    tol=LOOSE,
)
row(
    "Conv2DBiasAdd",
    ref=conv_bias,
    good=problems(
        lambda x, w, y, a: args(f32(*x), f32(*w), f32(w[0]), f32(*y), activation="relu", **a)
    ),
    bad=[
        args(f32(*X), f32(*W), f32(2), f32(2), says="the addend must have shape", **ATTRS),
        args(f32(*X), f32(*W), f32(2), f64(1, 2, 3, 3), says="the same dtype", **ATTRS),
    ],
    tol=LOOSE,
)
# What comes out is the device's own affair: of one block of sixteen channels, all elements.
PACKED = {"out_channel": 16, "kernel_size": 1, "data_format": "NHWC", "weight_format": "OIHW"}
row(
    "PackWeight",
    ref=None,
    good=[args(f32(16, 16, 1, 1), input_size=(1, 5, 5, 16), size=256, **PACKED)],
    bad=[
        args(
            f32(16, 16, 1, 1), input_size=(1, 5, 5, 16), size=0, says="must be positive", **PACKED
        ),
        args(
            f32(16, 8, 1, 1),
            input_size=(1, 5, 5, 16),
            size=256,
            says="the weight must have shape [16, 16, 1, 1]",
            **PACKED,
        ),
    ],
    grad=False,
)
