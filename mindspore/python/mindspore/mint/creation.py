"""Functions of `mint` that make tensors: without values, or of random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import _core, ops
from mindspore._core import DType, Tensor
from mindspore.common._checked import check_functions
from mindspore.common._generator import drawing_from
from mindspore.common._kinds import Count, Real, Sizes
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _star

_cast = raw("Cast")


def empty(
    *size: Sizes, dtype: DType | None = None, device: str | None = None, pin_memory: bool = False
) -> Tensor:
    """A tensor of a shape whose values are not to be relied on; here they are zero."""
    del pin_memory  # memory of the host is the same to every kernel
    made = ops.zeros(_star("empty", size), dtype)
    return made if device is None else made.move_to(device)


def empty_like(
    input: Tensor,
    *,
    dtype: DType | None = None,
    device: str | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor like another one whose values are not to be relied on; here they are zero."""
    return empty(input.shape, dtype=dtype or input.dtype, device=device, pin_memory=pin_memory)


def bernoulli(input: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability that each element is, else 0."""
    with drawing_from(generator):
        return _cast(ops.bernoulli(input, input), dtype=input.dtype)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Positions drawn by the weights in each row."""
    with drawing_from(generator):
        return _cast(ops.multinomial(input, num_samples, replacement), dtype=_core.int64)


def normal(
    mean: Tensor | Real = 0.0,
    std: Tensor | Real = 1.0,
    size: Sizes | None = None,
    generator: Any = None,
) -> Tensor:
    """Numbers of normal distributions of given means and deviations."""
    if not isinstance(std, Tensor) and std < 0:
        raise ValueError(f"For 'normal', 'std' must not be negative, but got {std}.")
    shapes = [x.shape for x in (mean, std) if isinstance(x, Tensor)]
    shape = np.broadcast_shapes(*shapes) if size is None else _star("normal", (size,))
    with drawing_from(generator):
        return ops.normal(shape, mean, std)


def rand(
    *size: Sizes, generator: Any = None, dtype: DType | None = None, device: str | None = None
) -> Tensor:
    """Numbers between 0 and 1."""
    with drawing_from(generator):
        return _on(device, ops.rand(*size, dtype=dtype))


def randn(
    *size: Sizes, generator: Any = None, dtype: DType | None = None, device: str | None = None
) -> Tensor:
    """Numbers of the standard normal distribution."""
    with drawing_from(generator):
        return _on(device, ops.randn(*size, dtype=dtype))


def _on(device: str | None, made: Tensor) -> Tensor:
    return made if device is None else made.move_to(device)


def rand_like(input: Tensor, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Numbers between 0 and 1, in the shape of another tensor."""
    return _on(device, ops.rand_like(input, dtype=dtype))


def randn_like(input: Tensor, *, dtype: DType | None = None, device: str | None = None) -> Tensor:
    """Numbers of the standard normal distribution, in the shape of another tensor."""
    return _on(device, ops.randn_like(input, dtype=dtype))


def _bounds(name: str, numbers: tuple) -> tuple[int, int]:
    if len(numbers) not in (1, 2):
        raise TypeError(f"For '{name}', there must be one or two bounds, but got {len(numbers)}.")
    return (0, numbers[0]) if len(numbers) == 1 else numbers


def randint(
    *args: Any, generator: Any = None, dtype: DType | None = _core.int64, device: str | None = None
) -> Tensor:
    """Integers from `low`, 0 where not given, to below `high`: `randint(high, size)`, `randint(low, high, size)`."""
    low, high = _bounds("randint", args[:-1])
    with drawing_from(generator):
        return _on(device, ops.randint(low, high, args[-1], dtype=dtype))


def randint_like(
    input: Tensor, *args: int, dtype: DType | None = None, device: str | None = None
) -> Tensor:
    """Integers from `low`, 0 where not given, to below `high`, in the shape of another tensor."""
    low, high = _bounds("randint_like", args)
    return _on(device, ops.randint_like(input, low, high, dtype=dtype or input.dtype))


def randperm(n: Count, *, generator: Any = None, dtype: DType | None = _core.int64) -> Tensor:
    """The numbers below n in random order."""
    with drawing_from(generator):
        return ops.randperm(n, dtype=dtype)


__all__ = [
    name
    for name, value in list(globals().items())
    if not name.startswith("_") and getattr(value, "__module__", "") == __name__ and callable(value)
]
globals().update(check_functions(__import__(__name__, fromlist=["_"]), __all__))
