"""What sweeps over sizes share: comparison with an exact peer, of values and of gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mindspore import Tensor, grad, jit

_random = np.random.default_rng(0)


def begin() -> None:
    """Makes the numbers of a test its own: some, like two nearly equal columns under layer norm, have steep gradients."""
    global _random
    _random = np.random.default_rng(1)


def normal(*shape: int) -> np.ndarray:
    return _random.standard_normal(shape)


def close(got: Tensor | np.ndarray, expected: np.ndarray, tolerance: float = 0) -> None:
    """Equal within `tolerance` of the largest number expected (or of 1)."""
    got = got.asnumpy() if isinstance(got, Tensor) else got
    assert got.shape == expected.shape
    if got.size:
        error = np.abs(got.astype(np.float64) - expected.astype(np.float64)).max()
        assert error <= tolerance * max(1.0, float(np.abs(expected).max())), got.shape


def check_with_gradients(
    ours: Callable,
    peer: Callable,
    arrays: list[np.ndarray],
    tolerance: float,
    dtype: type = np.float32,
) -> None:
    """Compares ours(*arrays) and its gradients along a random direction, eager and compiled, with PyTorch's in float64."""
    arrays = [array.astype(dtype) for array in arrays]
    from peers import torch  # here: tests without it use this file, too

    exact = [torch.tensor(array.astype(np.float64), requires_grad=True) for array in arrays]
    expected = peer(*exact)
    along = normal(*expected.shape) if expected.ndim else np.float64(1.5)
    expected.backward(torch.tensor(along))
    inputs = [Tensor(array) for array in [*arrays, np.asarray(along, dtype)]]
    for run in (lambda function: function, jit):
        close(run(ours)(*inputs[:-1]), expected.detach().numpy(), tolerance)
        for i, tensor in enumerate(exact):
            slope = run(grad(lambda *xs: (ours(*xs[:-1]) * xs[-1]).sum(), i))
            close(slope(*inputs), tensor.grad.numpy(), 3 * tolerance)
