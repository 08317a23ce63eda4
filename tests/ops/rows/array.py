"""Rows of ops that rearrange elements."""

import numpy as np
from rowlib import args, b1, f32, i32, row

AXIS_2 = args(f32(2, 3), axis=2, says="the axis must be in [-2, 2), but got 2")
SCALAR = args(f32(), says="at least 1 dimension")


def squeezed(x, axis=()):
    """NumPy refuses what is named but not 1; here it stays."""
    named = [a % x.ndim for a in np.atleast_1d(axis).astype(int)] or range(x.ndim)
    return x.reshape([n for i, n in enumerate(x.shape) if i not in named or n != 1])


# ---- views --------------------------------------------------------------------------------
row(
    "Reshape",
    ref=lambda x, shape: x.reshape(shape),
    good=[
        args(f32(2, 6), shape=(3, 4)),
        args(f32(2, 6), shape=(-1,)),
        args(f32(), shape=(1, 1)),
        args(f32(0, 3), shape=(3, -1)),
        args(f32(4), shape=(2, -1, 1)),
    ],
    bad=[
        args(f32(2, 3), shape=(4,), says="must fit 'shape', but got (4)"),
        args(f32(2, 3), shape=(-1, 4), says="must fit 'shape', but got (-1, 4)"),
        args(f32(2, 3), shape=(-1, -1), says="at most one -1"),
        args(f32(2, 3), shape=(-2, 3), says="at least -1"),
    ],
)
row(
    "ExpandDims",
    ref=lambda x, axis: np.expand_dims(x, axis),
    good=[
        args(f32(2, 3), axis=0),
        args(f32(2, 3), axis=-1),
        args(f32(), axis=0),
        args(b1(3), axis=1),
    ],
    bad=[args(f32(2, 3), axis=3, says="the axis must be in [-3, 2], but got 3")],
)
row(
    "Squeeze",
    ref=squeezed,
    good=[
        args(f32(1, 3, 1)),
        args(f32(1, 3, 1), axis=(0,)),
        args(f32(1, 3, 1), axis=(-1, 0)),
        args(f32(1, 3), axis=(0, 1)),
        args(f32(2, 3)),
    ],
    bad=[
        args(f32(1, 3), axis=(2,), says="the axis must be in [-2, 2)"),
    ],
)
row(
    "Flatten",
    ref=lambda x: (
        x.reshape(x.shape[0], -1) if x.size else x.reshape(x.shape[0], int(np.prod(x.shape[1:])))
    ),
    good=[args(f32(2, 3, 4)), args(f32(5)), args(f32(0, 3, 2))],
    bad=[SCALAR],
)
row("Identity", ref=lambda x: x, good=[args(f32(2, 3)), args(b1(2))])
row("StopGradient", ref=lambda x: x, good=[args(f32(2, 3)), args(b1(2))], grad=False)
row("Require", ref=lambda x: x, good=[args(f32(2, 3)), args(b1(2))])
row("Depend", ref=lambda x, y: x, good=[args(f32(2, 3), f32(4)), args(f32(2), i32(1))])

# ---- order and repetition -----------------------------------------------------------------
row(
    "Transpose",
    ref=lambda x, perm: np.transpose(x, perm),
    good=[
        args(f32(2, 3), perm=(1, 0)),
        args(f32(2, 3, 4), perm=(2, 0, 1)),
        args(f32(2, 3, 4), perm=(0, -1, 1)),
        args(f32(2, 3, 4, 5), perm=(0, 2, 1, 3)),
        args(f32(70, 90), perm=(1, 0)),
        args(f32(2, 40, 50, 3), perm=(0, 3, 1, 2)),
        args(f32(2, 3, 40, 33), perm=(0, 2, 3, 1)),
        args(f32(), perm=()),
        args(f32(3, 0), perm=(1, 0)),
        args(i32(17, 40, low=0), perm=(1, 0)),
    ],
    bad=[
        args(f32(2, 3), perm=(0,), says="must name each of the 2 axes"),
        args(f32(2, 3), perm=(0, 0), says="must name each axis once"),
        args(f32(2, 3), perm=(0, 2), says="the axis must be in [-2, 2), but got 2"),
    ],
)
row(
    "Tile",
    ref=lambda x, dims: np.tile(x, dims),
    good=[
        args(f32(2, 3), dims=(2, 1)),
        args(f32(2, 3), dims=(2,)),
        args(f32(3), dims=(2, 2, 2)),
        args(f32(2, 3), dims=(0, 2)),
        args(f32(), dims=(3,)),
        args(f32(2, 1, 3), dims=(2, 3, 4)),
    ],
    bad=[
        args(f32(2), dims=(-1,), says="'dims' must not be negative"),
        args(f32(2), dims=(2**60,), says="less than 2^47 elements"),
    ],
)
row(
    "BroadcastTo",
    ref=lambda x, shape: np.broadcast_to(
        x, [x.shape[i - len(shape)] if n == -1 else n for i, n in enumerate(shape)]
    ),
    good=[
        args(f32(2, 1), shape=(2, 3)),
        args(f32(3), shape=(2, 4, 3)),
        args(f32(2, 1), shape=(5, -1, 3)),
        args(f32(), shape=(2, 2)),
        args(f32(1, 3), shape=(0, 3)),
    ],
    bad=[
        args(f32(2, 3), shape=(3,), says="at least the 2 dimensions"),
        args(f32(2), shape=(3,), says="shape [2] must broadcast to 'shape', but got (3)"),
        args(f32(2), shape=(-1, 2), says="an axis that 'input' has"),
    ],
)
row(
    "ReverseV2",
    ref=lambda x, axis: np.flip(x, tuple(np.atleast_1d(axis).astype(int))) if np.size(axis) else x,
    good=[
        args(f32(2, 3), axis=(0,)),
        args(f32(2, 3, 4), axis=(-1, 1)),
        args(f32(2), axis=()),
        args(f32(0, 2), axis=(0,)),
    ],
    bad=[
        args(f32(2, 3), axis=(2,), says="the axis must be in"),
        args(f32(2, 3), axis=(0, 0), says="the axes must not repeat"),
    ],
)


# ---- padding ------------------------------------------------------------------------------
def pairs(paddings):
    return list(zip(paddings[::2], paddings[1::2]))


row(
    "Pad",
    ref=lambda x, paddings, value=0.0: np.pad(
        x, pairs(paddings), constant_values=np.asarray(value, x.dtype)
    ),
    good=[
        args(f32(2, 3), paddings=(1, 0, 2, 1)),
        args(f32(2, 3), paddings=(1, 1, 1, 1), value=2.5),
        args(f32(2), paddings=(0, 0)),
        args(f32(0, 2), paddings=(1, 0, 0, 1)),
        args(i32(3), paddings=(2, 2), value=7),
    ],
    bad=[
        args(f32(2, 3), paddings=(1, 1), says="two numbers for each of 2 axes"),
        args(f32(2), paddings=(-1, 1), says="must not be negative"),
    ],
)
MODES = {"REFLECT": "reflect", "SYMMETRIC": "symmetric", "EDGE": "edge", "CIRCULAR": "wrap"}


def mirror(x, paddings, mode="REFLECT"):
    return np.pad(x, pairs(paddings), mode=MODES[mode])


row(
    "MirrorPad",
    ref=mirror,
    good=[args(f32(3, 4), paddings=(1, 2, 3, 0), mode=m) for m in MODES]
    + [args(f32(2, 3, 4), paddings=(0, 0, 1, 1, 2, 2))],
    bad=[
        args(f32(3), paddings=(1, 1), mode="WRAP", says="'mode' must be"),
        args(f32(3), paddings=(3, 0), says="at most 2 in mode 'REFLECT', but got 3"),
        args(f32(3), paddings=(-1, 0), says="must not be negative"),
        args(f32(3), paddings=(1,), says="two numbers for each of 1 axes"),
    ],
)


def mirror_grad(dout, paddings, mode="REFLECT"):
    shape = [n - a - b for n, (a, b) in zip(dout.shape, pairs(paddings))]
    origin = mirror(np.arange(np.prod(shape)).reshape(shape), paddings, mode)
    dx = np.zeros(int(np.prod(shape)), np.float64)
    np.add.at(dx, origin.ravel(), dout.ravel())
    return dx.reshape(shape).astype(dout.dtype)


row(
    "MirrorPadGrad",
    ref=mirror_grad,
    good=[args(f32(6, 7), paddings=p, mode=m) for m in MODES for p in ((1, 2, 3, 0), (1, 2, 0, 0))],
    bad=[args(f32(3), paddings=(1,), says="two numbers for each of 1 axes")],
)

# ---- triangles and diagonals --------------------------------------------------------------
for name, f in (("Tril", np.tril), ("Triu", np.triu)):
    row(
        name,
        ref=lambda x, diagonal=0, f=f: f(x, diagonal),
        good=[
            args(f32(3, 4)),
            args(f32(2, 4, 3), diagonal=1),
            args(f32(3, 3), diagonal=-1),
            args(f32(3, 3), diagonal=9),
            args(b1(3, 3)),
        ],
        bad=[args(f32(3), says="at least 2 dimensions")],
    )
row(
    "Diag",
    ref=np.diag,
    good=[args(f32(4)), args(f32(0))],
    bad=[args(f32(2, 2), says="must have 1 dimensions")],
)
row(
    "DiagPart",
    ref=np.diag,
    good=[args(f32(4, 4))],
    bad=[args(f32(4), says="must have 2 dimensions"), args(f32(2, 3), says="must be square")],
)

# ---- joining and cutting ------------------------------------------------------------------
row(
    "Concat",
    ref=lambda *x, axis=0: np.concatenate(x, axis),
    good=[
        args(f32(2, 3), f32(4, 3)),
        args(f32(2, 3), f32(2, 1), f32(2, 4), axis=-1),
        args(f32(2, 3, 2), f32(2, 0, 2), axis=1),
        args(f32(3)),
        args(b1(2), b1(1)),
    ],
    bad=[
        args(
            f32(2, 3),
            f32(2, 4),
            says="the shapes must be equal except at axis 0, but got [2, 3] and [2, 4]",
        ),
        args(f32(2), f32(2, 2), says="the shapes must be equal except"),
        args(f32(), f32(), says="at least 1 dimension"),
        args(f32(2), f32(2), axis=1, says="the axis must be in [-1, 1)"),
    ],
)
row(
    "Stack",
    ref=lambda *x, axis=0: np.stack(x, axis),
    good=[
        args(f32(2, 3), f32(2, 3)),
        args(f32(2, 3), f32(2, 3), f32(2, 3), axis=-1),
        args(f32(), f32()),
        args(f32(3), axis=1),
    ],
    bad=[
        args(f32(2), f32(3), says="all tensors must have the same shape, but got [2] and [3]"),
        args(f32(2), f32(2), axis=2, says="the axis must be in [-2, 2)"),
    ],
)
row(
    "Unstack",
    ref=lambda x, axis=0, num=None: tuple(np.moveaxis(x, axis, 0)),
    good=[args(f32(3, 2)), args(f32(2, 4, 3), axis=-2), args(f32(3), num=3), args(f32(1, 2))],
    bad=[
        SCALAR,
        AXIS_2,
        args(f32(3, 2), num=2, says="'num' must be the size of the axis, 3, but got 2"),
        args(f32(0, 2), says="the axis must not be empty"),
    ],
)
row(
    "Split",
    ref=lambda x, axis=0, output_num=1: tuple(np.split(x, output_num, axis)),
    good=[args(f32(4, 3), output_num=2), args(f32(2, 6), axis=-1, output_num=3), args(f32(3))],
    bad=[
        SCALAR,
        AXIS_2,
        args(f32(4), output_num=0, says="'output_num' must be positive"),
        args(f32(4), output_num=3, says="must be a multiple of 'output_num', but got 3"),
    ],
)


def split_v(x, size_splits, split_dim, num_split):
    known = sum(s for s in size_splits if s >= 0)
    sizes = [x.shape[split_dim] - known if s == -1 else s for s in size_splits]
    return tuple(np.split(x, np.cumsum(sizes)[:-1], split_dim))


row(
    "SplitV",
    ref=split_v,
    good=[
        args(f32(5, 2), size_splits=(2, 3), split_dim=0, num_split=2),
        args(f32(2, 5), size_splits=(1, -1, 2), split_dim=-1, num_split=3),
        args(f32(3), size_splits=(0, 3), split_dim=0, num_split=2),
    ],
    bad=[
        args(f32(), size_splits=(1,), split_dim=0, num_split=1, says="at least 1 dimension"),
        args(f32(3), size_splits=(3,), split_dim=1, num_split=1, says="the axis must be in"),
        args(
            f32(3),
            size_splits=(1, 2),
            split_dim=0,
            num_split=3,
            says="'num_split' must be the number",
        ),
        args(f32(3), size_splits=(1, 1), split_dim=0, num_split=2, says="must sum to 3"),
        args(f32(3), size_splits=(-1, -1), split_dim=0, num_split=2, says="at most one -1"),
        args(f32(3), size_splits=(-2, 5), split_dim=0, num_split=2, says="must be in [-1, 3]"),
    ],
)

# ---- slices -------------------------------------------------------------------------------
row(
    "Slice",
    ref=lambda x, begin, size: x[
        tuple(slice(b, None if s == -1 else b + s) for b, s in zip(begin, size))
    ],
    good=[
        args(f32(4, 5), begin=(1, 2), size=(2, 3)),
        args(f32(4, 5), begin=(0, 1), size=(-1, 2)),
        args(f32(4), begin=(4,), size=(0,)),
        args(f32(2, 3, 4), begin=(0, 1, 0), size=(2, 1, 4)),
    ],
    bad=[
        args(f32(4), begin=(1, 2), size=(2, 2), says="one entry for each of the 1 axes"),
        args(f32(4), begin=(1,), size=(4,), says="must lie in [0, 4], but got begin 1 and size 4"),
        args(f32(4), begin=(-1,), size=(1,), says="must lie in [0, 4]"),
    ],
)


def sliced(
    x,
    begin,
    end,
    strides,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
):
    key = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides)):
        if ellipsis_mask >> i & 1:
            key.append(...)
        elif new_axis_mask >> i & 1:
            key.append(None)
        elif shrink_axis_mask >> i & 1:
            key.append(b)
        else:
            key.append(
                slice(None if begin_mask >> i & 1 else b, None if end_mask >> i & 1 else e, s)
            )
    return tuple(key)


SLICES = [
    {"begin": (1, 0), "end": (3, 4), "strides": (1, 2)},
    {"begin": (3, -1), "end": (0, -5), "strides": (-1, -2)},
    {"begin": (0, 1), "end": (0, 3), "strides": (1, 1), "begin_mask": 1, "end_mask": 1},
    {"begin": (0, 2), "end": (0, 0), "strides": (1, 1), "ellipsis_mask": 1, "shrink_axis_mask": 2},
    {"begin": (0, 1), "end": (0, 2), "strides": (1, 1), "new_axis_mask": 1},
    {"begin": (-1,), "end": (0,), "strides": (1,), "shrink_axis_mask": 1},
    {"begin": (2,), "end": (1,), "strides": (1,)},
    {"begin": (-100, 1), "end": (100, 100), "strides": (3, 1)},
    {"begin": (0,), "end": (0,), "strides": (-1,), "begin_mask": 1, "end_mask": 1},
]
BAD_SLICES = [
    ({"begin": (0,), "end": (1, 2), "strides": (1,)}, "must have one length"),
    ({"begin": (0,), "end": (1,), "strides": (0,)}, "the steps must not be zero"),
    ({"begin": (0, 0), "end": (0, 0), "strides": (1, 1), "ellipsis_mask": 3}, "at most one bit"),
    (
        {"begin": (0, 0, 0), "end": (1, 1, 1), "strides": (1, 1, 1)},
        "takes at most that many indices, but got 3",
    ),
    (
        {"begin": (4,), "end": (5,), "strides": (1,), "shrink_axis_mask": 1},
        "must be in [-4, 4), but got 4",
    ),
]
row(
    "StridedSlice",
    ref=lambda x, **k: x[sliced(x, **k)],
    good=[args(f32(4, 5), **k) for k in SLICES]
    + [args(f32(2, 3, 4), begin=(1,), end=(2,), strides=(1,))],
    bad=[args(f32(4, 5), says=says, **k) for k, says in BAD_SLICES],
)


def slice_grad(dout, shape, **k):
    dx = np.zeros(shape, dout.dtype)
    dx[sliced(dx, **k)] = dout
    return dx


def slice_assign(x, value, **k):
    y = x.copy()
    y[sliced(x, **k)] = value
    return y


SHAPES = [np.zeros((4, 5))[sliced(None, **k)].shape for k in SLICES]
row(
    "StridedSliceGrad",
    ref=slice_grad,
    good=[args(f32(*s), shape=(4, 5), **k) for s, k in zip(SHAPES, SLICES)],
    bad=[
        args(
            f32(2, 3),
            shape=(4, 5),
            says="'dout' must have the shape of the slice, [2, 2], but got [2, 3]",
            **SLICES[0],
        )
    ],
)
row(
    "StridedSliceAssign",
    ref=slice_assign,
    good=[args(f32(4, 5), f32(*s), **k) for s, k in zip(SHAPES, SLICES)],
    bad=[
        args(
            f32(4, 5),
            f32(2, 3),
            says="'value' must have the shape of the slice, [2, 2], but got [2, 3]",
            **SLICES[0],
        ),
        args(f32(4, 5), i32(2, 2), says="must have the same dtype", **SLICES[0]),
    ],
)
row(
    "Number",
    ref=lambda x: x.reshape(()),
    good=[args(f32(1, 1)), args(f32([3]))],
    bad=[args(f32(2), says="must have one element, but got shape [2]")],
    grad=False,
)
