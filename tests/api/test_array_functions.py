"""Functions and Tensor methods over arrays and reductions, against NumPy and PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Parameter, Tensor, ops

X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
M = X[0]
V = np.float32([3, 1, 2])
INTS = np.arange(6, dtype=np.int32).reshape(2, 3)
B = X > 0
SAMPLED = Tensor([[1], [2]], ms.int64)


def t(x):
    return torch.from_numpy(np.ascontiguousarray(x))


def flat(x):
    """Outputs as a list of arrays."""
    if isinstance(x, (tuple, list)):
        return [a for item in x for a in flat(item)]
    if isinstance(x, Tensor):
        return [x.asnumpy()]
    return [x.numpy() if isinstance(x, torch.Tensor) else np.asarray(x)]


CASES = {
    "sum": (lambda x: ops.sum(x), lambda: X.sum()),
    "sum axis": (lambda x: ops.sum(x, 1, True), lambda: X.sum(1, keepdims=True)),
    "sum int": (lambda _: ops.sum(Tensor(np.int8([100, 100]))), lambda: np.int64(200)),
    "sum dtype": (lambda _: ops.sum(Tensor(INTS), dtype=ms.float32), lambda: np.float32(15)),
    "prod": (lambda x: ops.prod(x, 2), lambda: X.prod(2)),
    "mean": (lambda x: ops.mean(x, (0, 2)), lambda: X.mean((0, 2))),
    "max": (lambda x: ops.max(x, 1), lambda: (X.max(1), X.argmax(1))),
    "min": (
        lambda x: ops.min(x, axis=2, keepdims=True),
        lambda: (X.min(2, keepdims=True), X.argmin(2)[..., None]),
    ),
    "max all": (lambda x: ops.max(x)[0], lambda: X.max()),
    "amax": (lambda x: ops.amax(x, (0, 1)), lambda: X.max((0, 1))),
    "amin initial": (lambda x: ops.amin(x, 1, initial=-9.0), lambda: X.min(1, initial=-9)),
    "amax where": (
        lambda x: ops.amax(x, 1, initial=0.0, where=x > 0),
        lambda: X.max(1, initial=0, where=B),
    ),
    "argmax": (lambda x: ops.argmax(x), lambda: X.argmax()),
    "argmax dim": (lambda x: ops.argmax(x, 1, True), lambda: X.argmax(1)[:, None]),
    "argmin": (lambda x: ops.argmin(x, 0), lambda: X.argmin(0).astype(np.int32)),
    "var": (lambda x: ops.var(x, 1, 1), lambda: X.var(1, ddof=1)),
    "std": (lambda x: ops.std(x), lambda: X.std()),
    "std_mean": (
        lambda x: ops.std_mean(x, 0, 1, True),
        lambda: (X.std(0, ddof=1, keepdims=True), X.mean(0, keepdims=True)),
    ),
    "norm": (lambda x: ops.norm(x), lambda: np.linalg.norm(X.ravel())),
    "norm 1": (lambda x: ops.norm(x, 1, 1), lambda: np.linalg.norm(X, 1, 1)),
    "norm inf": (lambda x: ops.norm(x, float("inf"), 1), lambda: np.abs(X).max(1)),
    "norm fro": (lambda x: ops.norm(x, "fro", (1, 2)), lambda: np.linalg.norm(X, "fro", (1, 2))),
    "norm matrix": (lambda x: ops.norm(x, 1, (1, 2)), lambda: np.linalg.norm(X, 1, (1, 2))),
    "norm 3": (lambda x: ops.norm(x, 3, 2, True), lambda: np.linalg.norm(X, 3, 2, True)),
    "logsumexp": (lambda x: ops.logsumexp(x, (1, 2)), lambda: torch.logsumexp(t(X), (1, 2))),
    "count_nonzero": (lambda _: ops.count_nonzero(Tensor(INTS)), lambda: np.int32(5)),
    "cumsum": (lambda x: ops.cumsum(x, 1), lambda: X.cumsum(1)),
    "cumprod": (lambda x: ops.cumprod(x, 2), lambda: X.cumprod(2)),
    "topk": (lambda x: ops.topk(x, 2), lambda: t(X).topk(2)),
    "topk dim": (lambda x: ops.topk(x, 2, 1), lambda: t(X).topk(2, 1)),
    "topk smallest": (lambda x: ops.topk(x, 2, 1, False), lambda: t(X).topk(2, 1, False)),
    "sort": (lambda x: ops.sort(x, 1, True), lambda: t(X).sort(1, True)),
    "argsort": (lambda x: ops.argsort(x, 0), lambda: X.argsort(0)),
    "median": (lambda x: ops.median(x, 1), lambda: t(X).median(1)),
    "diff": (lambda x: ops.diff(x, 2, 2), lambda: np.diff(X, 2, 2)),
    "nansum": (lambda _: ops.nansum(Tensor(np.float32([1, np.nan]))), lambda: np.float32(1)),
    "flatten": (lambda x: ops.flatten(x), lambda: X.reshape(2, 12)),
    "flatten part": (lambda x: ops.flatten(x, start_dim=0, end_dim=1), lambda: X.reshape(6, 4)),
    "swapaxes": (lambda x: ops.swapaxes(x, 0, -1), lambda: X.swapaxes(0, -1)),
    "moveaxis": (
        lambda x: ops.moveaxis(x, (0, 1), (-1, 0)),
        lambda: np.moveaxis(X, (0, 1), (-1, 0)),
    ),
    "permute": (lambda x: ops.permute(x, (2, 0, 1)), lambda: X.transpose(2, 0, 1)),
    "t": (lambda x: ops.t(x[0]), lambda: M.T),
    "meshgrid": (
        lambda _: ops.meshgrid(Tensor([1, 2]), Tensor([3, 4, 5])),
        lambda: np.meshgrid([1, 2], [3, 4, 5]),
    ),
    "meshgrid ij": (
        lambda _: ops.meshgrid(Tensor([1, 2]), Tensor([3, 4, 5]), indexing="ij"),
        lambda: np.meshgrid([1, 2], [3, 4, 5], indexing="ij"),
    ),
    "hstack": (lambda x: ops.hstack((x, x)), lambda: np.hstack((X, X))),
    "vstack": (lambda x: ops.vstack((x[0, 0], x[0, 1])), lambda: np.vstack((M[0], M[1]))),
    "dstack": (lambda x: ops.dstack((x[0], x[0])), lambda: np.dstack((M, M))),
    "column_stack": (
        lambda _: ops.column_stack((Tensor(V), Tensor(V))),
        lambda: np.column_stack((V, V)),
    ),
    "split": (lambda x: ops.split(x, 2, 2), lambda: np.split(X, 2, 2)),
    "split uneven": (lambda x: ops.split(x, 3, 2), lambda: t(X).split(3, 2)),
    "split sizes": (lambda x: ops.split(x, (1, 2), 1), lambda: t(X).split((1, 2), 1)),
    "chunk": (lambda x: ops.chunk(x, 2, 1), lambda: t(X).chunk(2, 1)),
    "tensor_split": (lambda x: ops.tensor_split(x, 3, 2), lambda: np.array_split(X, 3, 2)),
    "tensor_split at": (lambda x: ops.tensor_split(x, (1, 3), 2), lambda: np.split(X, (1, 3), 2)),
    "hsplit": (lambda x: ops.hsplit(x, 3), lambda: np.hsplit(X, 3)),
    "unbind": (lambda x: ops.unbind(x, 1), lambda: t(X).unbind(1)),
    "narrow": (lambda x: ops.narrow(x, 1, 1, 2), lambda: X[:, 1:3]),
    "roll": (lambda x: ops.roll(x, 1), lambda: np.roll(X, 1)),
    "roll dims": (lambda x: ops.roll(x, (1, -2), (0, 2)), lambda: np.roll(X, (1, -2), (0, 2))),
    "flip": (lambda x: ops.flip(x, (0, 2)), lambda: np.flip(X, (0, 2))),
    "rot90": (
        lambda x: [ops.rot90(x, k, (0, 2)) for k in (-1, 0, 1, 2, 3)],
        lambda: [np.rot90(X, k, (0, 2)) for k in (-1, 0, 1, 2, 3)],
    ),
    "repeat_interleave": (lambda x: ops.repeat_interleave(x, 2, 1), lambda: X.repeat(2, 1)),
    "repeat_interleave each": (
        lambda x: ops.repeat_interleave(x, (0, 2, 1), 1),
        lambda: X.repeat((0, 2, 1), 1),
    ),
    "repeat_interleave flat": (lambda x: ops.repeat_interleave(x, 2), lambda: X.repeat(2)),
    "pad": (
        lambda x: ops.pad(x, (1, 2, 0, 1)),
        lambda: torch.nn.functional.pad(t(X), (1, 2, 0, 1)),
    ),
    "pad value": (
        lambda x: ops.pad(x, (-1, 2), value=5.0),
        lambda: torch.nn.functional.pad(t(X), (-1, 2), value=5),
    ),
    "pad reflect": (
        lambda x: ops.pad(x, (1, 2), "reflect"),
        lambda: torch.nn.functional.pad(t(X), (1, 2), "reflect"),
    ),
    "pad replicate": (
        lambda x: ops.pad(x, (1, 2), "replicate"),
        lambda: torch.nn.functional.pad(t(X), (1, 2), "replicate"),
    ),
    "pad circular": (
        lambda x: ops.pad(x, (1, 2), "circular"),
        lambda: torch.nn.functional.pad(t(X), (1, 2), "circular"),
    ),
    "full": (lambda _: ops.full((2, 3), 7), lambda: np.full((2, 3), 7)),
    "full float": (lambda _: ops.full((2,), 3.5), lambda: np.full(2, 3.5, np.float32)),
    "full_like": (lambda x: ops.full_like(x, 2), lambda: np.full_like(X, 2)),
    "arange": (
        lambda _: [ops.arange(5), ops.arange(0, 1, 0.25), ops.arange(5, 0, -2)],
        lambda: [np.arange(5), np.arange(0, 1, 0.25, np.float32), np.arange(5, 0, -2)],
    ),
    "linspace": (lambda _: ops.linspace(0, 1, 5), lambda: np.linspace(0, 1, 5, dtype=np.float32)),
    "logspace": (lambda _: ops.logspace(0, 2, 3), lambda: np.float32([1, 10, 100])),
    "one_hot": (
        lambda _: ops.one_hot(Tensor([0, 2]), 3),
        lambda: np.eye(3, dtype=np.int64)[[0, 2]],
    ),
    "one_hot float": (
        lambda _: ops.one_hot(Tensor([0, 2]), 3, 2.0, -1.0, 0),
        lambda: (3 * np.eye(3, dtype=np.float32)[[0, 2]] - 1).T,
    ),
    "eye": (lambda _: ops.eye(2, 3, ms.int32), lambda: np.eye(2, 3, dtype=np.int32)),
    "tril_indices": (
        lambda _: ops.tril_indices(3, 4, 1),
        lambda: np.stack(np.tril_indices(3, 1, 4)),
    ),
    "diagonal": (
        lambda x: [ops.diagonal(x, k, 1, 2) for k in (-1, 0, 2)],
        lambda: [np.diagonal(X, k, 1, 2) for k in (-1, 0, 2)],
    ),
    "diag_embed": (
        lambda x: [ops.diag_embed(x, k) for k in (-1, 0, 2)],
        lambda: [torch.diag_embed(t(X), k) for k in (-1, 0, 2)],
    ),
    "diag": (lambda _: ops.diag(Tensor(V)), lambda: np.diag(V)),
    "block_diag": (
        lambda x: ops.block_diag(x[0], x[1]),
        lambda: torch.block_diag(t(X[0]), t(X[1])),
    ),
    "gather_d": (
        lambda x: ops.gather_d(x[0], 1, Tensor([[0], [2], [3]])),
        lambda: np.take_along_axis(M, np.array([[0], [2], [3]]), 1),
    ),
    "index_select": (lambda x: ops.index_select(x, 1, Tensor([2, 0])), lambda: X[:, [2, 0]]),
    "index_add": (
        lambda x: ops.index_add(x, Tensor([0, 0]), x[:, :2], 1),
        lambda: t(X).index_add(1, torch.tensor([0, 0]), t(X[:, :2])),
    ),
    "index_fill": (
        lambda x: ops.index_fill(x, 1, Tensor([0, 2]), 7.0),
        lambda: t(X).index_fill(1, torch.tensor([0, 2]), 7),
    ),
    "take": (lambda x: ops.take(x, Tensor([0, 23, 5])), lambda: X.take([0, 23, 5])),
    "masked_fill": (lambda x: ops.masked_fill(x, x > 0, 0.0), lambda: np.where(B, 0, X)),
    "scatter": (
        lambda x: ops.scatter(
            x[0], 1, Tensor([[0, 1], [2, 3]]), Tensor(np.ones((2, 2), np.float32))
        ),
        lambda: t(M).scatter(1, torch.tensor([[0, 1], [2, 3]]), 1.0),
    ),
    "sequence_mask": (
        lambda _: ops.sequence_mask(Tensor([1, 3]), 4),
        lambda: np.arange(4) < np.array([[1], [3]]),
    ),
    "select_scatter": (
        lambda x: ops.select_scatter(x, x[:, 0], 1, 2),
        lambda: torch.select_scatter(t(X), t(X[:, 0]), 1, 2),
    ),
    "slice_scatter": (
        lambda x: ops.slice_scatter(x, x[:, :, :2], 2, 0, 4, 2),
        lambda: torch.slice_scatter(t(X), t(X[:, :, :2]), 2, 0, 4, 2),
    ),
    "broadcast_tensors": (
        lambda x: ops.broadcast_tensors(x, x[:1]),
        lambda: (X, np.broadcast_to(X[:1], X.shape)),
    ),
    "method sum": (
        lambda x: [x.sum(), x.sum(1), x.sum(axis=(0, 2), keepdims=True)],
        lambda: [X.sum(), X.sum(1), X.sum((0, 2), keepdims=True)],
    ),
    "method max": (
        lambda x: [x.max(), x.min(axis=1), x.argmax(), x.argmin(1)],
        lambda: [X.max(), X.min(1), X.argmax(), X.argmin(1)],
    ),
    "method mean": (
        lambda x: [x.mean(), x.mean(1), x.std(1), x.var()],
        lambda: [X.mean(), X.mean(1), X.std(1), X.var()],
    ),
    "method all": (lambda x: [(x > 0).all(), (x > 0).any(1)], lambda: [B.all(), B.any(1)]),
    "method shapes": (
        lambda x: [
            x.reshape(6, 4),
            x.reshape((-1, 2)),
            x.view(4, 6),
            x.transpose(2, 0, 1),
            x.transpose(),
            x.permute(1, 0, 2),
            x.flatten(),
        ],
        lambda: [
            X.reshape(6, 4),
            X.reshape(-1, 2),
            X.reshape(4, 6),
            X.transpose(2, 0, 1),
            X.T,
            X.transpose(1, 0, 2),
            X.ravel(),
        ],
    ),
    "method more": (
        lambda x: [
            x.repeat(2, 1),
            x.expand_dims(0),
            x.squeeze(),
            x.swapaxes(0, 1),
            x.ravel(),
            x[:1].expand(2, -1, -1),
            x.split(2, 2)[0],
        ],
        lambda: [
            X.repeat(2, 1),
            X[None],
            X,
            X.swapaxes(0, 1),
            X.ravel(),
            np.broadcast_to(X[:1], X.shape),
            X[..., :2],
        ],
    ),
    "method new": (
        lambda x: [x.new_zeros((2,)), x.new_ones(2, 3), x[0].trace()],
        lambda: [np.zeros(2), np.ones((2, 3)), M.trace()],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_like_the_others(name):
    function, reference = CASES[name]
    wanted = flat(reference())
    compiled = ms.jit(function)
    for actual in (flat(function(Tensor(X))), flat(compiled(Tensor(X)))):
        assert len(actual) == len(wanted)
        for a, w in zip(actual, wanted):
            assert a.shape == w.shape
            assert a.dtype.kind == w.dtype.kind
            np.testing.assert_allclose(a, w, rtol=2e-5, atol=2e-6)


REFUSALS = [
    (lambda x: ops.sum(x, 3), ValueError, "the axis must be in [-3, 3)"),
    (lambda x: ops.sum(x, "a"), TypeError, "the axis must be an int"),
    (lambda x: ops.flatten(x, "X"), ValueError, "'order' must be 'C' or 'F'"),
    (lambda x: ops.flatten(x, start_dim=2, end_dim=1), ValueError, "'start_dim' must not be after"),
    (lambda x: ops.swapaxes(x, 0, 3), ValueError, "the axis must be in [-3, 3)"),
    (lambda x: ops.moveaxis(x, (0, 0), (1, 2)), ValueError, "as many different axes"),
    (lambda x: ops.split(x, 0), ValueError, "must be positive"),
    (lambda x: ops.split(x, (1, 2)), ValueError, "must sum to 2"),
    (lambda x: ops.chunk(x, 0), ValueError, "'chunks' must be a positive int"),
    (lambda x: ops.pad(x, (1,)), ValueError, "must hold pairs"),
    (lambda x: ops.pad(x, (1, 1), "mirror"), ValueError, "'mode' must be"),
    (lambda x: ops.pad(x, (9, 9), "reflect"), ValueError, "must be at most 3"),
    (lambda x: ops.roll(x, (1, 2), (0,)), ValueError, "must have one length"),
    (lambda x: ops.repeat_interleave(x, -1, 0), ValueError, "must not be negative"),
    (lambda x: ops.norm(x, 1), ValueError, "'dim' must be given"),
    (lambda x: ops.topk(x, 9), ValueError, "'k' must be in [0, 4], but got 9"),
    (lambda x: ops.hstack(x), TypeError, "must be a tuple or list"),
    (lambda x: ops.one_hot(Tensor([1]), -1), ValueError, "'depth' must not be negative"),
    (lambda x: ops.meshgrid(x, indexing="ab"), ValueError, "'indexing' must be"),
    (lambda x: ops.randint(3, 3, (2,)), ValueError, "'low' must be less than 'high'"),
    (lambda x: ops.dropout(x, 1.5), ValueError, "'p' must be in [0, 1]"),
    (lambda x: ops.rand(2, dtype=ms.int32), TypeError, "'dtype' must be a float type"),
    (lambda x: ops.bernoulli(x, 2.0), ValueError, "'p' must be in [0, 1]"),
    (lambda x: ops.assign(x, x), TypeError, "must be a Parameter"),
]


@pytest.mark.parametrize(("call", "kind", "says"), REFUSALS, ids=[r[2] for r in REFUSALS])
def test_refusals(call, kind, says):
    with pytest.raises(kind) as caught:
        call(Tensor(X))
    assert says in str(caught.value)


def test_nan_wins():
    for shape in ((3, 100), (100, 3)):
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        x[1, 1] = np.nan
        for axis in (0, 1, (0, 1)):
            for ours, theirs in ((ops.amax, np.max), (ops.amin, np.min)):
                np.testing.assert_array_equal(ours(Tensor(x), axis).asnumpy(), theirs(x, axis=axis))
        np.testing.assert_array_equal(ops.argmax(Tensor(x), 1).asnumpy(), x.argmax(1))
        np.testing.assert_array_equal(ops.argmax(Tensor(x), 0).asnumpy(), x.argmax(0))
        np.testing.assert_array_equal(ops.sort(Tensor(x), 0)[0].asnumpy(), np.sort(x, 0))


def test_sums_are_accurate():
    x = np.full(10_000_001, 0.1, np.float32)
    exact = float(np.float32(0.1)) * x.size
    assert abs(ops.sum(Tensor(x)).item() / exact - 1) < 1e-6
    columns = Tensor(np.full((200_001, 3), 0.1, np.float32)).sum(0).asnumpy()
    np.testing.assert_allclose(columns, float(np.float32(0.1)) * 200_001, rtol=1e-7)
    assert ops.sum(Tensor(np.full(5000, 1.0, np.float16))).item() == 5000


@pytest.mark.parametrize("shape", [(1, 1), (7, 1), (1, 9), (33, 65), (16, 16), (31, 8), (100, 3)])
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64, np.complex128])
def test_transposition_of_any_size(shape, dtype):
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    np.testing.assert_array_equal(ops.transpose(Tensor(x), (1, 0)).asnumpy(), x.T)


@pytest.mark.parametrize("n", [1, 3, 15, 16, 17, 31, 49, 63, 64, 65, 127, 1000, 4097])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.int64])
def test_reductions_of_any_length(n, dtype):
    x = np.random.default_rng(n).integers(-4, 5, (5, n, 6)).astype(dtype)
    for axis in (0, 1, 2, (0, 1), (0, 2), (1, 2)):
        np.testing.assert_array_equal(ops.reduce_sum(Tensor(x), axis).asnumpy(), x.sum(axis))
        np.testing.assert_array_equal(ops.amax(Tensor(x), axis).asnumpy(), x.max(axis))
        np.testing.assert_array_equal(ops.amin(Tensor(x), axis).asnumpy(), x.min(axis))


def test_updates_keep_their_state():
    """Two steps of momentum: the accumulation that Python does not return must have moved."""
    w, v = Parameter(Tensor([1.0, 2.0]), name="w"), Parameter(Tensor([0.0, 0.0]), name="v")
    op = ops.ApplyMomentum()
    for _ in range(2):
        op(w, v, 0.1, Tensor([1.0, 1.0]), 0.9)
    np.testing.assert_allclose(v.asnumpy(), [1.9, 1.9], rtol=1e-6)
    np.testing.assert_allclose(w.asnumpy(), [0.71, 1.71], rtol=1e-6)


def test_gradient_of_a_product_with_zeros():
    x = Tensor([[2.0, 0.0, 3.0], [0.0, 0.0, 4.0]])
    np.testing.assert_array_equal(
        ms.grad(lambda a: ops.prod(a, 1).sum())(x).asnumpy(), [[0, 6, 0], [0, 0, 0]]
    )


@pytest.mark.parametrize("compiled", [False, True])
def test_more_differences_than_elements_are_none(compiled):
    def function(x):
        return ops.diff(x, 7, 0), ops.diff(x, 2)

    of_first, of_last = (ms.jit(function) if compiled else function)(Tensor(np.ones((3, 2))))
    assert of_first.shape == (0, 2) and of_last.shape == (3, 0)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("matrix_diag_part", lambda: ops.matrix_diag_part(Tensor(M), 0, Tensor([1.0, 2.0]))),
        (
            "uniform_candidate_sampler",
            lambda: ops.uniform_candidate_sampler(SAMPLED, 2, 3, True, 5),
        ),
        (
            "log_uniform_candidate_sampler",
            lambda: ops.log_uniform_candidate_sampler(SAMPLED, 2, 3, True, 5),
        ),
        ("UniqueConsecutive", lambda: ops.UniqueConsecutive(dim=3)(Tensor(V))),
        ("unique_consecutive", lambda: ops.unique_consecutive(Tensor(V), dim=3)),
    ],
)
def test_an_error_names_what_was_called(name: str, wrong) -> None:
    with pytest.raises(ValueError, match=f"For '{name}'"):
        wrong()
