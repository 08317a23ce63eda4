"""Functions of ops/function/{nn,loss,linalg}_func.py against PyTorch and NumPy, in both modes, and
what rows cannot say: ties and nan in pooling, moving statistics, optional weights of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from peers import torch

import mindspore
from mindspore import Tensor, ops
from mindspore.ops import operations as P
from mindspore.ops._bind import raw

F = torch.nn.functional

RANDOM = np.random.default_rng(7)


def f(*shape: int) -> np.ndarray:
    return RANDOM.uniform(-2, 2, shape).astype(np.float32)


def torched(function: Callable) -> Callable:
    def run(*arrays: Any) -> Any:
        result = function(
            *[torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in arrays]
        )
        return result if isinstance(result, tuple) else (result,)

    return run


X, W, B = f(2, 4, 9, 8), f(6, 2, 3, 3), f(6)
LOGITS, IMAGES = f(5, 4), f(2, 4, 3, 3)
LABELS, PIXELS = np.array([0, 3, 1, -100, 2]), RANDOM.integers(0, 4, (2, 3, 3))
WEIGHT, PROBS = np.abs(f(4)) + 0.1, RANDOM.uniform(0.1, 0.9, (5, 4)).astype(np.float32)
SIGNS = np.sign(f(5, 4)).astype(np.float32)
M, S = f(4), np.abs(f(4)) + 0.5

CASES: list[tuple[str, Callable, Callable, tuple]] = [
    (
        "conv2d",
        lambda x, w, b: ops.conv2d(x, w, b, 2, "pad", (1, 2), 1, 2),
        lambda x, w, b: F.conv2d(x, w, b, 2, (1, 2), 1, 2),
        (X, W, B),
    ),
    (
        "conv2d of one image",
        lambda x, w: ops.conv2d(x, w, groups=2, dilation=2),
        lambda x, w: F.conv2d(x, w, groups=2, dilation=2),
        (X[0], W),
    ),
    (
        "conv1d",
        lambda x, w: ops.conv1d(x, w, stride=2, pad_mode="pad", padding=1),
        lambda x, w: F.conv1d(x, w, stride=2, padding=1),
        (f(2, 3, 9), f(4, 3, 3)),
    ),
    ("max_pool2d", lambda x: ops.max_pool2d(x, 3, 2, 1), lambda x: F.max_pool2d(x, 3, 2, 1), (X,)),
    (
        "max_pool2d with indices",
        lambda x: ops.max_pool2d(x, 2, return_indices=True, ceil_mode=True),
        lambda x: F.max_pool2d(x, 2, return_indices=True, ceil_mode=True),
        (X,),
    ),
    (
        "max_pool2d dilated",
        lambda x: ops.max_pool2d(x, 3, 1, 1, 2),
        lambda x: F.max_pool2d(x, 3, 1, 1, 2),
        (X[0],),
    ),
    (
        "avg_pool2d",
        lambda x: ops.avg_pool2d(x, 3, 2, 1, True, False),
        lambda x: F.avg_pool2d(x, 3, 2, 1, True, False),
        (X,),
    ),
    (
        "avg_pool2d counts padding",
        lambda x: ops.avg_pool2d(x, 3, 2, 1, True),
        lambda x: F.avg_pool2d(x, 3, 2, 1, True),
        (X,),
    ),
    (
        "adaptive_avg_pool2d",
        lambda x: ops.adaptive_avg_pool2d(x, (4, None)),
        lambda x: F.adaptive_avg_pool2d(x, (4, None)),
        (X,),
    ),
    (
        "batch_norm",
        lambda x, m, v, w, b: ops.batch_norm(x, m, v, w, b, eps=0.01),
        lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b, eps=0.01),
        (X, M, S, f(4), f(4)),
    ),
    (
        "layer_norm",
        lambda x, w, b: ops.layer_norm(x, (9, 8), w, b),
        lambda x, w, b: F.layer_norm(x, (9, 8), w, b),
        (X, f(9, 8), f(9, 8)),
    ),
    (
        "layer_norm plain",
        lambda x: ops.layer_norm(x, 8),
        lambda x: F.layer_norm(x, (8,)),
        (X,),
    ),
    (
        "group_norm",
        lambda x, w, b: ops.group_norm(x, 2, w, b),
        lambda x, w, b: F.group_norm(x, 2, w, b),
        (X, f(4), f(4)),
    ),
    (
        "lrn",
        lambda x: ops.lrn(x, 1, 1.0, 0.5, 0.75),
        lambda x: F.local_response_norm(x, 3, 1.5, 0.75, 1.0),
        (X,),
    ),
    ("softmax", lambda x: ops.softmax(x, 1), lambda x: F.softmax(x, 1), (X,)),
    ("softmin", lambda x: ops.softmin(x, 0), lambda x: F.softmin(x, 0), (LOGITS,)),
    ("log_softmax", lambda x: ops.log_softmax(x, 1), lambda x: F.log_softmax(x, 1), (X,)),
    ("cross_entropy", ops.cross_entropy, F.cross_entropy, (LOGITS, LABELS)),
    (
        "cross_entropy weighted and smoothed",
        lambda x, t, w: ops.cross_entropy(x, t, w, label_smoothing=0.2),
        lambda x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.2),
        (LOGITS, LABELS, WEIGHT),
    ),
    (
        "cross_entropy of pixels",
        lambda x, t: ops.cross_entropy(x, t, reduction="none"),
        lambda x, t: F.cross_entropy(x, t, reduction="none"),
        (IMAGES, PIXELS),
    ),
    (
        "cross_entropy of probabilities",
        lambda x, p, w: ops.cross_entropy(x, p, w, reduction="sum", label_smoothing=0.1),
        lambda x, p, w: F.cross_entropy(x, p, w, reduction="sum", label_smoothing=0.1),
        (LOGITS, PROBS, WEIGHT),
    ),
    ("cross_entropy of one", ops.cross_entropy, F.cross_entropy, (LOGITS[0], np.array(2))),
    (
        "nll_loss",
        lambda x, t, w: ops.nll_loss(x, t, w, reduction="sum"),
        lambda x, t, w: F.nll_loss(x, t, w, reduction="sum"),
        (LOGITS, LABELS, WEIGHT),
    ),
    ("mse_loss", ops.mse_loss, F.mse_loss, (LOGITS, PROBS)),
    ("l1_loss", ops.l1_loss, F.l1_loss, (LOGITS, PROBS)),
    (
        "smooth_l1_loss",
        lambda x, y: ops.smooth_l1_loss(x, y, 0.5, "mean"),
        lambda x, y: F.smooth_l1_loss(x, y, beta=0.5),
        (LOGITS, PROBS),
    ),
    (
        "huber_loss",
        lambda x, y: ops.huber_loss(x, y, delta=0.7),
        lambda x, y: F.huber_loss(x, y, delta=0.7),
        (LOGITS, PROBS),
    ),
    (
        "binary_cross_entropy",
        ops.binary_cross_entropy,
        F.binary_cross_entropy,
        (PROBS, PROBS[::-1].copy()),
    ),
    (
        "binary_cross_entropy_with_logits",
        lambda x, y, w: ops.binary_cross_entropy_with_logits(x, y, pos_weight=w),
        lambda x, y, w: F.binary_cross_entropy_with_logits(x, y, pos_weight=w),
        (LOGITS, PROBS, WEIGHT),
    ),
    (
        "kl_div",
        lambda x, y: ops.kl_div(x, y, "batchmean"),
        lambda x, y: F.kl_div(x, y, reduction="batchmean"),
        (LOGITS, PROBS),
    ),
    ("soft_margin_loss", ops.soft_margin_loss, F.soft_margin_loss, (LOGITS, SIGNS)),
    (
        "margin_ranking_loss",
        lambda x, y, t: ops.margin_ranking_loss(x, y, t, 0.3),
        lambda x, y, t: F.margin_ranking_loss(x, y, t, 0.3),
        (LOGITS, PROBS, SIGNS),
    ),
    (
        "hinge_embedding_loss",
        ops.hinge_embedding_loss,
        F.hinge_embedding_loss,
        (LOGITS, SIGNS),
    ),
    (
        "cosine_embedding_loss",
        lambda x, y, t: ops.cosine_embedding_loss(x, y, t, 0.1),
        lambda x, y, t: F.cosine_embedding_loss(x, y, t, 0.1),
        (LOGITS, PROBS, SIGNS[:, 0].copy()),
    ),
    ("dense", ops.dense, F.linear, (f(2, 3, 4), f(5, 4), f(5))),
    ("dense with a vector", ops.dense, F.linear, (f(3, 4), f(4))),
    (
        "addmm",
        lambda *a: ops.addmm(*a, beta=2),
        lambda *a: torch.addmm(*a, beta=2),
        (f(3), f(2, 4), f(4, 3)),
    ),
    ("baddbmm", ops.baddbmm, torch.baddbmm, (f(2, 3, 5), f(2, 3, 4), f(2, 4, 5))),
    ("addbmm", ops.addbmm, torch.addbmm, (f(3, 5), f(2, 3, 4), f(2, 4, 5))),
    ("addmv", ops.addmv, torch.addmv, (f(3), f(3, 4), f(4))),
    ("outer", ops.outer, torch.outer, (f(3), f(4))),
    ("inner", ops.inner, torch.inner, (f(2, 3), f(4, 3))),
    ("mv", ops.mv, torch.mv, (f(2, 3), f(3))),
    (
        "tensor_dot",
        lambda x, y: ops.tensor_dot(x, y, ((1, 2), (0, 1))),
        lambda x, y: torch.tensordot(x, y, ([1, 2], [0, 1])),
        (f(2, 3, 4), f(3, 4, 5)),
    ),
]


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "graph"])
@pytest.mark.parametrize(
    ("ours", "theirs", "arrays"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_function(ours: Callable, theirs: Callable, arrays: tuple, compiled: bool) -> None:
    def call(*tensors: Tensor) -> Any:
        return ours(*tensors)

    run = mindspore.jit(call) if compiled else call
    result = run(*[Tensor(a) for a in arrays])
    results = result if isinstance(result, tuple) else (result,)
    for a, b in zip(results, torched(theirs)(*arrays)):
        np.testing.assert_allclose(a.asnumpy(), b.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((3,), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3,)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((5, 1, 2, 3), (4, 3, 2)),
        ((3,), (5, 3, 2)),
        ((5, 2, 3), (3,)),
        ((0, 2, 3), (3, 2)),
    ],
)
def test_matmul_follows_numpy(x: tuple, y: tuple) -> None:
    a, b = f(*x), f(*y)
    for result in (ops.matmul(Tensor(a), Tensor(b)), Tensor(a) @ Tensor(b)):
        np.testing.assert_allclose(result.asnumpy(), a @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("x", "y"), [((2, 3), (4,)), ((), (3,)), ((2, 3), (2, 3)), ((2, 1, 3), (3, 4, 2))]
)
def test_matmul_refuses(x: tuple, y: tuple) -> None:
    with pytest.raises(ValueError, match=r"For '(matmul|MatMul|BatchMatMul)'"):
        ops.matmul(Tensor(np.ones(x, np.float32)), Tensor(np.ones(y, np.float32)))


TIES = np.array([[[[1, 1, 0, 2], [1, 0, 2, 2], [3, 3, 3, 3], [3, 3, 3, 3]]]], np.float32)
NANS = np.array(
    [[[[0, 1, 2, 3], [4, np.nan, 6, 7], [8, 9, 9, 11], [12, 13, np.inf, -np.inf]]]], np.float32
)
LOW = np.full((1, 1, 4, 4), -np.inf, np.float32)


@pytest.mark.parametrize(
    "x", [TIES, NANS, LOW, np.repeat(TIES, 40, 1)], ids=["ties", "nan", "-inf", "many"]
)
@pytest.mark.parametrize("window", [(2, 2, 0), (3, 1, 1), (2, 1, 0), (3, 2, 1)])
def test_first_maximum(x: np.ndarray, window: tuple) -> None:
    """The gradient goes where PyTorch sends it: to the first of equals; a nan is the largest."""
    leaf = torch.from_numpy(x).requires_grad_()
    wanted = F.max_pool2d(leaf, *window)
    weights = torch.arange(wanted.numel(), dtype=torch.float32).reshape(wanted.shape) + 1
    wanted.backward(weights)
    y = ops.max_pool2d(Tensor(x), *window)
    np.testing.assert_array_equal(y.asnumpy(), wanted.detach().numpy())
    attributes = {"strides": window[1], "pad_mode": "pad", "pad": window[2]}
    grad = raw("MaxPoolGrad")(
        Tensor(x), Tensor(weights.numpy()), kernel_size=window[0], **attributes
    )
    np.testing.assert_array_equal(grad.asnumpy(), leaf.grad.numpy())


def test_batch_norm_moves_statistics() -> None:
    mean, variance = torch.from_numpy(M.copy()), torch.from_numpy(S.copy())
    scale, bias = f(4), f(4)
    wanted = F.batch_norm(
        torch.from_numpy(X),
        mean,
        variance,
        torch.from_numpy(scale),
        torch.from_numpy(bias),
        True,
        0.3,
    )
    m = mindspore.Parameter(Tensor(M.copy()), name="m")
    v = mindspore.Parameter(Tensor(S.copy()), name="v")
    y = ops.batch_norm(Tensor(X), m, v, Tensor(scale), Tensor(bias), True, 0.3)
    np.testing.assert_allclose(y.asnumpy(), wanted.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(m.asnumpy(), mean.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(v.asnumpy(), variance.numpy(), rtol=1e-5, atol=1e-6)


def test_batch_norm_class_in_inference_moves_nothing() -> None:
    m = mindspore.Parameter(Tensor(M.copy()), name="m")
    v = mindspore.Parameter(Tensor(S.copy()), name="v")
    ones = Tensor(np.ones(4, np.float32))
    outputs = P.BatchNorm(is_training=False)(Tensor(X), ones, ones, m, v)
    assert len(outputs) == 5
    shape = (1, 4, 1, 1)
    wanted = (X - M.reshape(shape)) / np.sqrt(S.reshape(shape) + 1e-5) + 1
    np.testing.assert_allclose(outputs[0].asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(m.asnumpy(), M)


def test_adaptive_pooling_class_keeps_a_size() -> None:
    y = P.AdaptiveAvgPool2D((None, 2))(Tensor(X))
    wanted = F.adaptive_avg_pool2d(torch.from_numpy(X), (None, 2))
    np.testing.assert_allclose(y.asnumpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_classes_with_optional_weights() -> None:
    x, y = Tensor(PROBS), Tensor(PROBS[::-1].copy())
    plain = P.BinaryCrossEntropy()(x, y)
    weighted = P.BinaryCrossEntropy()(x, y, Tensor(np.ones((5, 4), np.float32)))
    np.testing.assert_allclose(plain.asnumpy(), weighted.asnumpy(), rtol=1e-6)
    logits = P.BCEWithLogitsLoss(reduction="sum")(Tensor(LOGITS), y)
    wanted = F.binary_cross_entropy_with_logits(
        torch.from_numpy(LOGITS), torch.from_numpy(PROBS[::-1].copy()), reduction="sum"
    )
    np.testing.assert_allclose(logits.asnumpy(), wanted.numpy(), rtol=1e-5)


BAD: list[tuple[str, Callable, str]] = [
    ("weight rank", lambda: ops.conv2d(Tensor(X), Tensor(X[0])), "'weight' must have 4 dimensions"),
    (
        "target shape",
        lambda: ops.nll_loss(Tensor(LOGITS), Tensor(LABELS[:3])),
        "'target' must have shape",
    ),
    ("reduction", lambda: ops.mse_loss(Tensor(M), Tensor(S), "max"), "'reduction' must be one of"),
    ("normalized_shape", lambda: ops.layer_norm(Tensor(X), (8, 8)), "must be the last dimensions"),
    ("groups", lambda: ops.group_norm(Tensor(X), 3), "divisible by 'num_groups'"),
    ("norm_region", lambda: ops.lrn(Tensor(X), norm_region="WITHIN"), "'norm_region' must be"),
    ("tensor_dot", lambda: ops.tensor_dot(Tensor(X), Tensor(X), ((0,), (1,))), "the same sizes"),
    (
        "padding",
        lambda: ops.avg_pool2d(Tensor(X), 2, padding=(1, 1, 1)),
        "'padding' must be an int",
    ),
    ("mm", lambda: ops.mm(Tensor(M), Tensor(LOGITS)), "'input' must have 2 dimensions"),
    ("delta", lambda: ops.huber_loss(Tensor(M), Tensor(S), delta=0.0), "'delta' must be positive"),
]


@pytest.mark.parametrize(("call", "says"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_refusals(call: Callable, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


def test_not_a_tensor() -> None:
    with pytest.raises(TypeError, match=r"'input' must be a Tensor, but got \[1\.0\]"):
        ops.mse_loss([1.0], Tensor(M))
