"""Rows of reading and writing at positions."""

import numpy as np
from rowlib import args, b1, bf16, f16, f32, i32, i64, row

BAD_POSITION = "the indices must be in [-4, 4), but got 4"


def gather(x, indices, axis, batch_dims=0):
    if batch_dims == 0:
        return np.take(x, np.where(indices < 0, indices + x.shape[axis], indices), axis)
    axis = axis % x.ndim
    return np.stack([gather(a, i, axis - 1, batch_dims - 1) for a, i in zip(x, indices)])


GATHERS = [
    (f32(4, 3), i32([1, 3, -1]), {"axis": 0}),
    (f32(4, 5, 2), i64([[1, 4], [0, 1]]), {"axis": 1}),
    (f32(2, 6), i32([5, 0, 5]), {"axis": -1}),
    (f32(3, 4), i32([[0, 1], [2, 3], [1, 1]]), {"axis": 1, "batch_dims": 1}),
    (f32(2, 3, 5, 2), i32([[0, 1, 4], [2, 3, 0]]), {"axis": 2, "batch_dims": 1}),
    (f32(5), i32(2, low=0, high=4), {"axis": 0}),
    (f32(5, 2), i32([]), {"axis": 0}),
    (f32(5, 3), i32([3])[0], {"axis": 0}),
]
GATHERS[-1] = (f32(5, 3), np.array(3, np.int32), {"axis": 0})
row(
    "Gather",
    ref=gather,
    good=[args(x, i, **k) for x, i, k in GATHERS] + [args(b1(4), i32([0, 2]), axis=0)],
    bad=[
        args(f32(4, 2), i32([0, 4]), axis=0, says=BAD_POSITION),
        args(f32(4), i32([0]), axis=1, says="the axis must be in [-1, 1)"),
        args(f32(), i32([0]), axis=0, says="at least 1 dimension"),
        args(f32(2, 0), i32([0]), axis=1, says="the gathered axis must not be empty"),
        args(f32(4, 2), i32([0]), axis=0, batch_dims=1, says="'batch_dims' must be at most"),
        args(f32(4, 2), i32([0]), axis=1, batch_dims=-2, says="'batch_dims' must be at most"),
        args(f32(4, 2), i32([[0]]), axis=1, batch_dims=1, says="the first 1 sizes must be equal"),
        args(f32(4), f32([0]), axis=0, says="the dtype of 'input_indices' must be one of"),
    ],
)


def gather_grad(dout, indices, axis, shape, batch_dims=0):
    where = gather(np.arange(np.prod(shape)).reshape(shape), indices, axis, batch_dims)
    dx = np.zeros(int(np.prod(shape)), np.float64 if dout.dtype.kind == "f" else dout.dtype)
    np.add.at(dx, where.ravel(), dout.ravel())
    return dx.reshape(shape).astype(dout.dtype)


row(
    "GatherGrad",
    ref=gather_grad,
    good=[args(f32(*gather(x, i, **k).shape), i, shape=x.shape, **k) for x, i, k in GATHERS],
    bad=[
        args(
            f32(2, 3),
            i32([0, 1]),
            axis=0,
            shape=(4, 2),
            says="'dout' must have the shape of Gather's result, [2, 2]",
        ),
        args(f32(2, 2), i32([0, 4]), axis=0, shape=(4, 2), says=BAD_POSITION),
    ],
)


def gather_d(x, index, dim):
    size = x.shape[dim] if x.ndim else 1
    index = np.where(index < 0, index + size, index)
    if x.ndim == 0:
        return x
    cut = tuple(slice(None) if i == dim % x.ndim else slice(n) for i, n in enumerate(index.shape))
    return np.take_along_axis(x[cut], index.astype(np.int64), dim)


ELEMENTS = [
    (f32(3, 4), i32([[0, 3], [1, -1], [2, 2]]), 1),
    (f32(3, 4), i64([[0, 2, 1, 0], [1, 1, 1, 1]]), 0),
    (f32(2, 3, 2), i32(2, 5, 2, low=0, high=2), 1),
    (f32(4), i32([3, 3, 0]), -1),
    (f32(3, 4), i32([[0, 3]]), 1),
    (f32(), np.array(0, np.int32), 0),
]
row(
    "GatherD",
    ref=gather_d,
    good=[args(x, i, dim=d) for x, i, d in ELEMENTS],
    bad=[
        args(f32(4), i32([4]), dim=0, says=BAD_POSITION),
        args(f32(4), i32([1]), dim=1, says="the axis must be in"),
        args(f32(4), i32([[1]]), dim=0, says="must have the rank of the input"),
        args(f32(2, 2), i32([[0, 0], [0, 0], [0, 0]]), dim=1, says="be no larger except at axis 1"),
        args(f32(2, 0), i32([[0], [0]]), dim=1, says="the gathered axis must not be empty"),
    ],
)


def scatter_elements(data, indices, updates, axis=0, reduction="none"):
    y = data.copy()
    if data.ndim == 0:
        return updates if reduction == "none" else data + updates
    where = np.indices(indices.shape)
    where[axis] = np.where(indices < 0, indices + data.shape[axis], indices)
    if reduction == "add":
        np.add.at(y, tuple(where), updates)
    else:
        y[tuple(where)] = updates
    return y


UNIQUE = [
    (f32(3, 4), i32([[0, 3], [1, -1], [2, 0]]), 1),
    (f32(3, 4), i64([[0, 2, 1, 0], [1, 1, 0, 2]]), 0),
    (f32(4), i32([3, 1, 0]), -1),
    (f32(), np.array(0, np.int32), 0),
]
row(
    "TensorScatterElements",
    ref=scatter_elements,
    good=[args(x, i, f32(*i.shape), axis=a) for x, i, a in UNIQUE]
    + [args(x, i, f32(*i.shape), axis=a, reduction="add") for x, i, a in ELEMENTS]
    + [args(b1(4), i32([1, 2]), b1(2))],
    bad=[
        args(f32(4), i32([4]), f32(1), says=BAD_POSITION),
        args(f32(4), i32([1]), i32(1), says="must have the same dtype"),
        args(f32(4), i32([1]), f32(2), says="must have the same shape"),
        args(f32(4), i32([1]), f32(1), reduction="max", says="'reduction' must be 'none' or 'add'"),
        args(b1(4), i32([1]), b1(1), reduction="add", says="'data' must be of numbers"),
        args(f32(4), i32([1]), f32(1), axis=1, says="the axis must be in"),
        args(f32(4), i32([[1]]), f32(1, 1), says="must have the rank of 'data'"),
        args(f32(0), i32([0]), f32(1), says="'data' must not be empty"),
    ],
)

# ---- coordinates ----------------------------------------------------------------------------
row(
    "GatherNd",
    ref=lambda x, indices: x[tuple(np.moveaxis(indices, -1, 0))],
    good=[
        args(f32(3, 4), i32([[0, 1], [2, 3]])),
        args(f32(3, 4), i64([[2], [0], [2]])),
        args(f32(2, 3, 4), i32([[[0, 1], [1, 2]]])),
        args(f32(4), i32([3])),
    ],
    bad=[
        args(f32(4), i32([[4]]), says="the indices into axis 0 must be in [0, 4), but got 4"),
        args(f32(4), i32([[-1]]), says="must be in [0, 4), but got -1"),
        args(f32(4), np.array(0, np.int32), says="'indices' must have at least 1 dimension"),
        args(f32(4), i32([[0, 0]]), says="must be at most 1, the rank of 'input_x', but got 2"),
    ],
)


def scatter_with(f):
    def ref(x, indices, updates, **_):
        y = x.astype(np.float64) if x.dtype.kind == "f" else x.copy()
        f(y, tuple(np.moveaxis(indices, -1, 0)), updates)
        return y.astype(x.dtype)

    return ref


def put(y, where, updates):
    y[where] = updates


def subtract(y, where, updates):
    np.subtract.at(y, where, updates)


def multiply(y, where, updates):
    np.multiply.at(y, where, updates)


def divide(y, where, updates):
    """Integers towards zero."""
    for at, update in zip(np.ndindex(updates.shape), updates.ravel()):
        place = tuple(i[at[: i.ndim]] for i in where) + at[where[0].ndim :]
        y[place] = y[place] / update if y.dtype.kind == "f" else int(y[place] / update)


FORMS = {
    "Update": put,
    "Add": np.add.at,
    "Sub": subtract,
    "Max": np.maximum.at,
    "Min": np.minimum.at,
    "Mul": multiply,
    "Div": divide,
}
DISTINCT = [
    args(f32(3, 4), i32([[0, 1], [2, 3]]), f32(2)),
    args(f32(3, 4), i64([[2], [0]]), f32(2, 4)),
    args(f32(2, 3, 4), i32([[[0, 1], [1, 2]]]), f32(1, 2, 4)),
    args(i32(4), i32([[1]]), i32(1)),
]
REPEATED = args(f32(3, 4), i32([[1], [1], [0]]), f32(3, 4))
FACTORS = [
    args(f32(3, 4, low=0.5), i32([[0, 1], [2, 3]]), f32(2, low=0.5)),
    args(f32(3, 4, low=0.5), i32([[1], [1], [0]]), f32(3, 4, low=0.5)),
    args(i32(4), i32([[1], [1]]), i32([2, 3])),
]
ZERO = args(i32(4), i32([[1]]), i32([0]), says="must not be divided by zero")
BECOMES = "or one that promotes to it"
OTHER_DTYPE = args(f32(4), i32([[0]]), i32(1), says="must have the same dtype")
LOSES = args(i32(4), i32([[0]]), f32(1), says=BECOMES)
BAD_ND = [
    args(f32(4), i32([[4]]), f32(1), says="must be in [0, 4), but got 4"),
    OTHER_DTYPE,
    args(f32(4), np.array(0, np.int32), f32(1), says="'indices' must have at least 1 dimension"),
    args(f32(4), i32([[0, 0]]), f32(1), says="must be in [1, 1], but got 2"),
    args(f32(4, 2), i32([[0]]), f32(2), says="'updates' must have shape [1, 2], but got [2]"),
    args(f32(0), i32([[0]]), f32(1), says="must not be empty"),
]
for name, f in FORMS.items():
    row(
        f"TensorScatter{name}",
        ref=scatter_with(f),
        good=FACTORS
        if name in ("Mul", "Div")
        else DISTINCT
        if name == "Update"
        else [*DISTINCT, REPEATED],
        bad=[*BAD_ND, ZERO] if name == "Div" else BAD_ND,
        tol={f16: 2e-2, bf16: 8e-2} if name in ("Mul", "Div") else {},
    )
for name in FORMS:
    row(
        f"ScatterNd{name}",
        ref=scatter_with(FORMS[name]),
        good=FACTORS if name in ("Mul", "Div") else DISTINCT,
        bad=[LOSES if b is OTHER_DTYPE else b for b in BAD_ND],
        tol={f16: 2e-2, bf16: 8e-2} if name in ("Mul", "Div") else {},
    )


def scatter_first(f):
    def ref(x, indices, updates, **_):
        y = x.copy()
        f(y, (indices,), updates)
        return y

    return ref


for name in FORMS:
    row(
        f"Scatter{name}",
        ref=scatter_first(FORMS[name]),
        good=[
            args(f32(4, 3, low=0.5), i32([0, 2]), f32(2, 3, low=0.5)),
            args(f32(4, low=0.5), i64([[3], [1]]), f32(2, 1, low=0.5)),
            args(i32(4), i32([1]), i32([3])),
        ],
        tol={f16: 2e-2, bf16: 8e-2} if name in ("Mul", "Div") else {},
        bad=[
            args(f32(4), i32([4]), f32(1), says="the indices must be in [0, 4), but got 4"),
            args(i32(4), i32([0]), f32(1), says=BECOMES),
            args(f32(4, 2), i32([0]), f32(2), says="'updates' must have shape [1, 2], but got [2]"),
            args(f32(), i32([0]), f32(1), says="at least 1 dimension"),
            args(f32(0), i32([0]), f32(1), says="must not be empty"),
        ],
    )


def scatter_nd(indices, updates, shape):
    return scatter_with(np.add.at)(np.zeros(shape, updates.dtype), indices, updates)


row(
    "ScatterNd",
    ref=scatter_nd,
    good=[
        args(i32([[0], [2], [0]]), f32(3), shape=(4,)),
        args(i32([[0, 1], [2, 3]]), f32(2), shape=(3, 4)),
        args(i64([[2], [0]]), f32(2, 4), shape=(3, 4)),
        args(i32([[1]]), i32([3]), shape=(2,)),
    ],
    bad=[
        args(i32([[4]]), f32(1), shape=(4,), says="must be in [0, 4), but got 4"),
        args(
            np.array(0, np.int32),
            f32(1),
            shape=(4,),
            says="'indices' must have at least 1 dimension",
        ),
        args(i32([[0, 0]]), f32(1), shape=(4,), says="must be in [1, 1], but got 2"),
        args(
            i32([[0]]), f32(2), shape=(4, 2), says="'updates' must have shape [1, 2], but got [2]"
        ),
        args(i32([[0]]), f32(1), shape=(0,), says="must not be empty"),
    ],
)


def segment_sum(x, ids, num_segments):
    y = np.zeros(
        (num_segments, *x.shape[ids.ndim :]), np.float64 if x.dtype.kind == "f" else x.dtype
    )
    np.add.at(y, ids[ids >= 0], x[ids >= 0])
    return y.astype(x.dtype)


row(
    "UnsortedSegmentSum",
    ref=segment_sum,
    good=[
        args(f32(4, 3), i32([0, 2, 0, -1]), num_segments=3),
        args(f32(2, 2, 3), i64([[0, 1], [1, 1]]), num_segments=2),
        args(i32(4), i32([0, 0, 1, 1]), num_segments=4),
    ],
    bad=[
        args(f32(2), i32([0, 3]), num_segments=3, says="the indices must be below 3, but got 3"),
        args(f32(2), i32([0, 1]), num_segments=0, says="'num_segments' must be positive"),
        args(f32(2), i32([0, 1, 2]), num_segments=3, says="must start that of 'input_x'"),
    ],
)


def segments(f, empty):
    def ref(x, ids, num_segments):
        start = empty(x.dtype)
        y = np.full((num_segments, *x.shape[ids.ndim :]), start, x.dtype)
        f(y, ids[ids >= 0], x[ids >= 0])
        return y

    return ref


def extreme(of):
    return lambda dtype: getattr(np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype), of)


for name, f, empty in (
    ("Max", np.maximum.at, extreme("min")),
    ("Min", np.minimum.at, extreme("max")),
    ("Prod", np.multiply.at, lambda dtype: 1),
):
    row(
        f"UnsortedSegment{name}",
        ref=segments(f, empty),
        good=[
            args(f32(5, 3), i32([0, 2, 0, -1, 1]), num_segments=3),
            args(f32(2, 2, 3), i64([[0, 1], [1, 1]]), num_segments=2),
            args(i32(4), i32([0, 0, 1, 1]), num_segments=2),
        ],
        bad=[
            args(
                f32(2), i32([0, 3]), num_segments=3, says="the indices must be below 3, but got 3"
            ),
            args(f32(2), i32([0, 1]), num_segments=0, says="'num_segments' must be positive"),
            args(f32(2), i32([0, 1, 2]), num_segments=3, says="must start that of 'input_x'"),
        ],
        tol={f16: 1e-2, bf16: 4e-2},
    )


def one_hot(indices, on, off, depth, axis=-1):
    where = np.expand_dims(indices, axis)
    place = [1] * where.ndim
    place[axis] = depth
    return np.where(where == np.arange(depth).reshape(place), on.reshape(()), off.reshape(()))


ON, OFF = np.float32([2]), np.float32([-1])
row(
    "OneHot",
    ref=one_hot,
    good=[
        args(i32([0, 2, 1]), ON, OFF, depth=3),
        args(i64([[0, 5], [-1, 1]]), ON, OFF, depth=3, axis=0),
        args(i32([[0, 2], [1, 1]]), ON, OFF, depth=3, axis=1),
        args(i32([0]), i64([1]), i64([0]), depth=0),
    ],
    bad=[
        args(i32([0]), ON, OFF, depth=-1, says="'depth' must not be negative"),
        args(i32([0]), ON, i32([0]), depth=1, says="must have the same dtype"),
        args(i32([0]), f32(2), OFF, depth=1, says="'on_value' must be a scalar"),
        args(i32([0]), ON, OFF, depth=1, axis=2, says="the axis must be in [-2, 2)"),
    ],
)
