"""Rows of convolution and pooling in three dimensions, and of adaptive maxima. The references are loops over windows."""

import itertools

import numpy as np
from rowlib import args, bf16, f16, f32, f64, row

LOOSE = {f16: 2e-2, bf16: 2e-1, f32: 1e-4}


def triple(value):
    value = (value,) if isinstance(value, int) else tuple(value)
    return value[-3:] if len(value) == 5 else (value * 3)[:3]


def along(size, kernel, stride, dilation, before, after, mode, ceil):
    """For each window of a dimension: its elements, which of them lie inside, and how long it is with the padding."""
    span = (kernel - 1) * dilation + 1
    if mode == "same":
        out = -(-size // stride)
        total = max(0, (out - 1) * stride + span - size)
        before, after = total // 2, total - total // 2
    else:
        steps = size + before + after - span
        out = steps // stride + 1
        if ceil and steps % stride and out * stride < size + before:
            out += 1
    for i in range(out):
        start = i * stride - before
        taps = [start + k * dilation for k in range(kernel)]
        inside = [k for k, t in enumerate(taps) if 0 <= t < size]
        yield taps, inside, min(start + kernel, size + after) - start


def windows(space, **a):
    """(place of the window, its elements inside along each dimension, their places in the kernel, its size)."""
    kernel = triple(a.get("kernel_size", 1))
    stride = triple(a.get("strides", a.get("stride", 1)))
    dilation, mode = triple(a.get("dilation", 1)), a.get("pad_mode", "valid").lower()
    pads = a.get("pad", 0)
    pads = (pads,) * 6 if isinstance(pads, int) else pads
    axes = [
        list(
            along(
                space[i],
                kernel[i],
                stride[i],
                dilation[i],
                *pads[2 * i : 2 * i + 2],
                mode,
                a.get("ceil_mode"),
            )
        )
        for i in range(3)
    ]
    for place in itertools.product(*(range(len(axis)) for axis in axes)):
        found = [axes[d][i] for d, i in enumerate(place)]
        elements = [[taps[k] for k in inside] for taps, inside, _ in found]
        yield place, elements, [inside for _, inside, _ in found], np.prod([n for *_, n in found])


def grid(space, **a):
    return tuple(i + 1 for i in max(place for place, *_ in windows(space, **a)))


def at(x, elements):
    """The elements [n, c, ...] of a window."""
    return x[np.ix_(range(x.shape[0]), range(x.shape[1]), *elements)]


# ---- convolution ---------------------------------------------------------------------------------
def groups(channels, count):
    size = channels // count
    return [range(i * size, (i + 1) * size) for i in range(count)]


def conv(x, w, **a):
    y = np.zeros((x.shape[0], w.shape[0], *grid(x.shape[2:], **a)), x.dtype)
    count = a.get("group", 1)
    for place, elements, taps, _ in windows(x.shape[2:], **a):
        part = at(x, elements)
        filters = at(w, taps)
        for i, o in zip(groups(x.shape[1], count), groups(w.shape[0], count)):
            y[(slice(None), list(o), *place)] = np.einsum(
                "ncdhw,ocdhw->no", part[:, list(i)], filters[list(o)]
            )
    return y


def input_grad(dy, w, input_size, pad_list=None, **a):
    del pad_list
    dx = np.zeros(input_size, dy.dtype)
    count = a.get("group", 1)
    for place, elements, taps, _ in windows(input_size[2:], **a):
        filters = at(w, taps)
        for i, o in zip(groups(input_size[1], count), groups(w.shape[0], count)):
            dx[np.ix_(range(dx.shape[0]), i, *elements)] += np.einsum(
                "no,ocdhw->ncdhw", dy[(slice(None), list(o), *place)], filters[list(o)]
            )
    return dx


def filter_grad(dy, x, filter_size, pad_list=None, **a):
    del pad_list
    dw = np.zeros(filter_size, dy.dtype)
    count = a.get("group", 1)
    for place, elements, taps, _ in windows(x.shape[2:], **a):
        part = at(x, elements)
        for i, o in zip(groups(x.shape[1], count), groups(dw.shape[0], count)):
            dw[np.ix_(o, range(dw.shape[1]), *taps)] += np.einsum(
                "no,ncdhw->ocdhw", dy[(slice(None), list(o), *place)], part[:, list(i)]
            )
    return dw


PROBLEMS = [
    ((2, 3, 4, 5, 4), (4, 3, 2, 3, 2), {}),
    ((1, 2, 5, 4, 6), (3, 2, 3, 3, 3), {"pad_mode": "same", "stride": 2}),
    ((1, 2, 4, 4, 5), (2, 2, 2, 2, 2), {"pad_mode": "SAME", "dilation": (1, 2, 2)}),
    (
        (1, 4, 3, 4, 4),
        (6, 2, 3, 2, 1),
        {"pad_mode": "pad", "pad": (1, 1, 0, 2, 1, 0), "group": 2},
    ),
    ((1, 3, 4, 4, 4), (3, 1, 2, 2, 2), {"pad_mode": "pad", "pad": 1, "group": 3, "stride": 2}),
    ((2, 5, 2, 3, 3), (3, 5, 1, 1, 1), {}),
    ((1, 3, 5, 4, 4), (2, 3, 1, 1, 1), {"stride": (1, 1, 2, 3, 1)}),
]
X, W = (1, 2, 4, 4, 4), (2, 2, 3, 3, 3)
ATTRS = {"out_channel": 2, "kernel_size": 3}


def problems(make):
    made = []
    for x, w, attrs in PROBLEMS:
        attrs = {"out_channel": w[0], "kernel_size": w[2:], **attrs}
        made.append(make(x, w, (x[0], w[0], *grid(x[2:], **attrs)), attrs))
    return made


def refused(make):
    """What all three refuse; `make(x, w, attributes, says)`."""
    return [
        make(X[1:], W, ATTRS, "must have 5 dimensions"),
        make(X, W[1:], ATTRS, "must have 5 dimensions"),
        make(X, W, {**ATTRS, "kernel_size": 2}, "the weight must have shape [2, 2, 2, 2, 2]"),
        make(X, W, {**ATTRS, "stride": (1, 2)}, "'stride' must be an int or a tuple of 3 or 5"),
        make(X, W, {**ATTRS, "dilation": 0}, "'dilation' must be positive"),
        make(X, W, {**ATTRS, "dilation": 2}, "the depth of the input after padding"),
        make(X, W, {**ATTRS, "pad": 1}, "'pad' must be 0 unless 'pad_mode' is 'pad'"),
        make(X, W, {**ATTRS, "pad_mode": "pad", "pad": (1, 1, 1, 1)}, "a tuple of 6 ints"),
        make(X, W, {**ATTRS, "group": 3}, "must be divisible by 'group' 3"),
        make(X, W, {**ATTRS, "data_format": "NCHW"}, "'data_format' must be 'NCDHW'"),
    ]


row(
    "Conv3D",
    ref=conv,
    good=problems(lambda x, w, y, a: args(f32(*x), f32(*w), **a))
    + [args(f32(0, 3, 4, 4, 4), f32(2, 3, 3, 3, 3), **ATTRS)],
    bad=[
        *refused(lambda x, w, a, says: args(f32(*x), f32(*w), says=says, **a)),
        args(f32(*X), f64(*W), says="must have the same dtype", **ATTRS),
    ],
    tol=LOOSE,
)
row(
    "Conv3DBackpropInput",
    ref=input_grad,
    good=problems(lambda x, w, y, a: args(f32(*y), f32(*w), input_size=x, **a)),
    bad=[
        *refused(
            lambda x, w, a, says: args(f32(1, 2, 2, 2, 2), f32(*w), input_size=x, says=says, **a)
        ),
        args(f32(1, 2, 3, 2, 2), f32(*W), input_size=X, says="convolution's output", **ATTRS),
        args(
            f32(1, 2, 2, 2, 2),
            f32(*W),
            input_size=X,
            pad_list=(1,) * 6,
            says="'pad_list' must equal 'pad'",
            **ATTRS,
        ),
    ],
    tol=LOOSE,
)
row(
    "Conv3DBackpropFilter",
    ref=filter_grad,
    good=problems(lambda x, w, y, a: args(f32(*y), f32(*x), filter_size=w, **a)),
    bad=[
        *refused(
            lambda x, w, a, says: args(f32(1, 2, 2, 2, 2), f32(*x), filter_size=w, says=says, **a)
        ),
        args(f32(1, 2, 3, 2, 2), f32(*X), filter_size=W, says="convolution's output", **ATTRS),
    ],
    tol=LOOSE,
)


# ---- maximum -------------------------------------------------------------------------------------
def first_maximum(x, elements):
    """Positions [n, c] in the volume of the first maximum of a window."""
    flat = at(x, elements).reshape(*x.shape[:2], np.prod([len(e) for e in elements]))
    best = np.argmax(flat, axis=-1)  # of NumPy: the first one, and a nan wins
    places = np.array(list(itertools.product(*elements)))
    return np.ravel_multi_index(tuple(places[best].transpose(2, 0, 1)), x.shape[2:])


def gathered(x, values, a):
    shape = (*x.shape[:2], *grid(x.shape[2:], **a))
    y, where = np.zeros(shape, x.dtype), np.zeros(shape, np.int32)
    flat = values.reshape(*x.shape[:2], np.prod(x.shape[2:]))
    for place, elements, *_ in windows(x.shape[2:], **a):
        best = first_maximum(x, elements)
        y[(..., *place)] = np.take_along_axis(flat, best[..., None], -1)[..., 0]
        where[(..., *place)] = best
    return y, where


def max_pool_grad(x, dy, **a):
    dx = np.zeros((*x.shape[:2], np.prod(x.shape[2:])), x.dtype)
    for place, elements, *_ in windows(x.shape[2:], **a):
        best = first_maximum(x, elements)
        for k in np.ndindex(*x.shape[:2]):
            dx[(*k, best[k])] += dy[(*k, *place)]
    return dx.reshape(x.shape)


def distinct(*shape):
    """Numbers without ties, far apart: a finite difference must not change which is largest."""
    random = np.random.default_rng(sum(shape))
    return f32(random.permutation(int(np.prod(shape))).reshape(shape) / 8.0)


POOLS = [
    ((2, 3, 4, 6, 4), {"kernel_size": 2, "strides": 2}),
    ((1, 2, 5, 5, 4), {"kernel_size": 3, "strides": 2, "pad_mode": "same"}),
    ((1, 2, 4, 4, 5), {"kernel_size": (2, 3, 2), "strides": (1, 2, 2), "pad_mode": "VALID"}),
    ((1, 2, 5, 6, 4), {"kernel_size": 3, "strides": 2, "pad_mode": "pad", "pad": 1}),
    (
        (1, 1, 4, 5, 4),
        {"kernel_size": 3, "strides": 1, "pad_mode": "pad", "pad": (1, 0, 0, 1, 1, 1)},
    ),
    ((1, 1, 6, 5, 6), {"kernel_size": 2, "strides": 3, "pad_mode": "pad", "ceil_mode": True}),
    ((1, 1, 8, 8, 9), {"kernel_size": (1, 1, 2, 2, 3), "strides": 3}),
]
DILATED = ((1, 2, 6, 5, 6), {"kernel_size": 2, "dilation": (2, 1, 3), "strides": 2})
TIED = f32(np.ones((1, 1, 4, 4, 4)))
P = (1, 1, 4, 4, 4)


def unpoolable(make):
    return [
        make(P, {"kernel_size": 0}, "'kernel_size' must be positive"),
        make(P, {"kernel_size": (1, 2)}, "'kernel_size' must be an int or a tuple of 3 or 5"),
        make(P, {"kernel_size": 5}, "the depth of the input after padding must be at least"),
        make(P, {"pad_mode": "pad", "pad": 1}, "'pad' must be at most half of the kernel"),
        make(P, {"data_format": "NDHWC"}, "'data_format' must be 'NCDHW'"),
        make(P[1:], {}, "must have 5 dimensions"),
        make((1, 1, 0, 4, 4), {}, "the depth, height and width of the input must be positive"),
    ]


def pooled(shape, a):
    return (*shape[:2], *grid(shape[2:], **a))


def max_row(name, ref, second=None):
    """`second` makes the shape of the second input from that of x."""

    def make(shape, a, says=""):
        x = distinct(*shape)
        if second is None:
            return args(x, says=says, **a)
        return args(x, f32(*(P if says else second(shape, a))), says=says, **a)

    good = [make(s, a) for s, a in [*POOLS, DILATED]] + [make((0, 2, 4, 4, 4), {"kernel_size": 2})]
    if second is None:
        good.append(args(TIED, kernel_size=2, strides=2, kink=True))
        good.append(args(TIED, kernel_size=3, kink=True))
    row(name, ref=ref, good=good, bad=unpoolable(make))


max_row("MaxPool3D", lambda x, **a: gathered(x, x, a)[0])
max_row("MaxPool3DWithArgmax", lambda x, **a: gathered(x, x, a))
max_row("MaxPool3DGrad", max_pool_grad, pooled)
max_row(
    "MaxPool3DGradGrad", lambda x, values, **a: gathered(x, values, a)[0], lambda shape, a: shape
)


# ---- mean ----------------------------------------------------------------------------------------
def divisor(elements, size, a):
    if a.get("divisor_override"):
        return a["divisor_override"]
    return size if a.get("count_include_pad") else np.prod([len(e) for e in elements])


def avg_pool(x, **a):
    y = np.zeros(pooled(x.shape, a), x.dtype)
    for place, elements, _, size in windows(x.shape[2:], **a):
        y[(..., *place)] = at(x, elements).sum((2, 3, 4)) / divisor(elements, size, a)
    return y


def avg_pool_grad(dy, input_size, **a):
    dx = np.zeros(input_size, dy.dtype)
    for place, elements, _, size in windows(input_size[2:], **a):
        share = dy[(..., *place)] / divisor(elements, size, a)
        dx[np.ix_(range(dx.shape[0]), range(dx.shape[1]), *elements)] += share[
            :, :, None, None, None
        ]
    return dx


MEANS = [
    *POOLS,
    (
        (1, 2, 5, 4, 5),
        {
            "kernel_size": 3,
            "strides": 2,
            "pad_mode": "pad",
            "pad": 1,
            "ceil_mode": True,
            "count_include_pad": True,
        },
    ),
    ((1, 2, 4, 4, 4), {"kernel_size": 2, "strides": 2, "divisor_override": 3}),
]
row(
    "AvgPool3D",
    ref=avg_pool,
    good=[args(f32(*s), **a) for s, a in MEANS] + [args(f32(0, 2, 4, 4, 4), kernel_size=2)],
    bad=unpoolable(lambda shape, a, says: args(f32(*shape), says=says, **a))
    + [args(f32(*P), divisor_override=-1, says="'divisor_override' must not be negative")],
)
row(
    "AvgPool3DGrad",
    ref=avg_pool_grad,
    good=[args(f32(*pooled(s, a)), input_size=s, **a) for s, a in MEANS],
    bad=unpoolable(lambda shape, a, says: args(f32(*P), input_size=shape, says=says, **a)),
)


# ---- adaptive ------------------------------------------------------------------------------------
def cells(shape, out):
    """(place, ranges) of all windows over the last dimensions."""
    axes = [
        [range(i * n // o, -(-(i + 1) * n // o)) for i in range(o)]
        for n, o in zip(shape[-len(out) :], out)
    ]
    for place in itertools.product(*(range(o) for o in out)):
        yield place, [axes[d][i] for d, i in enumerate(place)]


def fitted(shape, output_size, rank):
    wanted = (output_size,) * rank if isinstance(output_size, int) else output_size
    return tuple(s if w == -1 else w for s, w in zip(shape[-rank:], wanted))


def part(x, ranges):
    return x[(..., *(slice(r.start, r.stop) for r in ranges))]


def adaptive_mean(x, output_size):
    out = fitted(x.shape, output_size, 3)
    y = np.zeros((*x.shape[:-3], *out), x.dtype)
    for place, ranges in cells(x.shape, out):
        y[(..., *place)] = part(x, ranges).mean((-3, -2, -1))
    return y


def adaptive_mean_grad(dy, input_size):
    dx = np.zeros(input_size, dy.dtype)
    for place, ranges in cells(dx.shape, dy.shape[-3:]):
        part(dx, ranges)[...] += dy[(..., *place)][..., None, None, None] / np.prod(
            [len(r) for r in ranges]
        )
    return dx


def adaptive_maximum(rank):
    def run(x, output_size):
        out = fitted(x.shape, output_size, rank)
        before = x.shape[:-rank]
        y, where = np.zeros((*before, *out), x.dtype), np.zeros((*before, *out), np.int32)
        numbers = np.arange(np.prod(x.shape[-rank:])).reshape(x.shape[-rank:])
        for place, ranges in cells(x.shape, out):
            flat = part(x, ranges).reshape(*before, -1)
            best = flat.argmax(-1)
            y[(..., *place)] = np.take_along_axis(flat, best[..., None], -1)[..., 0]
            where[(..., *place)] = part(numbers, ranges).reshape(-1)[best]
        return y, where

    return run


GRIDS = [
    ((2, 2, 4, 5, 3), 2),
    ((2, 2, 4, 5, 3), (1, 1, 1)),
    ((2, 4, 3, 4), (-1, 2, 3)),
    ((1, 2, 2, 3, 2), (3, 2, 4)),
]
PLANES = [((2, 3, 7, 6), 3), ((2, 3, 7, 6), (1, 1)), ((3, 5, 4), (-1, 2)), ((1, 2, 3, 3), (5, 2))]


def misfits(rank):
    shape, size = (1, 1, *[4] * rank), (1,) * (rank + 1)
    return [
        args(f32(*shape[2:]), output_size=2, says=f"must have {rank + 1} or {rank + 2} dimensions"),
        args(f32(*shape[:-1], 0), output_size=2, says="height and width of the input must be"),
        args(f32(*shape), output_size=0, says="'output_size' must be positive"),
        args(f32(*shape), output_size=size, says=f"an int or a tuple of {rank} ints"),
    ]


row(
    "AdaptiveAvgPool3D",
    ref=adaptive_mean,
    good=[args(f32(*s), output_size=o) for s, o in GRIDS],
    bad=misfits(3),
)
row(
    "AdaptiveAvgPool3DGrad",
    ref=adaptive_mean_grad,
    good=[args(f32(*s[:-3], *fitted(s, o, 3)), input_size=s) for s, o in GRIDS],
    bad=[
        args(f32(4, 4), input_size=P, says="'dy' must have as many dimensions as the input"),
        args(f32(2, 1, 2, 2, 2), input_size=P, says="'dy' must have the shape"),
    ],
)
for _rank, _grids in ((2, PLANES), (3, GRIDS)):
    row(
        f"AdaptiveMaxPool{_rank}D",
        ref=adaptive_maximum(_rank),
        good=[args(distinct(*s), output_size=o) for s, o in _grids]
        + [args(f32(np.ones((1, *[4] * _rank))), output_size=3, kink=True)],
        bad=misfits(_rank),
    )
