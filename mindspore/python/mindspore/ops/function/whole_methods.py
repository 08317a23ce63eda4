"""Tensor methods on a tensor as a whole: matrices transposed, sums to a shape, comparisons, others like it."""

from __future__ import annotations

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._dtypes import COMPLEX
from mindspore.common._generator import Generator, drawing_from
from mindspore.common._kinds import Real, Sizes
from mindspore.ops._bind import bound, raw
from mindspore.ops._forms import method
from mindspore.ops.function.array_func import _star, swapaxes
from mindspore.ops.function.random_func import normal, random_categorical, uniform
from mindspore.ops.function.reduce_func import topk

_sum, _reshape, _invert = raw("ReduceSum"), raw("Reshape"), raw("Invert")


# ---- matrices -------------------------------------------------------------------------------------
def _matrix(name: str, self: Tensor, ranks: range) -> Tensor:
    if self.ndim not in ranks:
        raise ValueError(
            f"For 'Tensor.{name}', the tensor must be a matrix{' or several' * (len(ranks) > 1)}, but got "
            f"shape {tuple(self.shape)}."
        )
    return swapaxes(self, -2, -1)


def _conjugate(self: Tensor) -> Tensor:
    return bound.conj(self) if self.dtype in COMPLEX else self


def _h(self: Tensor) -> Tensor:
    """The conjugate of a matrix, transposed."""
    return _conjugate(_matrix("H", self, range(2, 3)))


def _m_h(self: Tensor) -> Tensor:
    """The conjugates of matrices, transposed."""
    return _conjugate(_matrix("mH", self, range(2, 100)))


def _m_t(self: Tensor) -> Tensor:
    """The matrices of the last two dimensions, transposed."""
    return _matrix("mT", self, range(2, 100))


def _method_adjoint(self: Tensor) -> Tensor:
    """The conjugates of matrices, transposed."""
    return _conjugate(_matrix("adjoint", self, range(2, 100)))


# ---- shapes and comparisons -----------------------------------------------------------------------
def _method_reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """The same elements in the shape of another tensor."""
    return _reshape(self, shape=other.shape)


def _method_sum_to_size(self: Tensor, *size: Sizes) -> Tensor:
    """Sums, so that the result spreads to this tensor from a smaller shape."""
    shape = _star("sum_to_size", size)
    extra = self.ndim - len(shape)
    kept = self.shape[max(extra, 0) :]
    if extra < 0 or any(s not in (1, own) for s, own in zip(shape, kept)):
        raise ValueError(
            f"For 'Tensor.sum_to_size', the shape must be one that spreads to {tuple(self.shape)}, but got "
            f"{shape}."
        )
    axes = [i for i in range(self.ndim) if i < extra or shape[i - extra] != self.shape[i]]
    return _reshape(_sum(self, axis=axes), shape=shape) if axes else self


def _method_allclose(
    self: Tensor, other: Tensor, rtol: Real = 1e-5, atol: Real = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements are as good as equal to those of another tensor."""
    near = raw("IsClose")(self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)
    return bool(raw("ReduceAll")(near))


def _method_bitwise_not(self: Tensor) -> Tensor:
    """Each bit of integers turned; of truth values, the other one."""
    return bound.logical_not(self) if self.dtype == _core.bool else _invert(self)


def _method_top_k(self: Tensor, k: int, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The k largest elements of each row, and where they stand."""
    return topk(self, k, -1, True, sorted)


def _method_reverse(self: Tensor, axis: Sizes) -> Tensor:
    """The elements along axes from the last to the first."""
    return raw("ReverseV2")(self, axis=_star("reverse", (axis,)))


# ---- others like it -------------------------------------------------------------------------------
def _method_new_empty(
    self: Tensor, *size: Sizes, dtype: DType | None = None, device: str | None = None
) -> Tensor:
    """A tensor of a shape, by default in this dtype, whose values are not to be relied on; here they are zero."""
    made = self.new_zeros(_star("new_empty", size), dtype=dtype)
    return made if device is None else made.move_to(device)


def _method_new_full(
    self: Tensor, size: Sizes, fill_value: Real | Tensor, *, dtype: DType | None = None
) -> Tensor:
    """A tensor of a shape and one value, by default in this dtype."""
    value = fill_value if isinstance(fill_value, Tensor) else Tensor(fill_value)
    filled = bound.cast(value, dtype or self.dtype)
    return raw("BroadcastTo")(filled, shape=_star("new_full", (size,)))


def _method_uniform(
    self: Tensor, from_: Real = 0.0, to: Real = 1.0, generator: Generator | None = None
) -> Tensor:
    """Numbers of a range, in the shape and dtype of this tensor."""
    with drawing_from(generator):
        made = uniform(tuple(self.shape), Tensor(from_, _core.float32), Tensor(to, _core.float32))
    return made.astype(self.dtype)


def _method_log_normal(self: Tensor, mean: Real = 1.0, std: Real = 2.0) -> Tensor:
    """Exponentials of normal numbers, in the shape and dtype of this tensor."""
    return bound.cast(bound.exp(normal(tuple(self.shape), mean, std)), self.dtype)


def _method_cauchy(self: Tensor, median: Real = 0.0, sigma: Real = 1.0) -> Tensor:
    """Numbers of a Cauchy distribution, in the shape and dtype of this tensor."""
    low = np.finfo(np.float32).tiny
    angle = uniform(tuple(self.shape), Tensor(low, _core.float32), Tensor(1.0, _core.float32))
    spread = bound.tan(bound.mul(bound.sub(angle, 0.5), np.pi))
    return bound.cast(bound.add(bound.mul(spread, sigma), median), self.dtype)


def _method_random_categorical(
    self: Tensor, num_sample: int, seed: int = 0, dtype: DType = _core.int64
) -> Tensor:
    """Positions drawn by the logarithms of their weights in each row."""
    return random_categorical(self, num_sample, seed, dtype)


METHODS = [
    method(function)
    for function in (
        _method_adjoint,
        _method_reshape_as,
        _method_sum_to_size,
        _method_allclose,
        _method_bitwise_not,
        _method_top_k,
        _method_reverse,
        _method_new_empty,
        _method_new_full,
        _method_uniform,
        _method_log_normal,
        _method_cauchy,
        _method_random_categorical,
    )
]
for _name, _getter in (("H", _h), ("mH", _m_h), ("mT", _m_t)):
    setattr(Tensor, _name, property(_getter))
__all__: list[str] = []
