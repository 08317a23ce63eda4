"""Scripts that train through Fourier transforms, in both modes, against PyTorch."""

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

MODES = pytest.mark.parametrize(
    "mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "compiled"]
)
RANDOM = np.random.default_rng(0)


def normal(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def losses_of(net, inputs, rate, steps):
    """What training by gradient descent gives, step by step."""
    optimizer = nn.SGD(net.trainable_params(), learning_rate=rate)
    step = ms.value_and_grad(net, None, optimizer.parameters)
    losses = []
    for _ in range(steps):
        loss, gradients = step(*inputs)
        optimizer(gradients)
        losses.append(float(loss))
    return losses


def wanted_losses(loss_of, parameters, rate, steps):
    losses = []
    for _ in range(steps):
        loss = loss_of()
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, g in zip(parameters, gradients):
                p -= rate * g
        losses.append(float(loss.detach()))
    return losses


@MODES
def test_spectral_loss(mode):
    ms.set_context(mode=mode)
    signal, target, weight = normal(2, 256), normal(2, 256), normal(1, 1, 9) / 3
    window = np.hanning(32).astype(np.float32)

    class Loss(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = Parameter(Tensor(weight))

        def magnitudes(self, x):
            return ops.abs(ops.stft(x, 32, 8, window=Tensor(window), return_complex=True))

        def construct(self, x, y):
            made = ops.conv1d(x.expand_dims(1), self.weight, pad_mode="pad", padding=4).squeeze(1)
            return ops.mse_loss(self.magnitudes(made), self.magnitudes(y))

    p = torch.tensor(weight, requires_grad=True)

    def loss():
        made = torch.nn.functional.conv1d(torch.tensor(signal)[:, None], p, padding=4)[:, 0]
        found, wanted = (
            torch.stft(x, 32, 8, window=torch.tensor(window), return_complex=True).abs()
            for x in (made, torch.tensor(target))
        )
        return torch.nn.functional.mse_loss(found, wanted)

    found = losses_of(Loss(), (Tensor(signal), Tensor(target)), 0.02, 8)
    np.testing.assert_allclose(found, wanted_losses(loss, [p], 0.02, 8), rtol=1e-4)
    assert found[-1] < 0.9 * found[0]


@MODES
def test_fourier_neural_operator(mode):
    """Low modes are mixed by complex weights, which are kept as two real ones."""
    ms.set_context(mode=mode)
    x, y = normal(4, 3, 16, 16), normal(4, 2, 16, 16)
    real, imag, skip = normal(3, 2, 5, 5) / 3, normal(3, 2, 5, 5) / 3, normal(2, 3, 1, 1)

    class Layer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.real, self.imag = Parameter(Tensor(real)), Parameter(Tensor(imag))
            self.skip = nn.Conv2d(3, 2, 1, weight_init=Tensor(skip))

        def construct(self, x, y):
            spectrum = ops.rfft2(x)[:, :, :5, :5]
            weight = ops.Complex()(self.real, self.imag)
            mixed = ops.einsum("bixy,ioxy->boxy", spectrum, weight)
            low = ops.irfft2(ops.pad(mixed, (0, 4, 0, 11)), s=(16, 16))
            return ops.mse_loss(ops.gelu(low + self.skip(x), approximate="none"), y)

    parameters = [torch.tensor(v, requires_grad=True) for v in (real, imag, skip)]

    def loss():
        spectrum = torch.fft.rfft2(torch.tensor(x))[:, :, :5, :5]
        weight = torch.complex(parameters[0], parameters[1])
        mixed = torch.einsum("bixy,ioxy->boxy", spectrum, weight)
        low = torch.fft.irfft2(torch.nn.functional.pad(mixed, (0, 4, 0, 11)), s=(16, 16))
        whole = low + torch.nn.functional.conv2d(torch.tensor(x), parameters[2])
        return torch.nn.functional.mse_loss(torch.nn.functional.gelu(whole), torch.tensor(y))

    found = losses_of(Layer(), (Tensor(x), Tensor(y)), 0.3, 8)
    np.testing.assert_allclose(found, wanted_losses(loss, parameters, 0.3, 8), rtol=1e-4)
    assert found[-1] < found[0]


@MODES
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_second_order(name, mode):
    """The gradient of a length of a gradient, as PyTorch has it."""
    ms.set_context(mode=mode)
    x = normal(2, 6)
    z = (
        x + 1j * normal(2, 6).astype(np.complex64)
        if name in ("fft", "ifft", "irfft", "hfft")
        else x
    )

    def energy(v, run, lib):
        return (lib.abs(run(v, n=7, norm="ortho")) ** 4).sum()

    inner = ms.grad(lambda v: energy(v, getattr(ops, name), ops))
    found = ms.grad(lambda v: (ops.abs(inner(v)) ** 2).sum())(Tensor(z))
    t = torch.tensor(z, requires_grad=True)
    (first,) = torch.autograd.grad(energy(t, getattr(torch.fft, name), torch), t, create_graph=True)
    (second,) = torch.autograd.grad((first.abs() ** 2).sum(), t)
    np.testing.assert_allclose(found.asnumpy(), second.numpy(), rtol=1e-3, atol=1e-2)


def test_vmap():
    x = Tensor(normal(3, 4, 5))
    found = ms.vmap(lambda v: ops.rfft2(v, dim=(1, 0)), in_axes=1, out_axes=1)(x)
    np.testing.assert_allclose(
        found.asnumpy(), np.fft.rfft2(x.asnumpy(), axes=(2, 0)), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda x: ops.fftn(x, dim=()), "the axes must be distinct and at least 1"),
        (lambda x: ops.fftn(x, s=(2, 2, 2)), "must be in"),
        (lambda x: ops.irfft(x[:, :1]), "the size of the result must be given"),
        (lambda x: ops.stft(x[0], 16, center=False), "'n_fft' must be at most the length"),
    ],
)
def test_refusals(call, says):
    with pytest.raises(ValueError, match=says):
        call(Tensor(normal(2, 8)))
