"""Training steps: equal to PyTorch in both modes, loss scaling, wrappers."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import ParameterTuple, Tensor, nn, ops

RNG = np.random.default_rng(3)
IMAGES = RNG.standard_normal((20, 8, 1, 12, 12)).astype(np.float32)
CLASSES = RNG.integers(0, 5, (20, 8)).astype(np.int32)
X = RNG.standard_normal((6, 3)).astype(np.float32)
Y = RNG.standard_normal((6, 2)).astype(np.float32)


class Small(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 3, pad_mode="valid")
        self.norm = nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 6, 3, pad_mode="same", has_bias=True)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(6 * 2 * 2, 5)

    def construct(self, x):
        x = self.pool(self.relu(self.norm(self.conv1(x))))
        x = self.pool(self.relu(self.conv2(x)))
        return self.fc(self.flatten(x))


def torch_small(net):
    """The same network with the same weights."""
    other = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3, bias=False),
        torch.nn.BatchNorm2d(4),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(4, 6, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(24, 5),
    )
    order = [
        "conv1.weight",
        "norm.gamma",
        "norm.beta",
        "conv2.weight",
        "conv2.bias",
        "fc.weight",
        "fc.bias",
    ]
    values = net.parameters_dict()
    with torch.no_grad():
        for param, name in zip(other.parameters(), order):
            param.copy_(torch.tensor(values[name].asnumpy()))
    return other


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda p: nn.Momentum(p, 0.05, 0.9), lambda p: torch.optim.SGD(p, 0.05, 0.9)),
        (lambda p: nn.Adam(p, 0.01), lambda p: torch.optim.Adam(p, 0.01)),
    ],
    ids=["momentum", "adam"],
)
def test_equals_torch(ours, theirs, mode):
    ms.set_seed(1)
    net = Small()
    other = torch_small(net)
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss_fn), ours(net.trainable_params()))
    step.set_train()
    optimizer = theirs(other.parameters())
    for images, classes in zip(IMAGES, CLASSES):
        optimizer.zero_grad()
        expected = torch.nn.functional.cross_entropy(
            other(torch.tensor(images)), torch.tensor(classes).long()
        )
        expected.backward()
        optimizer.step()
        loss = step(Tensor(images), Tensor(classes))
        np.testing.assert_allclose(loss.asnumpy(), expected.item(), rtol=1e-3, atol=1e-4)
    mean = next(p for p in net.get_parameters() if p.name == "norm.moving_mean")
    np.testing.assert_allclose(mean.asnumpy(), other[1].running_mean.numpy(), rtol=1e-3, atol=1e-4)


def linear_step(wrap):
    """A network of one dense layer, its loss and the step that `wrap` makes."""
    ms.set_seed(2)
    net = nn.Dense(3, 2)
    loss = nn.WithLossCell(net, nn.MSELoss())
    return net, wrap(loss, nn.SGD(net.trainable_params(), 0.1))


def test_sens_scales_the_step(mode):
    net, step = linear_step(lambda loss, opt: nn.TrainOneStepCell(loss, opt))
    start = net.weight.asnumpy().copy()
    step(Tensor(X), Tensor(Y))
    change = net.weight.asnumpy() - start
    net, step = linear_step(lambda loss, opt: nn.TrainOneStepCell(loss, opt, sens=3.0))
    step(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(net.weight.asnumpy() - start, 3 * change, rtol=1e-4, atol=1e-7)


def test_return_grad(mode):
    net, step = linear_step(lambda loss, opt: nn.TrainOneStepCell(loss, opt, return_grad=True))
    start = net.weight.asnumpy().copy()
    _, grads = step(Tensor(X), Tensor(Y))
    assert list(grads) == ["weight", "bias"]
    np.testing.assert_allclose(
        start - 0.1 * grads["weight"].asnumpy(), net.weight.asnumpy(), rtol=1e-5
    )


def test_user_step(mode):
    class Clipped(nn.TrainOneStepCell):
        def construct(self, *inputs):
            loss = self.network(*inputs)
            sens = ops.fill(loss.dtype, loss.shape, self.sens)
            grads = self.grad(self.network, self.weights)(*inputs, sens)
            grads = self.grad_reducer(grads)
            grads = tuple([ops.clip_by_value(grad, -0.01, 0.01) for grad in grads])
            return ops.depend(loss, self.optimizer(grads))

    net, step = linear_step(Clipped)
    start = net.weight.asnumpy().copy()
    step(Tensor(X), Tensor(Y))
    assert 0 < np.abs(net.weight.asnumpy() - start).max() <= 0.001 + 1e-6


def test_with_grad_and_eval_cells(mode):
    net = nn.Dense(3, 2)
    w, b = (torch.tensor(p.asnumpy(), requires_grad=True) for p in net.trainable_params())
    loss = torch.nn.functional.mse_loss(
        torch.nn.functional.linear(torch.tensor(X), w, b), torch.tensor(Y)
    )
    loss.backward()
    grads = nn.WithGradCell(net, nn.MSELoss())(Tensor(X), Tensor(Y))
    for ours, theirs in zip(grads, (w.grad, b.grad)):
        np.testing.assert_allclose(ours.asnumpy(), theirs.numpy(), rtol=1e-4, atol=1e-6)
    value, grads = nn.ForwardValueAndGrad(
        nn.WithLossCell(net, nn.MSELoss()), ParameterTuple(net.trainable_params()), get_by_list=True
    )(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(value.asnumpy(), loss.item(), rtol=1e-5)
    np.testing.assert_allclose(grads[0].asnumpy(), w.grad.numpy(), rtol=1e-4, atol=1e-6)
    value, output, label = nn.WithEvalCell(net, nn.MSELoss())(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(value.asnumpy(), loss.item(), rtol=1e-5)
    assert output.shape == (6, 2) and (label.asnumpy() == Y).all()


def test_dynamic_loss_scale_follows_overflows(mode):
    update = nn.DynamicLossScaleUpdateCell(1024, 2, 2)
    scale = ms.Parameter(Tensor(1024.0), name="scale")
    seen = []
    for overflow in (False, False, False, True, True, False, False, False, False):
        update(scale, Tensor(overflow))
        seen.append(float(scale.asnumpy()))
    assert seen == [1024, 2048, 2048, 1024, 512, 512, 1024, 1024, 2048]


@pytest.mark.parametrize(
    "scale",
    [
        lambda: Tensor(64.0),
        lambda: nn.FixedLossScaleUpdateCell(64),
        lambda: nn.DynamicLossScaleUpdateCell(64, 2, 1000),
    ],
    ids=["tensor", "fixed", "dynamic"],
)
def test_loss_scale_step(scale, mode):
    net, step = linear_step(nn.TrainOneStepCell)
    step(Tensor(X), Tensor(Y))
    expected = net.weight.asnumpy().copy()
    net, step = linear_step(lambda loss, opt: nn.TrainOneStepWithLossScaleCell(loss, opt, scale()))
    loss, overflow, used = step(Tensor(X), Tensor(Y))
    np.testing.assert_allclose(net.weight.asnumpy(), expected, rtol=1e-5)
    assert loss.shape == () and not overflow.asnumpy() and float(used.asnumpy()) == 64


def test_overflow_leaves_parameters_alone(mode):
    net, step = linear_step(
        lambda loss, opt: nn.TrainOneStepWithLossScaleCell(
            loss, opt, nn.DynamicLossScaleUpdateCell(64, 2, 1000)
        )
    )
    start = net.weight.asnumpy().copy()
    _, overflow, _ = step(Tensor(np.full((6, 3), np.inf, np.float32)), Tensor(Y))
    assert overflow.asnumpy() and (net.weight.asnumpy() == start).all()
    assert float(step.scale_sense.asnumpy()) == 32
    step.set_sense_scale(Tensor(8.0))
    _, overflow, used = step(Tensor(X), Tensor(Y))
    assert not overflow.asnumpy() and float(used.asnumpy()) == 8
    assert (net.weight.asnumpy() != start).any()


def test_frozen_body(mode):
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
    for param in net[0].get_parameters():
        param.requires_grad = False
    body, head = net[0].weight.asnumpy().copy(), net[2].weight.asnumpy().copy()
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)
    )
    step(Tensor(X), Tensor(Y))
    assert (net[0].weight.asnumpy() == body).all() and (net[2].weight.asnumpy() != head).any()


def test_parameter_update_and_reducer(mode):
    param = ms.Parameter(Tensor([1.0, 2.0]), name="p")
    nn.ParameterUpdate(param)(Tensor([3.0, 4.0]))
    assert param.asnumpy().tolist() == [3.0, 4.0]
    grads = (Tensor([1.0]), Tensor([2.0]))
    reduced = nn.DistributedGradReducer([param])(grads)
    assert [g.asnumpy().item() for g in reduced] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.WithLossCell(3, nn.MSELoss()), TypeError, "'backbone' must be a Cell"),
        (lambda: nn.WithLossCell(nn.ReLU(), 3), TypeError, "'loss_fn' must be"),
        (lambda: nn.TrainOneStepCell(nn.ReLU(), 3), TypeError, "'optimizer' must be a Cell"),
        (lambda: nn.DynamicLossScaleUpdateCell(0, 2, 3), ValueError, "'loss_scale_value'"),
        (lambda: nn.DynamicLossScaleUpdateCell(8, 2, 0), ValueError, "'scale_window'"),
        (lambda: nn.ForwardValueAndGrad(3), TypeError, "'network' must be"),
        (lambda: nn.ForwardValueAndGrad(nn.ReLU(), get_by_list=True), TypeError, "'weights'"),
        (lambda: nn.DistributedGradReducer([], degree=0), ValueError, "'degree'"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("scale", [3.0, Tensor([3.0, 2.0])], ids=["float", "shape"])
def test_scale_sense_refusals(scale):
    net = nn.Dense(3, 2)
    with pytest.raises((TypeError, ValueError), match="'scale_sense'"):
        nn.TrainOneStepWithLossScaleCell(
            nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params()), scale
        )
