"""Single ops and short chains of them, in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from cases.steps_torch import compiled, timed
from cases.timing import best_of


def _attention(q, k, v):
    return functional.scaled_dot_product_attention(q, k, v).sum()


def attention() -> Callable[[], float]:
    """The gradient with respect to all three."""
    inputs = [torch.randn(4, 8, 1024, 64, requires_grad=True) for _ in range(3)]
    forward = compiled(_attention)
    return timed(lambda: torch.autograd.grad(forward(*inputs), inputs), 3)


def norm_gelu_softmax() -> Callable[[], float]:
    """The gradient with respect to inputs and parameters."""
    x, weight = (torch.randn(4096, 1024, requires_grad=True) for _ in range(2))
    norm = nn.LayerNorm(1024)
    net = compiled(lambda x: (torch.softmax(functional.gelu(norm(x)), -1) * weight).sum())
    return timed(lambda: torch.autograd.grad(net(x), [x, weight, *norm.parameters()]), 5)


def chain() -> Callable[[], float]:
    """The forward chain on 16 M floats."""
    x, y, z = (torch.randn(16 * 2**20) for _ in range(3))
    net = compiled(
        lambda x, y, z: torch.sigmoid(torch.tanh(1.5 * x + y)) * x + torch.exp(-z * z) * y
    )
    return timed(lambda: net(x, y, z), 5)


def adam(decay: float = 0.0) -> Callable[[], float]:
    """An update of 160 parameters from given gradients, by the fused optimizer."""
    parameters = [nn.Parameter(torch.ones(400, 400)) for _ in range(160)]
    for parameter in parameters:
        parameter.grad = torch.ones(400, 400)
    optimizer = torch.optim.Adam(parameters, 1e-3, weight_decay=decay, fused=True)
    return timed(compiled(optimizer.step), 10)


def adam_decay() -> Callable[[], float]:
    """The same with a part of the weights added to their gradients."""
    return adam(0.01)


def add_pynative() -> Callable[[], float]:
    """The sum of two small tensors."""
    x, y = torch.ones(4, 4), torch.ones(4, 4)
    return lambda: best_of(lambda: x + y, 50, 200)


def record_pynative() -> Callable[[], float]:
    """The forward pass as it is recorded, and the backward pass."""
    x, y = torch.ones(4, 4, requires_grad=True), torch.ones(4, 4)

    def gradient():
        a = x
        for _ in range(200):
            a = a * y
        return torch.autograd.grad(a, x, torch.ones_like(a))

    return lambda: best_of(gradient, 20)
