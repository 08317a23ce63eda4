"""Cross entropy of logits: gradients of both orders, and that it is NLLLoss of LogSoftmax."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore import Tensor, grad, jit, ops, vmap

LOGITS = np.random.default_rng(1).standard_normal((4, 6))
LABELS = Tensor(np.array([2, 5, 1, 0], np.int32))
WEIGHT = Tensor(np.random.default_rng(2).uniform(0.5, 1.5, 6))


def composed(x, reduction):
    return ops.nll_loss(ops.log_softmax(x, 1), LABELS, WEIGHT, 1, reduction)


def loss(x, reduction):
    return ops.cross_entropy(x, LABELS, WEIGHT, 1, reduction)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_gradients_of_both_orders(reduction):
    u = Tensor(np.random.default_rng(3).standard_normal((4, 6)))

    def total(f):
        return lambda x: (f(x, reduction) ** 2).sum()

    def slope(f):
        return lambda x: (grad(total(f))(x) * u).sum()

    x = Tensor(LOGITS)
    for make in (total, slope):
        wanted = grad(make(composed))(x).asnumpy()
        for call in (grad(make(loss)), jit(grad(make(loss)))):
            np.testing.assert_allclose(call(x).asnumpy(), wanted, rtol=1e-9, atol=1e-12)


def test_large_logits_lose_nothing():
    x = np.array([[1e4, 1e4 + 1, -1e4]], np.float32)
    found = ops.cross_entropy(Tensor(x), Tensor(np.array([0], np.int32))).asnumpy()
    np.testing.assert_allclose(found, np.log(1 + np.e), rtol=1e-6)


def test_of_a_batch():
    x = np.random.default_rng(4).standard_normal((3, 4, 6)).astype(np.float32)
    found = vmap(lambda a: ops.cross_entropy(a, LABELS))(Tensor(x)).asnumpy()
    wanted = [ops.cross_entropy(Tensor(a), LABELS).asnumpy() for a in x]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
