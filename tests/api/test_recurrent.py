"""Recurrent layers over sequences: against PyTorch in value and gradient, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Tensor, nn, ops

STEPS, BATCH, INPUT, HIDDEN = 5, 3, 4, 6


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"], autouse=True)
def mode(request):
    ms.set_context(mode=request.param)
    yield request.param
    ms.set_context(mode=ms.PYNATIVE_MODE)


def data(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def twins(kind: str, **settings):
    """The layer, and PyTorch's with its weights."""
    layer = getattr(nn, kind)(INPUT, HIDDEN, **settings)
    if "has_bias" in settings:
        settings["bias"] = settings.pop("has_bias")
    other = getattr(torch.nn, kind)(INPUT, HIDDEN, **settings)
    values = {p.name: torch.tensor(p.asnumpy()) for p in layer.get_parameters()}
    other.load_state_dict(values)
    return layer, other


def gradients(layer, x, weight):
    """Of the weighted sum of outputs and last states: with respect to x and the parameters."""
    parameters = layer.trainable_params()

    def total(x):
        output, state = layer(x)
        state = sum(s.sum() for s in state) if isinstance(state, tuple) else state.sum()
        return (output * weight).sum() + state

    return ms.value_and_grad(total, 0, parameters)(x), [p.name for p in parameters]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("LSTM", {}),
        ("LSTM", {"num_layers": 2, "bidirectional": True, "batch_first": True}),
        ("LSTM", {"has_bias": False}),
        ("GRU", {}),
        ("GRU", {"num_layers": 2, "bidirectional": True, "batch_first": True}),
        ("GRU", {"has_bias": False}),
        ("RNN", {"bidirectional": True}),
        ("RNN", {"nonlinearity": "relu", "batch_first": True}),
    ],
)
def test_values_and_gradients(kind, settings, training):
    layer, other = twins(kind, **settings)
    layer.set_train(training)
    shape = (BATCH, STEPS) if settings.get("batch_first") else (STEPS, BATCH)
    width = HIDDEN * (2 if settings.get("bidirectional") else 1)
    x, weight = data(*shape, INPUT), data(*shape, width) * 0.5
    (value, (dx, dweights)), names = gradients(layer, Tensor(x), Tensor(weight))

    wanted_x = torch.tensor(x, requires_grad=True)
    output, state = other(wanted_x)
    state = sum(s.sum() for s in state) if isinstance(state, tuple) else state.sum()
    wanted = (output * torch.tensor(weight)).sum() + state
    wanted.backward()
    np.testing.assert_allclose(value.asnumpy(), wanted.item(), rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(dx.asnumpy(), wanted_x.grad.numpy(), atol=1e-5)
    expected = dict(other.named_parameters())
    for name, grad in zip(names, dweights, strict=True):
        np.testing.assert_allclose(grad.asnumpy(), expected[name].grad.numpy(), atol=2e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_lengths_and_first_states(kind, bidirectional):
    layer, other = twins(kind, bidirectional=bidirectional)
    directions = 2 if bidirectional else 1
    x, lengths = data(STEPS, BATCH, INPUT), [5, 3, 2]
    h, c = data(directions, BATCH, HIDDEN), data(directions, BATCH, HIDDEN)[::-1].copy()
    hx = (Tensor(h), Tensor(c)) if kind == "LSTM" else Tensor(h)
    output, state = layer(Tensor(x), hx, Tensor(lengths, ms.int32))
    packed = torch.nn.utils.rnn.pack_padded_sequence(torch.tensor(x), lengths)
    hx = (torch.tensor(h), torch.tensor(c)) if kind == "LSTM" else torch.tensor(h)
    wanted, last = other(packed, hx)
    wanted, _ = torch.nn.utils.rnn.pad_packed_sequence(wanted)
    np.testing.assert_allclose(output.asnumpy(), wanted.detach().numpy(), atol=1e-5)
    for ours, theirs in zip(state, last) if kind == "LSTM" else [(state, last)]:
        np.testing.assert_allclose(ours.asnumpy(), theirs.detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_gradients_stop_at_the_lengths(kind):
    layer, other = twins(kind, bidirectional=True)
    x, lengths = data(STEPS, BATCH, INPUT), [5, 3, 2]
    grad = ms.grad(lambda x: (layer(x, None, Tensor(lengths, ms.int32))[0] ** 2).sum())(Tensor(x))
    wanted = torch.tensor(x, requires_grad=True)
    packed = torch.nn.utils.rnn.pack_padded_sequence(wanted, lengths)
    (torch.nn.utils.rnn.pad_packed_sequence(other(packed)[0])[0] ** 2).sum().backward()
    np.testing.assert_allclose(grad.asnumpy(), wanted.grad.numpy(), atol=1e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_second_gradients(kind):
    layer, other = twins(kind)
    x = data(2, BATCH, INPUT)

    def norm(x):
        return (ms.grad(lambda x: (layer(x)[0] ** 2).sum())(x) ** 2).sum()

    ours = ms.grad(norm)(Tensor(x))
    wanted = torch.tensor(x, requires_grad=True)
    (first,) = torch.autograd.grad((other(wanted)[0] ** 2).sum(), wanted, create_graph=True)
    (first**2).sum().backward()
    np.testing.assert_allclose(ours.asnumpy(), wanted.grad.numpy(), atol=1e-5)


def test_many_steps_and_wide_states():
    """More steps than an op has results, units that fill no vector, a batch of several tiles."""
    layer, reference = nn.LSTM(8, 70), torch.nn.LSTM(8, 70)
    values = {p.name: torch.tensor(p.asnumpy()) for p in layer.get_parameters()}
    reference.load_state_dict(values)
    x = data(80, 33, 8)
    wanted = reference(torch.tensor(x))[0].detach().numpy()
    np.testing.assert_allclose(layer(Tensor(x))[0].asnumpy(), wanted, atol=1e-5)


def test_mixed_dtypes():
    """Inputs and states of different precision meet in the wider one; weights follow them."""
    x = Tensor(data(STEPS, BATCH, INPUT))
    half = x.astype(ms.float16)
    state = ops.zeros((1, BATCH, HIDDEN), ms.float32)
    assert nn.LSTM(INPUT, HIDDEN, dtype=ms.float16)(half)[0].dtype == ms.float16
    assert nn.LSTM(INPUT, HIDDEN)(half)[0].dtype == ms.float16
    assert nn.GRU(INPUT, HIDDEN, dtype=ms.float16)(x)[0].dtype == ms.float32
    assert nn.GRU(INPUT, HIDDEN, dtype=ms.float16)(half, state)[0].dtype == ms.float32
    layer = nn.LSTM(INPUT, HIDDEN)
    wanted = layer(x)[0].asnumpy()
    layer.to_float(ms.float16)
    np.testing.assert_allclose(layer(x)[0].asnumpy(), wanted, atol=1e-2)
    mixed = ms.amp.auto_mixed_precision(nn.GRU(INPUT, HIDDEN), "O2")
    assert np.isfinite(mixed(x)[0].asnumpy()).all()


def test_the_step_agrees_with_the_sequence():
    layer, cell = nn.GRU(INPUT, HIDDEN), nn.GRUCell(INPUT, HIDDEN)
    for ours, theirs in zip(cell.get_parameters(), layer.get_parameters()):
        ours.set_data(theirs)
    x = Tensor(data(STEPS, BATCH, INPUT))
    h = ops.zeros((BATCH, HIDDEN), ms.float32)
    for t in range(STEPS):
        h = cell(x[t], h)
    np.testing.assert_allclose(layer(x)[1][0].asnumpy(), h.asnumpy(), atol=1e-6)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.LSTM(4, 6)(Tensor(data(5, 4))), ValueError, "must have 3 dimensions"),
        (lambda: nn.LSTM(4, 6)(Tensor(data(5, 3, 3))), ValueError, "'input_size' 4"),
        (
            lambda: nn.GRU(4, 6)(Tensor(data(5, 3, 4)), Tensor(data(2, 3, 6))),
            ValueError,
            "'hx' must have the shape",
        ),
        (
            lambda: nn.GRU(4, 6)(Tensor(data(5, 3, 4)), None, Tensor([1, 2], ms.int32)),
            ValueError,
            "'lengths' must have shape",
        ),
        (lambda: nn.RNN(4, 6, nonlinearity="cos"), ValueError, "'nonlinearity'"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
