"""Random numbers in their 2.x forms. A seed of None draws from the global stream; another seed
picks a stream of its own, which the global seed still takes part in."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._dtypes import FLOATS
from mindspore.common._kinds import Number, Real, Sizes, within
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _ints, _star

_cast, _reshape, _gather = raw("Cast"), raw("Reshape"), raw("Gather")
_standard_normal, _uniform_real, _uniform_int = (
    raw("StandardNormal"),
    raw("UniformReal"),
    raw("UniformInt"),
)
_permutation, _bernoulli, _multinomial, _dropout = (
    raw(n) for n in ("RandomPermutation", "Bernoulli", "Multinomial", "Dropout")
)
_MOST = 2**63 - 1


Seed: TypeAlias = Annotated[int, within(0, _MOST, "left")] | None
Rate: TypeAlias = Annotated[float, within(0, 1, "both")]


def _stream(seed: int | None) -> int:
    return 0 if seed is None else seed + 1  # zero is the global stream


def _as(x: Tensor, dtype: Any) -> Tensor:
    return x if dtype is None or dtype is x.dtype else _cast(x, dtype=dtype)


def _float_dtype(name: str, dtype: Any) -> Any:
    if dtype is not None and dtype not in FLOATS:
        raise TypeError(f"For '{name}', 'dtype' must be a float type, but got {dtype}.")
    return dtype


def _broadcast(name: str, shape: Sizes, *operands: Tensor | Number) -> tuple[int, ...]:
    """The shape of the result: `shape`, broadcast with the shapes of the operands."""
    result = list(_ints(name, shape))
    for operand in operands:
        sizes = operand.shape if isinstance(operand, Tensor) else ()
        result = [1] * (len(sizes) - len(result)) + result
        for i, n in enumerate(reversed(sizes)):
            if result[-1 - i] == 1:
                result[-1 - i] = n
    return tuple(result)


def standard_normal(shape: Sizes, seed: Seed = None) -> Tensor:
    """Numbers from the normal distribution of mean 0 and deviation 1."""
    return _standard_normal(shape=shape, seed=_stream(seed))


def normal(shape: Sizes, mean: Tensor | Real, stddev: Tensor | Real, seed: Seed = None) -> Tensor:
    """Numbers from the normal distribution of a mean and a deviation, which may be tensors."""
    sizes = _broadcast("normal", shape, mean, stddev)
    return _standard_normal(shape=sizes, seed=_stream(seed)) * stddev + mean


def uniform(
    shape: Sizes,
    minval: Tensor | Real,
    maxval: Tensor | Real,
    seed: Seed = None,
    dtype: DType | None = _core.float32,
) -> Tensor:
    """Numbers spread evenly over [minval, maxval)."""
    if dtype in (_core.int32, _core.int64):
        low, high = (
            _cast(v, dtype=dtype) if isinstance(v, Tensor) else Tensor(v, dtype)
            for v in (minval, maxval)
        )
        return _uniform_int(low, high, shape=shape, seed=_stream(seed))
    _float_dtype("uniform", dtype)
    sizes = _broadcast("uniform", shape, minval, maxval)
    return _as(_uniform_real(shape=sizes, seed=_stream(seed)) * (maxval - minval) + minval, dtype)


def rand(*size: Sizes, dtype: DType | None = None, seed: Seed = None) -> Tensor:
    """Numbers spread evenly over [0, 1)."""
    return _as(
        _uniform_real(shape=_star("rand", size), seed=_stream(seed)),
        _float_dtype("rand", dtype),
    )


def randn(*size: Sizes, dtype: DType | None = None, seed: Seed = None) -> Tensor:
    """Numbers from the normal distribution of mean 0 and deviation 1."""
    return _as(
        _standard_normal(shape=_star("randn", size), seed=_stream(seed)),
        _float_dtype("randn", dtype),
    )


def randint(
    low: int, high: int, size: Sizes, seed: Seed = None, *, dtype: DType | None = None
) -> Tensor:
    """Integers spread evenly over [low, high)."""
    if low >= high:
        raise ValueError(
            f"For 'randint', 'low' must be less than 'high', but got {low} and {high}."
        )
    Tensor([low, high - 1], _core.int64 if dtype is None else dtype)  # they must fit
    numbers = _uniform_int(
        Tensor(low, _core.int64), Tensor(high, _core.int64), shape=size, seed=_stream(seed)
    )
    return _as(numbers, dtype)


def _like(input: Tensor, dtype: Any) -> Any:
    return dtype if dtype is not None else input.dtype


def rand_like(input: Tensor, seed: Seed = None, *, dtype: DType | None = None) -> Tensor:
    """`rand` in the shape, and by default the dtype, of a tensor."""
    return rand(*input.shape, dtype=_like(input, dtype), seed=seed)


def randn_like(input: Tensor, seed: Seed = None, *, dtype: DType | None = None) -> Tensor:
    """`randn` in the shape, and by default the dtype, of a tensor."""
    return randn(*input.shape, dtype=_like(input, dtype), seed=seed)


def randint_like(
    input: Tensor, low: int, high: int, seed: Seed = None, *, dtype: DType | None = None
) -> Tensor:
    """`randint` in the shape, and by default the dtype, of a tensor."""
    return randint(low, high, input.shape, seed, dtype=_like(input, dtype))


def randperm(n: int, seed: int = 0, offset: int = 0, dtype: DType | None = _core.int64) -> Tensor:
    """The numbers 0 ... n - 1 in random order."""
    numbers = _permutation(n=n, seed=seed, seed2=offset)
    return _as(numbers, dtype)


def shuffle(x: Tensor, seed: Seed = None) -> Tensor:
    """The slices of the first axis in random order."""
    if x.ndim == 0:
        raise ValueError("For 'shuffle', 'x' must have a dimension, but got a scalar.")
    return _gather(x, _permutation(n=x.shape[0], seed=_stream(seed)), axis=0)


def bernoulli(input: Tensor, p: Tensor | Real = 0.5, seed: Seed = None) -> Tensor:
    """1 with probability p and 0 otherwise, in the shape and dtype of a tensor."""
    chance = p if isinstance(p, Tensor) else Tensor(p, _core.float32)
    return _bernoulli(input, chance, seed=_stream(seed))


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = True, seed: Seed = None
) -> Tensor:
    """Positions drawn with probabilities proportional to the elements of each row."""
    return _multinomial(input, num_samples=num_samples, replacement=replacement, seed=_stream(seed))


def random_categorical(
    logits: Tensor, num_sample: int, seed: int = 0, dtype: DType | None = _core.int64
) -> Tensor:
    """Positions drawn with the probabilities whose logarithms are the elements of each row."""
    weights = raw("Softmax")(logits)
    return _as(_multinomial(weights, num_samples=num_sample, seed=seed, dtype=_core.int64), dtype)


# ---- dropout ------------------------------------------------------------------------------------
def dropout(input: Tensor, p: Rate = 0.5, training: bool = True, seed: Seed = None) -> Tensor:
    """Sets elements to zero with probability p and scales the others by 1 / (1 - p)."""
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    return _dropout(input, keep_prob=1.0 - p, Seed0=_stream(seed))[0]


def _dropout_slices(name: str, input: Tensor, p: float, training: bool, spatial: int) -> Tensor:
    """Dropout of whole channels: the axes behind them share one decision."""
    if input.ndim not in (spatial + 1, spatial + 2):
        raise ValueError(
            f"For '{name}', 'input' must have {spatial + 1} or {spatial + 2} dimensions, "
            f"but got {input.ndim}."
        )
    if not training or p == 0:
        return input
    if p == 1:
        return input * 0
    channels = input.shape[: input.ndim - spatial] + (1,) * spatial
    ones = raw("Ones")(shape=channels, dtype=input.dtype)
    return input * _dropout(ones, keep_prob=1.0 - p)[0]


def dropout1d(input: Tensor, p: Rate = 0.5, training: bool = True) -> Tensor:
    """Dropout of whole rows of [channels, length] or [batch, channels, length]."""
    return _dropout_slices("dropout1d", input, p, training, 1)


def dropout2d(input: Tensor, p: Rate = 0.5, training: bool = True) -> Tensor:
    """Dropout of whole images of [batch, channels, height, width]."""
    return _dropout_slices("dropout2d", input, p, training, 2)


def dropout3d(input: Tensor, p: Rate = 0.5, training: bool = True) -> Tensor:
    """Dropout of whole volumes of [batch, channels, depth, height, width]."""
    return _dropout_slices("dropout3d", input, p, training, 3)


def _method_bernoulli(self: Tensor, p: Tensor | Real = 0.5, seed: Seed = None) -> Tensor:
    """1 with probability p and 0 otherwise, in the shape and dtype of the tensor."""
    return bernoulli(self, p, seed)


_method_bernoulli.__name__ = "bernoulli"

METHODS = (_method_bernoulli, "multinomial")
__all__ = [
    "bernoulli",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "multinomial",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "random_categorical",
    "randperm",
    "shuffle",
    "standard_normal",
    "uniform",
]
