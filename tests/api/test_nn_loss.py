"""Losses against PyTorch in both modes."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Tensor, nn

F = torch.nn.functional
RNG = np.random.default_rng(5)
X = RNG.standard_normal((4, 3)).astype(np.float32)
P = (1 / (1 + np.exp(-X))).astype(np.float32)
Q = RNG.random((4, 3)).astype(np.float32)
CLASSES = np.array([1, 2, 0, 2], np.int32)
WEIGHT = np.array([1.0, 2.0, 3.0], np.float32)


def t(array):
    return torch.tensor(array)


def same(ours, theirs):
    np.testing.assert_allclose(ours.asnumpy(), theirs.numpy(), rtol=2e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:reduction")
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(
    ("make", "reference", "x", "y"),
    [
        (nn.L1Loss, F.l1_loss, X, Q),
        (nn.MSELoss, F.mse_loss, X, Q),
        (nn.SmoothL1Loss, F.smooth_l1_loss, X, Q),
        (nn.HuberLoss, F.huber_loss, X, Q),
        (nn.BCELoss, F.binary_cross_entropy, P, Q),
        (nn.BCEWithLogitsLoss, F.binary_cross_entropy_with_logits, X, Q),
        (nn.SoftMarginLoss, F.soft_margin_loss, X, np.sign(X[::-1]).copy()),
        (nn.KLDivLoss, F.kl_div, np.log(P), Q),
    ],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_elementwise(make, reference, x, y, reduction, mode):
    expected = reference(t(x), t(y), reduction=reduction)
    same(make(reduction=reduction)(Tensor(x), Tensor(y)), expected)


def test_settings(mode):
    x, q, p = Tensor(X), Tensor(Q), Tensor(P)
    same(nn.SmoothL1Loss(0.2, "mean")(x, q), F.smooth_l1_loss(t(X), t(Q), beta=0.2))
    same(nn.HuberLoss("mean", 0.2)(x, q), F.huber_loss(t(X), t(Q), delta=0.2))
    same(nn.BCELoss(Tensor(Q))(p, q), F.binary_cross_entropy(t(P), t(Q), t(Q)))
    same(
        nn.BCEWithLogitsLoss(weight=Tensor(P), pos_weight=Tensor(WEIGHT))(x, q),
        F.binary_cross_entropy_with_logits(t(X), t(Q), t(P), pos_weight=t(WEIGHT)),
    )
    same(nn.RMSELoss()(x, q), F.mse_loss(t(X), t(Q)).sqrt())
    dice = 1 - (2 * (P * Q).sum() + 1e-5) / ((P**2).sum() + (Q**2).sum() + 1e-5)
    np.testing.assert_allclose(nn.DiceLoss()(p, q).asnumpy(), dice, rtol=1e-5)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_softmax_cross_entropy(reduction, mode):
    sparse = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction=reduction)
    expected = F.cross_entropy(t(X), t(CLASSES).long(), reduction=reduction)
    same(sparse(Tensor(X), Tensor(CLASSES)), expected)
    same(sparse(Tensor(X), Tensor(CLASSES.astype(np.int64))), expected)
    dense = nn.SoftmaxCrossEntropyWithLogits(reduction=reduction)
    probs = Q / Q.sum(1, keepdims=True)
    same(dense(Tensor(X), Tensor(probs)), F.cross_entropy(t(X), t(probs), reduction=reduction))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_class_losses(reduction, mode):
    x, classes, weight = Tensor(X), Tensor(CLASSES), Tensor(WEIGHT)
    long = t(CLASSES).long()
    settings = {"ignore_index": 1, "reduction": reduction}
    same(nn.NLLLoss(weight, **settings)(x, classes), F.nll_loss(t(X), long, t(WEIGHT), **settings))
    same(
        nn.CrossEntropyLoss(weight, label_smoothing=0.1, **settings)(x, classes),
        F.cross_entropy(t(X), long, t(WEIGHT), label_smoothing=0.1, **settings),
    )
    same(
        nn.CrossEntropyLoss(reduction=reduction, label_smoothing=0.1)(x, Tensor(Q)),
        F.cross_entropy(t(X), t(Q), reduction=reduction, label_smoothing=0.1),
    )
    images = RNG.standard_normal((2, 3, 4)).astype(np.float32)
    labels = RNG.integers(0, 3, (2, 4)).astype(np.int32)
    same(
        nn.CrossEntropyLoss(reduction=reduction)(Tensor(images), Tensor(labels)),
        F.cross_entropy(t(images), t(labels).long(), reduction=reduction),
    )


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cosine_embedding(reduction, mode):
    labels = np.array([1, -1, 1, -1], np.int32)
    same(
        nn.CosineEmbeddingLoss(0.2, reduction)(Tensor(P), Tensor(Q), Tensor(labels)),
        F.cosine_embedding_loss(t(P), t(Q), t(labels), 0.2, reduction=reduction),
    )


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_pairs(reduction, mode):
    signs = np.sign(X)
    same(
        nn.MarginRankingLoss(0.1, reduction)(Tensor(P), Tensor(Q), Tensor(signs)),
        F.margin_ranking_loss(t(P), t(Q), t(signs), 0.1, reduction=reduction),
    )
    same(
        nn.HingeEmbeddingLoss(0.6, reduction)(Tensor(P), Tensor(signs)),
        F.hinge_embedding_loss(t(P), t(signs), 0.6, reduction=reduction),
    )


def test_focal(mode):
    loss = nn.FocalLoss(gamma=2.0, reduction="none")(Tensor(X), Tensor(CLASSES.reshape(4, 1)))
    p = torch.softmax(t(X), 1)[range(4), CLASSES]
    same(loss, -((1 - p) ** 2) * p.log())


def test_user_loss(mode):
    class Weighted(nn.LossBase):
        def construct(self, x, y):
            return self.get_loss(x - y, weights=2.0)

    same(Weighted()(Tensor(X), Tensor(Q)), (2 * (t(X) - t(Q))).mean())
    same(Weighted("sum")(Tensor(X), Tensor(Q)), (2 * (t(X) - t(Q))).sum())
    same(Weighted("none")(Tensor(X), Tensor(Q)), 2 * (t(X) - t(Q)))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.MSELoss("foo"), ValueError, "'reduction' must be one of"),
        (lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=1), TypeError, "'sparse' must be a bool"),
        (lambda: nn.SoftmaxCrossEntropyWithLogits()(3, 4), TypeError, "must be Tensors"),
        (lambda: nn.HuberLoss(delta=0.0), ValueError, "'delta'"),
        (lambda: nn.BCELoss(weight=3), TypeError, "'weight' must be a Tensor"),
        (lambda: nn.CosineEmbeddingLoss(margin=2.0), ValueError, "'margin'"),
        (lambda: nn.NLLLoss()(Tensor(X), Tensor([1], ms.int32)), ValueError, "'target' must have"),
        (lambda: nn.CrossEntropyLoss(ignore_index=1.5), TypeError, "'ignore_index'"),
    ],
)
def test_refusals(call, error, text, pynative):
    with pytest.raises(error, match=text):
        call()
