"""The updates of many parameters run as one launch, bit for bit as one by one, and in place."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

# Sizes below, at and above the chunks in which a chain of launches runs; of one element; of threads.
SHAPES = [(3,), (), (1,), (64, 64), (4097,), (130, 70), (300, 400), (2, 2, 5)]

OPTIMIZERS = {
    "SGD": lambda p: nn.SGD(p, 0.1, 0.9, weight_decay=0.01, nesterov=True),
    "plain SGD": lambda p: nn.SGD(p, 0.1),
    "Momentum": lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.01, loss_scale=8.0),
    "Adam": lambda p: nn.Adam(p, 0.01, weight_decay=0.01),
    "AMSGrad": lambda p: nn.Adam(p, 0.01, use_amsgrad=True),
    "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 0.01, weight_decay=0.1),
    "AdaMax": lambda p: nn.AdaMax(p, 0.01, loss_scale=2.0),
    "Adagrad": lambda p: nn.Adagrad(p, 0.1, weight_decay=0.01),
    "RMSProp": lambda p: nn.RMSProp(p, 0.01, weight_decay=0.01),
    "centered RMSProp": lambda p: nn.RMSProp(p, 0.01, centered=True, loss_scale=4.0),
    "FTRL": lambda p: nn.FTRL(p, l1=0.01),
    "Lamb": lambda p: nn.Lamb(p, 0.01, weight_decay=0.01),
    "schedule": lambda p: nn.Adam(p, nn.CosineDecayLR(0.001, 0.1, 5), loss_scale=2.0),
    "groups": lambda p: nn.Momentum(
        [{"params": p[:4], "lr": 0.2, "weight_decay": 0.1}, {"params": p[4:]}], 0.1, 0.9
    ),
}


def gradients(step: int, dtype: type = np.float32) -> list[np.ndarray]:
    rng = np.random.default_rng(step)
    return [rng.standard_normal(shape).astype(dtype) for shape in SHAPES]


def train(make, mode: int, steps: int = 3, dtype: type = np.float32) -> list[np.ndarray]:
    """All parameters of the optimizer and of the net after some steps."""
    ms.set_context(mode=mode)
    params = [Parameter(Tensor(v), name=f"p{i}") for i, v in enumerate(gradients(100, dtype))]
    optimizer = make(params)
    for step in range(steps):
        optimizer(tuple(Tensor(g) for g in gradients(step, dtype)))
    names = {p.name for p in params}
    states = [p for p in optimizer.get_parameters() if p.name not in names]
    return [p.asnumpy() for p in params + states]


def assert_same_bits(first, second) -> None:
    assert len(first) == len(second)
    for a, b in zip(first, second):
        np.testing.assert_array_equal(
            a.view(np.uint8) if a.ndim else a, b.view(np.uint8) if b.ndim else b
        )


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_same_bits_as_one_by_one(name):
    make = OPTIMIZERS[name]
    assert_same_bits(train(make, ms.GRAPH_MODE), train(make, ms.PYNATIVE_MODE))


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_dtypes(dtype):
    make = OPTIMIZERS["Momentum"]
    graph = train(make, ms.GRAPH_MODE, dtype=dtype)
    assert_same_bits(graph, train(make, ms.PYNATIVE_MODE, dtype=dtype))
    assert graph[0].dtype == dtype


class Step(nn.Cell):
    """Gradients clipped by their common norm, then an update written by the user."""

    def __init__(self, params):
        super().__init__()
        self.params = ms.ParameterTuple(params)
        self.velocity = self.params.clone("velocity", init="zeros")

    def construct(self, *grads):
        grads = ops.clip_by_global_norm(grads, 0.5)
        for i in range(len(self.params)):
            velocity = self.velocity[i] * 0.9 + grads[i]
            ops.assign(self.velocity[i], velocity)
            ops.assign_sub(self.params[i], 0.1 * velocity + self.params[i] * 0.01)
        return grads[0]


def test_users_update_after_clipping():
    results = []
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        step = Step([Parameter(Tensor(v), name=f"p{i}") for i, v in enumerate(gradients(100))])
        first = [step(*[Tensor(g) for g in gradients(k)]).asnumpy() for k in range(3)]
        results.append(first + [p.asnumpy() for p in step.get_parameters()])
    for a, b in zip(*results):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def test_values_that_someone_holds_stay():
    """The old value of a parameter is written over only where nobody sees it."""
    ms.set_context(mode=ms.GRAPH_MODE)
    param = Parameter(Tensor(np.ones((70, 70), np.float32)), name="p")
    other = Parameter(Tensor(np.ones((70, 70), np.float32)), name="q")
    optimizer = nn.Momentum([param, other], 1.0, 0.0)
    held = param.copy()
    array = other.asnumpy().copy()
    optimizer((ops.ones((70, 70)), ops.ones((70, 70))))
    assert held.asnumpy().min() == 1.0 and param.asnumpy().max() == 0.0
    assert array.min() == 1.0 and other.asnumpy().max() == 0.0
