"""Both layers that normalise over processes have the statistics and gradients of one process on the whole batch."""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Tensor, mint, nn, ops
from mindspore.communication import get_group_size, get_rank, init

init()
RANK, SIZE = get_rank(), get_group_size()
x = np.random.default_rng(5).normal(3, 2, (4 * SIZE, 3, 5)).astype(np.float32)
part = x[4 * RANK : 4 * RANK + 4]
PAIRS = [
    (lambda: mint.nn.SyncBatchNorm(3), lambda: mint.nn.BatchNorm1d(3), "running_", lambda t: t),
    (
        lambda: nn.SyncBatchNorm(3, momentum=0.9),
        lambda: nn.BatchNorm2d(3, momentum=0.9),
        "moving_",
        lambda t: t.expand_dims(-1),
    ),
]


def state(layer, before):
    names = ("mean", "var") if before == "running_" else ("mean", "variance")
    return [getattr(layer, before + name).asnumpy() for name in names]


def outcome(layer, given, shaped):
    layer.set_train()

    def loss(t):
        y = layer(shaped(t)).reshape(t.shape)
        return (ops.sin(y) * y).sum(), y

    (_, y), slope = ms.value_and_grad(loss, has_aux=True)(Tensor(given))
    return y.asnumpy(), slope.asnumpy()


for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
    ms.set_context(mode=mode)
    for together, alone, before, shaped in PAIRS:
        layer, whole = together(), alone()
        values = outcome(layer, part, shaped)
        for mine, all_of_them in zip(values, outcome(whole, x, shaped)):
            wanted = all_of_them[4 * RANK : 4 * RANK + 4]
            np.testing.assert_allclose(mine, wanted, rtol=2e-4, atol=2e-5)
        for kept, wanted in zip(state(layer, before), state(whole, before)):
            np.testing.assert_allclose(kept, wanted, rtol=1e-4)
        layer.set_train(False)
        still = layer(shaped(Tensor(part))).reshape(part.shape).asnumpy()
        whole.set_train(False)
        np.testing.assert_allclose(
            still, whole(shaped(Tensor(part))).reshape(part.shape).asnumpy(), rtol=1e-4, atol=1e-5
        )

print("all is well")
