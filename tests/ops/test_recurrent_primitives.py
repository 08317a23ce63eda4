"""LSTM, DynamicRNN and DynamicGRUV2 against PyTorch's layers with the same weights."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.ops import operations as P

STEPS, BATCH, INPUT, HIDDEN = 4, 3, 5, 6


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"], autouse=True)
def mode(request):
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE)


class Net(nn.Cell):
    def __init__(self, primitive):
        super().__init__()
        self.primitive = primitive

    def construct(self, *inputs):
        return self.primitive(*inputs)


def data(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def array(x: torch.Tensor) -> np.ndarray:
    return x.detach().numpy()


def near(ours: Tensor, wanted: torch.Tensor) -> None:
    np.testing.assert_allclose(ours.asnumpy(), array(wanted), atol=1e-5)


@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("layers", [1, 2])
def test_lstm(has_bias, bidirectional, layers):
    other = torch.nn.LSTM(INPUT, HIDDEN, layers, has_bias, bidirectional=bidirectional)
    named = dict(other.named_parameters())
    kinds = [
        [array(v).ravel() for k, v in named.items() if k.startswith(f"weight_{s}h")] for s in "ih"
    ]
    if has_bias:
        pairs = [k.split("bias_ih")[1] for k in named if k.startswith("bias_ih")]
        kinds.append([array(named["bias_ih" + p] + named["bias_hh" + p]) for p in pairs])
    w = np.concatenate([part for kind in kinds for part in kind]).reshape(-1, 1, 1)
    rows = layers * (2 if bidirectional else 1)
    x, h, c = data(STEPS, BATCH, INPUT), data(rows, BATCH, HIDDEN), data(rows, BATCH, HIDDEN)
    net = Net(P.LSTM(INPUT, HIDDEN, layers, has_bias, bidirectional, 0.0))
    ours = net(Tensor(x), Tensor(h), Tensor(c), Tensor(w))
    wanted, (h_n, c_n) = other(torch.tensor(x), (torch.tensor(h), torch.tensor(c)))
    for mine, theirs in zip(ours[:3], (wanted, h_n, c_n), strict=True):
        near(mine, theirs)


def reordered(weights: torch.Tensor, order: tuple[int, ...]) -> np.ndarray:
    parts = torch.chunk(weights, len(order))
    return array(torch.cat([parts[i] for i in order])).T.copy()


def test_dynamic_rnn():
    other = torch.nn.LSTM(INPUT, HIDDEN)
    order = (0, 2, 1, 3)  # in, cell, forget, out
    w = np.concatenate([reordered(other.weight_ih_l0, order), reordered(other.weight_hh_l0, order)])
    bias = (other.bias_ih_l0 + other.bias_hh_l0).detach()
    bias[HIDDEN : 2 * HIDDEN] -= 1  # which forget_bias adds
    x, h, c = data(STEPS, BATCH, INPUT), data(1, BATCH, HIDDEN), data(1, BATCH, HIDDEN)
    inputs = (Tensor(x), Tensor(w), Tensor(reordered(bias, order)), None, Tensor(h), Tensor(c))
    ours = Net(P.DynamicRNN(forget_bias=1.0))(*inputs)
    wanted, (_, c_n) = other(torch.tensor(x), (torch.tensor(h), torch.tensor(c)))
    near(ours[0], wanted)
    near(ours[2][-1:], c_n)
    np.testing.assert_allclose((ours[6] * ours[7]).asnumpy(), array(wanted), atol=1e-5)


def test_gradients_reach_the_gates():
    """What is kept for the gradient is differentiable itself."""
    other = torch.nn.LSTM(INPUT, HIDDEN)
    order = (0, 2, 1, 3)
    w = np.concatenate([reordered(other.weight_ih_l0, order), reordered(other.weight_hh_l0, order)])
    bias = reordered(other.bias_ih_l0 + other.bias_hh_l0, order)
    x, net = data(STEPS, BATCH, INPUT), Net(P.DynamicRNN())

    def through_gates(x):
        outputs = net(x, Tensor(w), Tensor(bias))
        return (outputs[6] * outputs[7]).sum()

    wanted = torch.tensor(x, requires_grad=True)
    other(wanted)[0].sum().backward()
    grad = ms.grad(through_gates)(Tensor(x))
    np.testing.assert_allclose(grad.asnumpy(), wanted.grad.numpy(), atol=1e-5)


@pytest.mark.parametrize("gate_order", ["rzh", "zrh"])
def test_dynamic_gru(gate_order):
    other = torch.nn.GRU(INPUT, HIDDEN)
    order = (0, 1, 2) if gate_order == "rzh" else (1, 0, 2)
    w_ih, w_hh, b_ih, b_hh = (
        Tensor(reordered(getattr(other, f"{kind}_l0"), order))
        for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    x, h = data(STEPS, BATCH, INPUT), data(1, BATCH, HIDDEN)
    net = Net(P.DynamicGRUV2(gate_order=gate_order))
    ours = net(Tensor(x), w_ih, w_hh, b_ih, b_hh, None, Tensor(h[0]))
    wanted, _ = other(torch.tensor(x), torch.tensor(h))
    near(ours[0], wanted)
    update, reset, new, part = (t.asnumpy() for t in ours[2:])
    before = np.concatenate([h, array(wanted)[:-1]])
    np.testing.assert_allclose(new + update * (before - new), array(wanted), atol=1e-5)
    assert reset.shape == part.shape == new.shape


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: P.LSTM(0, 3, 1, True, False, 0.0), "'input_size' must be a positive int"),
        (lambda: P.LSTM(2, 3, 1, True, False, 0.5), "'dropout' must be 0.0"),
        (lambda: P.DynamicRNN(direction="BIDIRECTIONAL"), "'direction' must be 'UNIDIRECTIONAL'"),
        (lambda: P.DynamicRNN(use_peephole=True), "'use_peephole' must be False"),
        (lambda: P.DynamicGRUV2(gate_order="hzr"), "'gate_order' must be 'rzh' or 'zrh'"),
        (
            lambda: P.DynamicRNN()(Tensor(data(2, 3)), Tensor(data(9, 24)), Tensor(data(24))),
            "'x' must have 3 dimensions",
        ),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()
