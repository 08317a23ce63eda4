"""Networks trained from the same weights on the same data: PyTorch's losses, in both modes."""

from __future__ import annotations

import numpy as np
import pytest
from nets import PAIRS, Pair
from peers import torch

import mindspore as ms
from mindspore import Tensor, nn

MODES = (ms.PYNATIVE_MODE, ms.GRAPH_MODE)


class MindSporeAdam(torch.optim.Adam):
    """PyTorch's Adam with MindSpore's epsilon: it is added before the bias of `v` is corrected."""

    count = 0

    def step(self, closure=None):
        self.count += 1
        for group in self.param_groups:
            group["eps"] = 1e-8 / (1 - group["betas"][1] ** self.count) ** 0.5
        return super().step(closure)


# Name -> our optimiser, PyTorch's; (parameters, rate) of each. Weight decay is added to gradients.
OPTIMIZERS = {
    "sgd": (
        lambda p, r: nn.SGD(p, r, momentum=0.9, weight_decay=1e-3, nesterov=True),
        lambda p, r: torch.optim.SGD(p, r, momentum=0.9, weight_decay=1e-3, nesterov=True),
    ),
    "momentum": (
        lambda p, r: nn.Momentum(p, r, 0.9, weight_decay=1e-3),
        lambda p, r: torch.optim.SGD(p, r, momentum=0.9, weight_decay=1e-3),
    ),
    "adam": (
        lambda p, r: nn.Adam(p, r / 10, weight_decay=1e-3),
        lambda p, r: MindSporeAdam(p, r / 10, weight_decay=1e-3),
    ),
}


@pytest.fixture(autouse=True)
def restore_mode():
    before = ms.get_context("mode")
    yield
    ms.set_context(mode=before)


def data(pair: Pair, steps: int):
    rng = np.random.default_rng(11)
    for _ in range(steps):
        yield (
            rng.standard_normal(pair.shape).astype(np.float32),
            rng.integers(0, 10, pair.shape[0]).astype(np.int32),
        )


def losses(pair: Pair, weights, optimizer: str, steps: int, mode: int):
    """Our losses from the given weights, and the statistics batch norm has gathered."""
    ms.set_context(mode=mode)
    net = pair.ours()
    parameters = net.trainable_params()
    for parameter, weight in zip(parameters, weights):
        parameter.set_data(Tensor(weight))
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    update = OPTIMIZERS[optimizer][0](parameters, pair.rate)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), update).set_train()
    curve = [float(step(Tensor(x), Tensor(y)).asnumpy()) for x, y in data(pair, steps)]
    return curve, [p.asnumpy() for p in net.get_parameters() if p.name.endswith("moving_mean")]


def torch_losses(pair: Pair, optimizer: str, steps: int):
    """The starting weights, PyTorch's losses, and its statistics of batch norm."""
    torch.manual_seed(3)
    net = pair.theirs()
    weights = [p.detach().numpy().copy() for p in net.parameters()]
    update = OPTIMIZERS[optimizer][1](net.parameters(), pair.rate)
    curve = []
    for x, y in data(pair, steps):
        update.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(torch.tensor(x)), torch.tensor(y).long())
        loss.backward()
        update.step()
        curve.append(loss.item())
    return weights, curve, [b.numpy() for n, b in net.named_buffers() if n.endswith("running_mean")]


def compare(name: str, optimizer: str, steps: int, tolerance: float, between_modes: float):
    pair = PAIRS[name]
    weights, theirs, statistics = torch_losses(pair, optimizer, steps)
    assert [w.shape for w in weights] == [tuple(p.shape) for p in pair.ours().trainable_params()]
    (eager, eager_means), (graph, _) = (
        losses(pair, weights, optimizer, steps, mode) for mode in MODES
    )
    np.testing.assert_allclose(eager, theirs, atol=tolerance, rtol=0)
    np.testing.assert_allclose(graph, theirs, atol=tolerance, rtol=0)
    np.testing.assert_allclose(graph, eager, atol=between_modes, rtol=0)
    assert len(eager_means) == len(statistics)
    for ours, expected in zip(eager_means, statistics):
        np.testing.assert_allclose(ours, expected, atol=10 * tolerance, rtol=0)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("name", ["mlp", "lenet", "lstm", "lstm_cell"])
def test_small_networks_for_20_steps(name, optimizer):
    compare(name, optimizer, 20, 1e-4, 1e-5)


@pytest.mark.parametrize("name", ["alexnet", "resnet18", "resnet50"])
def test_large_networks_for_3_steps(name):
    compare(name, "momentum", 3, 1e-4, 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alexnet", "resnet18", "resnet50"])
def test_large_networks_for_20_steps(name):
    # Sums in another order, images having their channels last: 20 steps make much of little.
    compare(name, "momentum", 20, 1e-2, 1e-2)
