"""Methods that give a tensor another value where it stands: `x.add_(1)`. What shows elements of it, or is shown by it, follows.
Each is the method of the same name without the underscore and one write; a new one is a name in a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._dtypes import of_dtype
from mindspore.common._generator import Generator, drawing_from
from mindspore.common._indexing import getitem, index_update
from mindspore.common._kinds import Number, Real
from mindspore.ops._bind import raw
from mindspore.ops._forms import method
from mindspore.ops.function.put_func import masked_scattered, put
from mindspore.ops.function.random_func import bernoulli, randint, standard_normal
from mindspore.ops.function.random_func import rand as _rand

_cast, _reshape, _broadcast = raw("Cast"), raw("Reshape"), raw("BroadcastTo")
_RANK = {
    "b": 0,
    "i": 1,
    "u": 1,
    "f": 2,
    "V": 2,
    "c": 3,
}  # a value may go to a kind as high as its own


def _rank(dtype: DType) -> int:
    return 2 if dtype is _core.bfloat16 else _RANK[_core.numpy_dtype(dtype).kind]


def write(name: str, self: Tensor, value: Tensor) -> Tensor:
    """Gives a tensor another value, which must go into its shape and its kind of dtype; the tensor."""
    if _rank(value.dtype) > _rank(self.dtype):
        raise TypeError(
            f"For 'Tensor.{name}', the result must go into the tensor's dtype, {self.dtype}, but got {value.dtype}."
        )
    if value.dtype is not self.dtype:
        value = _cast(value, dtype=self.dtype)
    if tuple(value.shape) != tuple(self.shape):
        if value.ndim > self.ndim or any(
            a not in (1, b) for a, b in zip(value.shape[::-1], self.shape[::-1])
        ):
            raise ValueError(
                f"For 'Tensor.{name}', the result must have the tensor's shape, {tuple(self.shape)}, but got "
                f"{tuple(value.shape)}."
            )
        value = _broadcast(value, shape=self.shape)
    return self._write(value)


def _in_place(name: str) -> Callable:
    """The method `name` as one that writes its result to the tensor."""

    def change(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return write(f"{name}_", self, getattr(self, name)(*args, **kwargs))

    change.__name__ = f"{name}_"
    change.__doc__ = f"`{name}`, of which the tensor takes the value."
    return method(change)


def _scaled(name: str) -> Callable:
    """`add_` and `sub_`: the operand may be multiplied first."""

    def change(self: Tensor, other: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        return write(f"{name}_", self, getattr(self, name)(other if alpha == 1 else other * alpha))

    change.__name__ = f"{name}_"
    change.__doc__ = f"`{name}` of the operand times `alpha`, of which the tensor takes the value."
    return method(change)


def _method_copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Takes the elements of another tensor, which is spread to the shape and converted to the dtype."""
    del non_blocking
    return write("copy_", self, src if src.dtype is self.dtype else _cast(src, dtype=self.dtype))


def _method_fill_(self: Tensor, value: Number | Tensor) -> Tensor:
    """Takes one number as all elements."""
    made = value if isinstance(value, Tensor) else of_dtype("fill_", value, self.dtype)
    if made.ndim:
        raise ValueError(
            f"For 'Tensor.fill_', 'value' must be a number or a tensor of no dimension, but got shape {tuple(made.shape)}."
        )
    return write("fill_", self, made)


def _method_zero_(self: Tensor) -> Tensor:
    """Takes zero as all elements."""
    return self._write(raw("ZerosLike")(self))


def _method_fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Takes one number on the main diagonal; with `wrap`, of a tall matrix, again below each square."""
    shape = tuple(self.shape)
    if self.ndim < 2 or (self.ndim > 2 and len(set(shape)) > 1):
        raise ValueError(
            f"For 'Tensor.fill_diagonal_', the tensor must be a matrix or have equal sizes, but got shape {shape}."
        )
    step = sum(math.prod(shape[i + 1 :]) for i in range(self.ndim))
    end = math.prod(shape) if wrap or self.ndim > 2 else min(shape) * shape[1]
    flat = index_update(_reshape(self, shape=(-1,)), slice(0, end, step), fill_value)
    return self._write(_reshape(flat, shape=shape))


# ---- positions ------------------------------------------------------------------------------------
def _method_put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Takes the elements of `source` at places that count through all elements, or adds them there."""
    index = raw("Select")(index < 0, index + self.size, index)
    return self._write(put(self, index, _reshape(source, shape=index.shape), accumulate))


def _method_index_put_(
    self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False
) -> Tensor:
    """`self[indices] = values`; or adds them, also where places are named more than once."""
    if not accumulate:
        return self._write(index_update(self, tuple(indices), values))
    numbers = Tensor(np.arange(self.size).reshape(self.shape))
    return self._write(put(self, getitem(numbers, tuple(indices)), values, True))


def _method_index_copy_(self: Tensor, dim: int, index: Tensor, tensor: Tensor) -> Tensor:
    """Takes slices of another tensor at positions of an axis."""
    if not -self.ndim <= dim < self.ndim:
        raise ValueError(
            f"For 'Tensor.index_copy_', 'dim' must be in [{-self.ndim}, {self.ndim}), but got {dim}."
        )
    return self._write(index_update(self, (slice(None),) * (dim % self.ndim) + (index,), tensor))


def _method_masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Takes the elements of `source`, in their order, where the mask holds."""
    return self._write(masked_scattered(self, mask, source))


# ---- random numbers -------------------------------------------------------------------------------
def _method_normal_(
    self: Tensor, mean: Real = 0, std: Real = 1, *, generator: Generator | None = None
) -> Tensor:
    """Takes normally distributed numbers."""
    with drawing_from(generator):
        drawn = standard_normal(self.shape)
    return write("normal_", self, drawn * std + mean)


def _method_uniform_(
    self: Tensor, from_: Real = 0, to: Real = 1, *, generator: Generator | None = None
) -> Tensor:
    """Takes numbers that are equally likely anywhere in [from_, to)."""
    with drawing_from(generator):
        drawn = _rand(*self.shape)
    return write("uniform_", self, drawn * (to - from_) + from_)


def _method_exponential_(
    self: Tensor, lambd: Real = 1, *, generator: Generator | None = None
) -> Tensor:
    """Takes exponentially distributed numbers of the given rate."""
    with drawing_from(generator):
        drawn = _rand(*self.shape)
    return write("exponential_", self, raw("Log1p")(-drawn) / -lambd)


def _method_bernoulli_(
    self: Tensor, p: Tensor | Real = 0.5, *, generator: Generator | None = None
) -> Tensor:
    """Takes 1 with probability p and 0 otherwise."""
    with drawing_from(generator):
        drawn = bernoulli(raw("ZerosLike")(_cast(self, dtype=_core.float32)), p)
    return self._write(_cast(drawn, dtype=self.dtype))


def _method_random_(
    self: Tensor, from_: int = 0, to: int | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Takes integers that are equally likely in [from_, to); `random_(to)` begins at zero."""
    if to is None:
        from_, to = (0, from_) if from_ else (0, 2**24)
    with drawing_from(generator):
        drawn = randint(from_, to, tuple(self.shape))
    return self._write(_cast(drawn, dtype=self.dtype))


_NAMES = (
    *("mul", "div", "floor_divide", "remainder", "exp", "log", "sigmoid", "tanh", "floor", "sign"),
    *(
        "clamp",
        "addmm",
        "erfinv",
        "masked_fill",
        "index_add",
        "index_fill",
        "scatter",
        "scatter_add",
    ),
)
METHODS = [
    *map(_in_place, _NAMES),
    *map(_scaled, ("add", "sub")),
    *(
        method(function)
        for function in (
            _method_copy_,
            _method_fill_,
            _method_zero_,
            _method_fill_diagonal_,
            _method_put_,
            _method_index_put_,
            _method_index_copy_,
            _method_masked_scatter_,
            _method_normal_,
            _method_uniform_,
            _method_exponential_,
            _method_bernoulli_,
            _method_random_,
        )
    ),
]
__all__: list[str] = []
