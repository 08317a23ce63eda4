"""Rows of attention and of the random choices it shares with dropout."""

import numpy as np
from rowlib import args, b1, bf16, f16, f32, f64, i64, row, wrt

import mindspore as ms

KEY = i64([5, 7])
HIDDEN = -(2.0**100)  # what the op hides by
LOOSE = {f16: 2e-2, bf16: 1e-1}


def scores(q, k, mask, scale, causal, fill):
    s = np.einsum("...id,...jd->...ij", q.astype(np.float64), k.astype(np.float64)) * scale
    s = np.where(mask, fill, s) if mask.dtype == bool else s + mask
    late = np.arange(s.shape[-1]) > np.arange(s.shape[-2])[:, None]
    return np.where(late, -np.inf, s) if causal else s


def attention(q, k, v, mask, key, scale=1.0, causal=False, fill=HIDDEN, keep_prob=1.0):
    s = scores(q, k, mask, scale, causal, fill)
    largest = s.max(-1, initial=-np.inf)
    e = np.exp(s - largest[..., None])
    total = e.sum(-1)
    out = np.einsum("...ij,...jd->...id", e, v) / np.maximum(total, 1e-300)[..., None]
    return tuple(x.astype(q.dtype) for x in (out, largest, np.log(total)))


def attention_grad(
    q, k, v, mask, key, largest, log_sum, delta, dout, out, scale=1.0, causal=False, fill=HIDDEN
):
    s = scores(q, k, mask, scale, causal, fill)
    p = np.exp(s - largest[..., None] - log_sum[..., None])
    ds = p * (np.einsum("...id,...jd->...ij", dout, v) - delta[..., None])
    if mask.dtype == bool:
        ds = np.where(mask, 0, ds)
    dq = np.einsum("...ij,...jd->...id", ds, k) * scale
    dk = np.einsum("...ij,...id->...jd", ds, q) * scale
    dv = np.einsum("...ij,...id->...jd", p, dout)
    return tuple(x.astype(q.dtype) for x in (dq, dk, dv))


def inputs(lead, queries, keys, depth=3, values=2, mask=None):
    """Operands of the given sizes; the mask adds nothing where none is given."""
    return [
        f32(*lead, queries, depth),
        f32(*lead, keys, depth),
        f32(*lead, keys, values),
        f32([0.0]) if mask is None else mask,
        KEY,
    ]


def hidden(*shape):
    """A boolean mask of which the first row is all true."""
    mask = b1(*shape)
    mask[..., 0, :] = True
    return mask


SAMPLES = [
    (inputs((), 3, 4), {}),
    (inputs((2, 3), 5, 4, mask=f32(2, 1, 1, 4)), {"scale": 0.5}),
    (inputs((2,), 7, 7, mask=f32(7, 1)), {"causal": True}),
    (inputs((2,), 4, 6, mask=hidden(4, 6)), {"scale": 0.7}),
    (inputs((1,), 4, 6, mask=hidden(1, 4, 1)), {"fill": -3.0}),
    (inputs((2,), 3, 5, mask=b1([[False]])), {"causal": True}),
    (inputs((1,), 100, 530, 17, 33, mask=f32(100, 530)), {"scale": 0.3}),
    (inputs((2,), 0, 3), {}),
    (inputs((2,), 3, 0), {}),
    (inputs((0,), 3, 2), {}),
]


def refused(make):
    """What both ops refuse; `make` gives the arguments from changed operands."""

    def case(says, change, **attrs):
        given = inputs((2,), 3, 4)
        change(given)
        return args(*make(given), says=says, **attrs)

    def put(i, x):
        return lambda given: given.__setitem__(i, x)

    return [
        case("at least 2 dimensions", put(1, f32(4))),
        case("must have the same dtype", put(2, f64(2, 4, 2))),
        case("the leading dimensions must be equal", put(0, f32(3, 3, 3))),
        case("the same depth", put(0, f32(2, 3, 5))),
        case("as many values as keys", put(2, f32(2, 5, 2))),
        case("'mask' must be Bool or have the dtype", put(3, f64([0.0]))),
        case("'mask' must broadcast to", put(3, f32(5, 2, 3, 4))),
        case("'random_key' must have shape [2]", put(4, i64([1, 2, 3]))),
        case("'keep_prob' must be in (0, 1]", lambda given: None, keep_prob=0.0),
    ]


# The largest score counts as a constant in the gradient, as the two other outputs need no more:
# test_attention.py has the gradients of the first.
row(
    "Attention",
    ref=attention,
    good=[args(*given, **attrs) for given, attrs in SAMPLES],
    bad=refused(lambda given: given),
    tol=LOOSE,
    grad=wrt(0, 1, 2, 3, outputs=[0]),
)


def with_tangents(given):
    rows = given[0].shape[:-1]
    return [
        *given,
        f32(*rows, low=1.0),
        f32(*rows, low=0.0),
        f32(*rows),
        f32(*rows, given[2].shape[-1]),
        f32(*rows, given[2].shape[-1], low=0.0),
    ]


def wrong_tangent(i, x, says):
    given = with_tangents(inputs((2,), 3, 4))
    given[i] = x
    return args(*given, says=says)


row(
    "AttentionGrad",
    ref=attention_grad,
    # The first row of `hidden` would have exp(HIDDEN - largest) = 0 here, as any other.
    good=[
        args(*with_tangents(given), **attrs)
        for given, attrs in SAMPLES
        if 530 not in given[3].shape
    ],
    bad=[
        *refused(lambda given: with_tangents(given) if given[0].ndim > 1 else given),
        wrong_tangent(6, f32(2, 4), "'log_sum' must have shape [2, 3]"),
        wrong_tangent(7, f64(2, 3), "'delta' must be Float32"),
        wrong_tangent(8, f64(2, 3, 2), "must have the same dtype"),
        wrong_tangent(8, f32(2, 3, 3), "'dout' must have shape [2, 3, 2]"),
        wrong_tangent(9, f32(2, 3, 3), "'out' must have shape [2, 3, 2]"),
    ],
    tol=LOOSE,
)
row("DropoutKey", ref=None, good=[args(), args(Seed0=3)], grad=False)
row(
    "DropoutMask",
    ref=lambda key, shape, **_: np.ones(shape, np.float32),
    good=[args(KEY, shape=(3, 50), keep_prob=1.0), args(KEY, shape=(0,), keep_prob=1.0)],
    bad=[
        args(i64([1]), shape=(2,), says="'random_key' must have shape [2]"),
        args(KEY, shape=(2,), keep_prob=1.5, says="'keep_prob' must be in (0, 1]"),
        args(KEY, shape=(2,), dtype=ms.float16, says="'dtype' must be Float32 or Float64"),
    ],
    grad=False,
)
