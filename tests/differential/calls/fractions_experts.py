"""Poolings by factors that are no whole numbers, and the ways of tokens to experts and back."""

import itertools

import numpy as np
from differential.calllib import call, case, f16, f32, f64, i32, i64, made, of

# ---- pooling ----------------------------------------------------------------------------------------
X = f32(2, 7, 9, 2).value


def _by_windows(x, rows, columns, overlapping, reduce):
    """What the windows give, one by one."""
    wide = int(overlapping)
    return np.stack(
        [
            np.stack(
                [
                    reduce(x[:, r : s + wide, c : d + wide], axis=(1, 2))
                    for c, d in itertools.pairwise(columns)
                ],
                1,
            )
            for r, s in itertools.pairwise(rows)
        ],
        1,
    )


for _name, _reduce in (("FractionalMaxPool", np.max), ("FractionalAvgPool", np.mean)):
    for _options in (
        {},
        {"pseudo_random": True},
        {"deterministic": True, "seed": 3},
        {"deterministic": True, "overlapping": True},
        {"deterministic": True, "pseudo_random": True, "overlapping": True, "seed2": 2},
    ):

        @case(f"ops.{_name}")
        def _(ms, name=_name, reduce=_reduce, options=_options):
            pool = getattr(ms.ops, name)([1.0, 1.5, 1.44, 1.0], **options)
            y, rows, columns = pool(ms.Tensor(X))
            rows, columns = rows.asnumpy(), columns.asnumpy()
            # Over the last window nothing lies beyond the image.
            like = _by_windows(X, rows, columns, "overlapping" in options, reduce)
            ends = [int(rows[0]), int(rows[-1]), int(columns[0]), int(columns[-1])]
            sizes = sorted(set(np.diff(rows))), sorted(set(np.diff(columns)))
            close = bool(np.abs(y.asnumpy() - like).max() < 1e-5)
            return close, list(y.shape), ends, [int(max(s) - min(s)) for s in sizes]

    for _ratio in ([1.0, 1.0, 1.0, 1.0], [1.0, 3.0, 7.0, 1.0], [1.0, 7.0, 9.0, 1.0]):
        # One way alone to lay out the windows.
        made(f"ops.{_name}", _ratio, deterministic=True, seed=1)(
            f32(1, 7, 9, 2) if _ratio[1] != 3 else f32(1, 6, 7, 2)
        )
    made(f"ops.{_name}", [1.0, 2.0, 2.0, 1.0])(f64(1, 4, 4, 2))
    made(f"ops.{_name}", [1.0, 2.0, 2.0, 1.0])(i32(1, 4, 4, 2))
    made(f"ops.{_name}", [1.0, 2.0, 2.0, 1.0])(i64(1, 4, 4, 2))
    made(f"ops.{_name}", [1.0, 2.0, 2.0, 1.0])(f16(1, 4, 4, 2))
    made(f"ops.{_name}", [1.0, 2.0, 2.0, 1.0])(f32(4, 4, 2))
    made(f"ops.{_name}", [1.0, 0.5, 2.0, 1.0])(f32(1, 4, 4, 2))
    made(f"ops.{_name}", [2.0, 1.5, 2.0, 1.0])(f32(1, 4, 4, 2))
    made(f"ops.{_name}", [1.0, 1.5])(f32(1, 4, 4, 2))
    made(f"ops.{_name}", 3)(f32(1, 4, 4, 2))
    made(f"ops.{_name}", [1.0, 1.5, 1.5, 1.0], seed=2)(f32(1, 4, 4, 2))

    @case(f"ops.{_name}", ref=lambda name=_name: _gradient(name))
    def _(ms, name=_name):
        """The gradient, of windows of two by two."""
        pool = getattr(ms.ops, name)([1.0, 2.0, 2.0, 1.0])
        weights = ms.Tensor(np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2))
        return ms.grad(lambda x: (pool(x)[0] * weights).sum())(ms.Tensor(X[:1, :4, :4]))


def _gradient(name):
    x = X[:1, :4, :4].reshape(1, 2, 2, 2, 2, 2)
    g = np.arange(8, dtype=np.float32).reshape(1, 2, 1, 2, 1, 2)
    share = x == x.max((2, 4), keepdims=True) if "Max" in name else np.full_like(x, 0.25)
    return (share * g).reshape(1, 4, 4, 2).astype(np.float32)


# ---- experts ----------------------------------------------------------------------------------------
def _permuted(tokens, indices, kept=None):
    flat = indices.reshape(-1)
    order = np.argsort(flat, kind="stable")
    rows = tokens[order[:kept] // (flat.size // len(indices))]
    return rows, np.argsort(order).astype(np.int32)


def _unpermuted(rows, places, probs=None):
    rows = np.concatenate([rows, np.zeros((len(places) - len(rows), rows.shape[1]), rows.dtype)])[
        places
    ]
    if probs is None:
        return rows
    return (rows.reshape(*probs.shape, -1) * probs[:, :, None]).sum(1).astype(rows.dtype)


for _tokens, _indices in (
    (f32(5, 3), i32(5, low=0, high=4)),
    (f32(5, 3), i64(5, 2, low=0, high=4)),
    (f16(4, 2), i32(4, 3, low=0, high=2)),
    (f32(1, 3), i32(1, 1, low=0, high=4)),
):
    call("ops.moe_token_permute", _tokens, _indices, ref=_permuted)
call("ops.moe_token_permute", f32(5, 3), i32(5, 2, low=0, high=4), 4, ref=_permuted)
call("ops.moe_token_permute", f32(5, 3), i32(5, 2, low=0, high=4), 0, ref=_permuted)
call("ops.moe_token_unpermute", f32(4, 3), of([2, 0, 3, 1], "int32"), ref=_unpermuted)
call("ops.moe_token_unpermute", f32(4, 3), of([2, 0, 3, 1], "int32"), f32(2, 2), ref=_unpermuted)
call("ops.moe_token_unpermute", f32(3, 3), of([2, 0, 3, 1], "int32"), f32(2, 2), ref=_unpermuted)
call(
    "ops.moe_token_unpermute",
    f16(4, 3),
    of([2, 0, 3, 1], "int32"),
    f16(2, 2),
    tol=2e-3,
    ref=_unpermuted,
)


@case("ops.moe_token_unpermute", ref=lambda: [np.full((3, 2), 2.0, np.float32), True])
def _(ms):
    """There and back, each token by its two experts; its gradient."""
    experts = ms.Tensor([[2, 0], [1, 2], [0, 1]], ms.int32)
    half = ms.Tensor(np.full((3, 2), 0.5, np.float32))

    def around(x):
        rows, places = ms.ops.moe_token_permute(x, experts)
        return ms.ops.moe_token_unpermute(rows * 2, places, half)

    x = ms.Tensor(f32(3, 2).value)
    same = bool(np.abs(around(x).asnumpy() - 2 * f32(3, 2).value).max() < 1e-6)
    return [ms.grad(lambda t: around(t).sum())(x), same]


for _arguments in (
    (np.ones((2, 3), np.float32), np.ones((3, 2), np.int32)),
    (np.ones((2, 3), np.float32), np.ones((2, 2), np.float32)),
    (np.ones(2, np.float32), np.ones(2, np.int32)),
    (np.ones((2, 3), np.float32), np.ones((2, 2), np.int32), 5),
    (np.ones((2, 3), np.float32), np.ones((2, 2), np.int32), None, True),
):

    @case("ops.moe_token_permute", ref=lambda: True)
    def _(ms, arguments=_arguments):
        try:
            return ms.ops.moe_token_permute(
                *(ms.Tensor(a) if isinstance(a, np.ndarray) else a for a in arguments)
            )
        except (TypeError, ValueError) as error:
            return "moe_token_permute" in str(error)
