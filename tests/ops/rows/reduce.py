"""Rows of reductions, positions of extremes, cumulative ops and sorting."""

import warnings

import numpy as np
from rowlib import args, b1, bf16, c64, f16, f32, f64, i8, i32, i64, row

# Not float32, whose gradients would be compared with differences of nan; those are in
# tests/api/test_array_functions.py.
NAN = f64([[1, np.nan, 3], [4, 5, 6]])
NAN_HALF = f16([[1, np.nan, 3], [4, 5, 6]])
BAD_AXIS = args(f32(2, 3), axis=(2,), says="the axis must be in [-2, 2), but got 2")
TWICE = args(f32(2, 3), axis=(0, -2), says="the axes must not repeat")
AXES = [
    args(f32(2, 3)),
    args(f32(4, 3), axis=(0,)),
    args(f32(4, 3), axis=(1,), keep_dims=True),
    args(f32(2, 3, 2, 3), axis=(0, 2, 3)),
    args(f32(2, 3, 4, 2), axis=(1, -1)),
    args(f32(3, 1, 2), axis=(1,)),
    args(f32(), axis=()),
]
BIG = [
    args(f32(40, 700), axis=(0,)),
    args(f32(3, 70001), axis=(1,)),
    args(f32(90001)),
    args(f32(300, 3), axis=(0,)),
    args(f32(5, 7, 9, 11), axis=(0, 2, 3)),
    args(f32(2500, 20), axis=(0,)),
]
EMPTY = [args(f64(0, 3), axis=(0,)), args(f32(0, 3), axis=(1,)), args(f64(2, 0))]


def reduction(f, wide=None):
    """A NumPy reduction with the arguments of ours, in the dtype of the input."""

    def ref(x, axis=(), keep_dims=False, skip_mode=False):
        if skip_mode and not axis:
            return x
        axes = tuple(axis) or tuple(range(x.ndim))
        y = x.astype(np.float64) if x.dtype == np.float32 else x
        with np.errstate(all="ignore"):
            return np.asarray(f(y, axis=axes, keepdims=keep_dims)).astype(x.dtype)

    return ref


def mean(x, axis, keepdims):
    if x.dtype.kind in "iu":
        count = max(np.prod([x.shape[a] for a in axis], dtype=int), 1)
        return np.trunc(x.sum(axis=axis, keepdims=keepdims, dtype=np.int64) / count)
    with warnings.catch_warnings():  # the mean of nothing is nan
        warnings.simplefilter("ignore")
        return x.mean(axis=axis, keepdims=keepdims)


row(
    "ReduceSum",
    ref=reduction(np.sum),
    good=[
        *AXES,
        *BIG,
        *EMPTY,
        args(i8([100, 100])),
        args(c64(2, 3), axis=(1,)),
        args(b1([[True, False]]), axis=(0,)),
        args(f32(2, 3), skip_mode=True),
        args(i64(4, 5), axis=(0,)),
    ],
    bad=[BAD_AXIS, TWICE],
    tol={f16: 2e-2, bf16: 1e-1},
)
row(
    "ReduceMean",
    ref=reduction(mean),
    good=[*AXES, *BIG, *EMPTY, args(i32(3, 5), axis=(1,)), args(c64(2, 3))],
    bad=[BAD_AXIS, TWICE],
)
for name, f in (("ReduceMax", np.max), ("ReduceMin", np.min)):
    row(
        name,
        ref=reduction(f),
        good=[
            *AXES,
            *BIG,
            args(i32(3, 5), axis=(1,)),
            args(NAN, axis=(1,)),
            args(NAN_HALF, axis=(0,)),
        ],
        bad=[
            BAD_AXIS,
            TWICE,
            args(f32(0, 2), axis=(0,), says="the reduced axes must not be empty"),
        ],
    )
row(
    "ReduceProd",
    ref=reduction(np.prod),
    good=[
        *AXES,
        *EMPTY,
        args(i8([100, 100])),
        args(f32([[1, 0, 3], [0, 5, 0], [1, 2, 3]]), axis=(1,)),
        args(f32(3, 40, low=0.9, high=1.1), axis=(1,)),
    ],
    bad=[BAD_AXIS, TWICE],
)


def truth(f):
    def ref(x, axis=(), keep_dims=False):
        return np.asarray(f(x != 0, axis=tuple(axis) or None, keepdims=keep_dims))

    return ref


for name, f in (("ReduceAll", np.all), ("ReduceAny", np.any)):
    row(
        name,
        ref=truth(f),
        good=[
            args(b1(3, 4)),
            args(b1(3, 4), axis=(0,)),
            args(b1(300, 40), axis=(1,), keep_dims=True),
            args(f32([[0, 1], [2, 3]]), axis=(1,)),
            args(i32(3, 4, low=0, high=1), axis=(1,)),
            args(b1(0, 3), axis=(0,)),
            args(f32()),
        ],
        bad=[
            args(b1(2, 3), axis=(2,), says="the axis must be in"),
            args(b1(2), axis=(0, 0), says="repeat"),
        ],
        grad=False,
    )

row(
    "AddN",
    ref=lambda *x: sum(x[1:], x[0]) if x[0].dtype != bool else np.logical_or.reduce(x),
    good=[
        args(f32(2, 3)),
        args(f32(2, 3), f32(2, 3), f32(2, 3)),
        args(i32(5), i32(5)),
        args(b1(4), b1(4)),
    ],
    bad=[
        args(f32(2), i32(2), says="the same dtype"),
        args(f32(2), f32(3), says="the same shape"),
    ],
    tol={bf16: 3e-2},
)


# ---- positions ------------------------------------------------------------------------------
def position(f):
    def ref(x, axis=-1, output_type=None):
        return np.asarray(f(x, axis=axis) if x.ndim else 0).astype(np.int64)

    return ref


POSITIONS = [
    args(f32(3, 5)),
    args(f32(3, 5), axis=0),
    args(f32(2, 300, 3), axis=1),
    args(i32(4, 50)),
    args(NAN, axis=1),
    args(NAN, axis=0),
    args(f32([[1, 1, 1, 1]]), axis=1),
    args(f32()),
]
for name, f in (("Argmax", np.argmax), ("Argmin", np.argmin)):
    row(
        name,
        ref=position(f),
        good=POSITIONS,
        bad=[
            args(f32(2, 3), axis=2, says="the axis must be in [-2, 2)"),
            args(f32(2, 0), says="the axis must not be empty"),
        ],
        grad=False,
    )


def with_value(arg, extreme):
    def ref(x, axis=0, keep_dims=False):
        index = arg(x, axis=axis, keepdims=True)
        value = np.take_along_axis(x, index, axis)
        if not keep_dims:
            index, value = index.squeeze(axis), value.squeeze(axis)
        return index, value

    return ref


for name, arg, extreme in (
    ("ArgMaxWithValue", np.argmax, np.max),
    ("ArgMinWithValue", np.argmin, np.min),
):
    row(
        name,
        ref=with_value(arg, extreme),
        good=[
            args(f32(3, 5)),
            args(f32(3, 5), axis=1, keep_dims=True),
            args(f32(2, 4, 3), axis=-2),
            args(NAN, axis=1),
        ],
        bad=[
            args(f32(2, 3), axis=2, says="the axis must be in [-2, 2)"),
            args(f32(0, 3), says="the axis must not be empty"),
        ],
    )


# ---- along one axis -------------------------------------------------------------------------
def scan(f, start):
    def ref(x, axis, exclusive=False, reverse=False):
        y = np.flip(x, axis) if reverse else x
        y = f(y.astype(np.float64) if y.dtype.kind == "f" else y.astype(np.int64), axis=axis)
        if exclusive:
            y = np.roll(y, 1, axis)
            first = [slice(None)] * y.ndim
            first[axis] = 0
            y[tuple(first)] = start
        return (np.flip(y, axis) if reverse else y).astype(x.dtype)

    return ref


SCANS = [
    args(f32(3, 5), axis=1),
    args(f32(3, 5), axis=0, exclusive=True),
    args(f32(3, 5), axis=-1, reverse=True),
    args(f32(2, 4, 3), axis=1, exclusive=True, reverse=True),
    args(i32(3, 4, low=-3, high=3), axis=1),
    args(f32(0, 3), axis=1),
]
OUT_OF_RANGE = args(f32(2, 3), axis=2, says="the axis must be in [-2, 2)")
row("CumSum", ref=scan(np.cumsum, 0), good=SCANS, bad=[OUT_OF_RANGE], tol={bf16: 3e-2})
ZEROS = args(f32([[1, 0, 3, 2], [0, 2, 0, 5]]), axis=1)
row("CumProd", ref=scan(np.cumprod, 1), good=[*SCANS, ZEROS], bad=[OUT_OF_RANGE], tol={bf16: 3e-2})


def recurrence(a, b, axis, reverse=False, from_source=False):
    if a.ndim == 0:
        return a
    a, b = (np.moveaxis(np.flip(t, axis) if reverse else t, axis, 0) for t in (a, b))
    y = a.astype(np.float64)
    for k in range(1, len(y)):
        y[k] += y[k - 1] * b[k - 1 if from_source else k]
    y = np.moveaxis(y, 0, axis)
    return (np.flip(y, axis) if reverse else y).astype(a.dtype)


row(
    "LinearScan",
    ref=recurrence,
    good=[
        args(f32(2, 5, low=-1, high=1), f32(2, 5, low=-1, high=1), axis=1, reverse=r, from_source=s)
        for r in (False, True)
        for s in (False, True)
    ]
    + [
        args(f32(3, 2), f32(3, 2), axis=0),
        args(f32(), f32(), axis=0),
        args(f32(0, 2), f32(0, 2), axis=0),
    ],
    bad=[
        args(f32(2), f32(2), axis=1, says="the axis must be in"),
        args(f32(2), f32(3), axis=0, says="must have the same shape"),
        args(f32(2), f64(2), axis=0, says="must have the same dtype"),
    ],
)


def sort(x, axis=-1, descending=False):
    order = (
        np.argsort(-x if descending else x, axis=axis, kind="stable")
        if x.ndim
        else np.zeros((), int)
    )
    return (np.take_along_axis(x, order, axis) if x.ndim else x), order.astype(np.int32)


row(
    "Sort",
    ref=sort,
    good=[
        args(f32(3, 7)),
        args(f32(3, 7), axis=0, descending=True),
        args(f32(2, 5, 3), axis=1),
        args(f64([3, np.nan, 1])),
        args(i32([[3, 1, 3, 1, 2]])),
        args(f32(2, 0)),
        args(f32()),
    ],
    bad=[OUT_OF_RANGE],
)


def top_k(x, k, sorted=True):
    order = np.argsort(-x, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order.astype(np.int32)


row(
    "TopK",
    ref=top_k,
    good=[
        args(f32(3, 7), k=2),
        args(f32(9), k=9),
        args(i32([[3, 1, 3, 1, 2]]), k=3),
        args(f32(2, 3), k=0),
    ],
    bad=[
        args(f32(), k=1, says="at least 1 dimension"),
        args(f32(2, 3), k=4, says="'k' must be in [0, 3], but got 4"),
    ],
)
