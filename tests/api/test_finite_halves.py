"""Compositions whose squares, sums or powers leave the dtype of their inputs though their results do not: half precision, small integers
and complex numbers give what doubles give, rounded; gradients of finite values are finite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from peers import torch

import mindspore as ms
import mindspore.nn.probability.bijector as msb
import mindspore.nn.probability.distribution as msd
import mindspore.numpy as mnp
from mindspore import Tensor, mint, nn, ops

F = mint.nn.functional
RANDOM = np.random.default_rng(0)
BIG = (RANDOM.normal(size=(4, 8)) * 5000).clip(-9000, 9000).astype(np.float16)
OTHER = (RANDOM.normal(size=(4, 8)) * 5000).clip(-9000, 9000).astype(np.float16)
SMALL = np.array([[1e-4, 2e-4, 4e-4], [3e-4, 1e-4, 0.0]], np.float16)
IMAGE = (RANDOM.normal(size=(2, 4, 6, 6)) * 9000).astype(np.float16)
LONG = np.ones(70000, np.float16)
CLASSES = np.array([1, -1, 1, -1], np.int32)


def other(x: Tensor) -> Tensor:
    return Tensor(OTHER).astype(x.dtype)


def volumes(x: Tensor) -> Tensor:
    return x.reshape((2, 4, 6, 6, 1))


def normal(x: Tensor) -> Any:
    return msd.Normal(dtype=x.dtype)


def cauchy(x: Tensor) -> Any:
    return msd.Cauchy(dtype=x.dtype)


def uniform(x: Tensor) -> Any:
    return msd.Uniform(dtype=x.dtype)


def folded(kind: Callable) -> Callable:
    """A folded norm in training, whose weight averages what it sees."""

    def run(x: Tensor) -> Tensor:
        net = kind(4, 2, 1, weight_init="ones", fake=False).set_train()
        for p in net.get_parameters():
            p.set_dtype(x.dtype)
        return net(x / 4)

    return run


# What is called, and with what: its answer in Float64 is the truth.
CASES: dict[str, tuple[Callable, np.ndarray]] = {
    "std": (ops.std, BIG),
    "std of small": (ops.std, SMALL),
    "std_mean": (lambda x: ops.std_mean(x, 1)[0], BIG),
    "mint.std": (lambda x: mint.std(x, dim=1), BIG),
    "mint.var": (lambda x: mint.var(x / 256, dim=1), BIG),
    "var_mean": (lambda x: ops.var_mean(x / 256, 1)[0], BIG),
    "Tensor.std": (lambda x: x.std(), BIG),
    "mnp.std": (mnp.std, BIG),
    "mnp.nanstd": (mnp.nanstd, BIG),
    "mnp.nanvar": (lambda x: mnp.nanvar(x / 256), BIG),
    "mnp.nanmean": (mnp.nanmean, LONG),
    "var of many": (ops.var, LONG),
    "Moments": (lambda x: nn.Moments(1)(x / 256)[1], BIG),
    "logsumexp": (lambda x: ops.logsumexp(x, 1), BIG),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), IMAGE),
    "batch_norm_stats": (lambda x: mint.batch_norm_stats(x / 16, 1e-5)[1] * 1e3, IMAGE),
    "InstanceNorm1d": (
        lambda x: nn.InstanceNorm1d(4)(x.reshape((2, 4, 36))).astype(x.dtype),
        IMAGE,
    ),
    "InstanceNorm2d": (lambda x: nn.InstanceNorm2d(4)(x).astype(x.dtype), IMAGE),
    "InstanceNorm3d": (lambda x: nn.InstanceNorm3d(4)(volumes(x)).astype(x.dtype), IMAGE),
    "GroupNorm": (lambda x: nn.GroupNorm(2, 4)(x).astype(x.dtype), IMAGE),
    "layer_norm": (lambda x: F.layer_norm(x, (8,)), BIG),
    "norm": (lambda x: ops.norm(x, dim=1), BIG),
    "norm of small": (lambda x: ops.norm(x, dim=1), SMALL),
    "norm 3": (lambda x: ops.norm(x, 3, 1), BIG),
    "norm fro": (lambda x: ops.norm(x / 4, "fro", (0, 1)), BIG),
    "vector_norm": (lambda x: ops.vector_norm(x, 2, 1), BIG),
    "matrix_norm": (lambda x: ops.matrix_norm(x / 4), BIG),
    "mint.norm": (lambda x: mint.norm(x, dim=1), BIG),
    "mint.linalg.vector_norm": (lambda x: mint.linalg.vector_norm(x, 2, 1), BIG),
    "mnp.norm": (lambda x: mnp.norm(x, axis=1), BIG),
    "L2Normalize": (lambda x: ops.L2Normalize(1)(x), BIG),
    "LpNorm": (lambda x: ops.LpNorm(1)(x), BIG),
    "normalize": (lambda x: F.normalize(x * 4, dim=1), BIG),
    "dist": (lambda x: ops.dist(x / 4, other(x) / 4), BIG),
    "dist 3": (lambda x: ops.dist(x / 4, other(x) / 4, 3), BIG),
    "cdist": (lambda x: ops.cdist(x, other(x)), BIG),
    "cdist 3": (lambda x: ops.cdist(x, other(x), 3.0), BIG),
    "pdist": (ops.pdist, BIG),
    "renorm": (lambda x: ops.renorm(x, 2, 0, 100.0), BIG),
    "clip_by_norm": (lambda x: ops.clip_by_norm(x, 1.0), BIG),
    "clip_by_norm of several": (lambda x: ops.clip_by_norm((x * 3, x * 3), 1.0)[0], BIG),
    "clip_by_global_norm": (lambda x: ops.clip_by_global_norm((x, x), 1.0)[1], BIG),
    "cosine_similarity": (lambda x: ops.cosine_similarity(x, other(x)), BIG),
    "cosine_embedding_loss": (
        lambda x: ops.cosine_embedding_loss(x, other(x), Tensor(CLASSES)),
        BIG,
    ),
    "triplet_margin_loss": (lambda x: ops.triplet_margin_loss(x, other(x), x * 0.5), BIG),
    "gaussian_nll_loss": (
        lambda x: ops.gaussian_nll_loss(x, x * 0, ops.ones_like(x) * 6e4) / 8,
        BIG,
    ),
    "RMSELoss": (lambda x: nn.RMSELoss()(x, other(x)), BIG),
    "DiceLoss": (lambda x: nn.DiceLoss()(x, other(x)), BIG),
    "mse_loss": (lambda x: ops.mse_loss(x / 64, other(x) / 64), BIG),
    "MSELoss": (lambda x: nn.MSELoss()(x / 64, other(x) / 64), BIG),
    "multi_margin_loss": (lambda x: ops.multi_margin_loss(x / 64, Tensor([1, 0, 3, 2]), 2), BIG),
    "Normal.log_prob": (lambda x: normal(x).log_prob(x / 8, x * 0, ops.ones_like(x) * 64), BIG),
    "Normal.kl_loss": (
        lambda x: normal(x).kl_loss("Normal", x * 0, x * 0 + 64, x / 8, x * 0 + 64),
        BIG,
    ),
    "Cauchy.log_prob": (lambda x: cauchy(x).log_prob(x, x * 0, ops.ones_like(x)), BIG),
    "Uniform.var": (lambda x: uniform(x).var(x * 0, x * 0 + 300), BIG),
    "Softplus": (lambda x: msb.Softplus(2.0)("forward", abs(x) / 400), BIG),
    "Conv2dBnFoldQuant": (folded(nn.Conv2dBnFoldQuant), IMAGE / 4),
    "Conv2dBnFoldQuantOneConv": (folded(nn.Conv2dBnFoldQuantOneConv), IMAGE / 4),
    "lrn": (lambda x: ops.lrn(x, 1), IMAGE),
    "lp_pool2d": (lambda x: ops.lp_pool2d(abs(x), 2, 2), IMAGE / 2),
    "cov": (lambda x: ops.cov(x / 100), BIG),
    "mnp.corrcoef": (lambda x: mnp.corrcoef(x).astype(x.dtype), BIG),
    "round": (lambda x: ops.round(x, decimals=2), BIG),
    "round to tens": (lambda x: ops.round(x, decimals=-1), BIG),
}


def rounded(x: np.ndarray, dtype: Any) -> np.ndarray:
    return Tensor(x).astype(dtype).astype(ms.float32).asnumpy().astype(np.float64)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16], ids=str)
@pytest.mark.parametrize("name", CASES)
def test_halves(name, dtype, mode):
    function, given = CASES[name]
    x = Tensor(given).astype(dtype)
    truth = function(x.astype(ms.float64)).asnumpy()
    got = function(x)
    assert got.dtype == dtype
    exact = got.astype(ms.float32).asnumpy()
    near = 4e-3 if dtype == ms.float16 else 3e-2
    scale = np.abs(truth).max()
    np.testing.assert_allclose(exact, rounded(truth, dtype), rtol=near, atol=near * scale)
    slope = ms.grad(lambda t: function(t).astype(ms.float32).sum())(x)
    assert np.isfinite(slope.astype(ms.float32).asnumpy()).all()


INTEGERS: dict[str, Callable] = {
    "logsumexp": lambda x, y: ops.logsumexp(x, 1),
    "norm": lambda x, y: ops.norm(x),
    "norm 1": lambda x, y: ops.norm(x, 1, 1),
    "vector_norm": lambda x, y: ops.vector_norm(x, 3),
    "matrix_norm": lambda x, y: ops.matrix_norm(x),
    "cdist": lambda x, y: ops.cdist(x, y),
    "cdist 3": lambda x, y: ops.cdist(x, y, 3.0),
    "pdist": lambda x, y: ops.pdist(x),
    "dist": lambda x, y: ops.dist(x, y),
    "renorm": lambda x, y: ops.renorm(x, 2, 0, 1.0),
    "clip_by_norm": lambda x, y: ops.clip_by_norm(x, 1.0),
    "cosine_similarity": lambda x, y: ops.cosine_similarity(x, y),
    "cosine_embedding_loss": lambda x, y: ops.cosine_embedding_loss(x, y, Tensor([1, -1])),
    "triplet_margin_loss": lambda x, y: ops.triplet_margin_loss(x, y, x),
    "normalize": lambda x, y: F.normalize(x),
    "mse_loss": lambda x, y: ops.mse_loss(x, y),
    "mse_loss none": lambda x, y: ops.mse_loss(x, y, "none"),
    "l1_loss": lambda x, y: ops.l1_loss(x, y, "none"),
    "L1Loss": lambda x, y: nn.L1Loss("none")(x, y),
    "MAELoss": lambda x, y: nn.MAELoss("none")(x, y),
    "MSELoss": lambda x, y: nn.MSELoss("none")(x, y),
    "RMSELoss": lambda x, y: nn.RMSELoss()(x, y),
    "std": lambda x, y: ops.std(x),
    "cov": lambda x, y: ops.cov(x),
}
SIGNED = ([[100, -100], [50, 27]], [[-100, 100], [-50, -27]])
UNSIGNED = ([[200, 100], [50, 27]], [[250, 1], [3, 255]])


@pytest.mark.parametrize(
    ("dtype", "values"),
    [(np.int8, SIGNED), (np.uint8, UNSIGNED), (np.int16, SIGNED), (np.int32, SIGNED)],
)
@pytest.mark.parametrize("name", INTEGERS)
def test_small_integers_do_not_wrap(name, dtype, values, mode):
    x, y = (np.array(v, dtype) for v in values)
    got = INTEGERS[name](Tensor(x), Tensor(y)).asnumpy()
    truth = INTEGERS[name](Tensor(x.astype(np.float64)), Tensor(y.astype(np.float64))).asnumpy()
    np.testing.assert_allclose(got, truth, rtol=1e-5, atol=1e-6)


C = np.array([[3j, 4], [1 - 1j, 2 + 1j]], np.complex64)
D = np.array([[1j, 2], [1, -3j]], np.complex64)
COMPLEX: dict[str, tuple[Callable, Any]] = {
    "norm": (lambda x, y: ops.norm(x, dim=1), np.linalg.norm(C, axis=1)),
    "vector_norm": (lambda x, y: ops.vector_norm(x, 2), np.linalg.norm(C)),
    "vector_norm 3": (lambda x, y: ops.vector_norm(x, 3), (np.abs(C) ** 3).sum() ** (1 / 3)),
    "matrix_norm": (lambda x, y: ops.matrix_norm(x), np.linalg.norm(C)),
    "mint.norm": (lambda x, y: mint.norm(x), np.linalg.norm(C)),
    "mnp.norm": (lambda x, y: mnp.norm(x), np.linalg.norm(C)),
    "dist": (lambda x, y: ops.dist(x, y), np.linalg.norm(C - D)),
    "cov": (lambda x, y: ops.cov(x), np.cov(C)),
    "mnp.cov": (lambda x, y: mnp.cov(x), np.cov(C)),
    "mse_loss": (lambda x, y: ops.mse_loss(x, y), (np.abs(C - D) ** 2).mean()),
    "l1_loss": (lambda x, y: ops.l1_loss(x, y), np.abs(C - D).mean()),
    "nan_to_num": (
        lambda x, y: ops.nan_to_num(x * Tensor(complex(np.nan, 0)), 7.0),
        np.full((2, 2), 7 + 7j),
    ),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers(name, mode):
    function, truth = COMPLEX[name]
    np.testing.assert_allclose(function(Tensor(C), Tensor(D)).asnumpy(), truth, rtol=1e-5)


REFUSED = {
    "std": ops.std,
    "var": ops.var,
    "std_mean": ops.std_mean,
    "var_mean": ops.var_mean,
    "nansum": ops.nansum,
}


@pytest.mark.parametrize("name", REFUSED)
def test_complex_numbers_are_refused(name, mode):
    with pytest.raises(TypeError, match=f"For '{name}', 'input' must hold real numbers"):
        REFUSED[name](Tensor(C))


WHOLE = np.array([16777217, 2147483600, 15, 25, -15, -25, 35, -2147483600, 149, 150, 250], np.int32)


@pytest.mark.parametrize("decimals", [2, 1, 0, -1, -2, -5, -9, -10, -20])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
def test_integers_are_rounded_exactly(dtype, decimals, mode):
    x = WHOLE.astype(dtype)
    got = ops.round(Tensor(x), decimals=decimals).asnumpy()
    exact = [round(int(v), decimals) for v in x]  # Python's integers have no bound
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.array(exact, np.int64).astype(dtype))


def test_pinv_of_bfloat16(mode):
    x = np.array([[1.0, 2.0], [2.0, 4.0], [1.0, 1.0]], np.float32)
    got = ops.pinv(Tensor(x).astype(ms.bfloat16)).astype(ms.float32).asnumpy()
    np.testing.assert_allclose(got, np.linalg.pinv(x), atol=0.02)
    singular = np.array([[1.1, 2.3], [2.2, 4.6]], np.float32)
    got = ops.pinv(Tensor(singular).astype(ms.bfloat16)).astype(ms.float32).asnumpy()
    np.testing.assert_allclose(got, np.linalg.pinv(singular, 0.02), atol=0.02)


def test_one_value_for_each_channel(mode):
    ones = Tensor(np.ones((1, 3), np.float32))
    with pytest.raises(ValueError, match="more than one value for each channel in training"):
        F.batch_norm(ones, *[Tensor(np.ones(3, np.float32))] * 4, training=True)


SCALAR = np.float32(2)
SCALARS: dict[str, tuple[Callable, Callable]] = {
    "topk": (lambda x: ops.topk(x, 1)[0], lambda x: torch.topk(x, 1)[0]),
    "topk least": (
        lambda x: ops.topk(x, 1, largest=False)[0],
        lambda x: torch.topk(x, 1, largest=False)[0],
    ),
    "mint.topk": (lambda x: mint.topk(x, 1)[1], lambda x: torch.topk(x, 1)[1]),
    "mint.functional.softmax": (F.softmax, lambda x: torch.softmax(x, -1)),
    "mint.softmax": (lambda x: mint.softmax(x, 0), lambda x: torch.softmax(x, 0)),
    "mint.log_softmax": (F.log_softmax, lambda x: torch.log_softmax(x, -1)),
    "amax": (lambda x: ops.amax(x, -1), lambda x: torch.amax(x, -1)),
    "amin": (lambda x: ops.amin(x, -1), lambda x: torch.amin(x, -1)),
    "mint.amax": (lambda x: mint.amax(x, -1), lambda x: torch.amax(x, -1)),
}


@pytest.mark.parametrize("name", SCALARS)
def test_scalars_have_one_axis(name, mode):
    ours, theirs = SCALARS[name]
    got = ours(Tensor(SCALAR)).asnumpy()
    wanted = theirs(torch.tensor(SCALAR)).numpy()
    assert got.shape == wanted.shape
    assert got == wanted


EMPTY: list[tuple[str, Callable, str]] = [
    ("diff", lambda x: ops.diff(x[:, 0]), "For 'diff', 'x' must not be empty along"),
    ("diff rows", lambda x: ops.diff(x, axis=0), "For 'diff', 'x' must not be empty along"),
    ("cond", ops.cond, "For 'cond', 'A' must have rows and columns"),
    ("cond 1", lambda x: ops.cond(x, 1), "For 'cond', 'A' must have rows and columns"),
]


@pytest.mark.parametrize(("name", "function", "words"), EMPTY, ids=[case[0] for case in EMPTY])
def test_nothing_is_refused_by_its_own_name(name, function, words, mode):
    with pytest.raises(ValueError, match=words):
        function(Tensor(np.zeros((0, 0) if "cond" in name else (0, 3), np.float32)))
