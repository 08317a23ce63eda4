"""Functions of `mint` that take other arguments, or give something else, than those of `ops` of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from mindspore import _core, ops
from mindspore._core import DType, Tensor
from mindspore.common._checked import check_functions
from mindspore.common._dtypes import rounded, wide
from mindspore.common._kinds import Count, Ints, Number, Real, Sizes
from mindspore.mint import creation
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _axis

_reshape, _transpose, _cast = raw("Reshape"), raw("Transpose"), raw("Cast")
_broadcast_to, _gather_d, _sort = raw("BroadcastTo"), raw("GatherD"), raw("Sort")
_SMALL = (_core.bool, _core.uint8, _core.int8, _core.int16, _core.int32)


class Extremes(NamedTuple):
    """Values and where they stand."""

    values: Tensor
    indices: Tensor


def _as(input: Tensor, dtype: DType | None) -> Tensor:
    return input if dtype is None else _cast(input, dtype=dtype)


# ---- arithmetic -----------------------------------------------------------------------------------
def _scaled(other: Any, alpha: Any) -> Any:
    return other if alpha == 1 else ops.mul(other, alpha)


def add(input: Any, other: Any, *, alpha: Number = 1) -> Tensor:
    """`input + alpha * other`."""
    return ops.add(input, _scaled(other, alpha))


def sub(input: Any, other: Any, *, alpha: Number = 1) -> Tensor:
    """`input - alpha * other`."""
    return ops.sub(input, _scaled(other, alpha))


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """`input + value * tensor1 / tensor2`."""
    return ops.addcdiv(input, tensor1, tensor2, value)


def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, beta: Real = 1, alpha: Real = 1) -> Tensor:
    """The tensor itself, which becomes `beta` times what it was and `alpha` times the outer product of two vectors."""
    return input.copy_(ops.addr(input, vec1, vec2, beta=beta, alpha=alpha))


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The dot product of two vectors, the first conjugated."""
    return ops.dot(ops.conj(input) if input.is_complex() else input, other)


def bitwise_not(input: Tensor) -> Tensor:
    """Each bit of integers turned; of truth values, the other one."""
    return input.bitwise_not()


def allclose(
    input: Tensor, other: Tensor, rtol: Real = 1e-5, atol: Real = 1e-8, equal_nan: bool = False
) -> bool:
    """Whether all elements are as good as equal."""
    return input.allclose(other, rtol, atol, equal_nan)


def npu_gelu(input: Tensor, approximate: Literal["none", "tanh"] = "none") -> Tensor:
    """GELU, exact or by tanh."""
    return ops.gelu(input, approximate)


# ---- reductions -----------------------------------------------------------------------------------
def amax(input: Tensor, dim: Ints = (), keepdim: bool = False) -> Tensor:
    """Largest elements along dimensions, along all where none is named."""
    return ops.amax(input, dim if dim != () else None, keepdim)


def amin(input: Tensor, dim: Ints = (), keepdim: bool = False) -> Tensor:
    """Smallest elements along dimensions, along all where none is named."""
    return ops.amin(input, dim if dim != () else None, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Position of the smallest element along a dimension, or in the flattened tensor."""
    return _cast(ops.argmin(input, dim, keepdim), dtype=_core.int64)


def _extreme(name: str, input: Tensor, dim: Any, keepdim: Any, other: Any) -> Any:
    if isinstance(dim, Tensor):
        dim, other = None, dim
    if other is not None:
        return (ops.maximum if name == "max" else ops.minimum)(input, other)
    if dim is None:
        return (ops.amax if name == "max" else ops.amin)(input)
    values, indices = (ops.max if name == "max" else ops.min)(input, dim, keepdim)
    return Extremes(values, _cast(indices, dtype=_core.int64))


def max(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    other: Tensor | None = None,
) -> Any:
    """The largest element; along a dimension, with positions; or of two tensors, `max(input, other)`."""
    return _extreme("max", input, dim, keepdim, other)


def min(
    input: Tensor,
    dim: int | Tensor | None = None,
    keepdim: bool = False,
    *,
    other: Tensor | None = None,
) -> Any:
    """The smallest element; along a dimension, with positions; or of two tensors, `min(input, other)`."""
    return _extreme("min", input, dim, keepdim, other)


def mean(
    input: Tensor, dim: Ints | None = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """Mean over dimensions."""
    return ops.mean(_as(input, dtype), dim, keepdim)


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower one of the middle elements; along a dimension, with its position."""
    if dim is None:
        return ops.median(_reshape(input, shape=(-1,)), 0)[0]
    return Extremes(*ops.median(input, dim, keepdim))


def prod(
    input: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """Product over a dimension, or over all; of small integers as Int64."""
    if dtype is None and input.dtype in _SMALL:
        dtype = _core.int64
    return ops.prod(_as(input, dtype), dim, keepdim)


def cumsum(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """Running sum along a dimension; of small integers as Int64."""
    if dtype is None and input.dtype in _SMALL:
        dtype = _core.int64
    return ops.cumsum(input, dim, dtype)


def count_nonzero(input: Tensor, dim: Ints | None = None) -> Tensor:
    """How many elements are not zero."""
    return ops.count_nonzero(input, dim, False, _core.int64)


def var(
    input: Tensor, dim: Ints | None = None, *, correction: int = 1, keepdim: bool = False
) -> Tensor:
    """Variance over dimensions, divided by the count less the correction."""
    return ops.var(input, dim, correction, keepdim)


def std(
    input: Tensor, dim: Ints | None = None, *, correction: int = 1, keepdim: bool = False
) -> Tensor:
    """Standard deviation over dimensions, divided by the count less the correction."""
    return ops.std(input, dim, correction, keepdim)


def var_mean(
    input: Tensor, dim: Ints | None = None, *, correction: int = 1, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Variance and mean over dimensions."""
    return ops.var_mean(input, dim, correction, keepdim)


def std_mean(
    input: Tensor, dim: Ints | None = None, *, correction: int = 1, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Standard deviation and mean over dimensions."""
    return ops.std_mean(input, dim, correction, keepdim)


def norm(
    input: Tensor,
    p: Real | str = "fro",
    dim: Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """The p-norm of the elements along dimensions, along all where none is named."""
    order = 2 if p == "fro" else p
    count = 1 if dim is None or isinstance(dim, int) else len(dim)
    if isinstance(order, str) or (p == "fro" and count > 2):
        return ops.norm(input, p, dim, keepdim, dtype=dtype)
    return ops.vector_norm(input, order, dim, keepdim, dtype=dtype)


def softmax(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """Exponentials along a dimension, divided by their sum."""
    if input.ndim:
        return ops.softmax(input, dim, dtype=dtype)
    return _reshape(ops.softmax(_reshape(input, shape=(1,)), dim, dtype=dtype), shape=())


# ---- order ----------------------------------------------------------------------------------------
def sort(
    input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False
) -> tuple[Tensor, Tensor]:
    """Elements along a dimension in order, and where each was. Equal ones stay in order, asked for or not."""
    del stable
    values, indices = _sort(input, axis=dim, descending=descending)
    return Extremes(values, _cast(indices, dtype=_core.int64))


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Where the elements along a dimension stand, in their order."""
    return sort(input, dim=dim, descending=descending, stable=stable)[1]


def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """The k largest or smallest elements along a dimension, and where they stand."""
    values, indices = ops.topk(input, k, dim, largest, sorted)
    return Extremes(values, _cast(indices, dtype=_core.int64))


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The k-th smallest element along a dimension, and where it stands."""
    dim = _axis("kthvalue", dim, input.ndim)
    if not 1 <= k <= input.shape[dim]:
        raise ValueError(f"For 'kthvalue', 'k' must be in [1, {input.shape[dim]}], but got {k}.")
    found = [ops.narrow(part, dim, k - 1, 1) for part in sort(input, dim=dim)]
    return Extremes(*(found if keepdim else (ops.squeeze(part, dim) for part in found)))


def cummin(input: Tensor, dim: int) -> Any:
    """The smallest element so far along a dimension, and where it stands."""
    values, indices = ops.cummin(input, dim)
    return Extremes(values, _cast(indices, dtype=_core.int64))


def bincount(input: Tensor, weights: Tensor | None = None, minlength: Count = 0) -> Tensor:
    """How often each number from 0 on is there, or the sums of its weights."""
    counts = ops.bincount(input, weights, minlength)
    return counts if weights is not None else _cast(counts, dtype=_core.int64)


# ---- shapes ---------------------------------------------------------------------------------------
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from `start_dim` to `end_dim` joined."""
    return input.flatten(start_dim=start_dim, end_dim=end_dim)


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions in each other's place."""
    return ops.swapaxes(input, dim0, dim1)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with a vector on a diagonal, or the diagonal of a matrix."""
    if input.ndim == 2:
        return ops.diagonal(input, diagonal, 0, 1)
    if input.ndim != 1:
        raise ValueError(f"For 'diag', 'input' must have 1 or 2 dimensions, but got {input.ndim}.")
    count = abs(diagonal)
    square = raw("Diag")(raw("Pad")(input, paddings=(0, count) if diagonal > 0 else (count, 0)))
    return ops.roll(square, diagonal, 1) if count else square


def meshgrid(
    *tensors: Tensor | Sequence[Tensor], indexing: Literal["xy", "ij"] | None = None
) -> tuple[Tensor, ...]:
    """Coordinates of a grid; by rows first, where nothing else is said."""
    return ops.meshgrid(*tensors, indexing=indexing or "ij")


def repeat_interleave(
    input: Tensor, repeats: Sizes, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Every element, or slice of a dimension, repeated in place."""
    result = ops.repeat_interleave(input, repeats, dim)
    found = result.shape[dim or 0]
    if output_size is not None and found != output_size:
        raise ValueError(
            f"For 'repeat_interleave', 'output_size' must be {found}, but got {output_size}."
        )
    return result


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The slice at a position of a dimension."""
    dim = _axis("select", dim, input.ndim)
    return input[(slice(None),) * dim + (index,)]


# ---- positions ------------------------------------------------------------------------------------
def where(
    condition: Tensor, input: Tensor | Number | None = None, other: Tensor | Number | None = None
) -> Any:
    """Elements of the one tensor where the condition holds, of the other one elsewhere; where it holds, if only that is given."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    if input is None or other is None:
        raise TypeError("For 'where', both 'input' and 'other' must be given, or none of them.")
    return ops.where(condition, input, other)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Where the elements are that are not zero. A scalar counts as a vector of one, whose coordinates are left out."""
    if input.ndim == 0:
        positions = ops.nonzero(ops.reshape(input, (1,)))
        return (positions[:, 0],) if as_tuple else positions[:, :0]
    return ops.nonzero(input, as_tuple=as_tuple)


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Products of matrices, one for each of a batch."""
    for name, value in (("input", input), ("mat2", mat2)):
        if value.ndim != 3:
            raise ValueError(f"For 'bmm', '{name}' must have 3 dimensions, but got {value.ndim}.")
    return ops.bmm(input, mat2)


def index_add(
    input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> Tensor:
    """The tensor with the slices of `source` added at positions of a dimension."""
    return input.index_add(dim, index, source, alpha=alpha)


def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor | Number) -> Tensor:
    """The tensor with elements of `src` written along a dimension at the positions of the index."""
    return ops.scatter(input, dim, index, src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """The tensor with elements of `src` added along a dimension at the positions of the index."""
    return input.scatter_add(dim, index, src)


# ---- parts of normalisation -----------------------------------------------------------------------
def _channels(input: Tensor) -> list[int]:
    return [1, -1] + [1] * (input.ndim - 2)


def batch_norm_stats(input: Tensor, eps: Real) -> tuple[Tensor, Tensor]:
    """Mean of each channel, and one by its deviation."""
    axes = [i for i in range(input.ndim) if i != 1]
    variance, mean = ops.var_mean(wide(input), axes, 0)
    return rounded(mean, input), rounded(ops.rsqrt(variance + eps), input)


def batch_norm_elemt(
    input: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    mean: Tensor | None = None,
    invstd: Tensor | None = None,
    eps: Real = 1e-5,
) -> Tensor:
    """Each channel less its mean, times what is given as one by its deviation, scaled and moved."""
    del eps  # it is in `invstd`
    shape = _channels(input)
    scale = invstd if weight is None else weight if invstd is None else invstd * weight
    if mean is not None:
        input = input - _reshape(mean, shape=shape)
    if scale is not None:
        input = input * _reshape(scale, shape=shape)
    return input if bias is None else input + _reshape(bias, shape=shape)


def batch_norm_gather_stats_with_counts(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    momentum: Real = 0.1,
    eps: Real = 1e-5,
    counts: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and one by deviation of all, from those of several parts [parts, channels] and how many elements each had."""
    count = (
        ops.ones((mean.shape[0], 1), mean.dtype)
        if counts is None
        else _reshape(counts, shape=(-1, 1))
    )
    given, mean, invstd, count = mean, wide(mean), wide(invstd), wide(count)
    total = count.sum()
    whole = (mean * count).sum(0) / total
    variance = ((1 / (invstd * invstd) - eps + (mean - whole) ** 2) * count).sum(0) / total
    if running_mean is not None:
        running_mean.copy_(running_mean * (1 - momentum) + whole * momentum)
    if running_var is not None:
        unbiased = variance * total / (total - 1)
        running_var.copy_(running_var * (1 - momentum) + unbiased * momentum)
    return rounded(whole, given), rounded(ops.rsqrt(variance + eps), given)


def around_or_mode(padding: Any) -> tuple[Any, Any]:
    """How much is put around, as `ops` wants it: a mode and counts."""
    return (padding, 0) if isinstance(padding, str) else ("pad", padding)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of images; 'same' and 'valid' name paddings."""
    mode, around = around_or_mode(padding)
    return ops.conv2d(input, weight, bias, stride, mode, around, dilation, groups)


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Convolution of sequences [time, batch, channels] by weights [time, channels, channels out]."""
    images = _transpose(input, perm=(1, 2, 0))
    kernel = _transpose(weight, perm=(2, 1, 0))
    return _transpose(ops.conv1d(images, kernel, bias, 1, "pad", pad), perm=(2, 0, 1))


__all__ = [
    name
    for name, value in list(globals().items())
    if not name.startswith("_")
    and name != "around_or_mode"
    and getattr(value, "__module__", "") == __name__
    and callable(value)
]
globals().update(check_functions(__import__(__name__, fromlist=["_"]), __all__))
# Those of creation.py are found, and pickled, under this path, too.
for _name in creation.__all__:
    globals()[_name] = _made = getattr(creation, _name)
    _made.__module__ = __name__
__all__ += creation.__all__
