"""Products of vectors, matrices and stacks of matrices, composed of MatMul and BatchMatMul."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import Ints, Real
from mindspore.common._size import require_rank
from mindspore.ops._bind import bound, raw

_matmul, _batch_matmul = raw("MatMul"), raw("BatchMatMul")
_reshape, _transpose, _sum = raw("Reshape"), raw("Transpose"), raw("ReduceSum")


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product of NumPy: vectors count as one row or one column, further dimensions
    broadcast."""
    if input.ndim == 2 and other.ndim == 2:
        return _matmul(input, other)
    if input.ndim == 0 or other.ndim == 0:
        raise ValueError(
            "For 'matmul', the inputs must have at least one dimension, but got shapes "
            f"{input.shape} and {other.shape}."
        )
    x = _reshape(input, shape=(1, *input.shape)) if input.ndim == 1 else input
    y = _reshape(other, shape=(*other.shape, 1)) if other.ndim == 1 else other
    result = _stacked(x, y)
    shape: tuple[int, ...] = result.shape
    if input.ndim == 1:
        shape = (*shape[:-2], shape[-1])
    if other.ndim == 1:
        shape = shape[:-1]
    return result if shape == result.shape else _reshape(result, shape=shape)


def _stacked(x: Tensor, y: Tensor) -> Tensor:
    """Products of stacks of matrices; one matrix on the right makes them a single product."""
    if x.ndim == 2 and y.ndim == 2:
        return _matmul(x, y)
    if y.ndim > 2:
        return _batch_matmul(x, y)
    rows = _reshape(x, shape=(math.prod(x.shape[:-1]), x.shape[-1]))
    return _reshape(_matmul(rows, y), shape=(*x.shape[:-1], y.shape[-1]))


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices."""
    require_rank("mm", "input", input, 2)
    require_rank("mm", "mat2", mat2, 2)
    return _matmul(input, mat2)


def mv(mat: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector."""
    require_rank("mv", "mat", mat, 2)
    require_rank("mv", "vec", vec, 1)
    return matmul(mat, vec)


def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Products of the matrices in the last two dimensions; those before must agree."""
    return _batch_matmul(input_x, mat2)


def dot(input: Tensor, other: Tensor) -> Tensor:
    """The last dimension of the first against the last but one of the second (the only one of a
    vector), as in NumPy."""
    if input.ndim == 0 or other.ndim == 0:
        raise ValueError(
            "For 'dot', the inputs must have at least one dimension, but got shapes "
            f"{input.shape} and {other.shape}."
        )
    return tensor_dot(input, other, ((input.ndim - 1,), (max(other.ndim - 2, 0),)))


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of an element of the first vector with one of the second."""
    require_rank("outer", "input", input, 1)
    require_rank("outer", "vec2", vec2, 1)
    return bound.mul(_reshape(input, shape=(-1, 1)), vec2)


def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of an element of the first vector with one of the second."""
    return outer(input, vec2)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sums of products along the last dimension of both."""
    if input.ndim == 0 or other.ndim == 0:
        return bound.mul(input, other)
    return tensor_dot(input, other, ((input.ndim - 1,), (other.ndim - 1,)))


def _axes_of_dot(axes: Any, rank1: int, rank2: int) -> tuple[tuple, tuple]:
    if isinstance(axes, int):
        if not 0 <= axes <= min(rank1, rank2):
            raise ValueError(
                f"For 'tensor_dot', 'axes' must be in [0, {min(rank1, rank2)}], but got {axes}."
            )
        return tuple(range(rank1 - axes, rank1)), tuple(range(axes))
    if len(axes) != 2:
        raise ValueError(f"For 'tensor_dot', 'axes' must be a number or a pair, but got {axes}.")
    first, second = ((a,) if isinstance(a, int) else tuple(a) for a in axes)
    result = []
    for chosen, rank in ((first, rank1), (second, rank2)):
        for axis in chosen:
            if not -rank <= axis < rank:
                raise ValueError(
                    f"For 'tensor_dot', the axes must be in [{-rank}, {rank}), but got {axis}."
                )
        result.append(tuple(axis % rank for axis in chosen))
    return result[0], result[1]


def tensor_dot(x1: Tensor, x2: Tensor, axes: int | Sequence[Ints]) -> Tensor:
    """Sums of products over the given axes: a number (the last of x1, the first of x2), or a pair
    of lists."""
    first, second = _axes_of_dot(axes, x1.ndim, x2.ndim)
    sizes = tuple(x1.shape[a] for a in first)
    if sizes != tuple(x2.shape[a] for a in second):
        raise ValueError(
            "For 'tensor_dot', the summed dimensions must have the same sizes, but got shapes "
            f"{x1.shape} and {x2.shape} with axes {axes}."
        )
    free1 = [a for a in range(x1.ndim) if a not in first]
    free2 = [a for a in range(x2.ndim) if a not in second]
    count = math.prod(sizes)
    rows = tuple(x1.shape[a] for a in free1)
    columns = tuple(x2.shape[a] for a in free2)
    left = _reshape(_moved(x1, [*free1, *first]), shape=(math.prod(rows), count))
    right = _reshape(_moved(x2, [*second, *free2]), shape=(count, math.prod(columns)))
    return _reshape(_matmul(left, right), shape=(*rows, *columns))


def _moved(x: Tensor, order: list[int]) -> Tensor:
    return x if order == list(range(x.ndim)) else _transpose(x, perm=order)


def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, beta: Real = 1, alpha: Real = 1
) -> Tensor:
    """`beta * input + alpha * (batch1 @ batch2)`, matrix by matrix."""
    return _scaled_sum(input, bmm(batch1, batch2), beta, alpha)


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Real = 1, alpha: Real = 1) -> Tensor:
    """`beta * input + alpha * (mat1 @ mat2)`."""
    return _scaled_sum(input, mm(mat1, mat2), beta, alpha)


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Real = 1, alpha: Real = 1) -> Tensor:
    """`beta * input + alpha * (mat @ vec)`."""
    return _scaled_sum(input, mv(mat, vec), beta, alpha)


def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Real = 1, alpha: Real = 1
) -> Tensor:
    """`beta * input + alpha * sum(batch1 @ batch2)`, summed over the batch."""
    require_rank("addbmm", "batch1", batch1, 3)
    return _scaled_sum(input, _sum(bmm(batch1, batch2), axis=0, keep_dims=False), beta, alpha)


def addr(
    x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Real | None = None, alpha: Real | None = None
) -> Tensor:
    """`beta * x + alpha * outer(vec1, vec2)`."""
    return _scaled_sum(
        x, outer(vec1, vec2), 1 if beta is None else beta, 1 if alpha is None else alpha
    )


def _scaled_sum(x: Tensor, product: Tensor, beta: float, alpha: float) -> Tensor:
    if alpha != 1:
        product = bound.mul(product, alpha)
    if beta == 0:
        return product
    return bound.add(x if beta == 1 else bound.mul(x, beta), product)


def dense(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`; a weight vector gives one number per row."""
    if weight.ndim not in (1, 2):
        raise ValueError(
            f"For 'dense', 'weight' must have 1 or 2 dimensions, but got shape {weight.shape}."
        )
    if input.ndim == 0:
        raise ValueError("For 'dense', 'input' must have at least one dimension, but got a scalar.")
    matrix = weight if weight.ndim == 2 else _reshape(weight, shape=(1, -1))
    rows = input
    if input.ndim != 2:
        rows = _reshape(input, shape=(math.prod(input.shape[:-1]), input.shape[-1]))
    result = _matmul(rows, matrix, transpose_b=True)
    shape = (*input.shape[:-1], matrix.shape[0]) if weight.ndim == 2 else input.shape[:-1]
    if result.shape != shape:
        result = _reshape(result, shape=shape)
    return result if bias is None else bound.add(result, bias)


_product = matmul  # which takes arrays too, and is not checked


def _operator(x: Any, y: Any) -> Any:
    """`x @ y`; what has no dimensions may know how to be multiplied with a tensor."""
    if hasattr(x, "ndim") and hasattr(y, "ndim"):
        return _product(x, y)
    return NotImplemented


_core.register_python("matmul", _operator)

__all__ = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "dense",
    "dot",
    "ger",
    "inner",
    "matmul",
    "mm",
    "mv",
    "outer",
    "tensor_dot",
]
METHODS = [
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "dot",
    "ger",
    "inner",
    "matmul",
    "mm",
    "mv",
    "outer",
]
